"""Clean-up passes on drawn graphs: valid before and after, a fixed point, and the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.parser import parse_module
from mcir.passes.base import ModulePass
from mcir.passes.canonicalize import Canonicalize
from mcir.passes.cse import CommonSubexpressionElimination
from mcir.passes.dce import DeadNodeElimination
from mcir.printer import print_module
from mcir.types import DTYPES, TensorType
from mcir.values import MCValue
from tests.support.strategies import modules
from tests.unit.cleanup_harness import SPECIAL, clean, data, same_results

Draw = Callable[[st.SearchStrategy[Any]], Any]
FLOATS = ("fp32", "fp16", "bf16", "fp64")
OTHERS = ("i32", "i8", "u8", "i1", "fp8e4m3", "fp8e5m2")
SHAPE = (2, 3)

float_items = st.one_of(st.sampled_from(SPECIAL), st.floats(width=16), st.floats())


def items(dtype: str) -> st.SearchStrategy[Any]:
    """An element, often a neutral one."""
    kind = DTYPES[dtype].kind
    if kind == "float":
        return float_items
    return st.booleans() if kind == "bool" else st.one_of(st.sampled_from([0, 1]), st.integers(0, 127))


@st.composite
def graphs(draw: Draw) -> SemanticGraph:
    """A graph that clean-up finds work in: pass-through ops, layout chains, casts, constants, equal nodes."""
    graph = SemanticGraph("g", [MCValue("x", SHAPE, draw(st.sampled_from(FLOATS))), MCValue("b", SHAPE, "i1")])
    values = list(graph.inputs)
    for at in range(draw(st.integers(1, 12))):
        name = f"v{at}"
        op, operands, type_, attrs = draw(st.sampled_from(MAKERS))(draw, values)
        result = MCValue(name, type_.shape, type_.dtype)
        graph.nodes.append(MCNode(name, op, operands, [result], attrs))
        values.append(result)
    graph.outputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3, unique_by=lambda value: value.name))
    return graph


Call = tuple[str, list[MCValue], TensorType, dict[str, Any]]


def constant(draw: Draw, values: list[MCValue]) -> Call:
    dtype = draw(st.sampled_from(FLOATS + OTHERS))
    shape = draw(st.sampled_from([(), (3,), SHAPE, (3, 2)]))
    count = {(): 1, (3,): 3}.get(shape, 6)
    value = draw(st.one_of(items(dtype), st.lists(items(dtype), min_size=count, max_size=count)))
    return "constant", [], TensorType(shape, dtype), {"value": value}


def unary(draw: Draw, values: list[MCValue]) -> Call:
    x = draw(st.sampled_from(values))
    kind = DTYPES[x.dtype].kind
    ops = {
        "float": ["neg", "abs", "floor", "sign", "identity", "dropout", "sqrt", "clip"],
        "bool": ["not", "identity"],
        "int": ["neg", "abs", "identity", "clip"],
    }.get(kind, ["identity", "abs", "clip"])
    return draw(st.sampled_from(ops)), [x], x.type, {}


def cast(draw: Draw, values: list[MCValue]) -> Call:
    """Not from floats to integers: out of range, the processor decides."""
    x = draw(st.sampled_from(values))
    wanted = FLOATS + OTHERS if DTYPES[x.dtype].kind != "float" else (*FLOATS, "fp8e4m3", "fp8e5m2", "i1")
    dtype = draw(st.sampled_from(wanted))
    saturate = draw(st.booleans()) and dtype.startswith("fp8")
    return "cast", [x], TensorType(x.shape, dtype), {"saturate": True} if saturate else {}


def binary(draw: Draw, values: list[MCValue]) -> Call:
    x = draw(st.sampled_from(values))
    fitting = [value for value in values if value.dtype == x.dtype and value.shape in ((), x.shape, x.shape[-1:])]
    y = draw(st.sampled_from(fitting))
    operands = [y, x] if draw(st.booleans()) else [x, y]
    logical, compared = ("and", "or", "xor"), ("equal", "less", "not_equal")
    arithmetic = ("add", "sub", "mul", "min", "max") + (("div",) if DTYPES[x.dtype].kind == "float" else ())
    op = draw(st.sampled_from(logical if x.dtype == "i1" else arithmetic + compared))
    return op, operands, TensorType(x.shape, "i1" if op in compared else x.dtype), {}


def layout(draw: Draw, values: list[MCValue]) -> Call:
    x = draw(st.sampled_from(values))
    shape = x.shape
    two = [axis for axis, dim in enumerate(shape) if dim == 1]
    calls: list[Call] = [
        ("transpose", [x], TensorType(shape[::-1], x.dtype), {"perm": list(range(len(shape)))[::-1]}),
        ("transpose", [x], x.type, {"perm": list(range(len(shape)))}),
        ("reshape", [x], TensorType((1, *shape), x.dtype), {"shape": [1, *shape]}),
        ("reshape", [x], TensorType(shape[::-1], x.dtype), {"shape": list(shape[::-1])}),
        ("unsqueeze", [x], TensorType((*shape, 1), x.dtype), {"axes": [-1]}),
        ("expand", [x], TensorType(shape, x.dtype), {"shape": [1] * len(shape)}),
    ]
    if two:
        squeezed = tuple(dim for axis, dim in enumerate(shape) if axis != two[0])
        calls.append(("squeeze", [x], TensorType(squeezed, x.dtype), {"axes": [two[0]]}))
    if shape:
        whole = {"starts": [0], "ends": [99], "axes": [0]}
        calls.append(("slice", [x], x.type, whole))
        calls.append(("concat", [x], x.type, {"axis": 0}))
        calls.append(("tile", [x], x.type, {"repeats": [1] * len(shape)}))
    return draw(st.sampled_from(calls))


def where(draw: Draw, values: list[MCValue]) -> Call:
    x = draw(st.sampled_from(values))
    y = draw(st.sampled_from([value for value in values if value.type == x.type]))
    tests = [value for value in values if value.dtype == "i1" and value.shape in ((), x.shape)]
    test = draw(st.sampled_from(tests)) if tests else None
    if test is None:
        return "identity", [x], x.type, {}
    return "where", [test, x, y], x.type, {}


MAKERS = [constant, unary, cast, binary, binary, layout, layout, where]
PASSES = [DeadNodeElimination(), CommonSubexpressionElimination(), Canonicalize(), Canonicalize(fold_limit=0)]


@pytest.mark.parametrize("pass_", PASSES, ids=lambda pass_: pass_.name)
@given(graph=graphs())
def test_the_same_bits_before_and_after(pass_: ModulePass, graph: SemanticGraph) -> None:
    clean(pass_, MCModule(graphs=[graph]))


@given(graph=graphs())
def test_all_passes_together(graph: SemanticGraph) -> None:
    before = MCModule(graphs=[graph])
    copy = parse_module(print_module(before))
    for pass_ in (*PASSES, *PASSES):
        before = pass_(before)
    same_results(copy.graphs[0], before.graphs[0])


@pytest.mark.parametrize("pass_", PASSES, ids=lambda pass_: pass_.name)
@given(module=modules())
def test_any_module_stays_whole(pass_: ModulePass, module: MCModule) -> None:
    """Odd names, opaque ops, comments in each place: the text after the pass reads back to the module."""
    after = pass_(module)
    assert parse_module(print_module(after)) == after


def test_data_holds_the_special_numbers() -> None:
    array = data(MCValue("x", (8, 8), "fp32"), 0)
    assert {repr(float(item)) for item in array.flat} >= {"nan", "inf", "-inf", "-0.0", "0.0"}
