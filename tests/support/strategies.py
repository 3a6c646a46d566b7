"""Hypothesis strategies for whole modules, built from the model.

`modules()` draws every construct of the language: real and opaque ops, attributes of each kind and nesting,
odd names, comments in each place, static, named and unknown sizes, empty graphs and regions. Its graphs are
valid; its regions are well formed in text, but mean nothing. `graph_modules()` draws graphs alone.
attention_strategy.py beside this file draws graphs that the passes turn into regions with a meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.ops import lookup
from mcir.regions import ExecutionRegion, Region, StreamingRegion, TileRegion
from mcir.rewriter import fresh_name
from mcir.types import DTYPES, RESIDENCIES, Dim, Symbol, TensorType
from mcir.values import MCValue

Draw = Callable[[st.SearchStrategy[Any]], Any]

# Words that the syntax uses itself, and strings that look like other syntax.
TRICKY = (
    "return", "graph", "execution", "true", "inf", "tensor", "x", "0", "007", "a.b", "$", "_", "é", "名前", "a b",
    'say "x"', "back\\slash", "//", "}", "%x", "\n", "\t\r", "\0", "\x7f", "\u2028", "\ufeff", "1e5", "-1", "🙂",
)  # fmt: skip
plain = st.text("abzAZ_.$019", min_size=1, max_size=5)
names = st.one_of(plain, st.sampled_from(TRICKY), st.text(min_size=1, max_size=8))
strings = st.one_of(st.sampled_from(TRICKY), st.text(max_size=20), st.just(""))
sizes = st.one_of(st.integers(1, 8), st.just(0), st.integers(0, 10**18 - 1))
dims: st.SearchStrategy[Dim] = st.one_of(st.none(), sizes, names)
dtypes = st.sampled_from(["fp16", "fp32"]) | st.sampled_from(sorted(DTYPES))
types = st.builds(TensorType, st.lists(dims, max_size=4).map(tuple), dtypes, st.sampled_from(RESIDENCIES))
integers = st.one_of(st.integers(), st.integers(-(10**40), 10**40))
floats = st.one_of(
    st.floats(), st.sampled_from([float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e22, 5e-324, 1e16])
)
leaves = st.one_of(st.booleans(), integers, floats, strings, st.builds(Symbol, names), types)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=6,
)
attributes = st.dictionaries(names, values, max_size=3)
# A comment ends with its line, and blanks at its end are not kept.
comment = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=12).map(str.rstrip)


@dataclass
class Scope:
    """The values and names that are in sight while a graph or region is drawn."""

    visible: list[MCValue] = field(default_factory=list)
    value_names: set[str] = field(default_factory=set)

    def value(self, draw: Draw, type_: TensorType) -> MCValue:
        """A new value under a free name; not yet in sight."""
        name = fresh_name(draw(names), self.value_names)
        return MCValue(name, type_.shape, type_.dtype, type_.residency)


@st.composite
def comments(draw: Draw, holder: str) -> Comments | None:
    """The comments of a "node", "block" (graph or region) or "module", or None."""
    if draw(st.integers(0, 3)):
        return None
    some = st.lists(comment, max_size=2)
    last = st.none() | comment
    drawn = {
        "node": lambda: Comments(draw(some), draw(last)),
        "block": lambda: Comments(draw(some), draw(last), draw(some), draw(last)),
        "module": lambda: Comments(inside=draw(some)),
    }[holder]()
    return None if drawn == Comments() else drawn


@dataclass(frozen=True)
class RealOp:
    """An op of the registry that `graphs` draws: what it takes, and the attributes and type it then has."""

    name: str
    arity: int
    accepts: Callable[[TensorType], bool]
    result: Callable[[TensorType], TensorType]
    attrs: Callable[[TensorType], dict[str, Any]] = lambda _: {}


def _is_float(type_: TensorType) -> bool:
    return DTYPES[type_.dtype].kind == "float" and DTYPES[type_.dtype].bits > 8


def _same(type_: TensorType) -> TensorType:
    return type_


def _reversed(type_: TensorType) -> TensorType:
    return TensorType(type_.shape[::-1], type_.dtype)


def _without_last(type_: TensorType) -> TensorType:
    return TensorType((*type_.shape[:-1], 1), type_.dtype)


REAL_OPS = (
    *(RealOp(name, 1, _is_float, _same) for name in ("neg", "exp", "tanh", "sqrt", "identity", "relu")),
    *(RealOp(name, 2, _is_float, _same) for name in ("add", "sub", "mul", "div")),
    RealOp("softmax", 1, lambda t: _is_float(t) and t.rank > 0, _same, lambda _: {"axis": -1}),
    RealOp("mask", 1, lambda t: _is_float(t) and t.rank > 1, _same, lambda _: {"kind": "causal", "offset": 0}),
    RealOp("transpose", 1, lambda t: t.rank > 1, _reversed, lambda t: {"perm": list(range(t.rank))[::-1]}),
    RealOp("cast", 1, _is_float, lambda t: TensorType(t.shape, "fp32")),
    RealOp(
        "reduce_max", 1, lambda t: _is_float(t) and t.rank > 0, _without_last,
        lambda t: {"axes": [t.rank - 1], "keepdims": True},
    ),
)  # fmt: skip


@st.composite
def graphs(draw: Draw, name: str) -> SemanticGraph:
    """A valid graph called `name` of real and opaque ops."""
    scope = Scope()
    inputs = [scope.value(draw, draw(global_types)) for _ in range(draw(st.integers(0, 3)))]
    graph = SemanticGraph(name, inputs, attrs=draw(attributes), comments=draw(comments("block")))
    scope.visible += inputs
    taken: set[str] = set()
    for _ in range(draw(st.integers(0, 6))):
        graph.nodes.append(_node(draw, scope, taken, _real_call(draw, scope.visible)))
    if scope.visible:
        graph.outputs = draw(st.lists(st.sampled_from(scope.visible), max_size=2, unique_by=lambda value: value.name))
    return graph


global_types = types.map(lambda type_: TensorType(type_.shape, type_.dtype))

Call = tuple[str, list[MCValue], list[TensorType], dict[str, Any]]  # op, operands, result types, attributes


def _real_call(draw: Draw, visible: list[MCValue]) -> Call:
    """An op of REAL_OPS on values in sight, or an opaque one where none fits or chance wants it."""
    if visible and draw(st.booleans()):
        operand = draw(st.sampled_from(visible))
        fitting = [op for op in REAL_OPS if op.accepts(operand.type)]
        if fitting:
            op = draw(st.sampled_from(fitting))
            return op.name, [operand] * op.arity, [op.result(operand.type)], op.attrs(operand.type)
    return _opaque_call(draw, visible, global_types)


def _opaque_call(draw: Draw, visible: list[MCValue], result_types: st.SearchStrategy[TensorType]) -> Call:
    op = draw(names.filter(lambda name: lookup(name) is None))
    operands = draw(st.lists(st.sampled_from(visible), max_size=3)) if visible else []
    return op, operands, draw(st.lists(result_types, max_size=3)), draw(attributes)


def _node(draw: Draw, scope: Scope, taken: set[str], call: Call) -> MCNode:
    op, operands, result_types, attrs = call
    outputs = [scope.value(draw, type_) for type_ in result_types]
    # Mostly the default name, that of the first result.
    wanted = outputs[0].name if outputs and draw(st.integers(0, 2)) else draw(names)
    node = MCNode(fresh_name(wanted, taken), op, list(operands), outputs, attrs, draw(comments("node")))
    scope.visible += outputs
    return node


TILE_OPS = ("load_tile", "compute_score", "update_softmax", "accumulate_output", "store_tile")
REGION_CLASSES: tuple[Callable[[str], Region], ...] = (
    ExecutionRegion,
    lambda name: StreamingRegion(name),
    lambda name: TileRegion(name, 128, 64, 64),
)


@st.composite
def regions(draw: Draw, taken: set[str]) -> Region:
    """An execution region with regions nested in it; well formed in text, without meaning."""
    return _region(draw, taken, Scope(), ExecutionRegion, 0)


def _region(draw: Draw, taken: set[str], outer: Scope, make: Callable[[str], Region], depth: int) -> Region:
    scope = Scope(list(outer.visible), set(outer.value_names))
    region = make(fresh_name(draw(names), taken))
    region.attrs |= draw(attributes)
    region.comments = draw(comments("block"))
    if depth == 0 or draw(st.booleans()):
        region.inputs = [scope.value(draw, draw(types)) for _ in range(draw(st.integers(0, 2)))]
        region.outputs = [scope.value(draw, draw(types)) for _ in range(draw(st.integers(0, 2)))]
        scope.visible += region.inputs
    node_names: set[str] = set()
    for _ in range(draw(st.integers(0, 3))):
        _, operands, result_types, attrs = _opaque_call(draw, scope.visible, types)
        call = (draw(st.sampled_from(TILE_OPS)), operands, result_types, attrs)
        region.nodes.append(_node(draw, scope, node_names, call))
    if depth < 3:
        for _ in range(draw(st.integers(0, 2))):
            region.subregions.append(_region(draw, taken, scope, draw(st.sampled_from(REGION_CLASSES[1:])), depth + 1))
    return region


@st.composite
def modules(draw: Draw) -> MCModule:
    """A module of up to two graphs and two regions; possibly empty."""
    taken: set[str] = set()
    module = MCModule(comments=draw(comments("module")))
    module.graphs = [draw(graphs(fresh_name(draw(names), taken))) for _ in range(draw(st.integers(0, 2)))]
    module.regions = [draw(regions(taken)) for _ in range(draw(st.integers(0, 2)))]
    return module


@st.composite
def graph_modules(draw: Draw) -> MCModule:
    """A valid module of one or two graphs and no regions."""
    taken: set[str] = set()
    graphs_ = [draw(graphs(fresh_name(draw(names), taken))) for _ in range(draw(st.integers(1, 2)))]
    return MCModule(graphs=graphs_, comments=draw(comments("module")))
