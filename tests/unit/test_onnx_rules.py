"""Mapping rules against NumPy: older operator sets and ONNX Runtime's operators, which onnx's node tests lack."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from tests.unit.onnx_samples import INT64, imported, node_of, one_node, ops, run, tensor, value

RNG = np.random.default_rng(7)
X = RNG.standard_normal((2, 3, 4)).astype(np.float32)
A = RNG.standard_normal((5, 3)).astype(np.float32)
B = RNG.standard_normal((4, 5)).astype(np.float32)
C = RNG.standard_normal((3, 4)).astype(np.float32)


def softmax(x: Any, axis: int | tuple[int, ...]) -> Any:
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


x_value = value("x", [2, 3, 4])
gemm_operands = [value("a", [5, 3]), value("b", [4, 5]), value("c", [3, 4])]
bounds = [value("s", [2], INT64), value("e", [2], INT64)]
fused = {"domain": "com.microsoft"}

# what it shows: (model, arrays for its inputs, expected first output, expected operations)
CASES: dict[str, tuple[ModelProto, list[Any], Any, list[str]]] = {
    "softmax before 13 flattens from axis on": (
        one_node("Softmax", [x_value], 11, axis=1), [X], softmax(X, (1, 2)), ["flatten", "softmax", "reshape"]),
    "softmax before 13, axis left out is 1": (
        one_node("Softmax", [x_value], 11), [X], softmax(X, (1, 2)), ["flatten", "softmax", "reshape"]),
    "softmax before 13 over the last axis": (
        one_node("Softmax", [x_value], 11, axis=-1), [X], softmax(X, 2), ["softmax"]),
    "softmax before 13 of open sizes": (
        one_node("Softmax", [value("x", ["b", 3, None])], 11, axis=1), [X], softmax(X, (1, 2)),
        ["flatten", "softmax", "shape", "reshape"]),
    "softmax from 13, axis left out is the last": (one_node("Softmax", [x_value], 13), [X], softmax(X, 2), ["softmax"]),
    "log_softmax before 13": (
        one_node("LogSoftmax", [x_value], 9, axis=0), [X], np.log(softmax(X, (0, 1, 2))),
        ["flatten", "log_softmax", "reshape"]),
    "gemm with everything": (
        one_node("Gemm", gemm_operands, alpha=0.5, beta=2.0, transA=1, transB=1), [A, B, C],
        0.5 * A.T @ B.T + 2.0 * C, ["matmul", "mul", "mul", "add"]),
    "gemm of two operands": (
        one_node("Gemm", gemm_operands[:2], transA=1, transB=1), [A, B], A.T @ B.T, ["matmul"]),
    "gemm with a bias row": (
        one_node("Gemm", [*gemm_operands[:2], tensor("c", C[0])], transA=1, transB=1), [A, B], A.T @ B.T + C[0],
        ["matmul", "add"]),
    "fused matmul": (
        one_node("FusedMatMul", [x_value, value("w", [2, 5, 4])], alpha=0.125, transB=1, **fused),
        [X, np.tile(B.T, (2, 1, 1))], 0.125 * X @ np.tile(B, (2, 1, 1)), ["matmul", "mul"]),
    "fused matmul, both transposed": (
        one_node("FusedMatMul", [value("a", [5, 3]), value("b", [4, 5])], transA=1, transB=1, **fused), [A, B],
        A.T @ B.T, ["matmul"]),
    "quick gelu": (one_node("QuickGelu", [x_value], **fused), [X], X * sigmoid(1.702 * X), ["mul", "sigmoid", "mul"]),
    "fast gelu with bias": (
        one_node("FastGelu", [x_value, tensor("bias", C[0])], **fused), [X], gelu_tanh(X + C[0]), ["add", "gelu"]),
    "fast gelu": (one_node("FastGelu", [x_value], **fused), [X], gelu_tanh(X), ["gelu"]),
    "clip before 11": (one_node("Clip", [x_value], 6, min=-0.5, max=0.25), [X], np.clip(X, -0.5, 0.25), ["clip"]),
    "clip with an upper bound that is not constant": (
        one_node("Clip", [x_value, None, value("top", [])]), [X, np.float32(0.5)], np.minimum(X, 0.5), ["min"]),
    "dropout before 12": (one_node("Dropout", [x_value], 10, ratio=0.25), [X], X, ["dropout"]),
    "slice before 10": (
        one_node("Slice", [x_value], 9, axes=[1, 2], starts=[1, -2], ends=[1000, 1000]), [X], X[:, 1:, -2:], ["slice"]),
    "slice at bounds that are not constant, steps without axes": (
        one_node("Slice", [x_value, *bounds, None, tensor("by", [1, 2], np.int64)]),
        [X, np.int64([0, 0]), np.int64([2, 3])], X[0:2, 0:3:2], ["slice"]),
    "split before 13": (
        one_node("Split", [x_value], 11, results=["y", "z"], axis=1, split=[1, 2]), [X], X[:, :1], ["split"]),
    "squeeze of all axes of size 1": (
        one_node("Squeeze", [value("x", [1, 3, 1])]), [X[:1, :, :1]], X[0, :, 0], ["squeeze"]),
    "reshape before 5": (one_node("Reshape", [x_value], 4, shape=[0, -1]), [X], X.reshape(2, 12), ["reshape"]),
    "reduce_sum with axes as attribute": (
        one_node("ReduceSum", [x_value], 11, axes=[0, 2], keepdims=0), [X], X.sum((0, 2)), ["reduce_sum"]),
    "reduce_sum over no axes that does nothing": (
        one_node("ReduceSum", [x_value, tensor("axes", [], np.int64)], noop_with_empty_axes=1), [X], X, ["identity"]),
    "reduce_sum over no axes that means all": (
        one_node("ReduceSum", [x_value, tensor("axes", [], np.int64)], keepdims=0), [X], X.sum(), ["reduce_sum"]),
    "max of three with different ranks": (
        one_node("Max", [x_value, value("v", [4]), value("w", [3, 1])]), [X, C[0], C[:, :1]],
        np.maximum(np.maximum(X, C[0]), C[:, :1]), ["max", "max"]),
    "max of one": (one_node("Max", [x_value]), [X], X, ["identity"]),
    "max of a value with itself": (
        one_node("Max", [x_value, value("v", [4]), value("v", [4])]), [X, C[0]], np.maximum(X, C[0]), ["max", "max"]),
    "pow with an integer exponent": (
        one_node("Pow", [x_value, tensor("two", 2, np.int64)]), [X], X * X, ["pow"]),
    "concat before 4": (
        one_node("Concat", [value("c", [3, 4]), value("d", [3, 4])], 3, results=[value("y", [3, 8])]),
        [C, C], np.hstack([C, C]), ["concat"]),
    "shape of some axes": (one_node("Shape", [x_value], start=-2), [X], np.int64([3, 4]), ["shape"]),
    "size": (one_node("Size", [x_value]), [X], np.int64(24), ["shape", "reduce_prod"]),
    "constant_of_shape of a constant shape": (
        one_node("ConstantOfShape", [tensor("n", [2, 2], np.int64)], value=tensor("v", [7], np.int32)), [],
        np.full((2, 2), 7, np.int32), ["full"]),
    "trilu at a constant diagonal": (
        one_node("Trilu", [x_value, tensor("k", 1, np.int64)], upper=0), [X], np.tril(X, 1), ["trilu"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_mapped_node_computes_what_onnx_says(name: str) -> None:
    source, arrays, expected, operations = CASES[name]
    result = run(source, *arrays)[0]
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=2e-6)
    assert ops(imported(source)) == operations


# what it shows: a node that has no exact equivalent
OPAQUE: dict[str, ModelProto] = {
    "an attribute that the rule does not know": one_node("Add", [x_value, value("z", [2, 3, 4])], 6, broadcast=1),
    "a factor on integers": one_node(
        "Gemm", [value("a", [2, 2], INT64), value("b", [2, 2], INT64)], alpha=0.5),
    "batch axes transposed": one_node(
        "FusedMatMul", [x_value, x_value], transBatchA=1, results=[value("y", [3, 2, 2])], **fused),
    "axes known at run time only": one_node("ReduceSum", [x_value, value("axes", [1], INT64)]),
    "dropout in training": one_node("Dropout", [x_value, tensor("p", 0.5), tensor("on", True, bool)]),
    "dropout in training, before 7": one_node("Dropout", [x_value], 6),
    "mean of a layer norm": one_node("LayerNormalization", [x_value, tensor("s", C[0])], results=["y", "mean"]),
    "a mean in half precision": one_node("LayerNormalization", [x_value, tensor("s", C[0])], stash_type=10),
    "infinities of one sign": one_node("IsInf", [x_value], detect_negative=0),
    "swish with a factor": one_node("Swish", [x_value], 24, alpha=2.0),
    "tile before 6": one_node(
        "Tile", [x_value, value("n", []), value("axis", [])], 5, results=[value("y", [2, 3, 8])]),
}  # fmt: skip


@pytest.mark.parametrize("name", OPAQUE)
def test_without_an_exact_equivalent_a_node_stays_opaque(name: str) -> None:
    kept = OPAQUE[name].graph.node[0]
    graph = imported(OPAQUE[name])
    assert ops(graph) == [f"{kept.domain or 'onnx'}.{kept.op_type}"]
    node = node_of(graph, "the_node")
    assert [item.name for item in node.inputs] == list(kept.input)
    assert set(node.attrs) == {attribute.name for attribute in kept.attribute}


def test_constant_operands_become_attributes() -> None:
    graph = imported(one_node("Slice", [x_value, *(tensor(name, [1], np.int64) for name in ("s", "e", "a"))]))
    assert node_of(graph, "the_node").attrs == {"starts": [1], "ends": [1], "axes": [1]}
    assert [node.name for node in graph.nodes] == ["the_node"]  # their initializers are gone


def test_attributes_are_written_where_onnx_leaves_the_default_out() -> None:
    assert node_of(imported(one_node("Softmax", [x_value])), "the_node").attrs == {"axis": -1}
    assert node_of(imported(one_node("Softmax", [x_value], 11, axis=-1)), "the_node").attrs == {"axis": -1}
    assert node_of(imported(one_node("Transpose", [x_value])), "the_node").attrs == {"perm": [2, 1, 0]}
