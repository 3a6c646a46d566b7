"""Runs a clean-up pass on text, and holds that the graphs still compute the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcir.graph import SemanticGraph
from mcir.interpreter.graph import run_graph
from mcir.interpreter.numerics import numpy_dtype
from mcir.module import MCModule
from mcir.ops import lookup
from mcir.parser import parse_module
from mcir.passes.base import ModulePass
from mcir.printer import print_module
from mcir.types import DTYPES
from mcir.values import MCValue
from mcir.verifier import check_module
from tests.support.truth import check_uses

SPECIAL = [0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 6e-8, -6e-8, 0.1, 448.0, 60000.0]
SIZES = {"seq": 3, "batch": 2}


def cleaned(pass_: ModulePass, text: str, *, seed: int = 0) -> str:
    """The module of `text` after `pass_`, as text; its graphs are run before and after, with equal results."""
    module = parse_module(text)
    check_module(module)
    after = clean(pass_, module, seed=seed)
    return print_module(after)


def clean(pass_: ModulePass, module: MCModule, *, seed: int = 0) -> MCModule:
    """`module` after `pass_`, held to be valid, a fixed point, of the same interface and the same bits."""
    before = parse_module(print_module(module))
    after = pass_(module)
    check_module(after)
    check_uses(after)
    text = print_module(after)
    assert print_module(parse_module(text)) == text
    assert [(graph.name, graph.inputs, graph.outputs) for graph in interfaces(after)] == [
        (graph.name, graph.inputs, graph.outputs) for graph in interfaces(before)
    ]
    for old, new in zip(before.graphs, after.graphs, strict=True):
        if not has_opaque(old):
            same_results(old, new, seed)
    assert print_module(pass_(after)) == text
    assert not pass_.remarks, "a second run has nothing to do"
    return after


def interfaces(module: MCModule) -> list[SemanticGraph]:
    """The graphs without nodes and uses: name, inputs and outputs."""
    return [
        SemanticGraph(
            graph.name, [MCValue(v.name, v.shape, v.dtype) for v in graph.inputs],
            outputs=[MCValue(v.name, v.shape, v.dtype) for v in graph.outputs],
        )
        for graph in module.graphs
    ]  # fmt: skip


def has_opaque(graph: SemanticGraph) -> bool:
    return any(lookup(node.op) is None for node in graph.nodes)


def same_results(old: SemanticGraph, new: SemanticGraph, seed: int = 0) -> None:
    """Asserts that both graphs compute the same bits on data that holds every special number."""
    inputs = {value.name: data(value, seed + at) for at, value in enumerate(old.inputs)}
    left, right = run_graph(old, inputs, seed=seed), run_graph(new, inputs, seed=seed)
    assert list(left) == list(right)
    for name in left:
        assert left[name].dtype == right[name].dtype
        assert left[name].shape == right[name].shape
        assert bits(left[name]) == bits(right[name]), f"%{name}: {left[name]} became {right[name]}"


def data(value: MCValue, seed: int) -> Any:
    """Random elements among which floats are every special number."""
    shape = tuple(SIZES[dim] if isinstance(dim, str) else 3 if dim is None else dim for dim in value.shape)
    rng = np.random.default_rng(seed)
    dtype = numpy_dtype(value.dtype)
    if DTYPES[value.dtype].kind != "float":
        return rng.integers(0, 2 if value.dtype == "i1" else 100, shape).astype(dtype)
    array = rng.standard_normal(shape)
    special = rng.permutation(np.resize(SPECIAL, array.size)).reshape(shape)
    with np.errstate(all="ignore"):
        return np.where(rng.random(shape) < 0.5, array, special).astype(dtype)


def bits(array: Any) -> bytes:
    """The bytes of an array, with one pattern for every NaN."""
    array = np.array(array)
    if array.dtype.kind in "biu":
        return array.tobytes()
    nan = np.isnan(array.astype(np.float64))
    array[nan] = 0.0
    return array.tobytes() + nan.tobytes()
