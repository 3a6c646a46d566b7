"""A graph's nodes in nested groups, so that a page can show a large graph folded.

The nodes that a region covers are one group, where the first of them stands. What lies between is cut into groups of a
size that a screen can show, and those into groups again, as deep as the graph is large. Constants and parameters are
in no group: they would draw an edge to everything; a node's own text names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcir.nodes import MCNode

Group = dict[str, Any]
Item = Group | int

GROUP_SIZE = 36  # entries of a group at most
_SHORT_RUN = 3
_DATA = ("constant", "parameter")


def graph_groups(nodes: Sequence[MCNode], covered: Mapping[str, int], regions: Sequence[str]) -> list[Item]:
    """The top entries: node numbers, and groups {"label", "region" (its number, or absent), "items"}.

    covered: the number of the region that covers a node, by node name; regions: their names.
    """
    inside: dict[int, Group] = {}
    top: list[Item] = []
    run: list[Item] = []
    for at, node in enumerate(nodes):
        if node.op in _DATA:
            continue
        region = covered.get(node.name)
        if region is None:
            run.append(at)
            continue
        if region not in inside:
            inside[region] = {"label": f"@{regions[region]}", "region": region, "items": []}
            top += [*_as_group(run, nodes), inside[region]]
            run = []
        inside[region]["items"].append(at)
    top += _as_group(run, nodes)
    for group in inside.values():
        group["items"] = _folded(group["items"], nodes)
    return _folded(top, nodes)


def _as_group(run: list[Item], nodes: Sequence[MCNode]) -> list[Item]:
    """A run of nodes as one entry, or as it is where it is short."""
    return run if len(run) <= _SHORT_RUN else [_group(_folded(run, nodes), nodes)]


def _folded(items: list[Item], nodes: Sequence[MCNode]) -> list[Item]:
    """The items, in groups of groups until no more than GROUP_SIZE are left."""
    while len(items) > GROUP_SIZE:
        items = [_group(items[at : at + GROUP_SIZE], nodes) for at in range(0, len(items), GROUP_SIZE)]
    return items


def _group(items: list[Item], nodes: Sequence[MCNode]) -> Group:
    counts = Counter(nodes[at].op for at in _leaves(items))
    common = ", ".join(f"{count} {op}" for op, count in counts.most_common(3))
    return {"label": f"{counts.total()} nodes: {common}", "items": items}


def _leaves(items: list[Item]) -> Iterator[int]:
    stack = list(reversed(items))
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            yield item
        else:
            stack.extend(reversed(item["items"]))
