"""The page in a real browser: it draws, it answers, and names stay text. Skipped where no Chromium is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mcir.exporters.html import export_html
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.samples import build_attention_module
from tests.unit.memory_cases import attention
from tests.unit.page_cases import decoder
from tests.unit.test_html import HOSTILE, hostile_module

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium (chromium, google-chrome) on PATH")


class Rendered(HTMLParser):
    """What the browser made of a page: texts and classes of what is drawn, by the id of the element around it."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.body: dict[str, str | None] = {}
        self.boxes: dict[str, list[str]] = {"nest": [], "graph": []}
        self.texts: dict[str, list[str]] = {}
        self.edges = 0
        self._ids: list[tuple[str, str]] = []
        self.feed(re.sub(r"<(script|style)\b.*?</\1>", "", dom, flags=re.S))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "body":
            self.body = given
        if given.get("id"):
            self._ids.append((tag, str(given["id"])))
        around = self._ids[-1][1] if self._ids else ""
        if "data-id" in given and around in self.boxes:
            self.boxes[around].append(str(given.get("class")))
        self.edges += tag == "path" and "edge" in str(given.get("class"))

    def handle_endtag(self, tag: str) -> None:
        if self._ids and self._ids[-1][0] == tag:
            self._ids.pop()

    def handle_data(self, data: str) -> None:
        if self._ids and data.strip():
            self.texts.setdefault(self._ids[-1][1], []).append(data.strip())

    def count(self, pane: str, kind: str) -> int:
        """How many boxes of a pane have the class `kind`."""
        return sum(kind in classes.split() for classes in self.boxes[pane])


def render(tmp_path: Path, module: MCModule, address: str = "", **options: Any) -> Rendered:
    """The page of a module after its script has run; `address` chooses what is shown."""
    page = tmp_path / "page.html"
    page.write_text(export_html(module, **options), encoding="utf-8")
    command = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1500,950",
        "--virtual-time-budget=30000", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
        f"{page.as_uri()}{address}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    rendered = Rendered(done.stdout.decode("utf-8"))
    assert "data-failed" not in rendered.body, rendered.body["data-failed"]
    assert "data-ready" in rendered.body
    return rendered


def test_the_design_notes_attention(tmp_path: Path) -> None:
    page = render(tmp_path, build_attention_module(), target="sm_90")
    assert [page.count("nest", kind) for kind in ("global", "shared", "register", "op", "phase")] == [4, 3, 4, 7, 3]
    texts = page.texts["nest"]
    assert {"%Q_tile", "128x64xfp16, 16 KiB", "16 KiB x 8", "8 KiB x 72", "prologue", "body", "epilogue"} <= set(texts)
    account = page.texts["account"]
    assert account[account.index("total") + 1 : account.index("total") + 3] == ["1,441,792", "524,288"]
    assert account[account.index("steps") + 1] == "72 of 128"
    assert "shared fits, registers fits" in account
    assert page.texts["tiles-note"] == [
        "8 query tiles of 128 rows, 16 key tiles of 64 keys: 72 of 128 visited"
    ]  # fmt: skip


def test_twelve_layers_are_folded_and_a_search_opens_them(tmp_path: Path) -> None:
    page = render(tmp_path, decoder(12))
    assert len(page.boxes["graph"]) == 25 and page.count("graph", "closed") == 25
    assert page.count("graph", "covered") == 12
    assert len([text for text in page.texts["regions"] if text.startswith("@")]) == 12
    found = render(tmp_path, decoder(12), "#region=l6.attention&find=l6.P softmax")
    assert len(found.boxes["graph"]) == 25 + 6
    assert found.count("graph", "hit") == 1 and found.count("graph", "covered") == 12 + 6
    assert found.texts["nest-title"] == ["@l6.attention"]
    assert found.texts["graph-detail"] == ["%l6.P = softmax %l6.masked : tensor<1x16x256x256xfp16>"]


def test_names_stay_text(tmp_path: Path) -> None:
    page = render(tmp_path, hostile_module(), title=HOSTILE)
    assert "data-owned" not in page.body
    assert page.texts["nest-title"] == [f"@{HOSTILE} region"]
    assert page.texts["graph-title"] == [f"graph @{HOSTILE}, 1 nodes"]
    assert any(text.startswith("</script><img") for text in page.texts["graph"])  # the op
    assert any(text.startswith("%") and text.endswith("<!--1") for text in page.texts["graph"])  # its result


def test_what_is_not_there_yet(tmp_path: Path) -> None:
    formula = render(tmp_path, attention("", "(seq)", "(seq)", 64))
    assert formula.texts["tiles-note"] == ["sizes without a value: seq; give --dim NAME=SIZE"]
    assert "not lowered yet" in render(tmp_path, hostile_module()).texts["nest"]
    empty = render(tmp_path, parse_module("graph @g() {\n  return\n}\n"))
    assert empty.texts["regions"] == ["no execution regions"]
