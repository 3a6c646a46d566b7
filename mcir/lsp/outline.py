"""What a document looks like from afar: symbols, the class of each token, what can be folded."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from mcir.lsp.document import Chunk, Document, Span
from mcir.lsp.names import Item
from mcir.lsp.tolerant import Token
from mcir.printer import type_text
from mcir.syntax import tables

# Classes of tokens, by their names in the protocol; the position is the number that is sent.
TOKEN_CLASSES = (
    "keyword", "function", "variable", "parameter", "class", "property", "type", "enumMember", "number", "string",
    "comment", "operator",
)  # fmt: skip
MODIFIERS = ("declaration",)

# Terminal of the grammar -> class; punctuation has none.
CLASSES: dict[str, str] = {
    "GRAPH": "keyword", "REGION_KIND": "keyword", "RETURN": "keyword", "ATTRIBUTES": "keyword", "TRUE": "keyword",
    "FALSE": "keyword", "_TENSOR": "type", "DTYPE": "type", "DIM": "number", "RESIDENCY": "enumMember",
    "OP_NAME": "function", "KEY": "property", "VALUE": "variable", "SYMBOL": "class", "STRING": "string",
    "INT": "number", "FLOAT": "number", "COMMENT": "comment",
}  # fmt: skip
_PIECES = re.compile(r"//[^\n]*|" + tables.TERMINALS["VALUE"])


@dataclass(slots=True)
class Symbol:
    """An entry of the outline. `kind`: "graph", "execution", "streaming", "tile" or "node"."""

    name: str
    detail: str
    kind: str
    span: Span
    name_span: Span
    children: list[Symbol] = field(default_factory=list)


@dataclass(slots=True)
class Coloured:
    """A piece of text with its class; `declares`: it is where a name is defined."""

    start: int
    end: int
    kind: str
    declares: bool = False


def document_symbols(document: Document) -> list[Symbol]:
    """Graphs and regions with what is in them."""
    return [symbol for chunk in document.chunks for symbol in _symbols(chunk)]


def _symbols(chunk: Chunk) -> list[Symbol]:
    made: dict[int, list[Symbol]] = {id(chunk.index.root): []}
    for item in chunk.index.root.walk():
        if item.parent is not None:
            symbol = _symbol(item, chunk.base)
            made[id(item.parent)].append(symbol)
            made[id(item)] = symbol.children
    return made[id(chunk.index.root)]


def _symbol(item: Item, base: int) -> Symbol:
    types = [type_text(value.type) for value in item.outputs if value.type is not None]
    detail = ", ".join(filter(None, [item.op if item.kind == "node" else item.kind, *types]))
    name_span = (base + item.name_start, base + item.name_end) if item.name_end else (base + item.start,) * 2
    end = max(item.end, item.name_end)
    return Symbol(item.name or item.op or item.kind, detail, item.kind, (base + item.start, base + end), name_span)


def coloured_tokens(document: Document, span: Span | None = None) -> Iterator[Coloured]:
    """Every token that has a class, in text order, none longer than its line; `span`: those in a part of the text."""
    for chunk in document.chunks:
        tokens = chunk.index.reading.tokens
        if span is not None:
            first = bisect_left(tokens, span[0] - chunk.base, key=lambda token: token.end)
            tokens = tokens[first : bisect_right(tokens, span[1] - chunk.base, key=lambda token: token.start)]
        if not tokens:
            continue
        defined = {place.start for place in chunk.index.places if place.defines}
        params = {
            place.start
            for place in chunk.index.places
            if place.name.kind == "value" and place.name.item is None and place.name.definition is not None
        }
        for token in tokens:
            for start, end, kind in _pieces(chunk, token):
                kind = "parameter" if kind == "variable" and start in params else kind
                yield Coloured(chunk.base + start, chunk.base + end, kind, start in defined)


def _pieces(chunk: Chunk, token: Token) -> Iterator[tuple[int, int, str]]:
    """A token, or the names and comments in a list of results."""
    if token.type != "RESULTS":
        kind = CLASSES.get(token.type)
        if kind is not None:
            yield token.start, token.end, "function" if _is_op(chunk, token) else kind
        return
    for match in _PIECES.finditer(chunk.source.text, token.start, token.end):
        yield match.start(), match.end(), "comment" if match.group()[0] == "/" else "variable"


def _is_op(chunk: Chunk, token: Token) -> bool:
    """Whether a string is the name of an opaque op."""
    if token.type != "STRING" or token.loose:
        return False
    item = chunk.index.item_at(token.start)
    return item.kind == "node" and item.op_start == token.start


def folds(document: Document) -> Iterator[tuple[Span, str]]:
    """What takes more than a line and can be folded, with its kind: graphs, regions, nodes, runs of comments."""
    for chunk in document.chunks:
        text = chunk.source.text
        for item in chunk.index.root.walk():
            if item.kind != "module" and "\n" in text[item.start : item.end]:
                yield (chunk.base + item.start, chunk.base + item.end), "region"
        for start, end in _comment_runs(text, chunk.reading.tokens):
            yield (chunk.base + start, chunk.base + end), "comment"


def _comment_runs(text: str, tokens: list[Token]) -> Iterator[Span]:
    """Comments on lines of their own, one below the other."""
    run: list[Token] = []
    for token in tokens:
        if run and (token.type != "COMMENT" or text.count("\n", run[-1].end, token.start) > 1):
            if len(run) > 1:
                yield run[0].start, run[-1].end
            run = []
        if token.type == "COMMENT" and not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip():
            run.append(token)
    if len(run) > 1:
        yield run[0].start, run[-1].end


def selections(document: Document, offset: int) -> Iterator[Span]:
    """What stands around `offset`, inner before outer: the word, the node, its graph or region, the module."""
    chunk, inner = document.chunk_at(offset)
    token = chunk.index.token_at(inner)
    if token is not None:
        yield chunk.base + token.start, chunk.base + token.end
    item: Item | None = chunk.index.item_at(inner)
    while item is not None:
        yield chunk.base + item.start, chunk.base + max(item.end, item.start)
        item = item.parent
