"""What small tools share: one table of flags, `--help` and `--version` from it, errors of usage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.files import write_stream
from mcir.tools.arguments import (
    COMPLETION_FLAG,
    SWITCH,
    Example,
    Flag,
    UsageError,
    help_examples,
    help_table,
    read_arguments,
)
from mcir.tools.completion import completion_script
from mcir.tools.report import REPORTING, STYLES, Reporter, style_of

COMMON = (
    *REPORTING,
    COMPLETION_FLAG,
    Flag("--help", SWITCH, "show this and exit", group="other"),
    Flag("--version", SWITCH, "show the version and exit", group="other"),
)


class Exit(Exception):
    """The tool is done with an exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(slots=True)
class Given:
    """A command line as it was read: flag name -> value (the last one counts; `every` has all), and the operands."""

    flags: dict[str, str | None]
    operands: list[str]
    repeated: dict[str, list[str]] = field(default_factory=dict)

    def every(self, flag: str) -> list[str]:
        """All values of a flag that may stand more than once, in order."""
        return self.repeated.get(flag, [])

    def on(self, flag: str) -> bool:
        """Whether a switch is on."""
        return self.flags.get(flag) == "true"

    @property
    def style(self) -> str:
        """How diagnostics are written: one of STYLES."""
        return self.value("--diagnostics", STYLES[0])

    @property
    def colour(self) -> str:
        """"auto", "always" or "never"."""
        return self.value("--color", "auto")

    @property
    def input(self) -> str:
        """The one input file; "-", standard input, where none is named."""
        return self.operands[0] if self.operands else "-"

    def value(self, flag: str, default: str = "") -> str:
        value = self.flags.get(flag)
        return default if value is None else value


@dataclass(frozen=True, slots=True)
class Command:
    """One tool: its name, what its operands are, a sentence, its flags, examples, and what else `--help` tells.

    operands: the least and the greatest number of operands (None: any). inputs: what files to offer for them.
    values: what to offer for flags whose values are not in their `choices`.
    """

    name: str
    synopsis: str
    summary: str
    flags: tuple[Flag, ...]
    operands: tuple[int, int | None]
    examples: tuple[Example, ...]
    notes: Sequence[str] = field(default_factory=tuple)
    inputs: str = "*.mcir"
    values: Callable[[], Mapping[str, Iterable[str]]] = dict

    def read(self, argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> Given:
        """The command line. Raises Exit after `--help`, `--version`, a completion script and bad usage (code 2)."""
        try:
            found, operands = read_arguments((*self.flags, *COMMON), argv)
            given = Given({flag.name: value for flag, value in found}, operands)
            for flag, value in found:
                given.repeated.setdefault(flag.name, []).extend([] if value is None else [value])
            if not (given.on("--help") or given.on("--version") or given.value(COMPLETION_FLAG.name)):
                self._count(operands)
        except UsageError as error:
            self.refuse(str(error), stderr, style_of(argv))
        if given.on("--help"):
            self._answer(self.help(), argv, stdout, stderr)
        if shell := given.value(COMPLETION_FLAG.name):
            pattern = self.inputs if self.operands[1] != 0 else ""
            script = completion_script(shell, self.name, (*self.flags, *COMMON), self.values(), pattern)
            self._answer(script, argv, stdout, stderr)
        if given.on("--version"):
            import mcir

            self._answer(f"{self.name} {mcir.__version__}\n", argv, stdout, stderr)
        return given

    def _answer(self, text: str, argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> NoReturn:
        """Writes what was asked for instead of work. Raises Exit, with code 1 where it cannot be written."""
        try:
            write_stream(stdout, text)
        except MCIRError as error:
            with Reporter(stderr, self.name, style_of(argv)) as reporter:
                reporter.show(error.diagnostics)
            raise Exit(1) from None
        raise Exit(0)

    def refuse(self, message: str, stderr: TextIO, style: str = "text") -> None:
        """Says that the command line is wrong. Raises Exit with code 2."""
        if style == "text":
            print(f"{self.name}: error: {message} (--help shows the options)", file=stderr)
        else:
            with Reporter(stderr, self.name, style) as reporter:
                reporter.show([Diagnostic(message, hint=f"{self.name} --help shows the options")])
        raise Exit(2)

    def reporter(self, given: Given, stderr: TextIO) -> Reporter:
        """What shows the diagnostics, in the form that is asked for."""
        return Reporter(stderr, self.name, given.style, given.colour)

    def help(self) -> str:
        """The text of `--help`."""
        lines = [f"usage: {self.name} {self.synopsis}", "", self.summary, *help_table((*self.flags, *COMMON))]
        return "\n".join([*lines, "", *self.notes, *help_examples(self.examples)]) + "\n"

    def _count(self, operands: list[str]) -> None:
        least, most = self.operands
        if len(operands) < least:
            raise UsageError(f"{least} input files are needed")
        if most is not None and len(operands) > most:
            raise UsageError(f"one input too many: '{operands[most][:60]}'")
