"""The pass manager: runs passes in order, verifies between them and tells its watchers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcir.diagnostics import Diagnostic, MCIRError, Note
from mcir.module import MCModule
from mcir.passes.base import Remark
from mcir.verifier import verify_module

Pass = Callable[[Any], Any]


class PassWatcher:
    """What may look on while passes run; `name` is that of the pass. Override what is needed."""

    def before(self, name: str, module: Any) -> None:
        """Called before a pass with what it is given."""

    def after(self, name: str, module: Any) -> None:
        """Called after a pass with what it gave back, once that is verified."""


@dataclass(slots=True)
class PassRun:
    """What one pass of a run cost, in seconds."""

    name: str
    seconds: float
    verify_seconds: float


@dataclass
class MCIRPassManager:
    """Runs `passes` one after the other (design note, section 14).

    A pass is a ModulePass or any function of one argument. With `verify_each` every module that a pass
    gives back is verified. After `run`: `runs` says what each pass cost, `remarks` holds what the passes
    had to say, `warnings` what the verifier warned of in the last module.
    """

    passes: Sequence[Pass]
    verify_each: bool = True
    watchers: Sequence[PassWatcher] = ()
    runs: list[PassRun] = field(default_factory=list, init=False)
    remarks: list[Remark] = field(default_factory=list, init=False)
    warnings: list[Diagnostic] = field(default_factory=list, init=False)

    def run(self, obj: Any) -> Any:
        """What the last pass gives back. Raises MCIRError when a pass refuses or breaks the module."""
        self.runs.clear()
        self.remarks.clear()
        self.warnings.clear()
        for pass_ in self.passes:
            obj = self._run_one(pass_, obj)
        return obj

    def _run_one(self, pass_: Pass, obj: Any) -> Any:
        name = pass_name(pass_)
        for watcher in self.watchers:
            watcher.before(name, obj)
        begin = time.perf_counter()
        try:
            obj = pass_(obj)
        finally:
            self.remarks += getattr(pass_, "remarks", ())
            run = PassRun(name, time.perf_counter() - begin, 0.0)
            self.runs.append(run)
        if self.verify_each and isinstance(obj, MCModule):
            begin = time.perf_counter()
            self._verify(name, obj)
            run.verify_seconds = time.perf_counter() - begin
        for watcher in self.watchers:
            watcher.after(name, obj)
        return obj

    def _verify(self, name: str, module: MCModule) -> None:
        diagnostics = verify_module(module)
        errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
        if errors:
            errors[0].notes.append(Note(f"the pass {name} left the module invalid: this is a fault of the pass"))
            raise MCIRError(errors)
        self.warnings = diagnostics


def pass_name(pass_: Pass) -> str:
    """The name of a pass, or of the function that serves as one."""
    return getattr(pass_, "name", "") or getattr(pass_, "__name__", type(pass_).__name__)
