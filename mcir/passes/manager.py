"""The pass manager: runs passes in order, verifies between them and tells its watchers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcir.diagnostics import Diagnostic, MCIRError, Note
from mcir.module import MCModule
from mcir.passes.base import ModulePass, Remark
from mcir.verifier import verify_module

Pass = Callable[[Any], Any]


class PassCrash(Exception):
    """A pass raised what is no MCIRError (`__cause__`): a fault of the pass, whatever it was given."""

    def __init__(self, pass_name: str, error: BaseException, where: str = "in the pass") -> None:
        self.pass_name = pass_name
        self.error = error
        self.where = f"{where} {pass_name}"  # "in the pass x", "in the verifier after the pass x"
        super().__init__(f"{self.where}: {type(error).__name__}: {error}")


class BrokenModule(MCIRError):
    """A pass gave back a module that is not valid: a fault of the pass, too."""

    def __init__(self, pass_name: str, diagnostics: list[Diagnostic]) -> None:
        self.pass_name = pass_name
        super().__init__(diagnostics)


class PassWatcher:
    """What may look on while passes run; `name` is that of the pass. Override what is needed."""

    def before(self, name: str, module: Any) -> None:
        """Called before a pass with what it is given."""

    def after(self, name: str, module: Any) -> None:
        """Called after a pass with what it gave back, once that is verified."""

    def done(self, module: Any) -> None:
        """Called after all passes with what the last one gave back."""


@dataclass(slots=True)
class PassRun:
    """What one pass of a run cost, in seconds, and what it counted.

    seconds: the pass itself, of which `phases` tells some parts. watch_seconds: what looked on after the pass.
    """

    name: str
    seconds: float = 0.0
    verify_seconds: float = 0.0
    watch_seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)
    counters: dict[str, Any] = field(default_factory=dict)
    pass_type: type[ModulePass] | None = None  # which says what the counters are; a function has none


@dataclass
class MCIRPassManager:
    """Runs `passes` one after the other (design note, section 14).

    A pass is a ModulePass or any function of one argument. With `verify_each` every module that a pass
    gives back is verified. After `run`, however it ended: `runs` says what each pass cost and counted, `remarks` holds
    what the passes had to say, `warnings` what the verifier warned of in the last module.
    """

    passes: Sequence[Pass]
    verify_each: bool = True
    watchers: Sequence[PassWatcher] = ()
    runs: list[PassRun] = field(default_factory=list, init=False)
    remarks: list[Remark] = field(default_factory=list, init=False)
    warnings: list[Diagnostic] = field(default_factory=list, init=False)

    def run(self, obj: Any) -> Any:
        """What the last pass gives back.

        Raises MCIRError, with a note that names the pass, when a pass refuses what it is given; BrokenModule when it
        breaks the module; PassCrash when it raises anything else.
        """
        self.runs.clear()
        self.remarks.clear()
        self.warnings.clear()
        for pass_ in self.passes:
            obj = self._run_one(pass_, obj)
        for watcher in self.watchers:
            watcher.done(obj)
        return obj

    def _run_one(self, pass_: Pass, obj: Any) -> Any:
        run = PassRun(pass_name(pass_))
        for watcher in self.watchers:
            watcher.before(run.name, obj)
        begin = time.perf_counter()
        try:
            obj = pass_(obj)
        except MCIRError as error:
            _name_in(error, f"the pass {run.name} refused the module")
            raise
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:
            raise PassCrash(run.name, error) from error
        finally:
            run.seconds = time.perf_counter() - begin
            self._enter(run, pass_)
        if self.verify_each and isinstance(obj, MCModule):
            begin = time.perf_counter()
            try:
                self._verify(run.name, obj)
            finally:
                run.verify_seconds = time.perf_counter() - begin
        if self.watchers:
            begin = time.perf_counter()
            try:
                for watcher in self.watchers:
                    watcher.after(run.name, obj)
            finally:
                run.watch_seconds = time.perf_counter() - begin
        return obj

    def _enter(self, run: PassRun, pass_: Pass) -> None:
        self.runs.append(run)
        if isinstance(pass_, ModulePass):
            self.remarks += pass_.remarks
            run.pass_type, run.phases, run.counters = type(pass_), dict(pass_.phases), dict(pass_.counters)

    def _verify(self, name: str, module: MCModule) -> None:
        try:
            diagnostics = verify_module(module)
        except MemoryError:
            raise
        except Exception as error:
            raise PassCrash(name, error, "in the verifier after the pass") from error
        errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
        if errors:
            broken = BrokenModule(name, errors)
            _name_in(broken, f"the pass {name} left the module invalid: this is a fault of the pass")
            raise broken
        self.warnings = diagnostics


def _name_in(error: MCIRError, note: str) -> None:
    if error.diagnostics:
        error.diagnostics[0].notes.append(Note(note))


def pass_name(pass_: Pass) -> str:
    """The name of a pass, or of the function that serves as one."""
    return getattr(pass_, "name", "") or getattr(pass_, "__name__", type(pass_).__name__)
