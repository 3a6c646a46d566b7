"""The canonical form of a document, by the code of mcir-fmt, as one small edit."""

from __future__ import annotations

from mcir.diagnostics import MCIRError
from mcir.lsp.document import Document
from mcir.lsp.rename import Edit
from mcir.tools.fmt import format_text


def formatting(document: Document) -> list[Edit]:
    """The edit that formats the text; none where nothing would change or the text cannot be parsed."""
    old = document.text
    try:
        new = format_text(old.replace("\r\n", "\n"), document.name)
    except MCIRError:
        return []
    if new == old:
        return []
    begin = _common(old, new)
    back = _common(old[begin:][::-1], new[begin:][::-1])
    return [((begin, len(old) - back), new[begin : len(new) - back])]


def _common(left: str, right: str) -> int:
    """The length of the longest common beginning."""
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
