"""tests/support/update_checks.py: the lines it writes are those that then pass."""

from __future__ import annotations

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
