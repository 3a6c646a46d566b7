"""The same work run op by op: each covered node reads its operands and writes its results in global memory."""

from __future__ import annotations

from dataclasses import dataclass

from mcir.analysis.memory.sizes import Dims, dim_size, value_bytes
from mcir.analysis.memory.symbolic import Number, product
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops.definition import lookup
from mcir.regions import Region
from mcir.types import Symbol
from mcir.values import MCValue

# These bring data into being before anything runs; whoever reads it pays.
_DATA = ("constant", "parameter")


@dataclass(frozen=True, slots=True)
class OpByOp:
    """nodes: how many were counted; layout: the part of read + written of reshapes, transposes and the like."""

    nodes: int
    read: Number
    written: Number
    layout: Number

    @property
    def total(self) -> Number:
        return self.read + self.written


def graph_of(module: MCModule, region: Region) -> SemanticGraph | None:
    """The graph that `region` was found in, or None."""
    symbol = region.attrs.get("graph")
    return module.graph(symbol.name) if isinstance(symbol, Symbol) else None


def covered_nodes(graph: SemanticGraph, region: Region) -> list[MCNode]:
    """The nodes of `graph` that the region's `nodes` attribute lists."""
    listed = region.attrs.get("nodes")
    names = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    return [node for node in graph.nodes if node.name in names]


def op_by_op(nodes: list[MCNode], dims: Dims) -> OpByOp:
    """The bytes of `nodes` run one after the other. An operand that stands twice in a node is read once."""
    read: Number = 0
    written: Number = 0
    layout: Number = 0
    counted = [node for node in nodes if node.op not in _DATA]
    for node in counted:
        operands = {value.name: value for value in node.inputs}
        into = sum((_bytes(value, dims) for value in operands.values()), start=0)
        out = sum((_bytes(value, dims) for value in node.outputs), start=0)
        definition = lookup(node.op)
        if definition is not None and "layout" in definition.traits:
            layout = layout + into + out
        read, written = read + into, written + out
    return OpByOp(len(counted), read, written, layout)


def _bytes(value: MCValue, dims: Dims) -> Number:
    return product(dim_size(dim, dims, value.name) for dim in value.shape) * value_bytes(value)
