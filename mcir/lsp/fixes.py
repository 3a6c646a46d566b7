"""Quick fixes: what a diagnostic's message proposes, written where it belongs.

An editor hands diagnostics back as text, so the messages are read here; tests hold each kind to the verifier's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from mcir.lsp.document import Chunk, Document, Span
from mcir.lsp.names import Item
from mcir.lsp.tolerant import Token
from mcir.text import name_text


@dataclass(frozen=True, slots=True)
class Fix:
    """`text` in place of what stands at `span`."""

    title: str
    span: Span
    text: str


def fixes(document: Document, span: Span, message: str) -> list[Fix]:
    """The fixes for a diagnostic at `span`, the likeliest first; none where it proposes nothing that can be written."""
    chunk, inner = document.chunk_at(span[0])
    item = chunk.index.item_at(inner)
    for pattern, make in _KINDS:
        match = pattern.search(message)
        if match is not None:
            return list(make(document, span, chunk, item, match))
    return []


def _attribute_name(
    _document: Document, _span: Span, chunk: Chunk, item: Item, match: re.Match[str]
) -> Iterator[Fix]:  # fmt: skip
    token = _key(chunk, item, match[1])
    if token is not None:
        yield Fix(f"Write {match[2]}", _place(chunk, token), match[2])


def _attribute_choice(
    _document: Document, _span: Span, chunk: Chunk, item: Item, match: re.Match[str]
) -> Iterator[Fix]:  # fmt: skip
    entry = item.entry(match[1])
    choices = match[2].split(", ")
    if entry is not None:
        near = get_close_matches(entry.text, choices, n=1, cutoff=0.5)
        for choice in [*near, *(choice for choice in choices if choice not in near)]:
            yield Fix(f"Write {choice}", (chunk.base + entry.start, chunk.base + entry.end), choice)


def _result_type(
    document: Document, _span: Span, chunk: Chunk, item: Item, match: re.Match[str]
) -> Iterator[Fix]:  # fmt: skip
    tokens = _tokens(chunk, item)
    colon = next((at for at, token in enumerate(tokens) if token.type == "COLON"), len(tokens))
    opened = [token.start for token in tokens[colon:] if token.type == "_TENSOR"]
    closed = [token.end for token in tokens[colon:] if token.type == "MORETHAN"]
    at = int(match[1] or 1) - 1
    if at < min(len(opened), len(closed)):
        span = chunk.base + opened[at], chunk.base + closed[at]
        # the residency that is written stays: the op's rule knows nothing of it
        residency = re.search(r",[^,>]*>\Z", document.text[span[0] : span[1]])
        text = match[2] if residency is None or "," in match[2] else match[2][:-1] + residency.group()
        yield Fix(f"Write {text}", span, text)


def _name(document: Document, span: Span, _chunk: Chunk, _item: Item, match: re.Match[str]) -> Iterator[Fix]:
    text, wrong = match[1], document.text[span[0] : span[1]]
    if text[0] in "%@":
        text = text[0] + name_text(text[1:])
        if wrong[:1] != text[0]:
            return
    elif not re.fullmatch(r"[A-Za-z0-9_.]+", wrong):
        return
    yield Fix(f"Write {text}", span, text)


def _removal(document: Document, _span: Span, chunk: Chunk, item: Item, _match: re.Match[str]) -> Iterator[Fix]:
    if item.kind != "node":
        return
    text = document.text
    begin, end = chunk.base + item.start, chunk.base + item.end
    line = text.rfind("\n", 0, begin) + 1
    behind = text.find("\n", end)
    behind = len(text) if behind < 0 else behind + 1
    alone = not text[line:begin].strip() and not text[end:behind].strip()
    yield Fix("Remove this node", (line, behind) if alone else (begin, end), "")


def _tokens(chunk: Chunk, item: Item) -> list[Token]:
    return [token for token in chunk.reading.tokens if item.start <= token.start < item.end]


def _key(chunk: Chunk, item: Item, name: str) -> Token | None:
    """Where the item's attribute `name` has its key."""
    places = (at for at, keys in chunk.index.keys.items() if keys == (name,) and item.start <= at < item.end)
    start = next(places, None)
    return chunk.index.token_at(start) if start is not None else None


def _place(chunk: Chunk, token: Token) -> Span:
    return chunk.base + token.start, chunk.base + token.end


_Make = Callable[[Document, Span, Chunk, Item, "re.Match[str]"], Iterator[Fix]]
# What a message says -> the fixes; the first that is found counts.
_KINDS: tuple[tuple[re.Pattern[str], _Make], ...] = (
    (re.compile(r"has no attribute '([^']+)'(?s:.*)did you mean '([^']+)'\?"), _attribute_name),
    (re.compile(r"attribute '([^']+)' must be one of ([^\n]+)"), _attribute_choice),
    (re.compile(r"result (?:(\d+) )?of '[^']+' is (tensor<[^\n]*>), not tensor<"), _result_type),
    (re.compile(r"did you mean '(.+)'\?"), _name),
    (re.compile(r"\Aleads to no output"), _removal),
)
