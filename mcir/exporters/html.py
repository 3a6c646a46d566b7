"""A module as one web page: the nest of each region, its memory account, and the graph beside it.

The page needs no network and no server: data, style, script and the layout library stand in it. ELK (assets/
elk.bundled.js, EPL-2.0, https://github.com/kieler/elkjs) places boxes and arrows in the reader's browser.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from mcir.analysis.memory import account_module, find_target
from mcir.exporters.page_data import page_data
from mcir.module import MCModule

_ASSETS = files("mcir.exporters") / "assets"
_SCRIPTS = ("picture.js", "nest.js", "graph.js", "tiles.js", "account.js", "page.js")

# What ends or opens a script element, or is no plain character of a script, written as JSON escapes it.
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def export_html(module: MCModule, title: str = "MCIR", target: str = "", dims: dict[str, int] | None = None) -> str:
    """The page of a valid module. Raises MCIRError as the account does, and for an unknown target."""
    accounts = account_module(module, dims)
    data = page_data(module, accounts, find_target(target) if target else None)
    parts = {
        "TITLE": html.escape(title),
        "STYLE": _asset("page.css"),
        "DATA": script_data({"title": title, **data}),
        "ELK": _asset("elk.bundled.js"),
        "SCRIPT": "\n".join(_asset(name) for name in _SCRIPTS),
    }
    return _filled(_asset("page.html"), parts)


def script_data(data: dict[str, Any]) -> str:
    """JSON that is safe inside a script element, whatever the names in it are."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _filled(template: str, parts: dict[str, str]) -> str:
    """The template with each `@@NAME@@` replaced, in one pass: a part is never searched for marks."""
    pieces = template.split("@@")
    return "".join(piece if at % 2 == 0 else parts[piece] for at, piece in enumerate(pieces))


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
