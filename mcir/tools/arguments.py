"""Command lines whose flags keep their order, declared as a table.

argparse sorts flags into names and loses their order, and a flag with an optional value would swallow the
input file. Here a value that may be left out is written with `=` only: `--dump` or `--dump=outline`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mcir.diagnostics import did_you_mean
from mcir.record import record

Example = tuple[str, str]  # a line for a shell in a checkout, and what it does

SWITCH, VALUE, OPTIONAL = "switch", "value", "optional"


_OWN_NAME = re.compile(r"--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


class UsageError(Exception):
    """A command line that cannot be understood; the text is for people."""


@record(frozen=True, slots=True)
class Flag:
    """One flag.

    name: with its dashes, `--dump` or `-o`. kind: SWITCH (present or not; `=false` switches off), VALUE (one
    must follow, as `--x=v` or `--x v`) or OPTIONAL (`--x` or `--x=v`). metavar and help are for `--help`.
    choices: what a value may be, if not everything. hidden: left out of the help.
    details: a further line of the help.
    """

    name: str
    kind: str
    help: str = ""
    metavar: str = ""
    group: str = "options"
    choices: tuple[str, ...] = ()
    hidden: bool = False
    details: str = ""


SHELLS = ("bash", "zsh", "fish")
COMPLETION_FLAG = Flag(
    "--print-completion", VALUE, "print a completion script, and stop", group="other", choices=SHELLS
)


def in_group(flag: Flag, group: str) -> Flag:
    """`flag` in another group of the help."""
    return Flag(flag.name, flag.kind, flag.help, flag.metavar, group, flag.choices, flag.hidden, flag.details)


def read_arguments(
    flags: Iterable[Flag], argv: Sequence[str], own: str = ""
) -> tuple[list[tuple[Flag, str | None]], list[str]]:
    """The flags of `argv` with their values in order, and the operands. Raises UsageError.

    own: what to say of an unknown flag that could be the name of something the user wrote, if no known one is near.
    A switch has the value "true" or "false"; an optional value left out is None. `--` ends the flags.
    """
    table = {flag.name: flag for flag in flags}
    found: list[tuple[Flag, str | None]] = []
    operands: list[str] = []
    words = iter(argv)
    for word in words:
        if word == "--":
            operands += words
        elif word == "-" or not word.startswith("-"):
            operands.append(word)
        else:
            name, value = _split(word, table)
            flag = table.get(name)
            if flag is None:
                raise UsageError(f"unknown option {_short(name)}{_near(name, table, own)}")
            if flag.kind == VALUE and value is None:
                value = next(words, None)
            found.append((flag, _checked(flag, value)))
    return found, operands


def help_table(flags: Iterable[Flag], width: int = 32) -> list[str]:
    """Lines that show the flags by group in the order of declaration."""
    lines: list[str] = []
    group = None
    for flag in flags:
        if flag.hidden:
            continue
        if flag.group != group:
            group = flag.group
            lines += ["", f"{group}:"]
        left = f"  {flag.name}{_value_text(flag)}"
        gap = f"\n{' ' * width}" if len(left) >= width else " " * (width - len(left))
        lines.append(f"{left}{gap}{flag.help}".rstrip())
        if flag.details:
            lines.append(f"{' ' * width}{flag.details}")
    return lines


def help_examples(examples: Iterable[Example]) -> list[str]:
    """Lines that show the examples, at the end of a help."""
    return ["", "examples:", *(line for command, note in examples for line in (f"  # {note}", f"  {command}"))]


def _split(word: str, table: dict[str, Flag]) -> tuple[str, str | None]:
    """Name and value of one word: `--x=v`, `--x`, `-o` or `-oFILE`."""
    if not word.startswith("--") and len(word) > 2 and word[:2] in table:
        return word[:2], word[2:].removeprefix("=")
    name, equals, value = word.partition("=")
    return name, value if equals else None


def _checked(flag: Flag, value: str | None) -> str | None:
    if flag.kind == SWITCH:
        if value not in (None, "true", "false"):
            raise UsageError(f"{flag.name} takes true or false, not '{_short(value)}'")
        return value or "true"
    if flag.kind == VALUE and value is None:
        raise UsageError(f"{flag.name} needs a value: {flag.name}{_value_text(flag)}")
    if value is not None and flag.choices and value not in flag.choices:
        hint = did_you_mean(value, flag.choices) or f"it is one of {', '.join(flag.choices)}"
        raise UsageError(f"{flag.name} cannot be '{_short(value)}': {hint}")
    return value


def _value_text(flag: Flag) -> str:
    metavar = flag.metavar or "|".join(flag.choices)
    if flag.kind == VALUE:
        return f"={metavar}" if flag.name.startswith("--") else f" {metavar}"
    return f"[={metavar}]" if flag.kind == OPTIONAL else ""


def _near(name: str, table: dict[str, Flag], own: str) -> str:
    if f"-{name}" in table:
        return f": did you mean '-{name}'?"
    hint = did_you_mean(name, table) or (own if _OWN_NAME.fullmatch(name) else "")
    return f": {hint}" if hint else ""


def _short(text: str | None) -> str:
    return repr(text)[1:-1][:60]
