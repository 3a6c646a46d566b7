"""How a tool shows diagnostics and remarks: text with colour on a terminal, or one JSON object a line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, TextIO

from mcir.diagnostics import Diagnostic
from mcir.passes.base import Remark
from mcir.tools.records import diagnostic_record, remark_record

MAX_SHOWN = 100  # diagnostics of one module; further ones are not worth reading

_COLOURS = {"error": "1;31", "warning": "1;35", "remark": "1;34", "note": "1;36"}
_HEAD = re.compile(r"^((?:.*?: )?)(error|warning|remark|note): (.*)$")
_CARET = re.compile(r"^(\s*)(\^+)$")


class Reporter:
    """Writes diagnostics to `stream`; one that was shown before is not shown again."""

    def __init__(self, stream: TextIO, *, as_json: bool = False) -> None:
        self.stream = stream
        self.as_json = as_json
        self._colour = use_colour(stream)
        self._shown: set[str] = set()

    def show(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Shows each diagnostic once in the life of this reporter, and at most MAX_SHOWN of them."""
        fresh = list(diagnostics)
        for diagnostic in fresh[:MAX_SHOWN]:
            self._show(diagnostic)
        if len(fresh) > MAX_SHOWN:
            self._show(Diagnostic(f"{len(fresh) - MAX_SHOWN} further diagnostics are not shown"))

    def _show(self, diagnostic: Diagnostic) -> None:
        text = diagnostic.render()
        if text in self._shown:
            return
        self._shown.add(text)
        if self.as_json:
            text = json_line(diagnostic_record(diagnostic))
        elif self._colour:
            text = coloured(text)
        print(text, file=self.stream)

    def show_remarks(self, remarks: Iterable[Remark]) -> None:
        """Shows remarks: as diagnostics of that severity, or as JSON with all their fields."""
        for remark in remarks:
            if self.as_json:
                print(json_line(remark_record(remark)), file=self.stream)
            else:
                self._show(remark_diagnostic(remark))


def remark_diagnostic(remark: Remark) -> Diagnostic:
    """A remark as a diagnostic: `remark: attention-pattern: declined: ...`."""
    place = f" (@{remark.graph})" if remark.graph and remark.location is None else ""
    message = f"{remark.pass_name}: {remark.status}: {remark.message}{place}"
    return Diagnostic(message, remark.location, "remark", remark.hint, remark.rule)


def json_line(record: dict[str, Any]) -> str:
    """One JSON object on one line, in ASCII."""
    import json

    return json.dumps(record)


def use_colour(stream: TextIO) -> bool:
    """Whether `stream` is a terminal that shows colour; NO_COLOR (no-color.org) switches it off."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def coloured(text: str) -> str:
    """A rendered diagnostic with its severity and carets in colour."""
    return "\n".join(map(_coloured_line, text.split("\n")))


def _coloured_line(line: str) -> str:
    if head := _HEAD.match(line):
        place, severity, message = head.groups()
        return f"\033[1m{place}\033[{_COLOURS[severity]}m{severity}:\033[0m\033[1m {message}\033[0m"
    return _CARET.sub("\\1\033[32m\\2\033[0m", line)
