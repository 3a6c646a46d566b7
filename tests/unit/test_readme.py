"""README.md says nothing that does not hold: its sessions are run and compared, its paths looked up."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAX_LINES = 200


def sessions() -> list[tuple[str, str]]:
    """(command, output as shown) of each `$` line in a console block."""
    found = []
    for kind, body in BLOCK.findall(README):
        if kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                found.append((command, shown))
    return found


def as_pattern(shown: str) -> str:
    """A regular expression for the output; three dots stand for any lines, or for anything in their line."""
    return "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else ".*".join(map(re.escape, line.split(" ... ")))
        for line in shown.splitlines(keepends=True)
    )


@pytest.mark.parametrize(("command", "shown"), sessions())
def test_console_session(command: str, shown: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        command, shell=True, cwd=ROOT, env={**os.environ, "PATH": path}, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
    )  # fmt: skip
    assert re.fullmatch(as_pattern(shown), ran.stdout), ran.stdout


def test_python_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = "".join(body for kind, body in BLOCK.findall(README) if kind == "pycon")
    test = doctest.DocTestParser().get_doctest(blocks, {}, "README.md", "README.md", 0)
    assert test.examples
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


def test_there_are_sessions_and_the_text_is_short() -> None:
    assert len(sessions()) >= 4
    assert README.count("\n") < MAX_LINES


def test_paths_exist() -> None:
    named = re.findall(r"`((?:mcir|grammar|tests|examples|\.ci)/[\w./-]*)`", README)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_commands_for_ci() -> None:
    assert re.findall(r"^<!-- (main-job|tests) -->$", README, re.MULTILINE) == ["main-job", "tests"]
