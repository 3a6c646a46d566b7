"""From a tool's `main` to a process: streams, colour and the exits that are not about the input."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence

from mcir.files import Terminated

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import NoReturn, TextIO

    Main = Callable[[Sequence[str], TextIO, TextIO, TextIO], int]

EXIT_GOOD, EXIT_BAD_INPUT, EXIT_BAD_USAGE = 0, 1, 2
EXIT_INTERNAL = 70  # a fault of MCIR itself (EX_SOFTWARE)
EXIT_INTERRUPTED = 130
EXIT_PIPE, EXIT_TERMINATED = 141, 143  # what the shell reports for a reader that went away, and for SIGTERM

_JSON_FLAGS = frozenset(("--diagnostics=json", "--remarks=json"))


def run_console(tool: str, main: Main) -> int:
    """Runs `main` on the process's arguments and streams; the exit code is for sys.exit.

    A closed pipe and an interrupt end quietly; a fault of MCIR itself is one line, with the traceback
    only under MCIR_DEBUG=1, and so is one of a pass or an op of a plugin. Notes on an exception (`add_note`) are shown
    with it.
    """
    stdin, stdout, stderr = _streams()
    try:
        return _flushed(main(sys.argv[1:], stdin, stdout, stderr), stdout)
    except BrokenPipeError:
        _discard_output(sys.stdout)
        return EXIT_PIPE
    except KeyboardInterrupt as error:
        _say(stderr, *_notes(error))
        return EXIT_INTERRUPTED
    except Terminated as error:
        _say(stderr, *_notes(error))
        return EXIT_TERMINATED
    except MemoryError as error:
        error.__traceback__ = error.__context__ = None  # its frames hold the module: memory to say this with
        _say(stderr, f"{tool}: error: out of memory: the input is too large for this machine", *_notes(error))
        return EXIT_BAD_INPUT
    except Exception as error:
        if os.environ.get("MCIR_DEBUG"):
            import traceback

            traceback.print_exc(file=stderr)
        _say(stderr, *_crash_lines(tool, error))
        return EXIT_INTERNAL


def leave(code: int) -> NoReturn:
    """Ends the process with `code`, without taking every object apart: of a large module that takes long."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed, or gone: that has been told
            code = code or EXIT_BAD_INPUT
    os._exit(code)


def _crash_lines(tool: str, error: Exception) -> list[str]:
    """What is told of a crash: text, or an object where diagnostics are asked for as JSON."""
    from mcir.tools.faults import fault_text

    message, hint = fault_text(error)
    if not _JSON_FLAGS.isdisjoint(sys.argv):
        from mcir.diagnostics import Diagnostic, Note
        from mcir.tools.records import diagnostic_record
        from mcir.tools.report import json_line

        said = Diagnostic(message.removeprefix("error: "), hint=hint, notes=list(map(Note, _notes(error))))
        return [json_line(diagnostic_record(said))]
    return [f"{tool}: {message}", f"  {hint}", *_notes(error)]


def _notes(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", ()))


def note_terminal(tool: str, path: str, stdin: TextIO, stderr: TextIO) -> None:
    """Says that a tool waits for what is typed: without a file every tool reads standard input."""
    if path == "-" and stdin.isatty():
        _say(stderr, f"{tool}: reading standard input (Ctrl-D ends it; {tool} --help shows the options)")


def _streams() -> tuple[TextIO, TextIO, TextIO]:
    """The process's streams in UTF-8 with plain line ends; one that is closed reads or writes nothing."""
    sys.stdout, sys.stderr = _whole_writes(sys.stdout), _whole_writes(sys.stderr)
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")
    stderr = _Patient(sys.stderr) if sys.stderr is not None else io.StringIO()
    return sys.stdin or io.StringIO(), sys.stdout or _Closed(), stderr


def _whole_writes(stream: TextIO) -> TextIO:
    """The stream, such that what is written arrives as a whole or is an error.

    Under PYTHONUNBUFFERED or `python -u` text goes to the system in one write, and what that does not take (the disk
    gets full, the reader goes away) is lost without a word.
    """
    own = stream is sys.__stdout__ or stream is sys.__stderr__  # others belong to who put them there
    if own and isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, io.RawIOBase):
        raw = io.FileIO(stream.fileno(), "w", closefd=False)
        return io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=True)
    return stream


class _Closed(io.StringIO):
    """Standard output that the caller closed: writing to it is an error, as for any tool."""

    def write(self, text: str) -> int:
        raise OSError(9, os.strerror(9))


class _Patient(io.StringIO):
    """Standard error. Where it takes nothing any more (a full disk, a reader that went away) the work goes on."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            _discard_output(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            _discard_output(self._stream)

    def isatty(self) -> bool:
        return self._stream.isatty()


def _say(stderr: TextIO, *lines: str) -> None:
    try:  # no import: there may be no memory for one
        for line in lines:
            print(line, file=stderr)
    except (OSError, ValueError):
        pass


def _flushed(code: int, stdout: TextIO) -> int:
    """`code`, once nothing is left for Python to write at exit; a full disk has been reported by then."""
    try:
        stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:
        _discard_output(stdout)
        return code or EXIT_BAD_INPUT
    return code


def _discard_output(stream: TextIO) -> None:
    """Python flushes its streams once more at exit: they must not meet the closed pipe again."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)
