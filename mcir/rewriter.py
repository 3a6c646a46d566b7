"""The safe way for a pass to edit: producers, consumers and names stay true."""

from __future__ import annotations

from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.regions import Region
from mcir.types import TensorType
from mcir.values import MCValue

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def fresh_name(wanted: str, taken: set[str]) -> str:
    """`wanted` if it is free, else `wanted_1`, `wanted_2`, ...; the answer is entered in `taken`.

    Costs the logarithm of how many such names are taken; with gaps among them a later one may be given.
    """
    name = f"{wanted}_{_free_number(wanted, taken)}" if wanted in taken else wanted
    taken.add(name)
    return name


def _free_number(wanted: str, taken: set[str]) -> int:
    # Numbers are given in turn, so the first free one is found by doubling and halving.
    low, high = 0, 1
    while f"{wanted}_{high}" in taken:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if f"{wanted}_{middle}" in taken:
            low = middle
        else:
            high = middle
    return high


class Rewriter:
    """Edits one graph, or one region with all that nests in it.

    Appending and inserting cost O(1) and O(nodes); `replace_all_uses` costs the uses it replaces.
    """

    def __init__(self, scope: SemanticGraph | Region) -> None:
        self.scope = scope
        self._holders = list(scope.walk()) if isinstance(scope, Region) else [scope]
        self.value_names: set[str] = {value.name for value in scope.inputs}
        self.value_names |= {value.name for value in scope.outputs}
        self.node_names: set[str] = set()
        self._by_name: dict[str, list[MCNode]] = {}
        for holder in self._holders:
            for node in holder.nodes:
                self._enter(node)

    def fresh_value(self, wanted: str, type_: TensorType) -> MCValue:
        """A value of a name that is not taken in this scope."""
        return MCValue(fresh_name(wanted, self.value_names), type_.shape, type_.dtype, type_.residency)

    def node(
        self, op: str, inputs: list[MCValue], outputs: list[MCValue], attrs: dict[str, Any], name: str | None = None
    ) -> MCNode:
        """A new node under a free name (by default that of its first result); not yet inserted."""
        wanted = name or (outputs[0].name if outputs else op)
        return MCNode(fresh_name(wanted, self.node_names), op, inputs, outputs, attrs)

    def append(self, node: MCNode, into: SemanticGraph | Region | None = None) -> MCNode:
        """Puts `node` last in the scope, or in the nested region `into`."""
        (into or self.scope).nodes.append(node)
        self._enter(node)
        return node

    def insert_before(self, anchor: MCNode, node: MCNode) -> MCNode:
        """Puts `node` in front of `anchor`. Raises ValueError if the anchor is not in the scope."""
        holder, at = self._find(anchor)
        holder.nodes.insert(at, node)
        self._enter(node)
        return node

    def replace_all_uses(self, old: MCValue, new: MCValue) -> None:
        """Every operand and output that was `old` becomes `new`."""
        if old is new:
            return
        for name in old.consumers:
            for node in self._by_name.get(name, ()):
                if any(value is old for value in node.inputs):
                    node.inputs[:] = [new if value is old else value for value in node.inputs]
                    if name not in new.consumers[-1:]:
                        new.consumers.append(name)
        old.consumers.clear()
        self.scope.outputs[:] = [new if value is old else value for value in self.scope.outputs]

    def erase(self, node: MCNode) -> None:
        """Takes `node` out. Raises ValueError while a result of it is in use."""
        for value in node.outputs:
            used_as_output = any(value is output for output in self.scope.outputs)
            if value.consumers or used_as_output:
                raise ValueError(f"cannot erase {node.name}: its result %{value.name} is still in use")
        holder, at = self._find(node)
        del holder.nodes[at]
        for value in node.inputs:
            if node.name in value.consumers:
                value.consumers.remove(node.name)
        self.value_names.difference_update(value.name for value in node.outputs)
        self.node_names.discard(node.name)
        self._by_name[node.name].remove(node)

    def _enter(self, node: MCNode) -> None:
        self.node_names.add(node.name)
        self.value_names.update(value.name for value in node.outputs)
        self._by_name.setdefault(node.name, []).append(node)

    def _find(self, node: MCNode) -> tuple[SemanticGraph | Region, int]:
        for holder in self._holders:
            for at, other in enumerate(holder.nodes):
                if other is node:
                    return holder, at
        raise ValueError(f"node {node.name} is not in {self.scope.name}")
