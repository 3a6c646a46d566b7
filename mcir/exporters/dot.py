"""A module as DOT text for Graphviz: graphs and the nests of regions as clusters, tiles coloured by residency.

    mcir-translate --dot in.mcir | dot -Tsvg -o out.svg

Arrows between global memory and a load or store carry the bytes of a trip and the number of trips.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcir.analysis.memory import RegionAccount, account_module
from mcir.analysis.memory.account import NestAccount
from mcir.analysis.memory.report import grouped
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.printer import type_text
from mcir.types import Symbol
from mcir.values import MCValue

# Fill and line of a value by where it lives, and of a graph node that a region covers.
COLOURS = {
    "global": ("#d9dee6", "#7b8797"), "shared": ("#cfe6cf", "#3f8a46"), "register": ("#f7dcb8", "#b9751a"),
    "covered": ("#dcd7f5", "#6a55c2"),
}  # fmt: skip

_HEAD = [
    "digraph mcir {",
    "  compound=true; rankdir=TB; fontname=sans;",
    '  node [shape=box, style="rounded,filled", fillcolor=white, fontname=sans, fontsize=10];',
    "  edge [fontname=sans, fontsize=9];",
]


def export_dot(module: MCModule, dims: dict[str, int] | None = None) -> str:
    """The DOT text of a valid module. Raises MCIRError as the memory account does."""
    lines = list(_HEAD)
    covered = _covered(module)
    for at, graph in enumerate(module.graphs):
        lines += _graph(graph, f"g{at}", covered.get(graph.name, set()))
    for at, account in enumerate(account_module(module, dims)):
        lines += _region(account, f"r{at}")
    return "\n".join([*lines, "}"]) + "\n"


def quoted(*texts: str) -> str:
    """A DOT string of one line for each text; nothing in a text is markup or an escape."""
    escaped = (text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\0", " ") for text in texts)
    return '"' + "\\n".join(escaped) + '"'


def _covered(module: MCModule) -> dict[str, set[str]]:
    """By graph the names of the nodes that regions cover."""
    found: dict[str, set[str]] = {}
    for region in module.regions:
        symbol, names = region.attrs.get("graph"), region.attrs.get("nodes")
        if isinstance(symbol, Symbol) and isinstance(names, list):
            found.setdefault(symbol.name, set()).update(name for name in names if isinstance(name, str))
    return found


def _graph(graph: SemanticGraph, prefix: str, covered: set[str]) -> Iterator[str]:
    ids = {value.name: f"{prefix}i{at}" for at, value in enumerate(graph.inputs)}
    yield f"  subgraph cluster_{prefix} {{"
    yield f"    label={quoted(f'graph @{graph.name}')};"
    for value in graph.inputs:
        yield f"    {_value(ids[value.name], value)}"
    edges = []
    for at, node in enumerate(graph.nodes):
        colour = _colour("covered") if node.name in covered else ""
        yield f"    {prefix}n{at} [label={quoted(node.op, f'@{node.name}')}{colour}];"
        sources = dict.fromkeys(ids[value.name] for value in node.inputs if value.name in ids)
        edges += [f"    {source} -> {prefix}n{at};" for source in sources]
        ids.update((value.name, f"{prefix}n{at}") for value in node.outputs)
    yield from edges
    yield "  }"


def _region(account: RegionAccount, prefix: str) -> Iterator[str]:
    """The global tensors and their arrows stand outside: Graphviz puts into a cluster what is named in it."""
    region = account.region
    ends: dict[tuple[bool, str], str] = {}
    for is_read, side in ((True, region.inputs), (False, region.outputs)):
        for at, value in enumerate(side):
            ends[is_read, value.name] = f"{prefix}{'i' if is_read else 'o'}{at}"
            yield f"  {_value(ends[is_read, value.name], value)}"
    yield f"  subgraph cluster_{prefix} {{"
    yield f"    label={quoted(f'execution @{region.name}')};"
    if not account.nests:
        yield f'    {prefix}empty [label="not lowered yet"];'
    for at, nest in enumerate(account.nests):
        yield from _nest(nest, f"{prefix}t{at}")
    yield "  }"
    for at, nest in enumerate(account.nests):
        yield from _arrows(nest, f"{prefix}t{at}", ends)


def _nest(nest: NestAccount, prefix: str) -> Iterator[str]:
    stream, tile = nest.nest.stream, nest.nest.tile
    yield f"    subgraph cluster_{prefix}s {{"
    yield f"      label={quoted(f'streaming @{stream.name}')};"
    yield f"      subgraph cluster_{prefix} {{"
    yield f"        label={quoted(f'tile @{tile.name} {nest.tile_m} x {nest.tile_n}')};"
    ids: dict[str, str] = {}
    for at, node in enumerate(tile.nodes):
        yield from (f"        {line}" for line in _tile_node(node, f"{prefix}n{at}", nest, ids))
    yield "      }"
    yield "    }"


def _arrows(nest: NestAccount, prefix: str, ends: dict[tuple[bool, str], str]) -> Iterator[str]:
    """From and to global memory, with the bytes of a trip and the trips."""
    positions = {node.name: f"{prefix}n{at}" for at, node in enumerate(nest.nest.tile.nodes)}
    for move in nest.moves:
        name = move.node.name
        label = quoted(f"{grouped(move.trip(nest.tile_m, nest.tile_n))} B x {grouped(nest.totals.trips.get(name, 0))}")
        end = ends[move.is_read, move.tensor]
        arrow = f"{end} -> {positions[name]}" if move.is_read else f"{positions[name]} -> {end}"
        yield f'  {arrow} [label={label}, color="#1f5fbf", penwidth=2];'


def _tile_node(node: MCNode, id_: str, nest: NestAccount, ids: dict[str, str]) -> Iterator[str]:
    yield f"{id_} [label={quoted(node.op, f'@{node.name}, {nest.nest.phases[node.name]}')}];"
    for value in node.inputs:
        if value.name in ids:
            yield f"{ids[value.name]} -> {id_};"
    for at, value in enumerate(node.outputs):
        if value.name in nest.live.bytes:
            ids[value.name] = f"{id_}v{at}"
            yield _value(ids[value.name], value, f"{grouped(nest.live.bytes[value.name])} B")
            yield f"{id_} -> {ids[value.name]};"


def _value(id_: str, value: MCValue, *more: str) -> str:
    label = quoted(f"%{value.name}", type_text(value.type), *more)
    return f"{id_} [label={label}{_colour(str(value.residency))}];"


def _colour(kind: str) -> str:
    fill, line = COLOURS.get(kind, COLOURS["global"])
    return f', fillcolor="{fill}", color="{line}"'
