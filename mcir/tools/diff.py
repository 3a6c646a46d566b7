"""`mcir-diff a b`: the structural difference of two modules, with reasons.

    $ mcir-diff before.mcir after.mcir
    in @attention
      ~ %S: renamed: is %scores now  (line 4 -> 4)
      ~ %P: changed: attribute axis = -1 is 1 now  (line 6 -> 6)
      > %M: moved: stands elsewhere among its neighbours  (line 5 -> 7)
      - %x: removed: %x = neg %S : tensor<4x4xfp32>  (line 7)

Both inputs are parsed, not verified. Comments, blanks and the spelling of numbers make no difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, TextIO

from mcir.analysis.difference import Difference, compare_modules
from mcir.diagnostics import MCIRError
from mcir.files import read_source, write_stream
from mcir.location import Location
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.tools.arguments import SWITCH, Flag
from mcir.tools.command import Command, Exit, Given
from mcir.tools.console import run_console
from mcir.tools.report import Reporter, json_line, use_colour

EXIT_SAME, EXIT_DIFFERENT, EXIT_TROUBLE = 0, 1, 2

MOST_NAMES = 10  # that are shown one by one

COMMAND = Command(
    "mcir-diff",
    "[--ignore-names] [--all] [--json] [--quiet] A B",
    "Compares the structure of two MCIR modules; - is standard input.",
    (
        Flag("--ignore-names", SWITCH, "other names of values, nodes, graphs and regions are no difference"),
        Flag("--all", SWITCH, f"show each new name, not only the first {MOST_NAMES} of a graph or region"),
        Flag("--json", SWITCH, "one JSON object a difference: kind, subject, where, reason, left, right"),
        Flag("--quiet", SWITCH, "print nothing; the exit code tells"),
    ),
    (2, 2),
    (
        ("mcir-opt examples/attention.mcir | mcir-diff examples/attention.mcir -",
         "no difference: printing keeps everything"),
        ("mcir-diff examples/attention.mcir examples/grouped_query.mcir || echo different", "differences, for people"),
        ("sed 's/%P/%W/' examples/attention.mcir | mcir-diff --ignore-names examples/attention.mcir -",
         "new names alone are no difference"),
        ("mcir-diff --quiet examples/attention.mcir examples/attention.mcir && echo same", "the exit code is enough"),
    ),
    ("exit code: 0 the same, 1 different, 2 bad usage, or an input cannot be read or parsed",),
)

_SIGNS = {"added": "+", "removed": "-", "moved": ">", "renamed": "~", "changed": "~"}
_COLOURS = {"+": "32", "-": "31", ">": "36", "~": "33"}


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool; see `COMMAND` for the exit codes."""
    try:
        given = COMMAND.read(argv, stdout, stderr)
        if given.operands == ["-", "-"]:
            COMMAND.refuse("only one of the inputs can be standard input", stderr, given.style)
    except Exit as done:
        return done.code
    with COMMAND.reporter(given, stderr) as reporter:
        return _compare(given, stdin, stdout, reporter)


def _compare(given: Given, stdin: TextIO, stdout: TextIO, reporter: Reporter) -> int:
    try:
        left, right = (_read(path, stdin) for path in given.operands)
        found = compare_modules(left, right, names=not given.on("--ignore-names"))
        if not given.on("--quiet"):
            text = _lines(found, len(found) if given.on("--all") else MOST_NAMES, use_colour(stdout, given.colour))
            lines = map(json_line, map(_record, found)) if given.on("--json") else text
            write_stream(stdout, "".join(f"{line}\n" for line in lines))
    except MCIRError as error:
        reporter.show(error.diagnostics)
        return EXIT_TROUBLE
    return EXIT_DIFFERENT if found else EXIT_SAME


def _read(path: str, stdin: TextIO) -> MCModule:
    source = read_source(path, stdin)
    return parse_module(source.text, source.name)


def _lines(found: list[Difference], most_names: int, colour: bool) -> Iterator[str]:
    """The differences under a line for each graph or region that they are in."""
    where, names = "", 0
    for difference, behind in zip_longest(found, found[1:]):
        if difference.where != where:
            where, names = difference.where, 0
            if where:
                yield f"in {where}"
        names += difference.kind == "renamed"
        indent = "  " if where else ""
        if difference.kind != "renamed" or names <= most_names:
            sign = _SIGNS[difference.kind]
            line = f"{indent}{sign} {difference.subject}: {difference.kind}: {difference.reason}{_places(difference)}"
            yield f"\033[{_COLOURS[sign]}m{line}\033[0m" if colour else line
        if names > most_names and (behind is None or behind.where != where):
            yield f"{indent}~ renamed: {names - most_names:,} more (--all shows each)"


def _places(difference: Difference) -> str:
    sides = [str(place.line_column()[0]) for place in (difference.left, difference.right) if place is not None]
    return f"  (line {' -> '.join(sides)})" if sides else ""


def _record(difference: Difference) -> dict[str, Any]:
    names = ("kind", "subject", "where", "reason")
    record = {name: getattr(difference, name) for name in names}
    return {**record, "left": _place(difference.left), "right": _place(difference.right)}


def _place(location: Location | None) -> dict[str, Any] | None:
    if location is None:
        return None
    line, column = location.line_column()
    return {"file": location.source.name, "line": line, "column": column}


def console_main() -> None:
    """The entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


if __name__ == "__main__":
    console_main()
