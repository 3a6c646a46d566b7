"""dead-node-elimination: a node whose results lead to no output goes.

    graph @g(%x: tensor<4xfp32>) {            graph @g(%x: tensor<4xfp32>) {
      %y = neg %x : tensor<4xfp32>      ->      %z = exp %x : tensor<4xfp32>
      %z = exp %x : tensor<4xfp32>              return %z
      return %z                               }
    }

What stays: whatever an output depends on; an opaque op with all it takes, since nobody knows its effects; what a
region names or covers; and a `parameter`, which like an input is part of how the graph is called, unless
`parameters` says otherwise. The comment lines above a removed node pass to the node that follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mcir.analysis.holds import Holds, find_holds
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.ops import lookup
from mcir.passes.base import ModulePass, Remark, option, register_pass
from mcir.passes.statistic import Statistic
from mcir.values import MCValue


@register_pass
@dataclass
class DeadNodeElimination(ModulePass):
    """Removes nodes without effect from every graph; see the head of this file. Linear in the module."""

    name: ClassVar[str] = "dead-node-elimination"
    summary: ClassVar[str] = "nodes that lead to no output of their graph go"
    changes_graphs: ClassVar[bool] = True

    parameters: bool = option(False, "unused parameters go, too")

    removed = Statistic("nodes that led to no output")

    def run(self, module: MCModule) -> MCModule:
        holds = find_holds(module)
        for graph in module.graphs:
            removed = remove_dead(graph, holds[graph.name], parameters=self.parameters)
            self.removed += removed
            if removed:
                message = f"removed {counted(removed, 'node')}"
                self.remarks.append(changed(self.name, graph, holds[graph.name], message))
        return module


def remove_dead(graph: SemanticGraph, holds: Holds, *, parameters: bool = False) -> int:
    """Takes dead nodes out of `graph` and says how many they were."""
    kept = live_nodes(graph, holds, parameters=parameters)
    removed = len(graph.nodes) - len(kept)
    if removed:
        keep_nodes(graph, kept)
    return removed


def live_nodes(graph: SemanticGraph, holds: Holds, *, parameters: bool = False) -> list[MCNode]:
    """The nodes of `graph` that stay, in order; see the head of this file."""
    live = {value.name for value in graph.outputs} | holds.values
    kept: list[MCNode] = []
    for node in reversed(graph.nodes):
        needed = node.name in holds.nodes or any(value.name in live for value in node.outputs)
        if needed or lookup(node.op) is None or (node.op == "parameter" and not parameters):
            kept.append(node)
            live.update(value.name for value in node.inputs)
    return kept[::-1]


def keep_nodes(graph: SemanticGraph, kept: list[MCNode]) -> None:
    """Makes `kept`, some of the graph's nodes in order, all of them; uses and comment lines stay true."""
    survivors = set(map(id, kept))
    lines: list[str] = []
    for node in graph.nodes:
        if id(node) not in survivors:
            lines += node.comments.before if node.comments else []
        elif lines:
            node.comments = node.comments or Comments()
            node.comments.before[:0] = lines
            lines = []
    if lines:
        graph.comments = graph.comments or Comments()
        graph.comments.inside[:0] = lines
    graph.nodes[:] = kept
    refresh_uses(graph.inputs, kept)


def refresh_uses(inputs: Iterable[MCValue], nodes: list[MCNode]) -> None:
    """Enters the consumers of all values anew, after nodes were removed or took other operands."""
    for value in inputs:
        value.consumers.clear()
    for node in nodes:
        for value in node.outputs:
            value.consumers.clear()
        for value in node.inputs:
            if value.consumers[-1:] != [node.name]:
                value.consumers.append(node.name)


def changed(pass_name: str, graph: SemanticGraph, holds: Holds, message: str) -> Remark:
    """The remark on a graph that a clean-up changed, with the regions whose nodes it left alone."""
    hint = f"left alone what @{', @'.join(holds.regions)} covers" if holds.regions else ""
    return Remark(pass_name, "changed", message, graph=graph.name, hint=hint, location=graph.loc)


def counted(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
