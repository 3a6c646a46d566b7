"""Errors that carry data and are rendered late, with the source line and a caret."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from mcir.location import Location
from mcir.record import field, record

_MOST_COMPARED = 2000
LINE_WINDOW = 120  # columns of a source line that a diagnostic shows at most


@record(slots=True)
class Note:
    """A further place or fact that belongs to a diagnostic."""

    message: str
    location: Location | None = None


@record(slots=True)
class Diagnostic:
    """One error, warning or remark. `rule` is the id of the rule that it reports."""

    message: str
    location: Location | None = None
    severity: str = "error"  # "error", "warning" or "remark"
    hint: str = ""
    rule: str = ""
    notes: list[Note] = field(default_factory=list)

    def render(self) -> str:
        """`file:line:col: error: ...`, the source line, a caret, notes and hint; no final newline."""
        tag = f" [{self.rule}]" if self.rule else ""
        lines = [f"{_place(self.location)}{self.severity}: {self.message}{tag}"]
        lines += _excerpt(self.location)
        for note in self.notes:
            lines.append(f"{_place(note.location)}note: {note.message}")
            lines += _excerpt(note.location)
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class MCIRError(Exception):
    """Input that MCIR refuses, with one diagnostic per fault."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic] | str) -> None:
        if isinstance(diagnostics, str):
            diagnostics = Diagnostic(diagnostics)
        self.diagnostics = [diagnostics] if isinstance(diagnostics, Diagnostic) else list(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?` where a known word is near, else an empty string. One in other case is the nearest."""
    import difflib  # only errors need it

    wrong = wrong[:64]
    # Comparing costs far more than this filter, and a text may define 100,000 names.
    likely = list(islice((word for word in known if abs(len(word) - len(wrong)) <= 3), _MOST_COMPARED))
    folded = wrong.casefold()
    for word in likely:
        if word.casefold() == folded:
            return f"did you mean '{word}'?"
    near = difflib.get_close_matches(wrong, likely, n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else ""


def _place(location: Location | None) -> str:
    return f"{location}: " if location is not None else ""


def _excerpt(location: Location | None) -> list[str]:
    if location is None:
        return []
    line, column = location.line_column()
    text = location.source.line_text(line)
    if not text:
        return []
    at = column - 1
    begin = 0
    if len(text) > LINE_WINDOW:
        begin = max(0, min(at - LINE_WINDOW // 2, len(text) - LINE_WINDOW))
    shown = text[begin : begin + LINE_WINDOW]
    front = "..." if begin else ""
    back = "..." if begin + LINE_WINDOW < len(text) else ""
    width = max(1, min(_end(location) - location.offset, len(shown) - (at - begin)))
    lead = front + shown[: at - begin]
    pad = "".join("\t" if char == "\t" else " " for char in lead)
    return [f"  {_visible(front + shown + back)}", f"  {_visible(pad)}{'^' * width}"]


def _end(location: Location) -> int:
    """The end of a location. Those of nodes may come without: they go up to the `=` behind the results."""
    text, begin = location.source.text, location.offset
    if location.end or text[begin : begin + 1] != "%":
        return location.end
    import re

    from mcir.syntax import tables

    results = re.compile(tables.TERMINALS["RESULTS"]).match(text, begin)
    return results.end() if results is not None else 0


def _visible(text: str) -> str:
    """Control characters would move the terminal's cursor: each shows as one replacement sign."""
    return "".join(char if char == "\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
