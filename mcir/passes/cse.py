"""common-subexpression-elimination: of nodes that compute the same, the first serves all uses.

    %a = exp %x : tensor<4xfp32>              %a = exp %x : tensor<4xfp32>
    %b = exp %x : tensor<4xfp32>      ->      %c = add %a, %a : tensor<4xfp32>
    %c = add %a, %b : tensor<4xfp32>

Nodes compute the same if op, operands, attributes (absent ones have their default) and result types are equal.
Never merged: opaque ops, `parameter` (each is a tensor of its own), and what a region names or covers. A node whose
result the graph returns stays, since the name of an output is part of how the graph is called.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from mcir.analysis.holds import Holds, find_holds
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.ops.definition import OPTIONAL, REQUIRED, OpDef
from mcir.passes.base import ModulePass, register_pass
from mcir.passes.dce import changed, counted, keep_nodes
from mcir.passes.statistic import Statistic
from mcir.types import attribute_key
from mcir.values import MCValue

# Their operands may change places bit for bit. min and max are commutative too, but which zero they give for
# 0.0 and -0.0 may depend on the order.
EXCHANGEABLE = frozenset({"add", "mul", "and", "or", "xor", "equal", "not_equal"})


@register_pass
@dataclass
class CommonSubexpressionElimination(ModulePass):
    """Merges equal nodes in every graph; see the head of this file. Linear in the module."""

    name: ClassVar[str] = "common-subexpression-elimination"
    summary: ClassVar[str] = "of nodes that compute the same, the first serves all"
    changes_graphs: ClassVar[bool] = True

    merged = Statistic("nodes whose uses went to an equal node before them")

    def run(self, module: MCModule) -> MCModule:
        holds = find_holds(module)
        for graph in module.graphs:
            merged = merge_equal(graph, holds[graph.name])
            self.merged += merged
            if merged:
                message = f"merged {counted(merged, 'node')}"
                self.remarks.append(changed(self.name, graph, holds[graph.name], message))
        return module


def merge_equal(graph: SemanticGraph, holds: Holds) -> int:
    """Merges equal nodes of `graph`; says of how many the uses went to an equal node before them."""
    returned = {value.name for value in graph.outputs}
    first: dict[Hashable, MCNode] = {}
    stands_for: dict[str, MCValue] = {}
    kept = []
    merged = 0
    for node in graph.nodes:
        if node.name in holds.nodes:
            kept.append(node)
            continue
        node.inputs[:] = [stands_for.get(value.name, value) for value in node.inputs]
        key = _key(node)
        same = first.setdefault(key, node) if key is not None else node
        if same is node or any(value.name in holds.values for value in node.outputs):
            kept.append(node)
            continue
        stands_for.update((value.name, other) for value, other in zip(node.outputs, same.outputs, strict=True))
        stays = any(value.name in returned for value in node.outputs)
        merged += not stays or any(value.consumers for value in node.outputs)
        if stays:
            kept.append(node)
    if merged:
        keep_nodes(graph, kept)
    return merged


def _key(node: MCNode) -> Hashable | None:
    """Equal for nodes that compute the same; None for a node that is never merged."""
    op = lookup(node.op)
    if op is None or node.op == "parameter" or not node.outputs:
        return None
    operands = [value.name for value in node.inputs]
    if node.op in EXCHANGEABLE:
        operands.sort()
    types = tuple(value.type for value in node.outputs)
    return node.op, tuple(operands), attribute_key(_with_defaults(op, node.attrs)), types


def _with_defaults(op: OpDef, given: dict[str, Any]) -> dict[str, Any]:
    defaults = {attr.name: attr.default for attr in op.attrs if attr.default not in (REQUIRED, OPTIONAL)}
    return defaults | given
