"""Regions that are alike but for names share a good verdict: the attentions of a model are the same, layer by layer.

A rule looks at names only to tell which of them are equal, and at the default names of Q, K, V and O. So a region is
written down with numbers in place of names, and where the rules found nothing on one, they would find nothing on
another one that reads the same. What a region says of its graph is left out of it: the rules marked `outside` look at
that each time.
"""

from __future__ import annotations

import marshal
from typing import Any

from mcir.analysis.axes import ROLES
from mcir.regions import Region
from mcir.types import Symbol
from mcir.values import MCValue
from mcir.verifier.rules import Unit

MAX_KINDS = 256  # a module whose regions are all different need not remember them all
_MARSHAL = 2  # the newest version whose bytes depend on the values alone

# What a missing `q_name` stands for; names that a rule knows by their letters.
_DEFAULTS = tuple(role.upper() for role in ROLES)
# Attributes that hold the name of a value.
_REFERENCES = (*(f"{role}_name" for role in ROLES), "source", "target")


class GoodRegions:
    """The regions of a module on which no rule found anything, by what they are but for names."""

    def __init__(self) -> None:
        self._keys: set[bytes] = set()

    def holds(self, key: bytes | None) -> bool:
        return key in self._keys

    def enter(self, key: bytes | None) -> None:
        if key is not None and len(self._keys) < MAX_KINDS:
            self._keys.add(key)


def region_key(unit: Unit) -> bytes | None:
    """Equal only for units that differ in names at most; None where a unit is too odd to be written down."""
    writer = _Writer()
    try:
        form = [writer.holder(place.region) for place in unit.places]
        attrs = [writer.holder_attributes(place.region) for place in unit.places]  # when all names have numbers
        return marshal.dumps((form, attrs), _MARSHAL) if writer.has_names() else None
    except (AttributeError, TypeError, ValueError):  # no model object, unhashable, no plain data
        return None


class _Writer:
    def __init__(self) -> None:
        self._names: dict[Any, int | str | None] = {None: None, "": "", **{name: name for name in _DEFAULTS}}
        self._values: dict[int, int] = {}

    def has_names(self) -> bool:
        """Whether all names are strings: a rule reports those that are not."""
        return {*map(type, self._names)} == {str, type(None)}

    def holder(self, region: Region) -> Any:
        """A region but for attributes; what is below it follows."""
        number, names, value = self._names.setdefault, self._names, self._value
        nodes = []
        for node in region.nodes:
            inputs, outputs = [value(operand) for operand in node.inputs], [value(result) for result in node.outputs]
            nodes.append((number(node.name, len(names)), node.op, inputs, outputs))
        return (
            number(region.name, len(names)), region.kind, len(region.subregions),
            [value(operand) for operand in region.inputs], [value(result) for result in region.outputs], nodes,
        )  # fmt: skip

    def holder_attributes(self, region: Region) -> Any:
        """The attributes of a region and its nodes."""
        literal, named = self._split(region.attrs, _REFERENCES)
        modifiers, nodes, graph = (literal.get(key) for key in ("modifiers", "nodes", "graph"))
        if isinstance(modifiers, list) and all(isinstance(entry, dict) for entry in modifiers):
            named["modifiers"] = [self._split(entry, ("operand",)) for entry in modifiers]
            del literal["modifiers"]
        if isinstance(nodes, list) and {*map(type, nodes)} <= {str}:
            named["nodes"] = "names"
            del literal["nodes"]
        if type(graph) is Symbol and type(graph.name) is str:
            named["graph"] = "symbol"
            del literal["graph"]
        return literal, named, [self._split(node.attrs, _REFERENCES) for node in region.nodes]

    def _value(self, value: MCValue) -> Any:
        """All of a value where it comes up first, else its number."""
        seen = self._values.get(id(value))
        if seen is not None:
            return seen
        self._values[id(value)] = len(self._values)
        number, names = self._names.setdefault, self._names
        consumers = [number(name, len(names)) for name in value.consumers]
        where = (number(value.name, len(names)), number(value.producer, len(names)), consumers)
        return where, value.shape, value.dtype, str(value.residency)

    def _split(self, attrs: dict[str, Any], references: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
        """(attributes as they stand, the numbers of the names that the others hold)."""
        literal, named = dict(attrs), {}
        for key in references:
            name = literal.get(key)
            if type(name) is str and name in self._names:
                named[key] = self._names[name]
                del literal[key]
        return literal, named
