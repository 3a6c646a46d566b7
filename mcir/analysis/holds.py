"""What the regions of a module hold of its graphs: nodes and values that a clean-up must leave alone.

A region speaks of a graph by name: `graph = @g`, `nodes = [...]`, `q_name = "Q"`, its inputs and outputs. It
stays true only while those names exist, and the nodes from its inputs to its outputs stay as they are: they are
what it replaces, and what a proof runs beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.regions import Region
from mcir.types import Symbol


@dataclass(slots=True)
class Holds:
    """What regions hold of one graph.

    nodes: names of nodes that keep op, operands and attributes. values: names of values that keep their name and
    every use. regions: names of the regions that hold something.
    """

    nodes: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    regions: list[str] = field(default_factory=list)


def find_holds(module: MCModule) -> dict[str, Holds]:
    """The holds on each graph of `module`, by the graph's name. Linear in the module for each region."""
    holds = {graph.name: Holds() for graph in module.graphs}
    graphs = {graph.name: graph for graph in module.graphs}
    for region in module.regions:
        words, symbols = _mentions(region)
        for name in dict.fromkeys(symbols):
            if name in graphs:
                _hold(holds[name], graphs[name], region, words)
    return holds


def _hold(holds: Holds, graph: SemanticGraph, region: Region, words: set[str]) -> None:
    given = {value.name for value in region.inputs}
    wanted = {value.name for value in region.outputs}
    for node in _between(graph, given, wanted):
        holds.nodes.add(node.name)
        holds.values.update(value.name for value in node.outputs)
    holds.nodes |= words & {node.name for node in graph.nodes}
    holds.values |= (words | given | wanted) & set(graph.values())
    for node in graph.nodes:
        if node.name in holds.nodes:
            holds.values.update(value.name for value in node.inputs)
    holds.regions.append(region.name)


def _between(graph: SemanticGraph, given: set[str], wanted: set[str]) -> Iterator[MCNode]:
    """The nodes that the values `wanted` depend on, cut at the values that are given."""
    live = wanted - given
    for node in reversed(graph.nodes):
        if any(value.name in live for value in node.outputs):
            yield node
            live.update(value.name for value in node.inputs if value.name not in given)


def _mentions(region: Region) -> tuple[set[str], list[str]]:
    """Every string and every symbol in the attributes of the region and the regions in it."""
    words: set[str] = set()
    symbols: list[str] = []
    stack: list[Any] = [inner.attrs for inner in region.walk()]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            words.add(item)
        elif isinstance(item, Symbol):
            symbols.append(item.name)
        elif isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, (list, tuple)):
            stack += item
    return words, symbols
