"""The index of a module text: which token is which name, who defines it, and the outline.

It is made of tokens alone, so it exists for broken texts too; the model keeps only where nodes begin.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from mcir.lsp.names import SYMBOL, VALUE, Entry, Item, Name, Occurrence
from mcir.lsp.references import resolve
from mcir.lsp.tolerant import Reading, Token, read_tokens
from mcir.syntax import tables
from mcir.syntax.values import ValueActions
from mcir.text import read_name, unquote
from mcir.types import TensorType

_LITERALS = {"STRING", "SYMBOL", "TRUE", "FALSE", "INT", "FLOAT"}
# A comment matches first, so that a name inside of it is none.
_RESULT_NAME = re.compile(r"//[^\n]*|" + tables.TERMINALS["VALUE"])


@dataclass
class Index:
    """Everything that stands in one module text; all offsets are into that text."""

    text: str
    reading: Reading
    root: Item
    symbols: dict[str, Name] = field(default_factory=dict)  # graphs and regions
    places: list[Occurrence] = field(default_factory=list)  # in text order
    keys: dict[int, tuple[str, ...]] = field(default_factory=dict)  # where a key stands -> the keys that lead to it

    def place_at(self, offset: int) -> Occurrence | None:
        """The name at `offset`, or the one that ends there."""
        at = bisect_right(self.places, offset, key=lambda place: place.start) - 1
        found = self.places[at] if at >= 0 else None
        return found if found is not None and offset <= found.end else None

    def token_at(self, offset: int) -> Token | None:
        """The token at `offset`, or the one that ends there."""
        tokens = self.reading.tokens
        at = bisect_right(tokens, offset, key=lambda token: token.start) - 1
        return tokens[at] if at >= 0 and offset <= tokens[at].end else None

    def item_at(self, offset: int) -> Item:
        """The innermost item whose text holds `offset`; the root if there is none."""
        item = self.root
        while True:
            at = bisect_right(item.children, offset, key=lambda child: child.start) - 1
            if at < 0 or item.children[at].end < offset:
                return item
            item = item.children[at]


def build_index(text: str, reading: Reading | None = None) -> Index:
    """The index of `text`, whole or broken; `reading` is that of the text where it is known."""
    reading = reading or read_tokens(text)
    builder = _Builder(text)
    for token in reading.tokens:
        builder.take(token)
    builder.finish()
    names = {id(name): name for name in builder.names}
    places = [place for name in names.values() for place in name.places]
    shared = {id(place): place for place in places}  # two names that became one share their places
    ordered = sorted(shared.values(), key=lambda place: place.start)
    return Index(text, reading, builder.root, builder.symbols, ordered, builder.paths)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the end of a text stands: `item` is the open node or head (None: between two), `block` what is open
    around it, `keys` lead to the attribute value there, `next` are the terminals that may follow.
    """

    block: Item
    item: Item | None
    keys: tuple[str, ...]
    at_key: bool
    next: frozenset[str]
    reading: Reading


def cursor_behind(text: str) -> Cursor:
    """What is open at the end of `text`, a beginning of a module."""
    reading = read_tokens(text, ending=False)
    builder = _Builder(text)
    for token in reading.tokens:
        builder.take(token)
    depth = builder.nesting.count("{")
    keys = tuple(builder.keys[: depth - builder.at_key] if depth else ())
    return Cursor(builder.block, builder.node or builder.head, keys, builder.at_key, reading.next, reading)


class _Types(ValueActions):
    """Types by the grammar's own actions; faults are the parser's to tell."""

    def fault(self, *_args: Any, **_more: Any) -> None:
        pass


