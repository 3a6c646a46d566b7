"""tests/support: what a RUN line means in this process, and what a failing file shows."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import lit.Test
import lit.worker
import pytest

from tests.conftest import LIT_ROOT
from tests.support import shell
from tests.support.lit_format import discover

CONFIG = """
import os, sys
from tests.support.lit_format import InProcessTest
config.name = "sample"
config.test_format = InProcessTest()
config.suffixes = [".mcir"]
config.environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
"""


def echo(argv: list[str], stdin, stdout, stderr) -> int:
    """A tool: writes its arguments, then its input; `fail` and `crash` are what they say."""
    if "crash" in argv:
        raise KeyError("lost")
    print(*argv, file=stdout)
    print("noise", file=stderr)
    stdout.write(stdin.read())
    return 3 if "fail" in argv else 0


main = echo  # the entry by which tests.support.shell finds a tool


@pytest.fixture(autouse=True)
def echo_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shell.TOOLS, "echo-tool", __name__)


def run_file(tmp_path: Path, text: str) -> lit.Test.Result:
    (tmp_path / "lit.cfg.py").write_text(CONFIG)
    (tmp_path / "sample.mcir").write_text(textwrap.dedent(text))
    config, tests = discover(tmp_path)
    assert len(tests) == 1
    result = lit.worker._execute(tests[0], config)
    tests[0].setResult(result)
    return tests[0].result


def run_line(line: str, cwd: Path) -> tuple[int, list[shell.Executed]]:
    planned = shell.plan(line)
    assert planned is not None
    log: list[shell.Executed] = []
    return shell.run(planned, cwd, log), log


def test_a_pipe_hands_the_text_on(tmp_path: Path) -> None:
    status, log = run_line("echo-tool one | echo-tool two", tmp_path)
    assert status == 0
    assert log[1].stdout == "two\none\n"


def test_a_failure_anywhere_in_the_pipe_counts(tmp_path: Path) -> None:
    assert run_line("echo-tool fail | echo-tool two", tmp_path)[0] == 3


def test_not_turns_the_status_round(tmp_path: Path) -> None:
    assert run_line("not echo-tool fail", tmp_path)[0] == 0
    assert run_line("not echo-tool good", tmp_path)[0] == 1
    assert run_line("not not echo-tool fail", tmp_path)[0] == 3


def test_not_does_not_excuse_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(shell.ToolCrash, match="KeyError"):
        run_line("not echo-tool crash", tmp_path)


def test_redirections(tmp_path: Path) -> None:
    run_line("echo-tool a > out.txt 2> err.txt", tmp_path)
    run_line("echo-tool b >> out.txt", tmp_path)
    assert (tmp_path / "out.txt").read_text() == "a\nb\n"
    assert (tmp_path / "err.txt").read_text() == "noise\n"
    _, log = run_line("echo-tool c 2>&1 < err.txt | echo-tool", tmp_path)
    assert log[1].stdout == "\nc\nnoise\nnoise\n"


def test_sequences(tmp_path: Path) -> None:
    assert [ran.command for ran in run_line("echo-tool fail && echo-tool b", tmp_path)[1]] == ["echo-tool fail"]
    assert len(run_line("echo-tool fail || echo-tool b", tmp_path)[1]) == 2
    assert run_line("echo-tool fail ; echo-tool b", tmp_path)[0] == 0


@pytest.mark.parametrize(
    "line",
    ["ls", "echo-tool a | sort", "echo-tool *.mcir", "echo-tool a &> x", "echo-tool a 1>&2", "env A=1 echo-tool"],
)
def test_other_shell_text_is_left_to_lit(line: str) -> None:
    assert shell.plan(line) is None


def test_a_file_with_other_shell_text_runs_in_lits_shell(tmp_path: Path) -> None:
    result = run_file(tmp_path, "// RUN: echo hello > %t\n// RUN: filecheck %s < %t\n// CHECK: hello\n")
    assert result.code is lit.Test.PASS, result.output
    result = run_file(tmp_path, "// RUN: echo hello > %t\n// RUN: filecheck %s < %t\n// CHECK: bye\n")
    assert result.code is lit.Test.FAIL


def test_a_failing_file_shows_command_stdout_and_stderr(tmp_path: Path) -> None:
    result = run_file(tmp_path, "// RUN: echo-tool one | filecheck %s\n// CHECK: two\n")
    assert result.code is lit.Test.FAIL
    for wanted in ("line 1", "$ echo-tool one", "-- stdout\none", "-- stderr\nnoise", "$ filecheck", 'match "two"'):
        assert wanted in result.output


def test_a_crash_shows_its_traceback(tmp_path: Path) -> None:
    result = run_file(tmp_path, "// RUN: echo-tool crash\n")
    assert result.code is lit.Test.FAIL
    assert "Traceback" in result.output and "lost" in result.output


def test_marks_count(tmp_path: Path) -> None:
    body = "// RUN: echo-tool {}\n// {}\n"
    assert run_file(tmp_path, body.format("fail", "XFAIL: *")).code is lit.Test.XFAIL
    assert run_file(tmp_path, body.format("good", "XFAIL: *")).code is lit.Test.XPASS
    assert run_file(tmp_path, body.format("fail", "REQUIRES: absent-thing")).code is lit.Test.UNSUPPORTED
    assert run_file(tmp_path, "graph @g() {}\n").code is lit.Test.UNRESOLVED


def test_filecheck_sees_the_last_character(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("start\nbad!")
    (tmp_path / "check.txt").write_text("CHECK: start\nCHECK-NOT: !\n")
    assert run_line("filecheck check.txt < in.txt", tmp_path)[0] == 1


def test_filecheck_refuses_text_that_holds_its_own_directives(tmp_path: Path) -> None:
    (tmp_path / "x.mcir").write_text("// CHECK: graph @g\n")
    status, log = run_line("filecheck x.mcir < x.mcir", tmp_path)
    assert status == 2
    assert "--strip-comments" in log[0].stderr


def test_llvms_filecheck_has_its_say_where_it_is_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = tmp_path / "FileCheck"
    peer.write_text("#!/bin/sh\necho no such line >&2\nexit 1\n")
    peer.chmod(0o755)
    (tmp_path / "check.txt").write_text("CHECK: start\n")
    (tmp_path / "in.txt").write_text("start\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    status, log = run_line("filecheck check.txt < in.txt", tmp_path)
    assert status == 1
    assert "no such line" in log[0].stderr


def test_filecheck_usage(tmp_path: Path) -> None:
    assert run_line("filecheck", tmp_path)[0] == 2


def test_lit_and_pytest_find_the_same_files() -> None:
    command = [sys.executable, "-c", "from lit.main import main; main()", "--show-tests", str(LIT_ROOT)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    by_lit = {line.split(" :: ")[1].strip() for line in shown.stdout.splitlines() if " :: " in line}
    assert "process/entry_points.mcir" in by_lit
    assert by_lit == {"/".join(test.path_in_suite) for test in discover(LIT_ROOT)[1]}
    files = [path.relative_to(LIT_ROOT) for path in LIT_ROOT.rglob("*.mcir")]
    assert by_lit == {str(path) for path in files if "Inputs" not in path.parts}
