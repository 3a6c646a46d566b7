"""`mcir-fmt`: the canonical form of MCIR text, comments kept.

    mcir-fmt a.mcir b.mcir        formats the files in place
    mcir-fmt --check a.mcir       names the files that are not in canonical form
    mcir-fmt < a.mcir             formats standard input to standard output

A file is formatted if it can be parsed; whether it is valid does not matter. Before a file is written, its new text is
parsed again and must give the same module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.files import read_bytes, read_source, source_of, write_stream, write_text
from mcir.location import Source
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.tools.arguments import SWITCH, Flag
from mcir.tools.command import Command, Exit
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_GOOD, note_terminal, run_console
from mcir.tools.report import Reporter

COMMAND = Command(
    "mcir-fmt",
    "[--check] [FILE...]",
    "Formats MCIR files in place; standard input (no FILE, or -) goes to standard output.",
    (Flag("--check", SWITCH, "write nothing; name the files that would change and exit with 1 if there are any"),),
    (0, None),
    (
        ("mcir-fmt examples/grouped_query.mcir", "format a file in place"),
        ("mcir-fmt --check examples/attention.mcir", "is it in canonical form?"),
        ("mcir-fmt < examples/grouped_query.mcir", "from standard input to standard output"),
    ),
    ("exit code: 0 good, 1 a file cannot be read, parsed or written, or would change (--check), 2 bad usage",),
)


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
    reporter = Reporter(stderr)
    code = EXIT_GOOD
    for path in given.operands or ["-"]:
        try:
            note_terminal(COMMAND.name, path, stdin, stderr)
            if path == "-":
                same = _format_stream(read_source(path, stdin), given.on("--check"), stdout)
            else:
                same = _format_file(path, given.on("--check"), stdout)
        except MCIRError as error:
            reporter.show(error.diagnostics)
            same = False
        code = code if same else EXIT_BAD_INPUT
    return code


def _format_stream(source: Source, check: bool, stdout: TextIO) -> bool:
    """Formats standard input; False where `--check` finds that it would change."""
    formatted = format_text(source.text, source.name)
    if not check:
        write_stream(stdout, formatted)
        return True
    return _tell(source.name, formatted == source.text, stdout)


def _format_file(path: str, check: bool, stdout: TextIO) -> bool:
    """Formats one file; False where `--check` finds that it would change."""
    if not check and os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise MCIRError(f"{path} is no regular file: it cannot be formatted in place")
    data = read_bytes(path)
    formatted = format_text(source_of(data, path).text, path)
    same = formatted.encode() == data  # line ends and byte order marks are no part of the text any more
    if check:
        return _tell(path, same, stdout)
    if not same:
        if read_bytes(path) != data:
            raise MCIRError(f"{path}: changed while it was formatted: nothing is written")
        write_text(path, formatted)
    return True


def _tell(name: str, same: bool, stdout: TextIO) -> bool:
    if not same:
        write_stream(stdout, f"would change: {name}\n")
    return same


def console_main() -> None:
    """The entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


if __name__ == "__main__":
    console_main()
