"""NumPy meanings of contractions, layout, shapes, reductions and normalisations against independent values."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mcir.diagnostics import MCIRError
from tests.unit.op_harness import numpy_dtype, run

INF, NAN = math.inf, math.nan


def _draw(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


# Contractions


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_matmul_sums_each_row_with_each_column(transpose_a: bool, transpose_b: bool) -> None:
    lhs, rhs = _draw(2, 3, 4, dtype="float64"), _draw(1, 4, 5, dtype="float64")
    expected = np.zeros((2, 3, 5))
    for b, i, j, k in np.ndindex(2, 3, 5, 4):
        expected[b, i, j] += lhs[b, i, k] * rhs[0, k, j]
    lhs, rhs = lhs.swapaxes(1, 2) if transpose_a else lhs, rhs.swapaxes(1, 2) if transpose_b else rhs
    out = run("matmul", lhs, rhs, result="2x3x5xfp64", transpose_a=transpose_a, transpose_b=transpose_b)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


def test_matmul_of_vectors() -> None:
    v, m = np.array([1, 2], "int64"), np.array([[3, 4], [5, 6]], "int64")
    assert run("matmul", v, v, result="i64") == 5
    assert run("matmul", v, m, result="2xi64").tolist() == [13, 16]
    assert run("matmul", m, v, result="2xi64").tolist() == [11, 17]


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp8e4m3"])
@pytest.mark.parametrize("op", ["matmul", "einsum", "reduce_sum", "cumsum"])
def test_narrow_sums_are_kept_in_fp32_and_rounded_once(dtype: str, op: str) -> None:
    """2^8 ones and then 2^8 small terms: a running sum in the type itself would stop growing."""
    kind = numpy_dtype(dtype)
    small = float(ml_dtypes.finfo(kind).eps) / 4
    terms = np.array([1.0] + [small] * 256).astype(kind)
    exact = 1 + 256 * float(terms[1])
    ones = np.ones(257).astype(kind)
    attrs: dict[str, Any] = {
        "matmul": {},
        "einsum": {"equation": "i,i->"},
        "reduce_sum": {"axes": [0], "keepdims": False},
        "cumsum": {"axis": 0},
    }[op]
    operands = (terms, ones) if op in ("matmul", "einsum") else (terms,)
    out = run(op, *operands, result=f"257x{dtype}" if op == "cumsum" else dtype, **attrs)
    assert out.dtype == kind
    assert out.reshape(-1)[-1] == np.array(exact).astype(kind)


def test_fp32_sums_stay_fp32_outside_a_proof_and_become_fp64_in_it() -> None:
    x = np.array([2.0**24, 1.0, 1.0])
    assert run("matmul", x.astype("float32"), np.ones(3, "float32"), result="fp32").dtype == "float32"
    proof = run("matmul", x, np.ones(3), result="fp32", proof=True)
    assert proof.dtype == "float64" and proof == 2**24 + 2


@pytest.mark.parametrize(
    ("equation", "shapes", "loops"),
    [
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)], lambda q, k: q @ k.swapaxes(-1, -2)),
        ("...qk, ...kd -> ...qd", [(2, 3, 4, 5), (3, 5, 6)], lambda p, v: p @ v),
        ("ij,jk", [(2, 3), (3, 4)], lambda a, b: a @ b),
        ("ba", [(2, 3)], lambda a: a.T),
        ("ii->", [(3, 3)], np.trace),
        ("ii->i", [(3, 3)], np.diag),
        ("i,j->ij", [(2,), (3,)], np.outer),
        ("ij,j,k->ik", [(2, 3), (3,), (4,)], lambda a, b, c: np.outer(a @ b, c)),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]], loops: Any) -> None:
    arrays = [_draw(*shape, dtype="float64") for shape in shapes]
    expected = np.asarray(loops(*arrays))
    result = "x".join(map(str, (*expected.shape, "fp64")))
    np.testing.assert_allclose(run("einsum", *arrays, result=result, equation=equation), expected, rtol=1e-12)


# Layout: positions in, positions out

P = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("op", "arrays", "attrs", "expected"),
    [
        ("transpose", [P[0]], {"perm": [1, 0]}, [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]),
        ("reshape", [P], {"shape": [0, -1]}, P.reshape(2, 12)),
        ("reshape", [P, np.array([4, -1])], {}, P.reshape(4, 6)),
        ("reshape", [P[:, :0]], {"shape": [0, 4, -1], "allow_zero": False}, np.zeros((2, 4, 0))),
        ("reshape", [P[:, :0]], {"shape": [5, 0], "allow_zero": True}, np.zeros((5, 0))),
        ("expand", [np.array([[1], [2]])], {"shape": [2, 1, 2]}, [[[1, 1], [2, 2]], [[1, 1], [2, 2]]]),
        ("expand", [np.array([1, 2])], {"shape": [1]}, [1, 2]),
        ("repeat", [np.array([[1, 2], [3, 4]])], {"axis": 0, "count": 2}, [[1, 2], [1, 2], [3, 4], [3, 4]]),
        ("repeat", [np.array([[1, 2], [3, 4]])], {"axis": -1, "count": 2}, [[1, 1, 2, 2], [3, 3, 4, 4]]),
        ("tile", [np.array([[1, 2], [3, 4]])], {"repeats": [1, 2]}, [[1, 2, 1, 2], [3, 4, 3, 4]]),
        ("tile", [np.array([[1, 2]]), np.array([2, 1])], {}, [[1, 2], [1, 2]]),
        ("concat", [np.array([[1], [2]]), np.array([[3], [4]])], {"axis": 1}, [[1, 3], [2, 4]]),
        ("concat", [np.array([[1], [2]]), np.array([[3], [4]])], {"axis": -2}, [[1], [2], [3], [4]]),
        ("slice", [P[0]], {"starts": [1], "ends": [3]}, [[4, 5, 6, 7], [8, 9, 10, 11]]),
        ("slice", [P[0]], {"starts": [-3], "ends": [99], "axes": [1], "steps": [2]}, [[1, 3], [5, 7], [9, 11]]),
        ("slice", [P[0, 0]], {"starts": [-1], "ends": [-(2**63)], "axes": [0], "steps": [-1]}, [3, 2, 1, 0]),
        ("slice", [P[0, 0]], {"starts": [10**30], "ends": [0], "axes": [0], "steps": [-2]}, [3, 1]),
        ("slice", [P[0], np.array([0, 1]), np.array([1, 3]), np.array([1, 0])], {}, [[4], [8]]),
        ("slice", [P[0], np.array([2]), np.array([0]), np.array([-1]), np.array([-1])], {}, [[2, 1], [6, 5], [10, 9]]),
        ("squeeze", [P[:1, :1]], {"axes": [0, -2]}, [0, 1, 2, 3]),
        ("unsqueeze", [np.array([1, 2])], {"axes": [0, -1]}, [[[1], [2]]]),
        ("gather", [P[0], np.array([2, 0, -1])], {"axis": 0}, [[8, 9, 10, 11], [0, 1, 2, 3], [8, 9, 10, 11]]),
        ("gather", [P[0], np.array([[1], [3]])], {"axis": -1}, [[[1], [3]], [[5], [7]], [[9], [11]]]),
        ("gather", [P[0], np.array(1)], {}, [4, 5, 6, 7]),
        ("gather", [P[0], np.zeros((0,), int)], {}, np.zeros((0, 4))),
        ("flatten", [P], {"axis": 2}, P.reshape(6, 4)),
        ("flatten", [P], {"axis": 0}, P.reshape(1, 24)),
        ("flatten", [P[:, :0]], {"axis": -1}, np.zeros((0, 4))),
        ("shape", [P], {}, [2, 3, 4]),
        ("shape", [P], {"start": -2, "end": 9}, [3, 4]),
        ("shape", [np.array(1)], {}, np.zeros(0)),
        ("range", [np.array(3), np.array(-2), np.array(-2)], {}, [3, 1, -1]),
        ("range", [np.array(3), np.array(3), np.array(1)], {}, np.zeros(0)),
        ("cumsum", [np.array([[1, 2, 3]])], {"axis": 1}, [[1, 3, 6]]),
        ("cumsum", [np.array([[1, 2, 3]])], {"axis": -1, "exclusive": True}, [[0, 1, 3]]),
        ("cumsum", [np.array([[1, 2, 3]])], {"axis": 1, "reverse": True}, [[6, 5, 3]]),
        ("cumsum", [np.array([[1, 2, 3]])], {"axis": 1, "reverse": True, "exclusive": True}, [[5, 3, 0]]),
        ("cumsum", [np.zeros((2, 0), int)], {"axis": 1, "exclusive": True}, np.zeros((2, 0))),
        ("reduce_sum", [P], {"axes": [0, -1], "keepdims": False}, [60, 92, 124]),
        ("reduce_max", [P], {"axes": [1]}, [[[8, 9, 10, 11]], [[20, 21, 22, 23]]]),
        ("reduce_min", [P], {"axes": [0, 1, 2]}, [[[0]]]),
        ("reduce_prod", [P[:, :2, 0]], {"axes": [1], "keepdims": False}, [0, 192]),
        ("reduce_mean", [np.array([[1, 2], [-1, -2]])], {"axes": [1], "keepdims": False}, [1, -1]),
        ("reduce_sum", [P[0]], {"axes": []}, P[0]),
    ],
)  # fmt: skip
def test_integer_data(op: str, arrays: list[Any], attrs: dict[str, Any], expected: Any) -> None:
    expected = np.asarray(expected, "int64")
    out = run(op, *arrays, result="x".join(map(str, (*expected.shape, "i64"))), **attrs)
    assert out.dtype == "int64"
    np.testing.assert_array_equal(out, expected, strict=True)


@pytest.mark.parametrize("dtype", ["bf16", "fp8e4m3", "i1"])
@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("transpose", {"perm": [1, 0]}), ("reshape", {"shape": [3, 2]}), ("expand", {"shape": [2, 2, 3]}),
        ("repeat", {"axis": 0, "count": 2}), ("tile", {"repeats": [2, 2]}), ("slice", {"starts": [1], "ends": [2]}),
        ("unsqueeze", {"axes": [1]}), ("flatten", {}), ("identity", {}), ("trilu", {}),
    ],
)  # fmt: skip
def test_moving_elements_keeps_any_element_type(dtype: str, op: str, attrs: dict[str, Any]) -> None:
    """The same as moving float64 elements of the same values."""
    x = np.array([[1, 0, 1], [0, 0, 1]]).astype(numpy_dtype(dtype))
    out = run(op, x, result=dtype, **attrs)
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(out.astype("float64"), run(op, x.astype("float64"), result="fp64", **attrs))


def test_split() -> None:
    x = np.arange(14).reshape(2, 7)
    first, second = run("split", x, result=["2x3xi64", "2x4xi64"], axis=1, sizes=[3, 4])
    assert first.tolist() == [[0, 1, 2], [7, 8, 9]] and second.shape == (2, 4)
    parts = run("split", x, result=["2x3xi64"] * 3, axis=-1)
    assert [part.shape for part in parts] == [(2, 3), (2, 3), (2, 1)]
    parts = run("split", x, np.array([0, 7]), result=["2x0xi64", "2x7xi64"], axis=1)
    assert [part.shape for part in parts] == [(2, 0), (2, 7)]


def test_what_only_shows_in_the_run_is_a_clear_error() -> None:
    with pytest.raises(MCIRError, match="'gather' has an index outside the 2 positions of axis 0"):
        run("gather", np.zeros((2, 3)), np.array([2]), result="1x3xfp64")
    with pytest.raises(MCIRError, match="does not add up to the 3 along axis 1"):
        run("split", np.zeros((2, 3)), np.array([2, 2]), result=["2x?xfp64"] * 2, axis=1)


# Tensors out of nothing


def test_filled_tensors() -> None:
    assert run("constant", result="2x2xfp32", value=1.5).tolist() == [[1.5, 1.5], [1.5, 1.5]]
    assert run("constant", result="2x2xi1", value=[True, False, False, True]).tolist() == [[True, False], [False, True]]
    assert run("constant", result="0x3xbf16", value=[]).shape == (0, 3)
    bf16 = run("constant", result="2xbf16", value=[0.1, -INF])
    assert bf16.dtype == ml_dtypes.bfloat16 and bf16.astype("float64").tolist() == [0.10009765625, -INF]
    assert run("constant", result="i64", value=2**62 + 1) == 2**62 + 1
    assert run("constant", result="fp16", value=0.1, proof=True) == 0.1
    assert run("full", np.array([2, 0]), result="?x?xi32", value=7).shape == (2, 0)
    assert run("full", None, result="3xfp16", value=-INF).tolist() == [-INF] * 3


def test_positions() -> None:
    assert run("iota", result="2x3xi64", axis=1).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert run("iota", result="2x3xfp16", axis=-2).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert run("iota", result="2x0xi32", axis=0).shape == (2, 0)
    steps = run("range", *np.array([1, 0, -0.25], "float32"), result="?xfp32")
    assert steps.dtype == "float32" and steps.tolist() == [1, 0.75, 0.5, 0.25]


# Reductions of floats


@pytest.mark.parametrize(
    ("op", "expected"),
    [("reduce_max", -INF), ("reduce_min", INF), ("reduce_sum", 0.0), ("reduce_prod", 1.0), ("reduce_mean", NAN)],
)
def test_reduction_over_no_elements(op: str, expected: float) -> None:
    out = run(op, np.zeros((2, 0), "float32"), result="2x1xfp32", axes=[1])
    np.testing.assert_array_equal(out, [[expected]] * 2)


@pytest.mark.parametrize("op", ["reduce_max", "reduce_min", "reduce_sum", "reduce_prod", "reduce_mean"])
def test_reduction_passes_nan_on(op: str) -> None:
    out = run(op, np.array([[1, NAN], [1, 2]], "float16"), result="2x1xfp16", axes=[-1])
    assert np.isnan(out).ravel().tolist() == [True, False]


def test_reduction_of_booleans_and_unsigned_integers() -> None:
    flags = np.array([[True, False], [False, False]])
    assert run("reduce_max", flags, result="2xi1", axes=[1], keepdims=False).tolist() == [True, False]
    assert run("reduce_min", flags, result="2xi1", axes=[1], keepdims=False).tolist() == [False, False]
    assert run("reduce_max", np.zeros((0,), "uint8"), result="u8", axes=[0], keepdims=False) == 0
    assert run("reduce_sum", np.array([200, 100], "uint8"), result="u8", axes=[0], keepdims=False) == 44


# Normalisations


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_softmax_and_its_logarithm(axis: int) -> None:
    x = _draw(2, 3, 4, dtype="float64") * 5
    exponentials = np.vectorize(math.exp)(x)
    expected = exponentials / exponentials.sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(run("softmax", x, result="2x3x4xfp64", axis=axis), expected, rtol=1e-13)
    logs = run("log_softmax", x, result="2x3x4xfp64", axis=axis)
    np.testing.assert_allclose(logs, np.log(expected), rtol=1e-12, atol=1e-15)


def test_softmax_at_the_edges() -> None:
    """Large scores do not overflow, masked ones count nothing, a dead row is NaN, an empty one stays empty."""
    x = np.array([[1e4, 1e4, -INF], [-INF, -INF, -INF], [-INF, 0, -INF]], "float32")
    np.testing.assert_array_equal(run("softmax", x, result="3x3xfp32"), [[0.5, 0.5, 0], [NAN, NAN, NAN], [0, 1, 0]])
    dead = run("log_softmax", x, result="3x3xfp32")
    np.testing.assert_allclose(dead[[0, 2]], [[-math.log(2), -math.log(2), -INF], [-INF, 0, -INF]], rtol=1e-6)
    assert np.isnan(dead[1]).all()
    assert run("softmax", np.zeros((2, 0), "float16"), result="2x0xfp16").shape == (2, 0)


def test_softmax_of_narrow_floats_is_rounded_once() -> None:
    x = (_draw(4, 50) * 3).astype(ml_dtypes.bfloat16)
    wide = np.exp(x.astype("float64"))
    expected = (wide / wide.sum(axis=-1, keepdims=True)).astype(ml_dtypes.bfloat16)
    assert (run("softmax", x, result="4x50xbf16") == expected).mean() > 0.98  # fp32 against fp64 near a tie
    np.testing.assert_allclose(
        run("softmax", x, result="4x50xbf16").astype("float32"), expected.astype("float32"), rtol=2**-7
    )


def test_softmax_in_base_two_is_exact_on_integers() -> None:
    out = run("softmax", np.array([[1.0, 0.0, 0.0], [-INF, 3.0, 3.0]]), result="2x3xfp16", proof=True)
    assert out.tolist() == [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]
    logs = run("log_softmax", np.array([[1.0, 0.0, 0.0]]), result="1x3xfp16", proof=True)
    assert logs.tolist() == [[-1.0, -2.0, -2.0]]


@pytest.mark.parametrize("axis", [1, -2, 2, -1])
def test_layer_norm_and_rms_norm(axis: int) -> None:
    x, scale, bias = _draw(2, 3, 4, dtype="float64"), _draw(4, dtype="float64"), _draw(4, dtype="float64")
    rows = x.reshape(2, 12) if axis in (1, -2) else x.reshape(6, 4)
    centred = np.array([[value - sum(row) / len(row) for value in row] for row in rows])
    spread = [[math.sqrt(sum(value**2 for value in row) / len(row) + 0.5)] for row in centred]
    expected = (centred / spread).reshape(x.shape) * scale + bias
    out = run("layer_norm", x, scale, bias, result="2x3x4xfp64", axis=axis, epsilon=0.5)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    size = [[math.sqrt(sum(value**2 for value in row) / len(row) + 0.5)] for row in rows]
    out = run("rms_norm", x, scale, result="2x3x4xfp64", axis=axis, epsilon=0.5)
    np.testing.assert_allclose(out, (rows / size).reshape(x.shape) * scale, rtol=1e-12)


def test_norms_without_their_optional_operands() -> None:
    x = np.array([[1.0, 3.0]], "float16")
    assert run("layer_norm", x, result="1x2xfp16", epsilon=0.0).tolist() == [[-1, 1]]
    assert run("rms_norm", x, result="1x2xfp16", epsilon=4.0).tolist() == [[np.float16(1 / 3), 1]]
