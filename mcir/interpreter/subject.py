"""What is proved: a lowered region beside the part of its graph that it replaces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcir.analysis.attention_region import Attention, Refusal, read_attention
from mcir.analysis.axes import Layout, parse_layout
from mcir.analysis.phases import infer_nests
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.graph import SemanticGraph
from mcir.interpreter.arrays import from_canonical
from mcir.interpreter.graph import needed_nodes, refuse_opaque
from mcir.interpreter.numerics import Array, Numerics
from mcir.interpreter.region import runnable_nests
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.regions import Region
from mcir.types import Symbol
from mcir.values import MCValue


@dataclass(slots=True)
class Operand:
    """A tensor that a step of the score chain takes.

    role: "select" (a boolean), "add" (added or subtracted), "factor" (all else). gain: the product of the constant
    factors that come after the step. keep: which boolean value lets a score stay.
    """

    value: MCValue
    layout: Layout
    role: str
    gain: float
    keep: bool = True


@dataclass(slots=True)
class Subject:
    """A region, the nodes of its graph from the region's inputs to O, and the values that these need besides.

    gain: the product of the scale and of all constant factors of the chain.
    """

    region: Region
    graph: SemanticGraph
    attention: Attention
    nodes: list[MCNode]
    leaves: list[MCValue]
    operands: list[Operand]
    gain: float

    @property
    def tensors(self) -> list[tuple[MCValue, Layout]]:
        """Every input of the region with its layout; a value in two roles has that of the first."""
        at = self.attention
        roles = [(tensor.value, tensor.layout) for tensor in (at.q, at.k, at.v)]
        known = dict[str, tuple[MCValue, Layout]]()
        for value, layout in [*roles, *((operand.value, operand.layout) for operand in self.operands)]:
            known.setdefault(value.name, (value, layout))
        return list(known.values())

    def stored(self, name: str) -> tuple[Layout, tuple[str, ...]]:
        """The layout of an output of the region, and its labels that are no batch labels."""
        if name == self.attention.o.value.name:
            return self.attention.o.layout, ("q", "e")
        lse = self.lse()
        assert lse is not None and lse.output == name
        return lse.layout, ("q",)

    def lse(self) -> LogSumExp | None:
        """How to compare the stored log-sum-exp; None where there is none, or the graph has no one softmax op."""
        tiles = (nest.tile.nodes for nest in infer_nests(self.region))
        store = next((node for nodes in tiles for node in nodes if node.op == "store_lse"), None)
        softmax = [node for node in self.nodes if node.op == "softmax"]
        if store is None or len(softmax) != 1:
            return None
        if softmax[0].attrs.get("axis", -1) not in (-1, len(softmax[0].inputs[0].shape) - 1):
            return None
        written = self.region.attrs.get("extents")
        order = tuple(written) if isinstance(written, dict) else (*self.attention.batch, "q")
        rows = (*(label for label in order if label in self.attention.batch), "q")
        return LogSumExp(store.attrs["target"], parse_layout(store.attrs["layout"]), softmax[0].inputs[0].name, rows)


@dataclass(frozen=True, slots=True)
class LogSumExp:
    """The region's second output and where the graph has its scores.

    scores: the value that softmax reads. rows: the labels of its axes but the last, in order of storage.
    """

    output: str
    layout: Layout
    scores: str
    rows: tuple[str, ...]

    def reference(self, scores: Array, numerics: Numerics, sizes: dict[str, int]) -> Array:
        """log sum exp of the graph's scores in fp64, stored as the region stores it; -inf for a row of -inf."""
        with np.errstate(all="ignore"):
            wide = scores.astype(float)
            top = wide.max(axis=-1, initial=-np.inf)
            shift = np.where(top == -np.inf, 0.0, top)
            total = numerics.exp(wide - shift[..., None]).sum(axis=-1)
            value = np.where(total == 0, -np.inf, shift + numerics.log(total))
        by_label = value.reshape([sizes[label] for label in self.rows])
        return from_canonical(by_label, self.layout, self.rows, sizes)


def find_subject(module: MCModule, region: Region) -> Subject:
    """The subject of a proof of `region`. Raises MCIRError that says why there is none."""
    runnable_nests(region)
    symbol = region.attrs.get("graph")
    graph = module.graph(symbol.name) if isinstance(symbol, Symbol) else None
    if graph is None:
        what = f"graph @{symbol.name} is not in the module" if isinstance(symbol, Symbol) else "it names no graph"
        raise MCIRError(Diagnostic(what, region.loc, rule="proof.graph"))
    try:
        attention = read_attention(region)
    except Refusal as refusal:
        raise MCIRError(Diagnostic(refusal.message, region.loc, hint=refusal.hint, rule=refusal.rule)) from None
    given = {value.name for value in region.inputs}
    values = graph.values()
    foreign = sorted((given | {attention.o.value.name}) - set(values))
    if foreign:
        message = f"'{foreign[0]}' is no value of graph @{graph.name}"
        raise MCIRError(Diagnostic(message, region.loc, rule="proof.graph"))
    nodes = needed_nodes(graph, {attention.o.value.name}, given)
    refuse_opaque(nodes)
    made = {value.name for node in nodes if node.op != "parameter" for value in node.outputs}
    used = {value.name: value for node in nodes for value in node.inputs}
    leaves = [value for name, value in used.items() if name not in made and name not in given]
    gain = factor_of(attention.modifiers, attention.scale)
    return Subject(region, graph, attention, nodes, leaves, _operands(attention), gain)


def factor_of(steps: list[dict[str, Any]], start: float = 1.0) -> float:
    """`start` times the constant factors of the steps; 1 where that is zero or not finite."""
    for step in steps:
        value = step.get("value")
        if isinstance(value, (int, float)) and step.get("op") in ("mul", "div") and not step.get("reversed"):
            start = start * value if step["op"] == "mul" else start / value if value else math.inf
    return start if start and math.isfinite(start) else 1.0


_ADDING = ("add", "sub")


def _operands(attention: Attention) -> list[Operand]:
    found = []
    for at, step in enumerate(attention.modifiers):
        name, layout = step.get("operand"), step.get("layout")
        if not isinstance(name, str) or not isinstance(layout, str) or name not in attention.operands:
            continue
        value = attention.operands[name]
        role = "select" if value.dtype == "i1" else "add" if step.get("op") in _ADDING else "factor"
        gain = factor_of(attention.modifiers[at + 1 :])
        found.append(Operand(value, parse_layout(layout), role, gain, bool(step.get("keep", True))))
    return found
