"""Attributes whose strings and symbols are names, and the graph whose names a region shares."""

from __future__ import annotations

from mcir.lsp.names import STRING, SYMBOL, Entry, Item, Name
from mcir.text import read_name, unquote

# Kind of the holder, keys of the attribute -> what its strings name.
_STRINGS: dict[tuple[str, tuple[str, ...]], str] = {
    ("node", ("source",)): "value",
    ("node", ("target",)): "value",
    ("execution", ("q_name",)): "value",
    ("execution", ("k_name",)): "value",
    ("execution", ("v_name",)): "value",
    ("execution", ("o_name",)): "value",
    ("execution", ("modifiers", "operand")): "value",
    ("execution", ("nodes",)): "node",
}


def names_of(kind: str, keys: tuple[str, ...]) -> str:
    """What the strings of an attribute name: "value", "node", or "" where they are no names."""
    return _STRINGS.get((kind, keys), "")


def resolve(root: Item, symbols: dict[str, Name]) -> None:
    """Enters the names that stand in attributes, once all definitions of the text are known."""
    for region in root.children:
        if region.kind == "execution":
            _share_names(region, graph_of(region, symbols))
    for item in root.walk():
        for entry in item.entries:
            if entry.kind == "SYMBOL" and (name := symbols.get(_read(entry))) is not None:
                name.add(entry.start, entry.end, SYMBOL)
            elif entry.kind == "STRING" and (what := names_of(item.kind, entry.keys)):
                _enter_string(item, entry, what, symbols)


def graph_of(region: Item, symbols: dict[str, Name]) -> Item | None:
    """The graph that an execution region was formed from: its attribute `graph`."""
    entry = region.entry("graph")
    name = symbols.get(_read(entry)) if entry is not None and entry.kind == "SYMBOL" else None
    return name.item if name is not None and name.kind == "graph" else None


def _enter_string(item: Item, entry: Entry, what: str, symbols: dict[str, Name]) -> None:
    unit, text = item.unit(), _read(entry)
    if what == "value":
        table = unit.values if unit.kind == "execution" else {}
    else:
        graph = graph_of(unit, symbols)
        table = graph.nodes if graph is not None else {}
    if text in table:
        table[text].add(entry.start, entry.end, STRING)


def _share_names(region: Item, graph: Item | None) -> None:
    """Inputs and outputs of a region are the values of that name in its graph."""
    for value in [*region.inputs, *region.outputs] if graph is not None else ():
        shared = graph.values.get(value.text) if graph is not None else None
        if shared is not None and shared is not value:
            for place in value.places:
                place.name = shared
            shared.places += value.places
            region.values[value.text] = shared


def _read(entry: Entry) -> str:
    try:
        return read_name(entry.text) if entry.kind == "SYMBOL" else unquote(entry.text)
    except ValueError:
        return ""
