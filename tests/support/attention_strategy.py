"""Hypothesis strategy for semantic graphs that hold one attention, in the forms that graphs come in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.types import Dim, Shape
from mcir.values import MCValue

Draw = Callable[[st.SearchStrategy[Any]], Any]

batches = st.sampled_from([(), (2,), (2, 3), ("batch", 4), (1, 2)])
extents = st.sampled_from([1, 5, 17, 128, "seq", "past", None])
head_dims = st.sampled_from([4, 8, 64])
TRANSPOSES = ("flag", "node", "stored")
SCALES = ("none", "mul", "div", "query", "both")
MASKS = ("none", "causal", "window", "bias", "select", "select turned round")
SOFTMAXES = ("fused", "decomposed")


# The exact product of all factors that `_scores` puts on the scores, by the entry of SCALES.
FACTORS = {"none": 1.0, "mul": 8.0, "div": 0.125, "query": 0.5, "both": 0.125}


@dataclass(frozen=True)
class Attention:
    """A drawn graph and what the region made from it must say."""

    graph: SemanticGraph
    scale: float
    has_mask: bool


@dataclass
class Sketch:
    """A graph under construction; `apply` adds a node whose value has the next free name."""

    dtype: str
    inputs: list[MCValue] = field(default_factory=list)
    nodes: list[MCNode] = field(default_factory=list)

    def input(self, name: str, shape: Shape, dtype: str = "") -> MCValue:
        self.inputs.append(MCValue(name, shape, dtype or self.dtype))
        return self.inputs[-1]

    def apply(self, op: str, operands: list[MCValue], shape: Shape, **attrs: Any) -> MCValue:
        name = f"{op}_{len(self.nodes)}"
        result = MCValue(name, shape, self.dtype)
        self.nodes.append(MCNode(name, op, operands, [result], attrs))
        return result

    def constant(self, value: float) -> MCValue:
        return self.apply("constant", [], (), value=value)


@st.composite
def attentions(draw: Draw) -> Attention:
    """A valid graph with one attention in it that the passes form and lower."""
    sketch = Sketch(draw(st.sampled_from(["fp16", "bf16", "fp32"])))
    batch, rows, columns = draw(batches), draw(extents), draw(extents)
    depth, width = draw(head_dims), draw(head_dims)
    stored = draw(st.sampled_from(TRANSPOSES))
    q = sketch.input("Q", (*batch, rows, depth))
    k = sketch.input("K", (*batch, depth, columns) if stored == "stored" else (*batch, columns, depth))
    v = sketch.input("V", (*batch, columns, width))
    scale, mask = draw(st.sampled_from(SCALES)), draw(st.sampled_from(MASKS))
    scores = _masked(sketch, _scores(sketch, q, k, stored, scale), mask)
    weights = _softmax(sketch, scores, draw(st.sampled_from(SOFTMAXES)))
    out = sketch.apply("matmul", [weights, v], (*batch, rows, width))
    graph = SemanticGraph("drawn", sketch.inputs, sketch.nodes, [out])
    return Attention(graph, FACTORS[scale], mask != "none")


def _scores(sketch: Sketch, q: MCValue, k: MCValue, stored: str, scale: str) -> MCValue:
    if scale in ("query", "both"):
        q = sketch.apply("mul", [q, sketch.constant(0.5)], q.shape)
    if scale == "both":
        k = sketch.apply("mul", [sketch.constant(0.25), k], k.shape)
    shape = (*q.shape[:-1], k.shape[-1] if stored == "stored" else k.shape[-2])
    if stored == "node":
        rank = len(k.shape)
        perm = [*range(rank - 2), rank - 1, rank - 2]
        k = sketch.apply("transpose", [k], tuple(k.shape[axis] for axis in perm), perm=perm)
    flags = {"transpose_b": True} if stored == "flag" else {}
    scores = sketch.apply("matmul", [q, k], shape, **flags)
    if scale in ("mul", "div"):
        scores = sketch.apply(scale, [scores, sketch.constant(8.0)], shape)
    return scores


def _masked(sketch: Sketch, scores: MCValue, mask: str) -> MCValue:
    shape = scores.shape
    plane: tuple[Dim, ...] = (*[1] * (len(shape) - 2), *shape[-2:])
    if mask == "causal":
        return sketch.apply("mask", [scores], shape, kind="causal", offset=0)
    if mask == "window":
        return sketch.apply("mask", [scores], shape, kind="window", left=5, right=0, offset=0)
    if mask == "bias":
        return sketch.apply("add", [scores, sketch.input("B", plane)], shape)
    if mask.startswith("select"):
        keep, fill = sketch.input("keep", plane, "i1"), sketch.constant(float("-inf"))
        branches = [scores, fill] if mask == "select" else [fill, scores]
        return sketch.apply("where", [keep, *branches], shape)
    return scores


def _softmax(sketch: Sketch, scores: MCValue, form: str) -> MCValue:
    shape, column = scores.shape, (*scores.shape[:-1], 1)
    if form == "fused":
        return sketch.apply("softmax", [scores], shape, axis=-1)
    axes = {"axes": [len(shape) - 1], "keepdims": True}
    top = sketch.apply("reduce_max", [scores], column, **axes)
    power = sketch.apply("exp", [sketch.apply("sub", [scores, top], shape)], shape)
    return sketch.apply("div", [power, sketch.apply("reduce_sum", [power], column, **axes)], shape)
