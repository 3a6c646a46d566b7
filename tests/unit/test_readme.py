"""README.md says nothing that does not hold: its sessions are run and compared, its paths looked up."""

from __future__ import annotations

import doctest
import re

import pytest

from tests.support.sessions import ROOT, Session, run, sessions

README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAX_LINES = 200


@pytest.mark.parametrize("session", sessions(README), ids=lambda session: session.command[:40])
def test_console_session(session: Session) -> None:
    output = run(session.command, ROOT)
    assert session.fits(output), output


def test_python_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = "".join(PYTHON.findall(README))
    test = doctest.DocTestParser().get_doctest(blocks, {}, "README.md", "README.md", 0)
    assert test.examples
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


def test_there_are_sessions_and_the_text_is_short() -> None:
    assert len(sessions(README)) >= 4
    assert README.count("\n") < MAX_LINES


def test_paths_exist() -> None:
    named = re.findall(r"`((?:mcir|grammar|tests|examples|\.ci)/[\w./-]*)`", README)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_commands_for_ci() -> None:
    assert re.findall(r"^<!-- (main-job|tests) -->$", README, re.MULTILINE) == ["main-job", "tests"]
