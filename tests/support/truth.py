"""What is true of every module, whatever made it."""

from __future__ import annotations

from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.values import MCValue


def check_uses(module: MCModule) -> None:
    """Asserts that `producer` and `consumers` of every value say what the nodes say."""
    for graph in module.graphs:
        _check_scope(graph.inputs, graph.nodes)
    for region in module.regions:
        holders = list(region.walk())
        inputs = [value for holder in holders for value in (*holder.inputs, *holder.outputs)]
        _check_scope(inputs, [node for holder in holders for node in holder.nodes])


def _check_scope(inputs: list[MCValue], nodes: list[MCNode]) -> None:
    producers: dict[int, str | None] = {id(value): None for value in inputs}
    consumers: dict[int, list[str]] = {id(value): [] for value in inputs}
    seen = {id(value): value for value in inputs}
    for node in nodes:
        for value in node.inputs:
            assert id(value) in seen, f"{node.name} takes %{value.name}, which nothing defines"
            if consumers[id(value)][-1:] != [node.name]:
                consumers[id(value)].append(node.name)
        for value in node.outputs:
            producers[id(value)] = node.name
            consumers[id(value)] = []
            seen[id(value)] = value
    for key, value in seen.items():
        assert value.producer == producers[key], f"producer of %{value.name}"
        assert value.consumers == consumers[key], f"consumers of %{value.name}"
