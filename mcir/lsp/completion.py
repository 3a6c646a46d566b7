"""What may stand at the cursor. The automaton says which terminals; this says which words they can be.

A text is read from the beginning of the graph or region up to the word at the cursor, so that what follows
and may be half written does not matter, and only what is defined before is offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mcir.lsp.attributes import attribute_line, attributes_of, find_attribute, value_texts
from mcir.lsp.document import Chunk, Document, Span
from mcir.lsp.hover import op_text
from mcir.lsp.index import Cursor, cursor_behind
from mcir.lsp.inference import accepts, result_types
from mcir.lsp.names import Item
from mcir.lsp.references import graph_of, names_of
from mcir.ops import all_ops
from mcir.ops.definition import REQUIRED, OpDef
from mcir.passes import registered_passes
from mcir.passes.pipeline import option_fields
from mcir.printer import type_text
from mcir.syntax import tables
from mcir.text import name_text, quote
from mcir.types import DTYPES, RESIDENCIES

_DIMS = f"(?:{tables.TERMINALS['DIM']})*"
_IN_TYPE = re.compile(rf"tensor<{_DIMS}([A-Za-z0-9_]*)\Z")
_WORD = re.compile(r'(?:[%@]?"[^"\n]*|[%@]?[A-Za-z0-9_.$]*)\Z')
_STRING = re.compile(tables.TERMINALS["STRING"])
_HEAD = re.compile(r"^(?:graph|execution)\b", re.MULTILINE)
_COMMAND = re.compile(r"//\s*(?:RUN|configuration):")
_FLAG = re.compile(r"--?[A-Za-z0-9-]*\Z|\Z")
_MOST_TYPES = 200  # that are tried as operands
# What opens inside of what.
_INNER_KINDS = {"module": "execution", "execution": "streaming", "streaming": "tile"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that may stand at the cursor. `kind` is a name of the protocol's CompletionItemKind."""

    label: str
    kind: str
    detail: str = ""
    doc: str = ""
    insert: str = ""  # what is written, if not the label
    fits: bool = True  # candidates that do not fit come behind those that do
    span: Span = (0, 0)  # what it replaces


@dataclass(slots=True)
class _Context:
    chunk: Chunk
    before: str  # what the cursor was read from
    cursor: Cursor


def complete(document: Document, offset: int) -> list[Candidate]:
    """The candidates at `offset`; each replaces the word before it."""
    chunk, inner = document.chunk_at(offset)
    text = chunk.source.text
    line_start = text.rfind("\n", 0, inner) + 1
    line = text[line_start:inner]
    token = chunk.index.token_at(inner)
    if token is not None and token.type == "COMMENT" and token.start < inner:
        return _spanned(_flags(), _FLAG, line, offset) if _COMMAND.match(line.lstrip()) else []
    pattern = _IN_TYPE if _IN_TYPE.search(line) else _WORD
    word = _word(pattern, line)
    context = _Context(*reading_to(document, offset - len(word)))
    return [
        replace(found, span=(offset - len(word), offset))
        for found in _candidates(context)
        if (found.insert or found.label)[:1] == word[:1] or word[:1] not in ("%", "@", '"')
    ]


def reading_to(document: Document, offset: int) -> tuple[Chunk, str, Cursor]:
    """The module at `offset`, its text from the head of the graph or region up to there, and what is open then."""
    chunk, inner = document.chunk_at(offset)
    text = chunk.source.text
    heads = [match.start() for match in _HEAD.finditer(text, 0, inner)]
    before = text[heads[-1] if heads else 0 : inner]
    return chunk, before, cursor_behind(before)


def _word(pattern: re.Pattern[str], line: str) -> str:
    closed = max((match.end() for match in _STRING.finditer(line)), default=0)
    match = pattern.search(line, closed)
    return match.group(1 if pattern.groups else 0) if match else ""


def _spanned(found: Iterator[Candidate], pattern: re.Pattern[str], line: str, offset: int) -> list[Candidate]:
    span = offset - len(_word(pattern, line)), offset
    return [replace(candidate, span=span) for candidate in found]


def _candidates(context: _Context) -> Iterator[Candidate]:
    """The words for each terminal that may follow."""
    item = context.cursor.item
    unfinished = item is not None and bool(item.op) and "\n" not in context.before[item.start :]
    for terminal, words in _WORDS.items():
        # on the line of a node the next one seldom begins
        if terminal in context.cursor.next and not (unfinished and terminal in _BEGINNINGS):
            yield from words(context)


def _ops(context: _Context) -> Iterator[Candidate]:
    for definition in all_ops():
        if _legal(definition, context.cursor.block):
            doc = definition.doc.split("\n")[0]
            yield Candidate(definition.name, "Function", doc, op_text(definition))


