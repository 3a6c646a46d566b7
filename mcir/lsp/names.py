"""What the index of a text consists of: items (graphs, regions, nodes), names, and where each name stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mcir.text import name_text, quote
from mcir.types import TensorType

# How a name is written: %x, @x, or as the text of a string.
VALUE, SYMBOL, STRING = "value", "symbol", "string"
_SPELLINGS = {VALUE: lambda name: "%" + name_text(name), SYMBOL: lambda name: "@" + name_text(name), STRING: quote}


@dataclass(eq=False, slots=True)
class Occurrence:
    """One place where a name stands; the offsets take in sigil and quotes."""

    start: int
    end: int
    form: str  # VALUE, SYMBOL or STRING
    name: Name
    defines: bool = False

    def spelled(self, name: str) -> str:
        """How `name` would be written here."""
        return _SPELLINGS[self.form](name)


@dataclass(eq=False, slots=True)
class Name:
    """A value, node, graph or region, and every place that names it.

    item: the graph, region or node that has the name, or the node that makes the value (None for an input).
    owner: the graph or region in which the name is known (None for the module).
    """

    kind: str  # "value", "node", "graph" or "region"
    text: str
    owner: Item | None
    item: Item | None = None
    type: TensorType | None = None
    places: list[Occurrence] = field(default_factory=list)

    def add(self, start: int, end: int, form: str, *, defines: bool = False) -> Occurrence:
        """Notes a further place."""
        self.places.append(Occurrence(start, end, form, self, defines))
        return self.places[-1]

    @property
    def definition(self) -> Occurrence | None:
        """The first place that defines it."""
        return next((place for place in self.places if place.defines), None)


@dataclass(eq=False, slots=True)
class Entry:
    """One attribute value in a dictionary: the keys that lead to it, and its text.

    keys: ("modifiers", "operand") for {modifiers = [{operand = "M"}]}. `kind` is the terminal.
    """

    keys: tuple[str, ...]
    kind: str
    text: str
    start: int
    end: int


@dataclass(eq=False, slots=True)
class Item:
    """A graph, region or node. `start` and `end` are those of its text, `name_start` of its name or op."""

    kind: str  # "graph", "execution", "streaming", "tile", "node"; "module" for the root
    start: int
    end: int = 0
    name: str = ""
    name_start: int = 0
    name_end: int = 0
    op: str = ""
    op_start: int = -1
    parent: Item | None = None
    children: list[Item] = field(default_factory=list)
    inputs: list[Name] = field(default_factory=list)  # of a node: its operands
    outputs: list[Name] = field(default_factory=list)
    values: dict[str, Name] = field(default_factory=dict)  # defined here
    nodes: dict[str, Name] = field(default_factory=dict)  # of a graph or region, by the names of nodes
    entries: list[Entry] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)  # attributes it has
    attrs_end: int = -1  # where the brace stands that closes them

    def walk(self) -> Iterator[Item]:
        """This item and all in it, in text order."""
        stack = [self]
        while stack:
            item = stack.pop()
            yield item
            stack.extend(reversed(item.children))

    def unit(self) -> Item:
        """The graph or outermost region around it, or itself."""
        item = self
        while item.parent is not None and item.parent.kind != "module":
            item = item.parent
        return item

    def find_value(self, name: str) -> Name | None:
        """The value called `name` that is seen here."""
        item: Item | None = self
        while item is not None:
            if name in item.values:
                return item.values[name]
            item = item.parent
        return None

    def entry(self, *keys: str) -> Entry | None:
        """The first attribute value under `keys`."""
        return next((entry for entry in self.entries if entry.keys == keys), None)
