"""Files in and out, for every tool: strict UTF-8 reading and atomic writing.

All faults come as MCIRError with one diagnostic; nothing here prints.
"""

from __future__ import annotations

import errno
import os
import stat

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.location import Location, Source

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any, TextIO

STDIN_NAME = "<stdin>"
# How files begin that are no text in UTF-8, and what to do with them; an ONNX model begins with its IR version.
_OTHER_FILES = (
    ((b"\xff\xfe", b"\xfe\xff"), "the file looks like UTF-16: save it as UTF-8"),
    (b"\x08", "the file looks like an ONNX model: mcir-translate --import-onnx reads it"),
    (b"PK\x03\x04", "the file looks like an archive; mcir-translate --import-torch reads exported programs"),
)


class Terminated(BaseException):
    """The process was told to end (SIGTERM) within `terminations`."""


class terminations:
    """Within, SIGTERM raises Terminated, so that what was begun is tidied up. Only the main thread can see to that."""

    def __enter__(self) -> None:
        import signal  # mostly nothing has to be tidied up

        self._known: Any = None
        try:
            self._known = signal.signal(signal.SIGTERM, _stop)
        except ValueError:
            return

    def __exit__(self, *_: object) -> None:
        import signal

        if self._known is not None:
            signal.signal(signal.SIGTERM, self._known)


def _stop(number: int, frame: object) -> None:
    raise Terminated


def read_source(path: str, stdin: TextIO) -> Source:
    """The text of the file `path`, or of `stdin` for "-", as a Source.

    UTF-8; a byte order mark is dropped and CRLF becomes LF. Raises MCIRError for a path that cannot be
    read and for invalid UTF-8 (with byte offset, line and column).
    """
    if path == "-":
        name, data = STDIN_NAME, _read_stream(stdin)
    else:
        name, data = path, read_bytes(path)
    return source_of(data, name)


def source_of(data: bytes | str, name: str) -> Source:
    """What was read from `name` as a Source; see `read_source`."""
    text = data if isinstance(data, str) else decode(data, name)
    return Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n"))


def read_bytes(path: str) -> bytes:
    """The bytes of the file `path`. Raises MCIRError if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        raise _refuse(f"no such file: {path}") from None
    except IsADirectoryError:
        raise _refuse(f"{path} is a folder, not a file") from None
    except (OSError, ValueError) as error:
        raise _refuse(f"cannot read {path}: {_reason(error)}") from None


def real_path(path: str) -> str:
    """`path` with its links resolved; a path that no file can have is left as it is."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def decode(data: bytes, name: str) -> str:
    """`data` as UTF-8 text; `name` stands in the MCIRError for a byte that is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = len(data[: error.start].decode("utf-8"))
        source = Source(name, data.decode("utf-8", errors="replace"))
        hint = next((hint for beginning, hint in _OTHER_FILES if data.startswith(beginning)), "")
        message = f"invalid UTF-8: byte 0x{data[error.start]:02x} at byte offset {error.start}"
        raise MCIRError(Diagnostic(message, Location(source, offset), hint=hint)) from None


def write_text(path: str, text: str) -> None:
    """Writes `text` as UTF-8 to the file `path`; see `write_bytes`."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _refuse(f"cannot write {path}: character U+{ord(text[error.start]):04X} has no UTF-8 form") from None
    write_bytes(path, data)


def write_bytes(path: str, data: bytes) -> None:
    """Writes the file `path` as a whole or not at all. Raises MCIRError.

    A regular file is replaced in one step and keeps its permissions, and its owner where that is allowed; a symlink
    stays and what it points to is replaced. Devices, pipes and anything under /dev or /proc are written in place.
    """
    try:
        known = _existing(path)
        if known is not None and stat.S_ISDIR(known.st_mode):
            raise _refuse(f"cannot write {path}: it is a folder")
        if _in_place(path, known):
            with open(path, "wb") as stream:
                stream.write(data)
        else:
            _replace(os.path.realpath(path), data, known)
    except FileNotFoundError:
        raise _refuse(f"cannot write {path}: the folder does not exist") from None
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise _refuse(f"cannot write {path}: {_reason(error)}") from None


def write_stream(stream: TextIO, text: str, name: str = "<stdout>") -> None:
    """Writes `text` to an open stream and flushes it. Raises MCIRError; BrokenPipeError goes through."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise _refuse(f"cannot write {name}: {_reason(error)}") from None


def _read_stream(stream: TextIO) -> bytes | str:
    binary = getattr(stream, "buffer", None)
    try:
        data: bytes | str = binary.read() if binary is not None else stream.read()
        return data
    except (OSError, ValueError) as error:
        raise _refuse(f"cannot read {STDIN_NAME}: {_reason(error)}") from None


def _existing(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _in_place(path: str, known: os.stat_result | None) -> bool:
    special = known is not None and not stat.S_ISREG(known.st_mode)
    return special or os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _replace(target: str, data: bytes, known: os.stat_result | None) -> None:
    if known is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    import contextlib  # mostly the output is a stream

    with terminations():
        handle, temporary = _temporary(os.path.dirname(target), 0o666 if known is None else 0o600)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            if known is not None:
                with contextlib.suppress(OSError, AttributeError):  # only root may give a file away
                    os.chown(temporary, known.st_uid, known.st_gid)
                os.chmod(temporary, stat.S_IMODE(known.st_mode))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def _temporary(folder: str, mode: int) -> tuple[int, str]:
    """A new file in `folder`, open for writing. (tempfile does this too, but takes long to import.)"""
    import contextlib

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = os.path.join(folder, f".mcir-{os.getpid():x}-{os.urandom(6).hex()}.tmp")
        with contextlib.suppress(FileExistsError):
            return os.open(path, flags, mode), path


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _refuse(message: str) -> MCIRError:
    return MCIRError(Diagnostic(message))
