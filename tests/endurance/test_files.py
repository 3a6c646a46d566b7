"""Files, disks, pipes and signals: whatever fails, the old file is whole, nothing is left over, a line says why."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcir import files
from mcir.tools import diff, fmt, opt, reduce, run, translate
from tests.endurance.seeds import MODELS, lowered
from tests.unit.tool_harness import run as run_tool

GRAPH = "graph @g(%x: tensor<4xfp32>) {\n  %y = neg %x : tensor<4xfp32>\n  return %y\n}\n"
UGLY = GRAPH.replace("  ", "     ")
TOOLS = ("opt", "run", "translate", "fmt", "diff", "reduce", "lsp")
# A command line for each tool that reads standard input and writes to standard output.
FILTERS = {
    "opt": [], "run": ["-"], "translate": ["--dot", "-"], "fmt": [], "diff": ["-", "/dev/null"],
    "reduce": ["--test=grep -q .", "-"],
}  # fmt: skip
# Which tool writes a file, and with which flag.
WRITERS: dict[str, tuple[Any, list[str]]] = {
    "mcir-opt": (opt.main, ["-o"]),
    "mcir-translate": (translate.main, ["--dot", "-o"]),
    "mcir-translate, a page": (translate.main, ["--html"]),
    "mcir-run": (run.main, ["--output"]),
    "mcir-reduce": (reduce.main, ["--test=true", "--max-tests=1", "-o"]),
}


def start(tool: str, *argv: object, **options: Any) -> subprocess.Popen[bytes]:
    """The tool as a process of its own."""
    command = [sys.executable, "-m", f"mcir.tools.{tool}", *map(str, argv)]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{**streams, **options})


def finished(process: subprocess.Popen[bytes], data: bytes | None = None) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(data, timeout=60)
    return process.returncode, out or b"", err or b""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a text; nothing of ours may be left over in it."""
    (tmp_path / "in.mcir").write_text(GRAPH)
    yield tmp_path
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".mcir")] == []


# -- a disk that fails ----------------------------------------------------------------------------------------


class _Failing:
    """Stands for the `os` that files.py sees: one call fails."""

    def __init__(self, name: str, code: int) -> None:
        self._name, self._code = name, code

    def __getattr__(self, name: str) -> Any:
        if name == self._name:
            return self._fail
        return getattr(os, name)

    def _fail(self, *_: object, **__: object) -> None:
        raise OSError(self._code, os.strerror(self._code))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO, errno.EFBIG])
@pytest.mark.parametrize("step", ["stat", "open", "fdopen", "chmod", "replace"])
@pytest.mark.parametrize("tool", WRITERS)
def test_whatever_step_fails_the_old_file_is_whole(
    tool: str, step: str, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main, flags = WRITERS[tool]
    target = folder / "out"
    target.write_text("precious")
    monkeypatch.setattr(files, "os", _Failing(step, code))
    ran = run_tool(main, *flags[:-1], f"{flags[-1]}={target}", folder / "in.mcir")
    assert ran.code == 1 and re.fullmatch(f"error: cannot write (.*): {os.strerror(code)}\n", ran.err)
    assert str(target) in ran.err or tool == "mcir-reduce"  # that writes candidates first
    assert target.read_text() == "precious" and ran.out == ""


@pytest.mark.parametrize("tool", ["opt", "fmt"])
def test_a_full_disk(tool: str, folder: Path) -> None:
    """The system stops the process at 64 kB of a file of more."""
    text = "".join(f"graph @g{at}() {{ return }}\n" for at in range(5000))
    (folder / "big.mcir").write_text(text)
    target = folder / ("out.mcir" if tool == "opt" else "big.mcir")
    argv = ["big.mcir", "-o", "out.mcir"] if tool == "opt" else ["big.mcir"]
    (folder / "out.mcir").write_text("precious")
    before = target.read_text()
    limit: Callable[[], None] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))  # noqa: E731
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    code, out, err = finished(start(tool, *argv, cwd=folder, preexec_fn=limit, env=environment))
    assert (code, out) == (1, b"") and err == f"error: cannot write {target.name}: File too large\n".encode()
    assert target.read_text() == before


