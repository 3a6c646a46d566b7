"""What a pass is: a dataclass whose fields are its options, from module to module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mcir.location import Location
from mcir.module import MCModule


@dataclass(slots=True)
class Remark:
    """What a pass has to say of one place: a region was formed, or which rule stood against it.

    status: "formed" or "declined" (attention-pattern), "lowered" or "refused" (streaming-lowering).
    rule: the id of the rule that decided; `node` and `op` name the operation where it did.
    """

    pass_name: str
    status: str
    message: str
    graph: str = ""
    region: str = ""
    node: str = ""
    op: str = ""
    rule: str = ""
    hint: str = ""
    location: Location | None = None


@dataclass
class ModulePass:
    """Base of all passes. A subclass sets `name` and `summary`, declares its options as dataclass
    fields with defaults (int, bool, str or float), and defines `run`.

    A pass may change the regions of the module it is given, never its graphs unless it says so
    (`changes_graphs`), and leaves a valid module valid. It raises MCIRError on input it cannot take.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    changes_graphs: ClassVar[bool] = False

    remarks: list[Remark] = field(default_factory=list, init=False, repr=False, compare=False)

    def run(self, module: MCModule) -> MCModule:
        raise NotImplementedError

    def __call__(self, module: MCModule) -> MCModule:
        self.remarks.clear()
        return self.run(module)


_PASSES: dict[str, type[ModulePass]] = {}


def register_pass(cls: type[ModulePass]) -> type[ModulePass]:
    """Class decorator: enters a pass under its `name`. Raises ValueError if the name is taken."""
    if cls.name in _PASSES:
        raise ValueError(f"pass {cls.name} is defined twice")
    _PASSES[cls.name] = cls
    return cls


def registered_passes() -> dict[str, type[ModulePass]]:
    """All passes by name, in the order they were registered."""
    return dict(_PASSES)