class _Builder:
    """Takes the tokens one by one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = Item("module", 0, len(text))
        self.symbols: dict[str, Name] = {}
        self.names: list[Name] = []
        self.block = self.root  # the innermost open graph or region
        self.head: Item | None = None  # a graph or region whose `{` is still to come
        self.node: Item | None = None
        self.nesting: list[str] = []  # open { and [ of attributes
        self.paths: dict[int, tuple[str, ...]] = {}
        self.keys: list[str] = []  # keys that lead to the present attribute value
        self.at_key = False
        self.params: list[Name] = []  # parameters of the head
        self.awaiting = 0  # results that have their types
        self.arrow = False
        self.type_parts: list[tuple[str, str]] | None = None  # terminals and words of the open type
        self.types = _Types()
        self.last_end = 0

    def take(self, token: Token) -> None:
        if token.type == "COMMENT":
            return
        action = getattr(self, f"on_{token.type.strip('_').lower()}", None)
        if action is not None:
            action(token)
        elif self.type_parts is not None and token.type in ("DIM", "DTYPE", "RESIDENCY"):
            self.type_parts.append((token.type, self.word(token)))
        elif token.type in _LITERALS:
            self.literal(token)
        self.last_end = token.end

    def word(self, token: Token) -> str:
        return self.text[token.start : token.end]

    def finish(self) -> None:
        """Closes what the text left open, names the nodes, and resolves attributes."""
        self.end_node()
        while self.block is not self.root:
            self.block.end = len(self.text)
            self.block = self.block.parent or self.root
        resolve(self.root, self.symbols)

    # -- graphs and regions --------------------------------------------------------------------

    def on_graph(self, token: Token) -> None:
        self.open(token, "graph")

    def on_region_kind(self, token: Token) -> None:
        self.open(token, self.word(token))

    def open(self, token: Token, kind: str) -> None:
        self.end_node()
        if kind in ("graph", "execution"):
            self.close_all(token.start)
        self.head = Item(kind, token.start, token.end, parent=self.block)
        self.block.children.append(self.head)
        self.params, self.arrow, self.nesting = [], False, []

    def close_all(self, at: int) -> None:
        while self.block is not self.root:
            self.block.end = at
            self.block = self.block.parent or self.root

    def on_body(self, _token: Token) -> None:
        if self.head is not None:
            self.block, self.head = self.head, None
        self.nesting.clear()

    def on_end_body(self, token: Token) -> None:
        self.end_node()
        self.block.end = token.end
        self.block = self.block.parent or self.root

    def on_symbol(self, token: Token) -> None:
        if self.nesting or token.loose:
            self.literal(token)
        elif self.head is not None:
            kind = "graph" if self.head.kind == "graph" else "region"
            text = self.read(token)
            name = self.symbols.get(text) or self.new(Name(kind, text, None, self.head))
            self.symbols[name.text] = name
            name.add(token.start, token.end, SYMBOL, defines=True)
            self.label(self.head, token)
        elif self.node is not None:
            text = self.read(token)
            name = self.block.nodes.get(text) or self.new(Name("node", text, self.block, self.node))
            self.block.nodes[name.text] = name
            name.add(token.start, token.end, SYMBOL, defines=True)
            self.label(self.node, token)

    def label(self, item: Item, token: Token) -> None:
        item.name, item.name_start, item.name_end = self.read(token), token.start, token.end

    # -- nodes ---------------------------------------------------------------------------------

    def on_results(self, token: Token) -> None:
        self.end_node()
        self.node = Item("node", token.start, parent=self.block)
        self.block.children.append(self.node)
        self.awaiting = 0
        for match in _RESULT_NAME.finditer(self.word(token)):
            if match.group()[0] == "%":
                begin = token.start + match.start()
                name = self.define(Token("VALUE", begin, begin + len(match.group())), self.block, self.node)
                self.node.outputs.append(name)

    def on_op_name(self, token: Token) -> None:
        self.operation(token, self.word(token))

    def operation(self, token: Token, op: str) -> None:
        if self.node is None or self.node.op:
            self.end_node()
            self.node = Item("node", token.start, parent=self.block)
            self.block.children.append(self.node)
            self.awaiting = 0
        self.node.op, self.node.op_start = op, token.start
        self.node.name_start, self.node.name_end = token.start, token.end

    def end_node(self) -> None:
        """The open node or `return` is over: it has its name by now, or is called after its first result."""
        node, self.node = self.node, None
        self.nesting.clear()
        self.keys.clear()
        self.type_parts = None
        if node is None:
            return
        node.end = self.last_end
        if not node.name and node.outputs:
            first = node.outputs[0]
            node.name = first.text
            self.block.nodes.setdefault(first.text, first)
            place = next((place for place in first.places if place.start >= node.start), first.places[0])
            node.name_start, node.name_end = place.start, place.end

    def on_return(self, _token: Token) -> None:
        self.end_node()

    def on_value(self, token: Token) -> None:
        if self.head is not None and not token.loose:
            name = self.define(token, self.head, None)
            self.params.append(name)
            (self.head.outputs if self.arrow else self.head.inputs).append(name)
            return
        # where nothing defines it, its uses belong together all the same
        name = self.value(token, self.block, self.block.unit())
        name.add(token.start, token.end, VALUE)
        if self.node is not None:
            self.node.inputs.append(name)

    def define(self, token: Token, owner: Item, node: Item | None) -> Name:
        name = self.value(token, owner, owner)
        if name.definition is None:
            name.item = node
        name.add(token.start, token.end, VALUE, defines=True)
        return name

    def value(self, token: Token, seen_from: Item, owner: Item) -> Name:
        """The value of that name, or a new one of `owner`."""
        text = self.read(token)
        name = seen_from.find_value(text)
        if name is None:
            name = owner.values[text] = self.new(Name("value", text, owner))
        return name

    def new(self, name: Name) -> Name:
        self.names.append(name)
        return name

    def on_anon_0(self, _token: Token) -> None:  # ->
        self.arrow = True

    # -- types and attributes ------------------------------------------------------------------

    def on_tensor(self, _token: Token) -> None:
        self.type_parts = []

    def on_morethan(self, _token: Token) -> None:
        parts, self.type_parts = self.type_parts, None
        if not parts or self.nesting:
            return
        dims = [word for kind, word in parts if kind == "DIM"]
        (_, dtype), *residency = parts[len(dims) :]
        type_: TensorType = self.types.type(*dims, dtype, residency[0][1] if residency else "global")
        if self.head is not None and self.params:
            self.params[-1].type = self.params[-1].type or type_
        elif self.node is not None and self.awaiting < len(self.node.outputs):
            name = self.node.outputs[self.awaiting]
            name.type = name.type or type_
            self.awaiting += 1

    def on_lbrace(self, _token: Token) -> None:
        self.nesting.append("{")
        self.at_key = True

    def on_lsqb(self, _token: Token) -> None:
        self.nesting.append("[")

    def on_rbrace(self, token: Token) -> None:
        holder = self.node or self.head
        if holder is not None and self.nesting == ["{"]:
            holder.attrs_end = token.start
        self.leave()
        self.end_value()

    def on_rsqb(self, _token: Token) -> None:
        self.leave()
        self.end_value()

    def on_comma(self, _token: Token) -> None:
        self.at_key = self.nesting[-1:] == ["{"] and self.type_parts is None

    def on_key(self, token: Token) -> None:
        self.key(self.word(token), token.start)

    def on_string(self, token: Token) -> None:
        if self.nesting and self.at_key:
            self.key(self.unquoted(token), token.start)
        elif self.nesting or token.loose:
            self.literal(token)
        else:
            self.operation(token, self.unquoted(token))

    def key(self, key: str, at: int) -> None:
        depth = self.nesting.count("{")
        self.keys[depth - 1 :] = [key]
        self.paths[at] = tuple(self.keys)
        self.at_key = False
        holder = self.node or self.head
        if depth == 1 and holder is not None:
            holder.keys.append(key)

    def literal(self, token: Token) -> None:
        holder = self.node or self.head
        if self.nesting and holder is not None and not self.at_key:
            holder.entries.append(Entry(tuple(self.keys), token.type, self.word(token), token.start, token.end))

    def leave(self) -> None:
        if self.nesting:
            self.nesting.pop()

    def end_value(self) -> None:
        del self.keys[self.nesting.count("{") :]
        self.at_key = False

    # -- names ---------------------------------------------------------------------------------

    def read(self, token: Token) -> str:
        try:
            return read_name(self.word(token))
        except ValueError:
            return self.word(token)[1:]

    def unquoted(self, token: Token) -> str:
        try:
            return unquote(self.word(token))
        except ValueError:
            return self.word(token)[1:-1]
