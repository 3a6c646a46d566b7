"""A module as the data of its page: graphs with their nodes in groups, regions with their nests and accounts.

Everything is plain JSON. Node and value names are text that the page never reads as markup.
"""

from __future__ import annotations

from typing import Any

from mcir.analysis.memory.account import NestAccount, RegionAccount
from mcir.analysis.memory.report import region_record
from mcir.analysis.memory.targets import Target
from mcir.analysis.memory.visible import query_tiles
from mcir.exporters.page_groups import graph_groups
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.printer import attribute_text, key_text, print_node, type_text
from mcir.regions import Region
from mcir.types import Symbol
from mcir.values import MCValue

Record = dict[str, Any]

MAP_ROWS = 2048  # query tiles that the map of a nest shows at most
_LONGEST_TEXT = 400


def page_data(module: MCModule, accounts: list[RegionAccount], target: Target | None) -> Record:
    """The data of a page. `accounts` are those of the module's execution regions, in order."""
    regions = [region for region in module.regions if region.kind == "execution"]
    return {
        "graphs": [_graph(graph, regions) for graph in module.graphs],
        "regions": [_region(account, target) for account in accounts],
    }


def shortened(text: str) -> str:
    """A text that a page can show: the constants of a model may have millions of digits."""
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ..."


def _graph(graph: SemanticGraph, regions: list[Region]) -> Record:
    covered: dict[str, int] = {}
    for at, region in enumerate(regions):
        symbol, names = region.attrs.get("graph"), region.attrs.get("nodes")
        if isinstance(symbol, Symbol) and symbol.name == graph.name and isinstance(names, list):
            covered.update((name, at) for name in names if isinstance(name, str))
    makers = {value.name: at for at, node in enumerate(graph.nodes) for value in node.outputs}
    return {
        "name": graph.name,
        "inputs": [_value(value) for value in graph.inputs],
        "outputs": [value.name for value in graph.outputs],
        "nodes": [
            {
                "name": node.name, "op": node.op, "text": shortened(print_node(node)), "region": covered.get(node.name),
                "from": list(dict.fromkeys(makers[value.name] for value in node.inputs if value.name in makers)),
                "reads": list(dict.fromkeys(value.name for value in node.inputs)),
                "makes": [value.name for value in node.outputs],
            }
            for node in graph.nodes
        ],
        "groups": graph_groups(graph.nodes, covered, [region.name for region in regions]),
    }  # fmt: skip


def _region(account: RegionAccount, target: Target | None) -> Record:
    region = account.region
    attrs = {key_text(key): shortened(attribute_text(value)) for key, value in region.attrs.items()}
    return {
        **region_record(account, target),
        "attrs": attrs,
        "inputs": [_value(value) for value in region.inputs],
        "outputs": [_value(value) for value in region.outputs],
        "nests": [_nest(account, nest) for nest in account.nests],
    }


def _nest(account: RegionAccount, nest: NestAccount) -> Record:
    return {
        "stream": nest.nest.stream.name,
        "axis": str(nest.nest.stream.attrs.get("stream_axis", "")),
        "nodes": [_node(node, nest) for node in nest.nest.tile.nodes],
        "map": _tile_map(account, nest),
    }


def _node(node: MCNode, nest: NestAccount) -> Record:
    return {
        "name": node.name, "op": node.op, "text": shortened(print_node(node)),
        "phase": str(nest.nest.phases[node.name]), "inputs": [value.name for value in node.inputs],
        "outputs": [_value(value) for value in node.outputs],
    }  # fmt: skip


def _value(value: MCValue) -> Record:
    return {"name": value.name, "type": type_text(value.type), "residency": str(value.residency)}


def _tile_map(account: RegionAccount, nest: NestAccount) -> Record | None:
    """Which key tiles each query tile visits; None while the sizes have no value."""
    queries, keys = account.sizes.label("q"), account.sizes.label("k")
    if not isinstance(queries, int) or not isinstance(keys, int):
        return None
    rows: list[list[tuple[int, int]]] = []
    total = -(-queries // nest.tile_m)
    for tiles in query_tiles(nest.spans, queries, keys, nest.tile_m, nest.tile_n):
        rows += [list(tiles.intervals)] * min(tiles.times, MAP_ROWS - len(rows))
        if len(rows) >= MAP_ROWS:
            break
    return {"rows": total, "columns": -(-keys // nest.tile_n), "queries": queries, "keys": keys, "visits": rows}