# -- places to write to -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", WRITERS)
def test_places_that_cannot_be_written(tool: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    os.symlink("loop", "loop")
    main, flags = WRITERS[tool]
    for place, said in {
        ".": "it is a folder", "missing/x": "the folder does not exist", "in.mcir/x": "Not a directory", "a\0b": "null",
        "n" * 300: "File name too long", "loop": "symbolic links", "/proc/version": "", "/dev/full": "No space left",
    }.items():  # fmt: skip
        ran = run_tool(main, *flags[:-1], f"{flags[-1]}{'' if flags[-1] == '-o' else '='}{place}", "in.mcir")
        assert (ran.code, ran.out) == (1, "") and f"error: cannot write {place}: " in ran.err and said in ran.err
    assert sorted(os.listdir()) == ["in.mcir", "loop"] and Path("in.mcir").read_text() == GRAPH


@pytest.mark.parametrize("name", ["🙂" * 62, "a" * 250, " ", "-x", "é\n", "\udcff"])
def test_names_that_files_may_have(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the system allows, and of any bytes."""
    monkeypatch.chdir(folder)
    assert run_tool(opt.main, "in.mcir", f"-o{name}").code == 0
    assert Path(name).read_text() == GRAPH
    ran = run_tool(fmt.main, "--check", "--", name)
    assert (ran.code, ran.err) == (0, "")


def test_a_link_stays_and_what_it_names_is_replaced(folder: Path) -> None:
    (folder / "far").mkdir()
    (folder / "far" / "real.mcir").write_text(UGLY)
    (folder / "far" / "real.mcir").chmod(0o640)
    (folder / "link.mcir").symlink_to("far/real.mcir")
    (folder / "new.mcir").symlink_to("far/not_yet.mcir")
    assert run_tool(fmt.main, folder / "link.mcir").code == 0
    assert run_tool(opt.main, folder / "in.mcir", "-o", folder / "new.mcir").code == 0
    assert (folder / "link.mcir").is_symlink() and (folder / "new.mcir").is_symlink()
    assert (folder / "far" / "real.mcir").read_text() == (folder / "far" / "not_yet.mcir").read_text() == GRAPH
    assert (folder / "far" / "real.mcir").stat().st_mode & 0o777 == 0o640


def test_permissions_of_new_and_old_files(folder: Path) -> None:
    known = os.umask(0o027)
    try:
        assert run_tool(opt.main, folder / "in.mcir", "-o", folder / "new.mcir").code == 0
    finally:
        os.umask(known)
    assert (folder / "new.mcir").stat().st_mode & 0o777 == 0o640
    for mode in (0o600, 0o755, 0o666):
        (folder / "new.mcir").chmod(mode)
        assert run_tool(opt.main, folder / "in.mcir", "-o", folder / "new.mcir").code == 0
        assert (folder / "new.mcir").stat().st_mode & 0o777 == mode
    if os.geteuid() == 0:
        os.chown(folder / "new.mcir", 65534, 65534)
        assert run_tool(opt.main, folder / "in.mcir", "-o", folder / "new.mcir").code == 0
        assert (folder / "new.mcir").stat().st_uid == 65534


def test_a_file_that_may_not_be_written_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "in.mcir").write_text(UGLY)
    monkeypatch.setattr(os, "access", lambda *_: False)
    ran = run_tool(fmt.main, folder / "in.mcir")
    assert (ran.code, ran.err) == (1, f"error: cannot write {folder / 'in.mcir'}: Permission denied\n")
    assert (folder / "in.mcir").read_text() == UGLY


# -- in the middle of writing -----------------------------------------------------------------------------------

# Runs a tool that says so and stops for ever once half of its output is in the temporary file.
HALFWAY = """
import os, sys, time
from mcir import files
from mcir.tools import console, {tool}

class Slow:
    def __init__(self, stream): self.stream = stream
    def __enter__(self): return self
    def __exit__(self, *_): self.stream.close()
    def write(self, data):
        self.stream.write(data[: len(data) // 2])
        self.stream.flush()
        os.write(1, b"half")
        time.sleep(60)

class Os:
    def __getattr__(self, name): return getattr(os, name)
    def fdopen(self, *given): return Slow(os.fdopen(*given))

files.os = Os()
sys.exit(console.run_console("tool", {tool}.main))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("tool", ["opt", "fmt"])
def test_a_process_that_is_ended_halfway(tool: str, number: signal.Signals, tmp_path: Path) -> None:
    target = tmp_path / "out.mcir"
    target.write_text(UGLY)
    argv = [str(target)] if tool == "fmt" else [str(target), "-o", str(target)]
    command = [sys.executable, "-c", HALFWAY.format(tool=tool), *argv]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.read(4) == b"half"
    process.send_signal(number)
    code, _, err = finished(process)
    assert target.read_text() == UGLY and err == b""
    left = [path.name for path in tmp_path.iterdir() if path != target]
    if number is signal.SIGKILL:  # nobody can tidy up: one hidden file stays, which says whose it is
        assert code == -9 and len(left) == 1 and left[0].startswith(".mcir-")
    else:
        assert code == {signal.SIGTERM: 143, signal.SIGINT: 130}[number] and left == []


def test_processes_that_are_killed_at_any_time(tmp_path: Path) -> None:
    """The file holds the old text or the new one, whenever the process is killed."""
    new = "".join(f"graph @g{at}() {{\n  return\n}}\n\n" for at in range(3000)).rstrip("\n") + "\n"
    (tmp_path / "in.mcir").write_text(new)
    target = tmp_path / "out.mcir"
    seen = set()
    begin = time.monotonic()
    finished(start("opt", "in.mcir", "-o", "out.mcir", cwd=tmp_path))
    whole = time.monotonic() - begin
    for part in range(8):
        target.write_text("old")
        process = start("opt", "in.mcir", "-o", "out.mcir", cwd=tmp_path)
        time.sleep(whole * (0.6 + 0.1 * part))
        process.kill()
        finished(process)
        seen.add(target.read_text())
    assert seen <= {"old", new}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_reduction_that_is_ended_writes_what_it_has(number: signal.Signals, folder: Path) -> None:
    text = GRAPH + "\n" + GRAPH.replace("@g", "@h")
    (folder / "in.mcir").write_text(text)
    (folder / "test.sh").write_text('#!/bin/sh\nif [ -e begun ]; then touch waits; sleep 60; else touch begun; fi\n')
    (folder / "test.sh").chmod(0o755)
    scratch = folder / "scratch"
    scratch.mkdir()
    process = start(
        "reduce", "--test=./test.sh", "in.mcir", "-oout.mcir", cwd=folder, env={**os.environ, "TMPDIR": str(scratch)},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not (folder / "waits").exists() and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(number)
    code, _, err = finished(process)
    assert code == {signal.SIGTERM: 143, signal.SIGINT: 130}[number] and b"Traceback" not in err
    assert (folder / "out.mcir").read_text() == text and list(scratch.iterdir()) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_an_interrupt_ends_every_tool_quietly(tool: str) -> None:
    """While it waits for its input."""
    process = start(tool, *FILTERS.get(tool, []), env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert process.stdin is not None
    time.sleep(0.1)
    deadline = time.monotonic() + 60
    while not _waits(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code = process.wait(20)
    assert process.stderr is not None and process.stdout is not None
    assert (code, process.stderr.read(), process.stdout.read()) == (130, b"", b"")
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def _waits(number: int) -> bool:
    """Whether a process (or a thread of it) is blocked in a read of its standard input."""
    for path in Path(f"/proc/{number}/task").glob("*/syscall"):
        words = path.read_text().split()
        if words[:2] == ["0", "0x0"] or (words[:1] == ["0"] and int(words[1], 16) < 16 and "0x0" not in words[1:2]):
            return True
    return False


# -- pipes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", FILTERS)
def test_a_reader_that_went_away(tool: str) -> None:
    process = start(tool, *FILTERS[tool])
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    text = lowered()[0] if tool != "run" else GRAPH
    code, _, err = finished(process, text.encode())
    assert (code, err) == (141, b"")


@pytest.mark.parametrize("flag", ["--help", "--version", "--print-completion=bash", ""])
@pytest.mark.parametrize("tool", FILTERS)
def test_a_full_standard_output(tool: str, flag: str) -> None:
    with open("/dev/full", "wb") as full:
        process = start(tool, *([flag] if flag else FILTERS[tool]), stdout=full)
        code, _, err = finished(process, GRAPH.encode())
    trouble = 2 if (tool, flag) == ("diff", "") else 1
    assert (code, err) == (trouble, b"error: cannot write <stdout>: No space left on device\n")


@pytest.mark.parametrize("tool", FILTERS)
def test_a_full_standard_error(tool: str) -> None:
    with open("/dev/full", "wb") as full:
        code, out, _ = finished(start(tool, "--no-such-flag", stderr=full), b"")
        assert (code, out) == (2, b"")
        code, out, _ = finished(start(tool, *FILTERS[tool], stderr=full), b"graph @g(")
        assert (code, out) == {"diff": (2, b""), "reduce": (0, b"(")}.get(tool, (1, b""))


@pytest.mark.parametrize("tool", FILTERS)
def test_closed_standard_streams(tool: str) -> None:
    command = f'{sys.executable} -m mcir.tools.{tool} "$@"'
    argv = ["sh", *FILTERS[tool]]
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        ran = subprocess.run(["sh", "-c", f"{command} {closed}", *argv], input=GRAPH.encode(), capture_output=True)
        assert ran.returncode in (0, 1, 2) and b"Traceback" not in ran.stderr and b"internal" not in ran.stderr


# -- inputs -----------------------------------------------------------------------------------------------------

READERS: dict[str, tuple[Any, list[str]]] = {
    "mcir-opt": (opt.main, []), "mcir-run": (run.main, []), "mcir-fmt": (fmt.main, ["--check"]),
    "mcir-translate": (translate.main, ["--dot"]), "mcir-translate, ONNX": (translate.main, ["--import-onnx"]),
    "mcir-diff": (diff.main, ["/dev/null"]), "mcir-reduce": (reduce.main, ["--test=true"]),
}  # fmt: skip


@pytest.mark.parametrize("tool", READERS)
def test_inputs_that_cannot_be_read(tool: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    os.symlink("loop", "loop")
    Path("bytes.mcir").write_bytes(b"graph \xff")
    Path("nul.mcir").write_bytes(b"graph\0")
    Path("wide.mcir").write_bytes(GRAPH.encode("utf-16"))
    main, flags = READERS[tool]
    for path in (".", "missing", "in.mcir/x", "a\0b", "n" * 300, "loop", "", "bytes.mcir", "nul.mcir", "wide.mcir"):
        if (tool, path) == ("mcir-reduce", "nul.mcir"):
            continue  # any text can be made smaller
        ran = run_tool(main, *flags, path)
        assert ran.code == (2 if tool == "mcir-diff" else 1), path
        assert "error: " in ran.err and ran.out == "" and len(ran.err) < 1500


@pytest.mark.parametrize("tool", READERS)
def test_an_input_without_permission(tool: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, mode: str) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(files, "open", refuse, raising=False)
    main, flags = READERS[tool]
    ran = run_tool(main, *flags, folder / "in.mcir")
    assert ran.code == (2 if tool == "mcir-diff" else 1)
    assert ran.err.endswith(f"error: cannot read {folder / 'in.mcir'}: Permission denied\n") or tool == "mcir-diff"


@pytest.mark.parametrize("tool", ["opt", "translate", "run", "diff", "fmt"])
def test_a_pipe_with_a_name(tool: str, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    argv = {"translate": ["--dot"], "diff": ["in.mcir"], "fmt": ["--check"]}.get(tool, [])
    process = start(tool, *argv, "pipe", cwd=folder)
    (folder / "pipe").write_text(GRAPH)
    code, _, err = finished(process)
    assert (code, err) == (0, b"")


def test_a_pipe_is_not_formatted_in_place(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    ran = run_tool(fmt.main, folder / "pipe")
    assert ran.code == 1 and "no regular file" in ran.err


def test_one_bad_file_among_many(folder: Path) -> None:
    for name in "abcdef":
        (folder / f"{name}.mcir").write_text(UGLY if name != "c" else "graph @g(")
    (folder / "d.mcir").unlink()
    ran = run_tool(fmt.main, *(folder / f"{name}.mcir" for name in "abcdef"))
    assert ran.code == 1 and ran.err.count("error: ") == 2
    assert [(folder / f"{name}.mcir").read_text() for name in "abef"] == [GRAPH] * 4
    assert (folder / "c.mcir").read_text() == "graph @g("


def test_a_truncated_model(folder: Path) -> None:
    data = (MODELS / "silero_vad_op18.onnx").read_bytes()
    for size in (0, 1, 7, len(data) // 2, len(data) - 1):
        (folder / "m.onnx").write_bytes(data[:size])
        ran = run_tool(translate.main, "--import-onnx", folder / "m.onnx", "-o", folder / "out.mcir")
        assert ran.code == 1 and ran.err.startswith("error: ") and not (folder / "out.mcir").exists()


def test_two_writers_of_one_file(folder: Path) -> None:
    texts = []
    for name in ("one", "two"):
        texts.append("".join(f"graph @{name}{at}() {{\n  return\n}}\n\n" for at in range(500)).rstrip("\n") + "\n")
        (folder / f"{name}.mcir").write_text(texts[-1])
    for _ in range(3):
        writers = [start("opt", f"{name}.mcir", "-o", "out.mcir", cwd=folder) for name in ("one", "two")]
        assert [finished(writer)[0] for writer in writers] == [0, 0]
        assert (folder / "out.mcir").read_text() in texts
