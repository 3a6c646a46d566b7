"""What a pass is: a dataclass whose fields are its options, from module to module."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar

from mcir.collector import paused_collector
from mcir.location import Location
from mcir.module import MCModule
from mcir.passes.statistic import AnyStatistic
from mcir.rooms import load_all


@dataclass(slots=True)
class Remark:
    """What a pass has to say of one place: a region was formed, or which rule stood against it.

    status: "formed" or "declined" (attention-pattern), "lowered" or "refused" (streaming-lowering; "declined" where
    there is no region at all).
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


def option(default: Any, help: str) -> Any:
    """A field of a pass that is an option; `help` stands in `--list-passes` and in the language reference."""
    return field(default=default, metadata={"help": help})


@dataclass
class ModulePass:
    """Base of all passes. A subclass sets `name` and `summary`, declares its options as dataclass
    fields with defaults (int, bool, str or float), and defines `run`.

    A pass may change the regions of the module it is given, never its graphs unless it says so
    (`changes_graphs`), and leaves a valid module valid: the pass manager looks after both. It raises MCIRError on input
    it cannot take.

    `--statistics` shows what its Statistic attributes count, `--timing` the seconds spent in each `self.phase(...)`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    changes_graphs: ClassVar[bool] = False

    remarks: list[Remark] = field(default_factory=list, init=False, repr=False, compare=False)
    counters: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    phases: dict[str, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    def run(self, module: MCModule) -> MCModule:
        raise NotImplementedError

    def __call__(self, module: MCModule) -> MCModule:
        self.remarks.clear()
        self.counters.clear()
        self.phases.clear()
        with paused_collector():
            return self.run(module)

    @classmethod
    def statistics(cls) -> list[AnyStatistic]:
        """The statistics that the pass declares, in the order of declaration."""
        found = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        return [value for value in found.values() if isinstance(value, AnyStatistic)]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds the time inside, in seconds, to the phase `name` of the run."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + time.perf_counter() - begin


_PASSES: dict[str, type[ModulePass]] = {}
_OPTION_TYPES = (int, bool, str, float)


def register_pass(cls: type[ModulePass]) -> type[ModulePass]:
    """Class decorator: enters a pass under its `name`.

    Raises ValueError if the name is taken, and for options that could not be given on a command line.
    """
    if cls.name in _PASSES:
        raise ValueError(f"pass {cls.name} is defined twice")
    declared = _undeclared_options(cls)
    if declared:
        raise ValueError(
            f"{declared[0]} is no option of pass {cls.name} yet: write @dataclass between @register_pass and the class"
        )
    for option_ in fields(cls):
        if option_.init and type(option_.default) not in _OPTION_TYPES:
            got = "has none" if option_.default is MISSING else f"has {option_.default!r}"
            wanted = "needs a default that is an int, a bool, a str or a float"
            raise ValueError(f"option {option_.name} of pass {cls.name} {wanted}; it {got}")
    _PASSES[cls.name] = cls
    return cls


def _undeclared_options(cls: type[ModulePass]) -> list[str]:
    """What a class without @dataclass declares as its options: it would run, and nobody could set them."""
    own = [name for name, value in vars(cls).items() if isinstance(value, Field)]
    if "__dataclass_fields__" not in vars(cls):
        own += [
            name for name, kind in cls.__annotations__.items()
            if "ClassVar" not in str(kind) and name not in ModulePass.__annotations__
            and not isinstance(vars(cls).get(name), AnyStatistic)
        ]  # fmt: skip
    return own


def is_foreign(thing: Any) -> bool:
    """Whether a class or function is not part of MCIR: from a plugin, or of a program that uses MCIR."""
    return str(thing.__module__).partition(".")[0] != "mcir"


def registered_passes() -> dict[str, type[ModulePass]]:
    """All passes by name, in alphabetical order: those of this room and those registered elsewhere."""
    load_all("mcir.passes", os.path.dirname(__file__))
    return dict(sorted(_PASSES.items()))


def find_pass(name: str) -> type[ModulePass] | None:
    """The pass `name`, or None. A pass that has the name of its file costs the import of no other."""
    if name not in _PASSES and os.path.isfile(os.path.join(os.path.dirname(__file__), f"{name.replace('-', '_')}.py")):
        __import__(f"mcir.passes.{name.replace('-', '_')}")
    return _PASSES.get(name) or registered_passes().get(name)
