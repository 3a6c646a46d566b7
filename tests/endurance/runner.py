"""Runs a case in this process, in a folder of its own, with a limit of time and memory."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import tempfile
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType

from tests.endurance.case import LSP, Case
from tests.endurance.oracle import Ran, judge
from tests.support.shell import TOOLS, Stream

SECONDS = 20  # of processor time, for a case
MEMORY = 6 << 30  # bytes of address space for a process that runs cases
GROWTH = 1024  # MiB by which a process may grow for a case
OURS = str(Path(__file__).parent.parent.parent)


def limit_memory() -> None:
    """For processes that run cases: an endless file shall not take the machine with it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class TimeUp(BaseException):
    """The case takes too long."""


def run_case(case: Case, seconds: float = SECONDS) -> tuple[Ran, str]:
    """What a case did, and what is wrong with it."""
    with tempfile.TemporaryDirectory(prefix="endure-") as folder, _inside(folder, case):
        if case.tool == LSP and case.messages:
            from tests.endurance.lsp_streams import serve

            return Ran(0, "", ""), serve(case.messages)
        before = _peak()
        try:
            with _limited(seconds):
                ran = _call(case)
                ran.files = _files(Path(folder))
                ran.grown = _peak() - before
                fault = judge(case, ran)
        except TimeUp as stop:
            return Ran(None, "", ""), f"takes more than {seconds} s at {place(stop)}\n{_trace(stop)}"
        except Exception as error:
            return Ran(None, "", ""), f"the oracle met {type(error).__name__} at {place(error)}\n{_trace(error)}"
    if not fault and ran.grown > GROWTH:
        fault = f"grows by more than {GROWTH} MiB\n{ran.grown} MiB"
    return ran, fault


def _call(case: Case) -> Ran:
    out, err = Stream(), Stream()
    stdin = io.TextIOWrapper(io.BytesIO(case.stdin), encoding="utf-8")
    code, raised = None, ""
    try:
        code = import_module(TOOLS[case.tool]).main(case.argv, stdin, out.text, err.text)
    except SystemExit as leave:
        raised = f"SystemExit({leave.code}) at {place(leave)}"
    except Exception as error:
        raised = f"{type(error).__name__} at {place(error)}\n{_trace(error)}"
    return Ran(code, out.data().decode("utf-8", "replace"), err.data().decode("utf-8", "replace"), raised=raised)


def place(error: BaseException) -> str:
    """Where of our files an exception comes from, without line numbers: they move."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(OURS)]
    own = [frame for frame in frames if "/tests/" not in frame.filename] or frames
    return f"{os.path.relpath(own[-1].filename, OURS)} {own[-1].name}" if own else "nowhere"


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)[-12:])[-4000:]


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


@contextlib.contextmanager
def _inside(folder: str, case: Case) -> Iterator[None]:
    for name, data in case.files.items():
        Path(folder, name).write_bytes(data)
    with contextlib.chdir(folder):
        yield


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raises TimeUp after that much processor time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeUp

    known = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, known)
