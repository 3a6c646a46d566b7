"""The tutorial: its steps are run in order, in a folder as it tells to make one, and print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcir.passes import registered_passes
from tests.support.sessions import ROOT, Session, prepared, renewed, run, sessions, setup

PLACE = ROOT / "examples" / "tutorial"
TUTORIAL = (PLACE / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r'^(mcir-\w+) = "', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_step(tmp_path: Path) -> None:
    folder = prepared(TUTORIAL, tmp_path)
    for session in sessions(TUTORIAL):
        if session.here():
            output = run(session.command, folder)
            assert session.fits(output), f"$ {session.command}\n{output}"


def test_it_shows_every_command_and_pass() -> None:
    steps = "".join(session.command + "\n" for session in sessions(TUTORIAL))
    assert [name for name in COMMANDS if name not in steps] == ["mcir-lsp"]
    assert [name for name in registered_passes() if f"--{name}" not in steps] == []


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TUTORIAL)
    titles = re.findall(r"^#+ (.*)$", TUTORIAL, re.MULTILINE)
    anchors = {"#" + re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    local = [link for link in links if not link.startswith("https://")]
    missing = [link for link in local if not (PLACE / link.split("#")[0]).exists() and link not in anchors]
    assert len(local) > 16
    assert [link for link in missing if not link.startswith("#")] == []
    assert {link for link in local if link.startswith("#")} <= anchors
    assert "page.png" in local


DOCUMENT = """
<!-- setup -->
```sh
mkdir inner; cd inner
```
```console
$ echo one
one
$ echo two
$ basename $PWD
inner
$ printf '1\\n2\\n3\\n'
1
...
3
$ echo one
```
"""


def test_outputs_are_renewed_where_they_belong(tmp_path: Path) -> None:
    folder = prepared(DOCUMENT, tmp_path)
    assert setup(DOCUMENT) == "mkdir inner; cd inner\n"
    fresh = renewed(DOCUMENT, folder)
    assert fresh == DOCUMENT.replace("echo two\n", "echo two\ntwo\n").replace("echo one\n```", "echo one\none\n```")
    assert renewed(fresh, folder) == fresh


@pytest.mark.parametrize(
    ("shown", "output", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\n", False),
        ("a\n", "a\nb\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\n", True),
        ("x ... z\n", "x y y z\n", True),
        ("x ... z\n", "x y\ny z\n", False),
        ("a.c\n", "abc\n", False),
        ("", "", True),
    ],
)
def test_what_fits(shown: str, output: str, same: bool) -> None:
    assert Session("", shown, 0).fits(output) is same
