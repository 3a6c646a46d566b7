"""NumPy meanings of pointwise ops and masks against values worked out by hand or with the math module."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.op_harness import numpy_dtype, run

INF, NAN = math.inf, math.nan
X = [-2.0, -0.5, 0.0, 0.25, 3.0]


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _phi(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _tanh_gelu(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


# op, attributes, the same function of one Python float
FUNCTIONS: list[tuple[str, dict[str, Any], Any]] = [
    ("neg", {}, lambda x: -x), ("abs", {}, abs), ("sign", {}, lambda x: (x > 0) - (x < 0)), ("exp", {}, math.exp),
    ("tanh", {}, math.tanh), ("erf", {}, math.erf), ("sigmoid", {}, _sigmoid), ("sin", {}, math.sin),
    ("cos", {}, math.cos), ("floor", {}, math.floor), ("ceil", {}, math.ceil), ("round", {}, round),
    ("relu", {}, lambda x: max(x, 0)), ("gelu", {}, lambda x: x * _phi(x)),
    ("gelu", {"approximate": "tanh"}, _tanh_gelu), ("silu", {}, lambda x: x * _sigmoid(x)),
    ("softplus", {}, lambda x: math.log1p(math.exp(x))), ("elu", {}, lambda x: x if x > 0 else math.expm1(x)),
    ("elu", {"alpha": 2.0}, lambda x: x if x > 0 else 2 * math.expm1(x)), ("identity", {}, lambda x: x),
    ("dropout", {"p": 0.9}, lambda x: x), ("softcap", {"cap": 2.0}, lambda x: 2 * math.tanh(x / 2)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "attrs", "function"), FUNCTIONS, ids=lambda part: part if isinstance(part, str) else "")
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("fp64", 1e-15), ("fp32", 3e-7), ("fp16", 2**-11), ("bf16", 2**-8), ("fp8e5m2", 2**-3)]
)
def test_unary_function(op: str, attrs: dict[str, Any], function: Any, dtype: str, tolerance: float) -> None:
    """Within half a unit in the last place for narrow types: computed in fp32, rounded once."""
    out = run(op, np.array(X).astype(numpy_dtype(dtype)), result=f"5x{dtype}", **attrs)
    assert out.dtype == numpy_dtype(dtype)
    np.testing.assert_allclose(out.astype("float64"), list(map(function, X)), rtol=tolerance * 1.01, atol=1e-7)


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        ("sqrt", [0.0, 4.0, -1.0], [0.0, 2.0, NAN]), ("reciprocal", [2.0, 0.0, -INF], [0.5, INF, 0.0]),
        ("log", [1.0, 0.0, -1.0], [0.0, -INF, NAN]), ("exp", [-INF, 0.0, INF], [0.0, 1.0, INF]),
        ("relu", [NAN, -INF, INF], [NAN, 0.0, INF]), ("round", [0.5, 1.5, -2.5], [0.0, 2.0, -2.0]),
        ("sigmoid", [-INF, 0.0, INF], [0.0, 0.5, 1.0]), ("sigmoid", [-1e4, 1e4, NAN], [0.0, 1.0, NAN]),
        ("softplus", [-INF, 1e4, NAN], [0.0, 1e4, NAN]), ("elu", [-INF, 1e4, 0.0], [-1.0, 1e4, 0.0]),
        ("erf", [-INF, INF, NAN], [-1.0, 1.0, NAN]), ("tanh", [-INF, INF, 0.0], [-1.0, 1.0, 0.0]),
        ("isnan", [NAN, INF, 0.0], [True, False, False]), ("isinf", [NAN, -INF, INF], [False, True, True]),
    ],
)  # fmt: skip
def test_unary_at_the_edges(op: str, given: list[float], expected: list[Any]) -> None:
    result = "3xi1" if op.startswith("is") else "3xfp32"
    np.testing.assert_array_equal(run(op, np.array(given, "float32"), result=result), np.array(expected, "float32"))


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "dtype", "expected"),
    [
        ("add", [1, 2], [3, -5], "fp32", [4, -3]), ("sub", [1, 2], [3, -5], "fp32", [-2, 7]),
        ("mul", [1.5, 2], [3, -5], "fp32", [4.5, -10]), ("div", [1, -1, 0], [4, 0, 0], "fp32", [0.25, -INF, NAN]),
        ("div", [7, -7, 7, -7, 6], [2, 2, -2, -2, 3], "i32", [3, -3, -3, 3, 2]),
        ("div", [7, 255], [2, 16], "u8", [3, 15]),
        ("mod", [7, -7, 7, -7], [3, 3, -3, -3], "i64", [1, 2, -2, -1]),
        ("mod", [5.5, -5.5], [2, 2], "fp32", [1.5, 0.5]),
        ("pow", [2, 3, 4], [3, 2, 0.5], "fp32", [8, 9, 2]), ("pow", [2, 3], [10, 0], "i64", [1024, 1]),
        ("pow", [2, 1], [-1, -3], "i32", [0, 1]),
        ("min", [1, NAN, -INF], [2, 1, 0], "fp32", [1, NAN, -INF]),
        ("max", [1, 1, 3], [2, NAN, -4], "fp32", [2, NAN, 3]),
        ("min", [1, 5], [3, 2], "i8", [1, 2]), ("max", [200, 5], [3, 250], "u8", [200, 250]),
        ("and", [1, 1, 0, 0], [1, 0, 1, 0], "i1", [1, 0, 0, 0]), ("or", [1, 1, 0, 0], [1, 0, 1, 0], "i1", [1, 1, 1, 0]),
        ("xor", [1, 1, 0, 0], [1, 0, 1, 0], "i1", [0, 1, 1, 0]),
    ],
)  # fmt: skip
def test_binary(op: str, lhs: list[Any], rhs: list[Any], dtype: str, expected: list[Any]) -> None:
    kind = numpy_dtype(dtype)
    out = run(op, np.array(lhs).astype(kind), np.array(rhs).astype(kind), result=f"{len(lhs)}x{dtype}")
    assert out.dtype == kind
    np.testing.assert_array_equal(out, np.array(expected).astype(kind))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("equal", [0, 1, 0, 0]), ("not_equal", [1, 0, 1, 1]), ("less", [1, 0, 0, 0]), ("less_equal", [1, 1, 0, 0]),
        ("greater", [0, 0, 1, 0]), ("greater_equal", [0, 1, 1, 0]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "fp8e4m3"])
def test_comparisons(op: str, expected: list[int], dtype: str) -> None:
    lhs, rhs = (np.array(side).astype(numpy_dtype(dtype)) for side in ([1, 2, 3, NAN], [2, 2, 2, NAN]))
    out = run(op, lhs, rhs, result="4xi1")
    assert out.dtype == bool
    assert out.tolist() == list(map(bool, expected))


def test_mod_with_the_sign_of_the_dividend() -> None:
    out = run("mod", np.array([5.5, -5.5, -7.0]), np.array([2.0, 2.0, -3.0]), result="3xfp64", fmod=True)
    assert out.tolist() == [1.5, -1.5, -1.0]


def test_pow_takes_another_type_of_exponent() -> None:
    out = run("pow", np.array([2, 3], "float16"), np.array(2, "int64"), result="2xfp16")
    assert out.dtype == "float16" and out.tolist() == [4, 9]
    out = run("pow", np.array([4, 9], "int32"), np.array(0.5, "float32"), result="2xi32")
    assert out.dtype == "int32" and out.tolist() == [2, 3]


def test_narrow_floats_are_rounded_once() -> None:
    """An op of several steps gives the rounded exact value, which rounding every step does not."""
    for dtype in ("fp16", "bf16"):
        x = np.linspace(-4, 4, 201).astype(numpy_dtype(dtype))
        exact = np.array([3 * math.tanh(float(value) / 3) for value in x]).astype(x.dtype)
        in_steps = np.tanh(x / x.dtype.type(3)) * x.dtype.type(3)
        assert (in_steps != exact).any()
        assert (run("softcap", x, result=f"201x{dtype}", cap=3.0) == exact).all()


def test_pointwise_broadcasting_and_empty_axes() -> None:
    out = run("add", np.ones((2, 1, 3), "float32"), np.arange(4, dtype="float32").reshape(4, 1), result="2x4x3xfp32")
    assert out.shape == (2, 4, 3) and out[1, 2, 0] == 3
    assert run("mul", np.ones((0, 3), "float32"), np.float32(2), result="0x3xfp32").shape == (0, 3)
    assert run("erf", np.ones((0, 3), "float16"), result="0x3xfp16").shape == (0, 3)
    scalar = run("sub", np.array(5, "int64"), np.array(7, "int64"), result="i64")
    assert isinstance(scalar, np.ndarray) and scalar.shape == () and scalar == -2


def test_where_moves_values_and_computes_nothing() -> None:
    fill = np.array(-INF, ml_dtypes.bfloat16)
    out = run("where", np.array([[True], [False]]), np.array([1.5, NAN], ml_dtypes.bfloat16), fill, result="2x2xbf16")
    assert out.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(out.astype("float32"), [[1.5, NAN], [-INF, -INF]])
    assert run("where", np.array(True), np.array(2**62 + 1), np.array(0), result="i64") == 2**62 + 1


@pytest.mark.parametrize(
    ("lower", "upper", "attrs", "expected"),
    [
        (None, None, {}, [-2, 0, NAN, 5]), (None, None, {"min": -1.0, "max": 2.5}, [-1, 0, NAN, 2.5]),
        (-1.0, None, {"max": 2.5}, [-1, 0, NAN, 2.5]), (1.0, 4.0, {}, [1, 1, NAN, 4]), (3.0, 1.0, {}, [1, 1, NAN, 1]),
        (None, None, {"min": 1}, [1, 1, NAN, 5]), (None, None, {"max": -INF}, [-INF, -INF, NAN, -INF]),
    ],
)  # fmt: skip
def test_clip(lower: float | None, upper: float | None, attrs: dict[str, Any], expected: list[float]) -> None:
    bounds = [None if bound is None else np.array(bound, "float16") for bound in (lower, upper)]
    out = run("clip", np.array([-2, 0, NAN, 5], "float16"), *bounds, result="4xfp16", **attrs)
    np.testing.assert_array_equal(out, np.array(expected, "float16"))


@pytest.mark.parametrize(
    ("given", "source", "target", "expected"),
    [
        ([1.9, -1.9, 0.0], "fp32", "i32", [1, -1, 0]), ([1.9, -1.9, 0.0], "bf16", "i64", [1, -1, 0]),
        ([3.5, -3.5, 8.0], "fp8e5m2", "i8", [3, -3, 8]), ([2, -3, 0], "i64", "i1", [1, 1, 0]),
        ([0.5, NAN, 0.0], "fp16", "i1", [1, 1, 0]), ([0.25, -0.0, INF], "bf16", "i1", [1, 0, 1]),
        ([1, 0, 1], "i1", "fp16", [1, 0, 1]), ([1, 0, 1], "i1", "bf16", [1, 0, 1]),
        ([7, -7, 0], "i32", "bf16", [7, -7, 0]),
        ([1 + 2**-9, 65536, -INF], "fp32", "fp16", [1 + 2**-9, INF, -INF]),
        ([2049, 2051, 1e-9], "fp32", "fp16", [2048, 2052, 0]), ([300, 2**40 + 1, -1], "i64", "i32", [300, 1, -1]),
        ([448, 465, -INF], "fp32", "fp8e4m3", [448, NAN, NAN]),
        ([57344, 70000, -INF], "fp32", "fp8e5m2", [57344, INF, -INF]),
    ],
)  # fmt: skip
def test_cast(given: list[Any], source: str, target: str, expected: list[Any]) -> None:
    out = run("cast", np.array(given).astype(numpy_dtype(source)), result=f"3x{target}")
    assert out.dtype == numpy_dtype(target)
    np.testing.assert_array_equal(out.astype("float64"), np.array(expected, "float64"))


def test_saturating_cast_to_fp8_stops_at_the_largest_finite_value() -> None:
    x = np.array([1e6, -INF, 1.0, NAN], "float32")
    for dtype, limit in (("fp8e4m3", 448), ("fp8e5m2", 57344)):
        out = run("cast", x, result=f"4x{dtype}", saturate=True)
        np.testing.assert_array_equal(out.astype("float32"), [limit, -limit, 1, NAN])


def test_cast_in_a_proof_rounds_nothing() -> None:
    out = run("cast", np.array([1 + 2**-30, 1e9]), result="2xfp16", proof=True)
    assert out.dtype == "float64" and out.tolist() == [1 + 2**-30, 1e9]


# Masks


def _kept(text: str) -> np.ndarray[Any, Any]:
    """Rows of `1` (kept) and `0`."""
    return np.array([[char == "1" for char in row] for row in text.split()])


@pytest.mark.parametrize(
    ("attrs", "kept"),
    [
        ({"kind": "causal"}, "10000 11000 11100"), ({"kind": "causal", "offset": 2}, "11100 11110 11111"),
        ({"kind": "causal", "offset": -1}, "00000 10000 11000"),
        ({"kind": "causal", "offset": 10**30}, "11111 11111 11111"),
        ({"kind": "window", "left": 1, "right": 0}, "10000 11000 01100"),
        ({"kind": "window", "left": 0, "right": 1, "offset": 1}, "01100 00110 00011"),
        ({"kind": "window", "left": -1, "right": 1}, "11000 11100 11110"),
        ({"kind": "window", "left": 1, "right": -1, "offset": 2}, "01111 00111 00011"),
        ({"kind": "window"}, "11111 11111 11111"),
        ({"kind": "window", "left": 10**30, "right": 0}, "10000 11000 11100"),
    ],
)  # fmt: skip
def test_mask_by_position(attrs: dict[str, Any], kept: str) -> None:
    scores = np.arange(30, dtype="float16").reshape(2, 3, 5)
    out = run("mask", scores, result="2x3x5xfp16", **attrs)
    assert out.dtype == "float16"
    np.testing.assert_array_equal(out, np.where(_kept(kept), scores, np.float16(-INF)))


def test_mask_takes_the_positions_of_a_tile() -> None:
    scores = np.ones((2, 3), "float32")
    whole = run("mask", np.ones((8, 9), "float32"), result="8x9xfp32", kind="causal", offset=1)
    out = run("mask", scores, result="2x3xfp32", kind="causal", offset=1, rows=np.arange(4, 6), cols=np.arange(5, 8))
    np.testing.assert_array_equal(out, whole[4:6, 5:8])


def test_mask_by_operand_broadcasts_both_ways_and_fills() -> None:
    keep = np.array([[[True, False]], [[False, True]]])
    out = run("mask", np.array([[1.0, 2.0], [3.0, 4.0]], "float32"), keep, result="2x2x2xfp32", fill=-1e4)
    assert out.tolist() == [[[1, -1e4], [3, -1e4]], [[-1e4, 2], [-1e4, 4]]]


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("k", [-3, -1, 0, 1, 9])
@pytest.mark.parametrize("by_operand", [False, True])
def test_trilu(upper: bool, k: int, by_operand: bool) -> None:
    x = np.arange(1, 25, dtype="int64").reshape(2, 3, 4)
    given = {"upper": upper} if by_operand else {"upper": upper, "k": k}
    out = run("trilu", x, np.array([k]) if by_operand else None, result="2x3x4xi64", **given)
    np.testing.assert_array_equal(out, np.triu(x, k) if upper else np.tril(x, k))
