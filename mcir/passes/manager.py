"""The pass manager: runs passes in order, verifies between them and tells its watchers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from mcir.diagnostics import Diagnostic, MCIRError, Note
from mcir.module import MCModule
from mcir.passes.base import ModulePass, Remark, is_foreign
from mcir.printer import print_module
from mcir.verifier import verify_module

Pass = Callable[[Any], Any]


class PassCrash(Exception):
    """A pass raised what is no MCIRError (`__cause__`): a fault of the pass, whatever it was given."""

    def __init__(self, pass_name: str, error: BaseException, where: str = "in the pass") -> None:
        self.pass_name = pass_name
        self.error = error
        self.where = f"{where} {pass_name}"  # "in the pass x", "in the verifier after the pass x"
        self.in_pass = where == "in the pass"
        super().__init__(f"{self.where}: {type(error).__name__}: {error}")


class BrokenModule(MCIRError):
    """A pass gave back what is no valid module, or changed graphs though it says it does not: its fault, too."""

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

    A pass is a ModulePass or any function of one argument. With `verify_each` every module that a pass gives back is
    verified, and the graphs are compared around a pass that is not part of MCIR and says it does not change them. After
    `run`, however it ended: `runs` says what each pass cost and counted, `remarks` holds what the passes had to say,
    `warnings` what the verifier warned of in the last module.
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
        graphs = self._graphs_to_keep(pass_, obj)
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
        if isinstance(pass_, ModulePass) and not isinstance(obj, MCModule):
            hint = "its run must give back the module it was given, or another: return module"
            fault = Diagnostic(f"the pass {run.name} gave back {type(obj).__name__}, not a module", hint=hint)
            raise BrokenModule(run.name, [fault])
        if self.verify_each and isinstance(obj, MCModule):
            begin = time.perf_counter()
            try:
                self._verify(run.name, obj)
                if graphs is not None:
                    _check_kept(run.name, graphs, obj)
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

    def _graphs_to_keep(self, pass_: Pass, obj: Any) -> dict[str, str] | None:
        """The graphs that the pass may not change; None where that is not looked at: MCIR's own passes are tested."""
        keeps = isinstance(pass_, ModulePass) and is_foreign(type(pass_)) and not pass_.changes_graphs
        return _graph_texts(obj) if keeps and self.verify_each and isinstance(obj, MCModule) else None

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


def _graph_texts(module: MCModule) -> dict[str, str]:
    """The text of every graph by name; of one that cannot be printed, why not."""
    texts = {}
    for graph in module.graphs:
        try:
            texts[graph.name] = print_module(MCModule(graphs=[graph]))
        except MemoryError:
            raise
        except Exception as error:
            texts[graph.name] = f"{type(error).__name__}: {error}"
    return texts


def _check_kept(name: str, before: dict[str, str], module: MCModule) -> None:
    """Raises BrokenModule for the first graph that the pass `name` changed, added or took away."""
    after = _graph_texts(module)
    graph = next((graph for graph in (*before, *after) if before.get(graph) != after.get(graph)), None)
    if graph is None:
        return
    verb = "added" if graph not in before else "changed" if graph in after else "took away"
    lines = zip_longest(*(texts.get(graph, "").splitlines() for texts in (before, after)), fillvalue="(nothing)")
    was, now = next(pair for pair in lines if pair[0] != pair[1])
    fault = Diagnostic(
        f"the pass {name} {verb} graph @{graph} without saying that it changes graphs",
        next((found.loc for found in module.graphs if found.name == graph), None),
        hint="if it is meant to, write in its class: changes_graphs: ClassVar[bool] = True",
        notes=[Note(f"before: {was.strip()}"), Note(f"after: {now.strip()}")],
    )
    raise BrokenModule(name, [fault])
