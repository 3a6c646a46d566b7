"""Quick fixes: what a hint proposes (`did you mean 'softmax'?`), written in place of what stands there."""

from __future__ import annotations

import re

from mcir.lsp.document import Document, Span
from mcir.lsp.rename import Edit
from mcir.text import name_text

_PROPOSED = re.compile(r"did you mean '(.+)'\?")


def fix(document: Document, span: Span, message: str) -> Edit | None:
    """The edit that the hint in a diagnostic's message proposes for what stands at `span`.

    None where nothing is proposed, or where it is meant for another place than the one that is shown.
    """
    proposed = _PROPOSED.search(message)
    if proposed is None:
        return None
    text, wrong = proposed[1], document.text[span[0] : span[1]]
    if text[0] in "%@":
        return (span, text[0] + name_text(text[1:])) if wrong[:1] == text[0] else None
    return (span, text) if re.fullmatch(r"[A-Za-z0-9_.]+", wrong) else None
