"""Plain lists of operator records: in any order, as dictionaries or objects, with types told once or inferred."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from mcir.analysis.records import graph_of_records
from mcir.diagnostics import MCIRError
from mcir.passes.attention_pattern import detect_attention_pattern, run_attention_pattern_pass
from mcir.verifier import verify_module


def value(name: str, *shape: int | str | None, dtype: str = "fp16") -> dict[str, Any]:
    return {"name": name, "shape": shape, "dtype": dtype}


def record(op: str, inputs: list[Any], output: Any, **attrs: Any) -> dict[str, Any]:
    name = output if isinstance(output, str) else output["name"]
    return {"name": f"make_{name}", "op": op, "inputs": inputs, "outputs": [output], "attrs": attrs}


# The design note's own example, with the types of the inputs alone.
ATTENTION = [
    record("transpose", [value("K", 2, 7, 4)], "Kt", perm=[0, 2, 1]),
    record("matmul", [value("Q", 2, 5, 4), "Kt"], "S"),
    record("mask", ["S"], "M", kind="causal", offset=0),
    record("softmax", ["M"], "P", axis=-1),
    record("matmul", ["P", value("V", 2, 7, 3)], "O"),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(5))), ids=str)
def test_any_order(order: tuple[int, ...]) -> None:
    (region,) = detect_attention_pattern([ATTENTION[at] for at in order])
    assert [region.attrs[f"{role}_name"] for role in "qkvo"] == ["Q", "K", "V", "O"]
    assert region.attrs["modifiers"] == [{"op": "mask", "kind": "causal", "offset": 0, "fill": float("-inf")}]
    assert [(v.name, v.shape, v.dtype) for v in region.outputs] == [("O", (2, 5, 3), "fp16")]


def test_the_module_holds_graph_and_region() -> None:
    module = run_attention_pattern_pass(ATTENTION)
    (graph,) = module.graphs
    assert [value.name for value in graph.inputs] == ["K", "Q", "V"]
    assert [value.name for value in graph.outputs] == ["O"]
    assert [node.name for node in graph.nodes] == ["make_Kt", "make_S", "make_M", "make_P", "make_O"]
    assert [found.message for found in verify_module(module) if found.severity == "error"] == []


@dataclass
class Operator:
    """A record of another framework: an object, with its own spelling of ops."""

    op: str
    inputs: list[Any]
    outputs: list[Any]
    attrs: dict[str, Any] = field(default_factory=dict)


def test_objects_tuples_and_other_spellings() -> None:
    keys = SimpleNamespace(name="Kt", shape=[4, 7], dtype="torch.float32")
    rows = [
        Operator("MatMul", [("Q", (5, 4), "float32"), keys], ["S"]),
        Operator("ReduceMax", ["S"], ["top"], {"axes": (-1,), "keepdims": True}),
        Operator("Sub", ["S", "top"], ["shifted"]),
        Operator("Exp", ["shifted"], ["power"]),
        Operator("ReduceSum", ["power"], ["total"], {"axes": [-1], "keepdims": True}),
        Operator("Div", ["power", "total"], ["P"]),
        Operator("MatMul", ["P", ("V", (7, 3), "f32")], ["O"]),
    ]  # fmt: skip
    random.Random(7).shuffle(rows)
    (region,) = detect_attention_pattern(rows)
    assert region.attrs["k_layout"] == "d k" and region.attrs["softmax_dtype"] == "fp32"


def test_named_and_unknown_sizes() -> None:
    rows = [
        record("matmul", [value("Q", "batch", 8, "seq", 64), value("K", "batch", 8, "seq", 64)], "S", transpose_b=True),
        record("softmax", ["S"], "P"),
        record("matmul", ["P", value("V", "batch", 8, "seq", None)], "O"),
    ]
    (region,) = detect_attention_pattern(rows)
    extents = {"b": "batch", "h": 8, "q": "seq", "k": "seq", "d": 64, "e": "?"}
    assert region.attrs["extents"] == extents


def test_an_unknown_op_stays_opaque() -> None:
    rows = [record("my.Norm", [value("X", 2, 3)], value("Y", 2, 3))]
    (node,) = graph_of_records(rows).nodes
    assert (node.op, node.outputs[0].shape) == ("my.Norm", (2, 3))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"inputs": [], "outputs": ["x"]}], "operator record 0 has no op"),
        ([{"op": "add", "inputs": [value("a", 2)]}], "operator record 0 ('add') has no outputs"),
        ([record("exp", [{"shape": (2,)}], "y")], "operator record 0 has an operand or result without a name"),
        ([record("exp", ["x"], "y")], "nothing tells the shape of value 'x'"),
        ([record("exp", [{"name": "x", "shape": (2,)}], "y")], "nothing tells the dtype of value 'x'"),
        ([record("my.Op", [value("x", 2)], "y")], "nothing tells the shape of value 'y'"),
        ([record("exp", [value("x", 2, dtype="quux")], "y")], "value 'x' has the unknown dtype 'quux'"),
        ([record("exp", [value("x", 2)], value("y", -2))], "the shape [-2] of value 'y' has a negative size"),
        ([record("exp", [{"name": "x", "shape": 3, "dtype": "fp16"}], "y")], "the shape of value 'x' is no list"),
        (
            [record("exp", [value("x", 2)], "y"), record("abs", [value("x", 3)], "z")],
            "value 'x' has two shapes, [2] and [3]",
        ),
        (
            [record("exp", [value("x", 2)], "y"), record("abs", [value("x", 2, dtype="fp32")], "z")],
            "value 'x' has two dtypes, fp16 and fp32",
        ),
        (
            [record("exp", [value("x", 2)], "y"), {**record("abs", ["x"], "y"), "name": "again"}],
            "value 'y' is defined twice, by 'make_y' and by 'again'",
        ),
        (
            [record("exp", [value("x", 2)], "y"), {**record("abs", ["x"], "z"), "name": "make_y"}],
            "two operator records are called 'make_y'",
        ),
        (
            [record("exp", [value("b", 2)], value("a", 2)), record("abs", ["a"], "b")],
            "the operator records have a cycle through 'make_a'",
        ),
    ],
)
def test_bad_records(rows: list[Any], message: str) -> None:
    with pytest.raises(MCIRError) as caught:
        detect_attention_pattern(rows)
    assert caught.value.diagnostics[0].message.startswith(message)
    assert caught.value.diagnostics[0].rule == "records"


def test_an_op_that_is_used_otherwise_is_an_error() -> None:
    """Another framework's `dim` is no axis that could be overlooked."""
    rows = [record("softmax", [value("x", 2)], value("y", 2), dim=-1)]
    with pytest.raises(MCIRError, match="dim"):
        run_attention_pattern_pass(rows)


def test_a_graph_that_is_not_valid_is_an_error() -> None:
    graph = graph_of_records(ATTENTION)
    graph.nodes[3].inputs.clear()
    with pytest.raises(MCIRError, match="make_P"):
        detect_attention_pattern(graph)
