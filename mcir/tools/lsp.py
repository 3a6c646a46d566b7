"""`mcir-lsp`: the language server, on standard input and output. Editors start it; `grammar/EDITORS.md` shows how."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.tools.arguments import SWITCH, Flag
from mcir.tools.command import Command, Exit
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_GOOD, run_console

COMMAND = Command(
    "mcir-lsp",
    "[--stdio]",
    "A language server for MCIR (Language Server Protocol 3.17), on standard input and output.",
    (Flag("--stdio", SWITCH, "talk over standard input and output (the only way, and the default)"),),
    (0, 0),
    (
        ("mcir-lsp --stdio < /dev/null", "what an editor starts; it ends with its client"),
        ("mcir-lsp --version", "is it installed?"),
    ),
    (
        "It shows errors and remarks while you type, hovers, finds and renames, formats, completes, colours and mends,",
        "hints at bytes, and shows the lowered form, the memory account and the picture of a module.",
        "Needs pygls: pip install 'mcir[lsp]'. An extension for VS Code stands in grammar/vscode/.",
    ),
)


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Serves until the client ends it; 1 if pygls is missing, 2 for bad usage."""
    try:
        given = COMMAND.read(argv, stdout, stderr)
    except Exit as done:
        return done.code
    try:
        _serve(stdin, stdout)
    except MCIRError as error:
        with COMMAND.reporter(given, stderr) as reporter:
            reporter.show(error.diagnostics)
        return EXIT_BAD_INPUT
    return EXIT_GOOD


def _serve(stdin: TextIO, stdout: TextIO) -> None:
    try:
        from mcir.lsp.server import make_server
    except ModuleNotFoundError as error:
        hint = "pip install 'mcir[lsp]'"
        raise MCIRError(Diagnostic(f"{COMMAND.name} needs {error.name}", hint=hint)) from None
    try:  # pygls closes the streams that it is given
        streams = os.fdopen(os.dup(stdin.fileno()), "rb"), os.fdopen(os.dup(stdout.fileno()), "wb")
    except OSError:  # also what streams without a file raise
        raise MCIRError(f"{COMMAND.name} needs open standard streams: it is for editors to start") from None
    # the index of a long text is many small objects, none of them garbage for long
    gc.set_threshold(100_000, 50, 100)
    server = make_server()

    def leave(number: int, frame: object) -> None:
        server.end()
        os._exit(128 + number)  # no other way: pygls would wait for a message first

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    server.start_io(*streams)


def console_main() -> None:
    """The entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


if __name__ == "__main__":
    console_main()
