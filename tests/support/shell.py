"""Runs lit RUN lines made of known tools inside this process.

A process for each `mcir-opt %s | filecheck %s` costs a third of a second; a call costs a few
milliseconds. lit's own parser reads the line, so what a line means is the same in both ways of
running it. `plan` answers None for a line with anything else in it: lit's own shell runs those.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from lit import ShUtil
from lit.ShCommands import Command, Pipeline, Seq

PYPROJECT = Path(__file__).parent.parent.parent / "pyproject.toml"


def _tools() -> dict[str, str]:
    """Every command that the package installs, and filecheck, with the module that it is."""
    scripts = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["scripts"]
    modules = {name: entry.partition(":")[0] for name, entry in scripts.items()}
    return modules | {"filecheck": "tests.support.filecheck_tool"}


# Tool -> module whose `main(argv, stdin, stdout, stderr) -> int` is the tool.
TOOLS: dict[str, str] = _tools()
REDIRECTIONS = {(">",), (">", 2), (">>",), (">&", 2), ("<",)}


class ToolCrash(Exception):
    """A tool left an exception uncaught. That is never right, not even under `not`."""


@dataclass(slots=True)
class Executed:
    """One command that ran: its text, exit status and what it wrote, redirected or not."""

    command: str
    status: int
    stdout: str
    stderr: str


@dataclass(slots=True)
class Call:
    """One tool call of a pipeline, with `not` and the redirections taken off."""

    command: Command
    tool: str
    argv: list[str]
    negate: bool = False
    stdin: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None
    append: bool = False
    merge: bool = False  # 2>&1


@dataclass(slots=True)
class Stream:
    """An output stream of a call. It has a `buffer`, as the real one has."""

    raw: io.BytesIO = field(default_factory=io.BytesIO)
    text: TextIO = field(init=False)

    def __post_init__(self) -> None:
        self.text = io.TextIOWrapper(self.raw, encoding="utf-8", errors="backslashreplace", write_through=True)

    def data(self) -> bytes:
        self.text.flush()
        return self.raw.getvalue()


def plan(line: str) -> Seq | Pipeline | None:
    """The parsed line if every command in it is a known tool under known redirections, else None."""
    try:
        parsed = ShUtil.ShParser(line, False, True).parse()
    except ValueError:
        return None
    return parsed if all(map(_is_known, _commands(parsed))) else None


def run(parsed: Seq | Pipeline, cwd: Path, log: list[Executed]) -> int:
    """Runs a planned line in `cwd`, appends each command to `log` and returns the exit status.

    Raises ToolCrash when a tool lets an exception out.
    """
    if isinstance(parsed, Pipeline):
        return _run_pipeline(parsed, cwd, log)
    status = run(parsed.lhs, cwd, log)
    goes_on = {"&&": status == 0, "||": status != 0, ";": True}[parsed.op]
    return run(parsed.rhs, cwd, log) if goes_on else status


def _run_pipeline(pipeline: Pipeline, cwd: Path, log: list[Executed]) -> int:
    status, piped = 0, b""
    for command in pipeline.commands:
        call = _call(command, cwd)
        own, piped = _run_call(call, piped, cwd, log)
        status = own or status  # pipefail, as lit's shell has it
    return status


def _run_call(call: Call, piped: bytes, cwd: Path, log: list[Executed]) -> tuple[int, bytes]:
    """The status after `not`, and what goes down the pipe."""
    source = call.stdin.read_bytes() if call.stdin else piped
    out = Stream()
    err = out if call.merge else Stream()
    with _surroundings(cwd):
        status = _invoke(call, io.TextIOWrapper(io.BytesIO(source), encoding="utf-8"), out.text, err.text)
    status = int(status == 0) if call.negate else status
    log.append(Executed(_text(call.command), status, _show(out), "" if call.merge else _show(err)))
    if call.stderr:
        call.stderr.write_bytes(err.data())
    if call.stdout is None:
        return status, out.data()
    with call.stdout.open("ab" if call.append else "wb") as file:
        file.write(out.data())
    return status, b""


def _invoke(call: Call, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    main = importlib.import_module(TOOLS[call.tool]).main
    try:
        return int(main(call.argv, stdin, stdout, stderr))
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except Exception as crash:
        raise ToolCrash(f"{_text(call.command)}: {type(crash).__name__}: {crash}") from crash


@contextlib.contextmanager
def _surroundings(cwd: Path) -> Iterator[None]:
    """Folder and terminal width as a process started by lit has them."""
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        with contextlib.chdir(cwd):
            yield
    finally:
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns


def _call(command: Command, cwd: Path) -> Call:
    args = list(command.args)
    negate = False
    while args[0] in ("not", "!"):
        negate = not negate
        del args[0]
    call = Call(command, args[0], args[1:], negate)
    for operator, target in command.redirects:
        _redirect(call, operator, cwd / target)
    return call


def _redirect(call: Call, operator: tuple[Any, ...], target: Path) -> None:
    match operator:
        case (">&", 2):
            call.merge = True
        case (">", 2):
            call.stderr = target
        case ("<",):
            call.stdin = target
        case (kind,):
            call.stdout, call.append = target, kind == ">>"


def _is_known(command: Command) -> bool:
    if not all(isinstance(arg, str) for arg in command.args):
        return False  # a glob
    tools = [arg for arg in command.args if arg not in ("not", "!")]
    redirections = (
        operator in REDIRECTIONS and isinstance(target, str) and (operator[0] != ">&" or target == "1")
        for operator, target in command.redirects
    )
    return bool(tools) and tools[0] in TOOLS and all(redirections)


def _commands(parsed: Seq | Pipeline) -> Iterator[Command]:
    if isinstance(parsed, Pipeline):
        yield from parsed.commands
    else:
        yield from _commands(parsed.lhs)
        yield from _commands(parsed.rhs)


def _text(command: Command) -> str:
    parts = [shlex.quote(str(arg)) for arg in command.args]
    for operator, target in command.redirects:
        parts.append("".join(map(str, reversed(operator))) + shlex.quote(target))
    return " ".join(parts)


def _show(stream: Stream) -> str:
    return stream.data().decode("utf-8", errors="replace")
