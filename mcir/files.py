"""Files in and out, for every tool: strict UTF-8 reading and atomic writing.

All faults come as MCIRError with one diagnostic; nothing here prints.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.location import Location, Source

STDIN_NAME = "<stdin>"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_source(path: str, stdin: TextIO) -> Source:
    """The text of the file `path`, or of `stdin` for "-", as a Source.

    UTF-8; a byte order mark is dropped and CRLF becomes LF. Raises MCIRError for a path that cannot be
    read and for invalid UTF-8 (with byte offset, line and column).
    """
    if path == "-":
        name, data = STDIN_NAME, _read_stream(stdin)
    else:
        name, data = path, read_bytes(path)
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


def decode(data: bytes, name: str) -> str:
    """`data` as UTF-8 text; `name` stands in the MCIRError for a byte that is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = len(data[: error.start].decode("utf-8"))
        source = Source(name, data.decode("utf-8", errors="replace"))
        hint = "the file looks like UTF-16: save it as UTF-8" if data.startswith(_UTF16_MARKS) else ""
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

    A regular file is replaced in one step and keeps its permissions; a symlink stays and what it points to
    is replaced. Devices, pipes and anything under /dev or /proc are written in place.
    """
    try:
        mode = _existing_mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise _refuse(f"cannot write {path}: it is a folder")
        if _in_place(path, mode):
            with open(path, "wb") as stream:
                stream.write(data)
        else:
            _replace(os.path.realpath(path), data, mode)
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


def _existing_mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _in_place(path: str, mode: int | None) -> bool:
    return (mode is not None and not stat.S_ISREG(mode)) or os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _replace(target: str, data: bytes, mode: int | None) -> None:
    import tempfile  # slow to import, and mostly the output is a stream

    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    folder, name = os.path.split(target)
    handle, temporary = tempfile.mkstemp(prefix=f".{name[:64]}.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)  # the mask can only be read by setting it
    os.umask(mask)
    return mask


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _refuse(message: str) -> MCIRError:
    return MCIRError(Diagnostic(message))