def _legal(definition: OpDef, block: Item) -> bool:
    """Whether an op may stand in a graph or tile; in other regions there are no nodes."""
    if block.kind == "graph":
        return definition.level == "semantic"
    return block.kind == "tile" and (definition.level == "tile" or "tile" in definition.traits)


def _values(context: _Context) -> Iterator[Candidate]:
    """The values that are defined before, the last first; those whose type the op does not take are marked."""
    block: Item | None = context.cursor.block
    item = context.cursor.item
    verdicts: dict[str, bool] = {}
    while block is not None:
        for name in reversed(block.values.values()):
            if name.definition is not None and (item is None or name not in item.outputs):
                type_ = type_text(name.type) if name.type is not None else ""
                if type_ not in verdicts and len(verdicts) < _MOST_TYPES:
                    verdicts[type_] = item is None or accepts(item, name, context.before, context.cursor.reading)
                yield Candidate(f"%{name_text(name.text)}", "Variable", type_, fits=verdicts.get(type_, True))
        block = block.parent


def _keys(context: _Context) -> Iterator[Candidate]:
    item = context.cursor.item
    if item is None:
        return
    for attr in attributes_of(item, context.cursor.keys):
        if context.cursor.keys or attr.name not in item.keys:
            required = "required; " if attr.default is REQUIRED else ""
            yield Candidate(attr.name, "Property", attribute_line(attr), f"{required}{attr.doc}", f"{attr.name} = ")


def _attribute_values(context: _Context) -> Iterator[Candidate]:
    item, keys = context.cursor.item, context.cursor.keys
    attr = find_attribute(item, keys) if item is not None else None
    if item is None or attr is None:
        return
    for text in value_texts(attr):
        yield Candidate(text, "Value", attr.name)
    if attr.kind == "symbol":
        for name in context.chunk.index.symbols.values():
            if name.kind == "graph":
                yield Candidate(f"@{name_text(name.text)}", "Class", "graph")
    what = names_of(item.kind, keys)
    names = _named_values(item, keys) if what == "value" else _node_names(context, item) if what == "node" else ()
    for text in names:
        yield Candidate(quote(text), "Reference", what)


def _named_values(item: Item, keys: tuple[str, ...]) -> list[str]:
    """The inputs of the region, or its outputs where something is stored."""
    region = item.unit()
    stored = keys[-1] in ("target", "o_name")
    return [name.text for name in (region.outputs if stored else region.inputs)]


def _node_names(context: _Context, item: Item) -> list[str]:
    graph = graph_of(item, context.chunk.index.symbols)
    return list(graph.nodes) if graph is not None else []


def _types(context: _Context) -> Iterator[Candidate]:
    cursor = context.cursor
    if cursor.item is not None and not cursor.keys and cursor.reading.tokens[-1].type in ("COLON", "COMMA"):
        for text in result_types(cursor.item, context.before, cursor.reading):
            yield Candidate(text, "Struct", "the type that the op gives")
    if not cursor.keys:
        yield Candidate("tensor<", "Struct", "a tensor type")


def _dtypes(_context: _Context) -> Iterator[Candidate]:
    for dtype in DTYPES.values():
        yield Candidate(dtype.name, "TypeParameter", f"{dtype.kind}, {dtype.bits} bits")


def _residencies(_context: _Context) -> Iterator[Candidate]:
    for residency in RESIDENCIES:
        yield Candidate(residency, "EnumMember", "residency")


def _keyword(word: str) -> Callable[[_Context], Iterator[Candidate]]:
    return lambda _context: iter([Candidate(word, "Keyword")])


def _regions(context: _Context) -> Iterator[Candidate]:
    kind = _INNER_KINDS.get(context.cursor.block.kind)
    if kind is not None:
        yield Candidate(kind, "Keyword", "a region")


def _flags() -> Iterator[Candidate]:
    """Passes and their options, as mcir-opt takes them on its command line."""
    for name, cls in registered_passes().items():
        yield Candidate(f"--{name}", "Module", cls.summary)
        for key, option in option_fields(cls).items():
            yield Candidate(f"--{key}", "Property", f"option of {name}", str(option.metadata.get("help", "")))


_BEGINNINGS = ("OP_NAME", "RETURN", "GRAPH", "REGION_KIND")
# Terminal -> the words that it can be here.
_WORDS: dict[str, Callable[[_Context], Iterator[Candidate]]] = {
    "VALUE": _values,
    "KEY": _keys,
    "TRUE": _attribute_values,
    "DTYPE": _dtypes,
    "RESIDENCY": _residencies,
    "_TENSOR": _types,
    "OP_NAME": _ops,
    "RETURN": _keyword("return"),
    "GRAPH": _keyword("graph"),
    "REGION_KIND": _regions,
    "ATTRIBUTES": _keyword("attributes"),
}
