"""The canonical form of a document, by the code of mcir-fmt, as small edits: what stays the same is not touched."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from mcir.diagnostics import MCIRError
from mcir.lsp.document import Document, Span
from mcir.lsp.rename import Edit
from mcir.tools.fmt import format_text

_MOST_COMPARED = 4000  # lines; where more differ they are one edit


def formatting(document: Document, span: Span | None = None) -> list[Edit]:
    """The edits that format the text, or the lines of it that `span` touches.

    None where nothing would change or the text cannot be parsed.
    """
    old = document.text
    try:
        new = format_text(old.replace("\r\n", "\n"), document.name)
    except MCIRError:
        return []
    if new == old:
        return []
    edits = list(_line_edits(old.splitlines(keepends=True), new.splitlines(keepends=True)))
    if span is None:
        return edits
    begin, end = span
    return [((first, last), text) for (first, last), text in edits if first <= end and (last > begin or first >= begin)]


def _line_edits(old: list[str], new: list[str]) -> Iterator[Edit]:
    """An edit for each run of lines that differ."""
    begin = _common(old, new)
    back = _common(old[begin:][::-1], new[begin:][::-1])
    ours, theirs = old[begin : len(old) - back], new[begin : len(new) - back]
    at = sum(map(len, old[:begin]))
    if len(ours) + len(theirs) > _MOST_COMPARED and len(ours) != len(theirs):
        yield (at, at + sum(map(len, ours))), "".join(theirs)
        return
    starts = [at]
    for line in ours:
        starts.append(starts[-1] + len(line))
    for first, last, begin, end in _runs(ours, theirs):
        yield (starts[first], starts[last]), "".join(theirs[begin:end])


def _runs(ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """The runs that differ: lines of the one side, lines of the other; of as many lines each one by itself."""
    if len(ours) == len(theirs):  # mostly blanks within lines
        runs = [("replace", 0, len(ours), 0, len(theirs))]
    else:
        runs = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()  # type: ignore[assignment]
    for kind, first, last, begin, end in runs:
        if kind != "equal" and last - first == end - begin:
            pairs = zip(range(first, last), range(begin, end), strict=True)
            yield from ((at, at + 1, to, to + 1) for at, to in pairs if ours[at] != theirs[to])
        elif kind != "equal":
            yield first, last, begin, end


def _common(left: list[str], right: list[str]) -> int:
    """How many lines at the beginning are the same."""
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
