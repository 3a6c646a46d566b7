"""How a tool shows diagnostics and remarks: text with colour on a terminal, JSON or SARIF."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from mcir.diagnostics import Diagnostic
from mcir.tools.arguments import VALUE, Flag

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any, TextIO

    from mcir.passes.base import Remark

MAX_SHOWN = 100  # diagnostics of one module; further ones are not worth reading

_COLOURS = {"error": "1;31", "warning": "1;35", "remark": "1;34", "note": "1;36"}
_HEAD = r"^((?:.*?: )?)(error|warning|remark|note): (.*)$"
_CARET = r"^(\s*)(\^+)$"

STYLES = ("text", "json", "sarif")
REPORTING = (
    Flag("--diagnostics", VALUE, "text (default); json: one object a line; sarif: one log", group="other",
         choices=STYLES),
    Flag("--color", VALUE, "auto (default), always or never", group="other", choices=("auto", "always", "never")),
)  # fmt: skip


def style_of(argv: Sequence[str]) -> str:
    """The style that a command line asks for which cannot be read."""
    values = [word.partition("=")[2] for word in argv if word.startswith("--diagnostics=")]
    return values[-1] if values and values[-1] in STYLES else STYLES[0]


class Reporter:
    """Writes diagnostics to `stream`; one that was shown before is not shown again.

    style: "text", "json" (an object a line) or "sarif" (one log, when the reporter is left as a context).
    colour: "auto", "always" or "never", for text.
    """

    def __init__(self, stream: TextIO, tool: str, style: str = "text", colour: str = "auto") -> None:
        self.stream = stream
        self.tool = tool
        self.style = style
        self._colour = use_colour(stream, colour)
        self._shown: set[str] = set()
        self._records: list[dict[str, Any]] = []

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.style == "sarif":
            from mcir.tools.sarif import sarif_log

            print(json_line(sarif_log(self.tool, self._records)), file=self.stream)

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
        if self.style != "text":
            from mcir.tools.records import diagnostic_record

            self._record(diagnostic_record(diagnostic))
        else:
            print(coloured(text) if self._colour else text, file=self.stream)

    def show_remarks(self, remarks: Iterable[Remark]) -> None:
        """Shows remarks: as diagnostics of that severity, or as records with all their fields."""
        for remark in remarks:
            if self.style != "text":
                from mcir.tools.records import remark_record

                self._record(remark_record(remark))
            else:
                self._show(remark_diagnostic(remark))

    def _record(self, record: dict[str, Any]) -> None:
        if self.style == "sarif":
            self._records.append(record)
        else:
            print(json_line(record), file=self.stream)


def remark_diagnostic(remark: Remark) -> Diagnostic:
    """A remark as a diagnostic: `remark: attention-pattern: declined: ...`."""
    place = f" (@{remark.graph})" if remark.graph and remark.location is None else ""
    message = f"{remark.pass_name}: {remark.status}: {remark.message}{place}"
    return Diagnostic(message, remark.location, "remark", remark.hint, remark.rule)


def json_line(record: dict[str, Any]) -> str:
    """One JSON object on one line, in ASCII."""
    import json

    return json.dumps(record)


def use_colour(stream: TextIO, wanted: str = "auto") -> bool:
    """Whether to colour what is written to `stream`; `wanted` is "auto", "always" or "never".

    Of "auto" decide NO_COLOR (no-color.org), FORCE_COLOR or CLICOLOR_FORCE, CLICOLOR=0 or TERM=dumb, and whether it is
    a terminal, in this order.
    """
    if wanted != "auto":
        return wanted == "always"
    get = os.environ.get
    if get("NO_COLOR"):
        return False
    if any(get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return get("TERM") != "dumb" and get("CLICOLOR") != "0" and stream.isatty()


def coloured(text: str) -> str:
    """A rendered diagnostic with its severity and carets in colour."""
    return "\n".join(map(_coloured_line, text.split("\n")))


def _coloured_line(line: str) -> str:
    import re

    if head := re.match(_HEAD, line):
        place, severity, message = head.groups()
        return f"\033[1m{place}\033[{_COLOURS[severity]}m{severity}:\033[0m\033[1m {message}\033[0m"
    return re.sub(_CARET, "\\1\033[32m\\2\033[0m", line)
