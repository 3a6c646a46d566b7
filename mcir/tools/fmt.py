"""`mcir-fmt`: the canonical form of MCIR text, comments kept.

    mcir-fmt a.mcir b.mcir        formats the files in place
    mcir-fmt models/              formats the .mcir files in a folder and the folders in it, hidden ones left out
    mcir-fmt --check a.mcir       names the files that are not in canonical form
    mcir-fmt --diff a.mcir        shows what would change
    mcir-fmt < a.mcir             formats standard input to standard output

A file is formatted if it can be parsed; whether it is valid does not matter. Before a file is written, its new text is
parsed again and must give the same module.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.files import read_bytes, read_source, source_of, write_stream, write_text
from mcir.location import Source
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.tools.arguments import SWITCH, Flag
from mcir.tools.command import Command, Exit, Given
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_GOOD, note_terminal, run_console
from mcir.tools.report import Reporter, use_colour

COMMAND = Command(
    "mcir-fmt",
    "[--check] [--diff] [FILE|FOLDER...]",
    "Formats MCIR files in place; standard input (no FILE, or -) goes to standard output.",
    (
        Flag("--check", SWITCH, "write nothing; name the files that would change and exit with 1 if there are any"),
        Flag("--diff", SWITCH, "write nothing; show what would change and exit with 1 if there is anything"),
    ),
    (0, None),
    (
        ("mcir-fmt examples/grouped_query.mcir", "format a file in place"),
        ("mcir-fmt --check --diff examples", "is all in a folder in canonical form, and where is it not?"),
        ("mcir-fmt < examples/grouped_query.mcir", "from standard input to standard output"),
    ),
    ("exit code: 0 good, 1 a file cannot be read, parsed or written, or would change (--check, --diff), 2 bad usage",),
)

_COLOURS = {"-": "31", "+": "32", "@": "36"}


def format_text(text: str, filename: str = "<string>") -> str:
    """`text` in canonical form. Raises MCIRError if it cannot be parsed."""
    module = parse_module(text, filename)
    formatted = print_module(module)
    if parse_module(formatted, filename) != module:
        raise MCIRError(Diagnostic(f"{filename}: the formatted text would mean something else; this is a bug in MCIR"))
    return formatted


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool; see `COMMAND` for the exit codes. A file that cannot be formatted does not stop the others."""
    try:
        given = COMMAND.read(argv, stdout, stderr)
    except Exit as done:
        return done.code
    with COMMAND.reporter(given, stderr) as reporter:
        return _format_all(given, stdin, stdout, stderr, reporter)


def _format_all(given: Given, stdin: TextIO, stdout: TextIO, stderr: TextIO, reporter: Reporter) -> int:
    code = EXIT_GOOD
    for path in _files(given.operands or ["-"]):
        try:
            note_terminal(COMMAND.name, path, stdin, stderr)
            if path == "-":
                same = _format_stream(read_source(path, stdin), given, stdout)
            else:
                same = _format_file(path, given, stdout)
        except MCIRError as error:
            reporter.show(error.diagnostics)
            same = False
        code = code if same else EXIT_BAD_INPUT
    return code


def _files(paths: Sequence[str]) -> Iterator[str]:
    """The files that are named, and for a folder the MCIR files in it, in the order of their names."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, inner, names in os.walk(path):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".mcir"))


def _format_stream(source: Source, given: Given, stdout: TextIO) -> bool:
    """Formats standard input; False where `--check` or `--diff` finds that it would change."""
    formatted = format_text(source.text, source.name)
    if not _only_looks(given):
        write_stream(stdout, formatted)
        return True
    return _tell(source, formatted, formatted == source.text, given, stdout)


def _format_file(path: str, given: Given, stdout: TextIO) -> bool:
    """Formats one file; False where `--check` or `--diff` finds that it would change."""
    if not _only_looks(given) and os.path.exists(path) and not os.path.isfile(path):
        raise MCIRError(f"{path} is no regular file: it cannot be formatted in place")
    data = read_bytes(path)
    source = source_of(data, path)
    formatted = format_text(source.text, path)
    same = formatted.encode() == data  # line ends and byte order marks are no part of the text any more
    if _only_looks(given):
        return _tell(source, formatted, same, given, stdout)
    if not same:
        if read_bytes(path) != data:
            raise MCIRError(f"{path}: changed while it was formatted: nothing is written")
        write_text(path, formatted)
    return True


def _only_looks(given: Given) -> bool:
    return given.on("--check") or given.on("--diff")


def _tell(source: Source, formatted: str, same: bool, given: Given, stdout: TextIO) -> bool:
    if not same and given.on("--check"):
        write_stream(stdout, f"would change: {source.name}\n")
    if not same and given.on("--diff"):
        write_stream(stdout, _difference(source, formatted, use_colour(stdout, given.colour)))
    return same


def _difference(source: Source, formatted: str, colour: bool) -> str:
    """What would change, as `diff -u` shows it; `patch` takes it."""
    from difflib import unified_diff

    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (source.text, formatted))
    lines = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
             for line in unified_diff(old, new, source.name, f"{source.name} (formatted)")]  # fmt: skip
    if not lines:
        return f"{source.name}: only line ends or a byte order mark would change\n"
    if colour:
        lines = [f"\033[{_COLOURS[line[0]]}m{line[:-1]}\033[0m\n" if line[0] in _COLOURS else line for line in lines]
    return "".join(lines)


def console_main() -> None:
    """The entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


if __name__ == "__main__":
    console_main()
