"""What a document looks like from afar: symbols, the class of each token, what can be folded."""

from __future__ import annotations

import re
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


def coloured_tokens(document: Document) -> Iterator[Coloured]:
    """Every token that has a class, in text order, none longer than its line."""
    for chunk in document.chunks:
        defined = {place.start for place in chunk.index.places if place.defines}
        params = {
            place.start
            for place in chunk.index.places
            if place.name.kind == "value" and place.name.item is None and place.name.definition is not None
        }
        for token in chunk.index.reading.tokens:
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


def folds(document: Document) -> Iterator[Span]:
    """Graphs and regions that take more than a line."""
    for chunk in document.chunks:
        for item in chunk.index.root.walk():
            if item.kind not in ("module", "node") and "\n" in chunk.source.text[item.start : item.end]:
                yield chunk.base + item.start, chunk.base + item.end
