"""From a tool's `main` to a process: streams, colour and the exits that are not about the input."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TextIO

Main = Callable[[Sequence[str], TextIO, TextIO, TextIO], int]

EXIT_GOOD, EXIT_BAD_INPUT, EXIT_BAD_USAGE = 0, 1, 2
EXIT_INTERNAL = 70  # a fault of MCIR itself (EX_SOFTWARE)
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141  # what the shell reports for a reader that went away


def run_console(tool: str, main: Main) -> int:
    """Runs `main` on the process's arguments and streams; the exit code is for sys.exit.

    A closed pipe and an interrupt end quietly; a fault of MCIR itself is one line, with the traceback
    only under MCIR_DEBUG=1.
    """
    stdin, stdout, stderr = _streams()
    try:
        return _flushed(main(sys.argv[1:], stdin, stdout, stderr), stdout)
    except BrokenPipeError:
        _discard_output()
        return EXIT_PIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except MemoryError:
        _say(stderr, f"{tool}: error: out of memory: the input is too large for this machine")
        return EXIT_BAD_INPUT
    except Exception as error:
        if os.environ.get("MCIR_DEBUG"):
            traceback.print_exc(file=stderr)
        first_line = (str(error).splitlines() or [""])[0][:200]
        _say(stderr, f"{tool}: internal error: {type(error).__name__}: {first_line}")
        _say(stderr, "  this is a bug in MCIR, not in your input; MCIR_DEBUG=1 shows where; please report it")
        return EXIT_INTERNAL


def note_terminal(tool: str, path: str, stdin: TextIO, stderr: TextIO) -> None:
    """Says that a tool waits for what is typed: without a file every tool reads standard input."""
    if path == "-" and stdin.isatty():
        _say(stderr, f"{tool}: reading standard input (Ctrl-D ends it; {tool} --help shows the options)")


def _streams() -> tuple[TextIO, TextIO, TextIO]:
    """The process's streams in UTF-8 with plain line ends; one that is closed reads or writes nothing."""
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")
    return sys.stdin or io.StringIO(), sys.stdout or _Closed(), sys.stderr or io.StringIO()


class _Closed(io.StringIO):
    """Standard output that the caller closed: writing to it is an error, as for any tool."""

    def write(self, text: str) -> int:
        raise OSError(9, os.strerror(9))


def _say(stderr: TextIO, line: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(line, file=stderr)


def _flushed(code: int, stdout: TextIO) -> int:
    """`code`, once nothing is left for Python to write at exit; a full disk has been reported by then."""
    try:
        stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:
        _discard_output()
        return code or EXIT_BAD_INPUT
    return code


def _discard_output() -> None:
    """Python flushes standard output once more at exit: it must not meet the closed pipe again."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
