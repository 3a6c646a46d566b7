"""`--crash-reproducer=FILE`: one file that makes a run fail once more.

It holds the module as it was before the pass that failed, headed by a configuration of that pass alone and of the
options that matter (MLIR calls this a local reproducer). A failure that shows only after all passes, such as that of a
proof, is traced to the pass that made it. Whether the file fails in the same way is tried out before it is written.
Where it does not, since the module has no text or more than the module matters, the file begins further up.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcir.diagnostics import Diagnostic, MCIRError, Note
from mcir.files import write_text
from mcir.location import Source
from mcir.passes.base import ModulePass
from mcir.passes.manager import PassCrash, PassWatcher
from mcir.printer import print_module
from mcir.tools.configuration import configuration_flags, configuration_line, read_configured, split_configuration
from mcir.tools.opt_chunk import process_chunk
from mcir.tools.opt_options import TOOL, Options
from mcir.tools.timing import Timing

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_TRIED_ONCE = (MemoryError, KeyboardInterrupt)  # to run into these again may take as long once more


class History(PassWatcher):
    """The texts of the module before each pass that was begun, and after the last one; None where it has no text."""

    def __init__(self) -> None:
        self.texts: list[str | None] = []
        self.fault = ""  # why the last module without a text has none

    def before(self, name: str, module: Any) -> None:
        self._keep(f"before {name}", module)

    def done(self, module: Any) -> None:
        self._keep("after the last pass", module)

    def _keep(self, when: str, module: Any) -> None:
        text = None
        try:
            text = print_module(module)
        except Exception as error:
            self.fault = f"the module {when} cannot be printed ({type(error).__name__}: {error})"
        self.texts.append(text)


@dataclass(frozen=True, slots=True)
class Replay:
    """A module text, and the passes and flags to run on it."""

    text: str
    passes: Sequence[ModulePass]
    flags: Sequence[str]

    def file_text(self) -> str:
        return configuration_line(self.passes, self.flags) + split_configuration(self.text)[1]

    def outcome(self) -> object:
        """What `--run-reproducer` makes of it, as data that can be compared; None if all is well."""
        try:
            options, source = read_configured(Source("<reproducer>", self.file_text()), ())
            result = process_chunk(source, options, Timing(), io.StringIO())
        except Exception as error:
            return signature(error)
        return signature(MCIRError(result.diagnostics)) if result.output is None else None


def signature(error: BaseException) -> object:
    """What two failures have in common that are the same, wherever their modules stand in whichever text."""
    if isinstance(error, MCIRError):
        found = {(fault.rule, fault.message) for fault in error.diagnostics if fault.severity == "error"}
        return frozenset(found)
    if isinstance(error, PassCrash):
        return error.where, signature(error.error)
    return type(error).__name__, _ADDRESS.sub("0x", str(error))


@dataclass(slots=True)
class Recorder:
    """Watches over the modules of a run and writes the reproducer of the first that fails."""

    options: Options
    history: History = field(default_factory=History)
    written: bool = False

    def watch(self) -> list[PassWatcher]:
        """The watchers for the next module."""
        self.history = History()
        return [self.history]

    def write(self, source: Source, error: BaseException) -> Diagnostic:
        """Writes the file for the module of `source`, which failed with `error`; gives back what to say of it."""
        path = self.options.crash_reproducer
        if self.written:
            return Diagnostic(f"{path} replays the first failure only", severity="remark")
        tried = not isinstance(error, _TRIED_ONCE)
        found = self._smallest(source, signature(error)) if tried else None
        replay = found or self._likeliest(source)
        try:
            write_text(path, replay.file_text())
        except MCIRError as fault:
            return Diagnostic(f"no reproducer: {fault.diagnostics[0].message}")
        self.written = True
        said = Diagnostic(f"wrote {path}, a reproducer: {_contents(replay)}", severity="remark", hint=self._command())
        if tried and found is None:
            said.severity = "warning"
            said.message += "; but when run again it did not fail in the same way"
        if None in self.history.texts:
            said.notes.append(Note(self.history.fault))
        return said

    def _command(self) -> str:
        plugins = [f"--load-pass-plugin={path}" for path in self.options.plugins]
        return f"run it: {shlex.join([TOOL, *plugins, '--run-reproducer', self.options.crash_reproducer])}"

    def _stages(self, source: Source) -> list[tuple[str, int]]:
        """(text of the module, index of the pass that comes next), from the input on."""
        return [(source.text, 0)] + [(text, at) for at, text in enumerate(self.history.texts) if text is not None]

    def _likeliest(self, source: Source) -> Replay:
        """The last text there is, and the passes that were begun on it."""
        text, at = self._stages(source)[-1]
        return Replay(text, self.options.passes[at : len(self.history.texts)], configuration_flags(self.options))

    def _smallest(self, source: Source, wanted: object) -> Replay | None:
        """The smallest replay with the outcome `wanted`, None if there is none."""
        flags = configuration_flags(self.options)
        stages = self._stages(source)
        while Replay(stages[-1][0], (), flags).outcome() == wanted:  # the harm was done before
            if len(stages) == 1:
                return _with_fewer_flags(Replay(source.text, (), flags), wanted)
            stages.pop()
        begun = min(len(self.history.texts), len(self.options.passes))
        for end in range(min(stages[-1][1] + 1, begun), begun + 1):
            for text, at in reversed(stages):
                replay = Replay(text, self.options.passes[at:end], flags)
                if at < end and replay.outcome() == wanted:
                    return _with_fewer_flags(replay, wanted)
        return None


def _contents(replay: Replay) -> str:
    names = [pass_.name for pass_ in replay.passes]
    return " and then ".join([f"the module before {names[0]}", *names[1:]]) if names else "the module alone"


def _with_fewer_flags(replay: Replay, wanted: object) -> Replay:
    for flag in replay.flags:
        smaller = Replay(replay.text, replay.passes, [other for other in replay.flags if other != flag])
        if smaller.outcome() == wanted:
            replay = smaller
    return replay
