"""The same work run op by op: each covered node reads its operands and writes its results in global memory."""

from __future__ import annotations

from dataclasses import dataclass

from mcir.analysis.memory.sizes import Dims, dim_size, value_bytes
from mcir.analysis.memory.symbolic import Number, product, quotient
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops.definition import lookup
from mcir.regions import Region
from mcir.types import Shape, Symbol
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
    sizes = _Named(dims, _merged_sizes(nodes, dims))
    read: Number = 0
    written: Number = 0
    layout: Number = 0
    counted = [node for node in nodes if node.op not in _DATA]
    for node in counted:
        operands = {value.name: value for value in node.inputs}
        into = sum((sizes.bytes(value) for value in operands.values()), start=0)
        out = sum((sizes.bytes(value) for value in node.outputs), start=0)
        definition = lookup(node.op)
        if definition is not None and "layout" in definition.traits:
            layout = layout + into + out
        read, written = read + into, written + out
    return OpByOp(len(counted), read, written, layout)


@dataclass(frozen=True, slots=True)
class _Named:
    """Sizes of dimensions by name: as given, else as `merged` knows them from others."""

    dims: Dims
    merged: dict[str, Number]

    def count(self, shape: Shape, owner: str) -> Number:
        return product(
            self.merged[dim] if isinstance(dim, str) and dim in self.merged else dim_size(dim, self.dims, owner)
            for dim in shape
        )

    def bytes(self, value: MCValue) -> Number:
        return self.count(value.shape, value.name) * value_bytes(value)


def _merged_sizes(nodes: list[MCNode], dims: Dims) -> dict[str, Number]:
    """Names that only a reshape made, as the `unk__5` of `[-1, seq, 64]`: a reshape keeps the number of elements."""
    sizes = _Named(dims, {})
    made = {value.name for node in nodes for value in node.outputs}
    known = {dim for node in nodes for value in node.inputs if value.name not in made for dim in value.shape}
    for node in nodes:
        new = [dim for value in node.outputs for dim in value.shape if isinstance(dim, str) and dim not in known]
        known.update(new)
        if node.op != "reshape" or len(new) != 1 or new[0] in dims:
            continue
        before, after = node.inputs[0], node.outputs[0]
        others = tuple(dim for dim in after.shape if dim != new[0])
        solved = quotient(sizes.count(before.shape, before.name), sizes.count(others, after.name))
        if solved is not None:
            sizes.merged[new[0]] = solved
    return sizes.merged
