"""tests/support/update_checks.py: the lines it writes are those that then pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import shell
from tests.support.check_lint import lint
from tests.support.update_checks import updated

FILE = """\
// RUN: show-tool %s | filecheck %s
// RUN: show-tool again | filecheck %s --check-prefix=TWO
// A note that stays.
// CHECK: an old line
// CHECK-NEXT: another
graph @g() {
  return
}
"""
WANTED = """\
// RUN: show-tool %s | filecheck %s
// RUN: show-tool again | filecheck %s --check-prefix=TWO
// A note that stays.
graph @g() {
  return
}

// CHECK: first
// CHECK-EMPTY:
// CHECK-NEXT{LITERAL}:   nested = [[1]]

// TWO: first
// TWO-EMPTY:
// TWO-NEXT{LITERAL}:   nested = [[1]]
"""


def main(argv: list[str], stdin, stdout, stderr) -> int:
    """The tool of these tests."""
    stdout.write("first\n\n  nested = [[1]]\n")
    return 0


def test_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shell.TOOLS, "show-tool", __name__)
    path = tmp_path / "x.mcir"
    path.write_text(FILE)
    assert updated(path) == WANTED
    path.write_text(WANTED)
    assert updated(path) == WANTED
    assert lint(WANTED) == []
    for flags in ("", " --check-prefix=TWO"):
        planned = shell.plan(f"show-tool | filecheck {path}{flags}")
        log: list[shell.Executed] = []
        assert shell.run(planned, tmp_path, log) == 0, log


def test_a_line_it_cannot_update(tmp_path: Path) -> None:
    path = tmp_path / "x.mcir"
    path.write_text("// RUN: sort %s | filecheck %s\n// CHECK: x\n")
    with pytest.raises(ValueError, match="cannot run"):
        updated(path)


def test_comments_that_would_match_themselves(tmp_path: Path) -> None:
    """The file's own RUN line in the output, alone or behind code: the CHECK lines made of it could not pass."""
    path = tmp_path / "x.mcir"
    body = "graph @g() {\n  return\n}\n"
    for text in (f"// RUN: mcir-opt %s | filecheck %s\n{body}", f"{body}// RUN: mcir-opt %s | filecheck %s\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match="add --strip-comments to the RUN line"):
            updated(path)
        command = [sys.executable, "-m", "tests.support.update_checks", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.stderr.startswith("error: ") and "--strip-comments" in done.stderr
        assert path.read_text() == text
    path.write_text(text.replace("%s |", "%s --strip-comments |"))
    assert "// CHECK: graph @g() {" in updated(path)
