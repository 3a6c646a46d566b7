"""The interpreter: graphs, regions, number systems, and what it refuses to run."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from mcir.analysis.axes import parse_layout
from mcir.diagnostics import MCIRError
from mcir.interpreter.arrays import cut, from_canonical, to_canonical
from mcir.interpreter.graph import draw, run_graph
from mcir.interpreter.lowered import run_lowered
from mcir.interpreter.numerics import NotExact, Numerics, numpy_dtype
from mcir.interpreter.region import ORDERS, Schedule, run_region
from mcir.parser import parse_module
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.samples import build_attention_module, build_attention_semantic_graph
from mcir.types import DTYPES
from mcir.values import MCValue
from tests.unit.attention_samples import SAMPLES, sample_module

RNG = np.random.default_rng(7)


def attention(q, k, v, scale=1.0, keep=None):  # type: ignore[no-untyped-def]
    """Softmax attention in fp64, written independently of the op definitions; a dead row is zero."""
    scores = np.einsum("...qd,...kd->...qk", q.astype(float), k.astype(float)) * scale
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-1e300))
    weights = weights if keep is None else weights * keep
    total = weights.sum(axis=-1, keepdims=True)
    return np.einsum("...qk,...ke->...qe", weights, v.astype(float)) / np.where(total == 0, 1, total)


def floats(*shape: int, dtype: str = "float16") -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def test_the_note_s_attention_graph_and_region() -> None:
    given = {name: floats(1024, 64) / np.float16(4) for name in "QKV"}
    expected = attention(*given.values(), keep=np.tril(np.ones((1024, 1024))))
    graph = run_graph(build_attention_semantic_graph(), given, "algebraic")["O"]
    region = run_region(build_attention_module().regions[0], given, "algebraic")["O"]
    np.testing.assert_allclose(graph, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(region, expected, rtol=0, atol=1e-13)
    typed = run_region(build_attention_module().regions[0], given)["O"]
    assert typed.dtype == np.float16
    np.testing.assert_allclose(typed, expected, rtol=0, atol=2e-3)


def test_grouped_window_region_against_numpy() -> None:
    """Query head h*3 + g reads key head h; the window keeps row + 1 <= col <= row + 6."""
    region = sample_module(SAMPLES["grouped"]).regions[0]
    q, k, v = floats(2, 6, 13, 10), floats(2, 2, 19, 10), floats(2, 2, 19, 9)
    rows, cols = np.arange(13)[:, None], np.arange(19)[None, :]
    keep = (cols >= rows + 1) & (cols <= rows + 6)
    expected = attention(q, k.repeat(3, axis=1), v.repeat(3, axis=1), 0.5, keep)
    found = run_region(region, {"Q": q, "K": k, "V": v}, "algebraic")["O"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("tiles", [(1, 1, 1), (5, 7, 3), (13, 19, 10), (64, 64, 64)])
def test_tiles_and_order_change_nothing_exact(order: str, tiles: tuple[int, int, int]) -> None:
    region = sample_module(SAMPLES["causal"]).regions[0]
    rng = np.random.default_rng(3)
    given = {
        "Q": rng.integers(-1, 2, (2, 2, 13, 10)) * 2.0,  # times the scale of 0.5: integers
        "K": rng.integers(-1, 2, (2, 2, 19, 10)).astype(float),
        "V": rng.integers(-4, 5, (2, 2, 19, 9)).astype(float),
    }
    expected = run_region(region, given, "exact")["O"]
    found = run_region(region, given, "exact", schedule=Schedule(*tiles, order=order))["O"]
    assert np.array_equal(found, expected)


def test_dead_rows_and_no_keys() -> None:
    """Rows 0 ... 5 see nothing under offset -6; without any key every row is zero, NaN rule or not."""
    module = sample_module(SAMPLES["causal, more queries"])
    region = module.regions[0]
    given = {"Q": floats(2, 2, 19, 10), "K": floats(2, 2, 13, 10), "V": floats(2, 2, 13, 9)}
    store = region.subregions[0].subregions[0].nodes[-1]
    dead = run_region(region, given)["O"]
    assert np.isnan(dead[:, :, :6]).all() and not np.isnan(dead[:, :, 6:]).any()
    store.attrs["dead_rows"] = "zero"
    assert (run_region(region, given)["O"][:, :, :6] == 0).all()
    named = sample_module(SAMPLES["named sizes"]).regions[0]
    empty = {"Q": floats(1, 4, 3, 8), "K": floats(1, 2, 0, 8), "V": floats(1, 2, 0, 5)}
    empty["M"] = np.ones((1, 1, 3, 0), bool)
    assert (run_region(named, empty)["O"] == np.zeros((1, 4, 3, 5))).all()


def test_log_sum_exp() -> None:
    region = sample_module(SAMPLES["causal, more queries"], lse=True).regions[0]
    given = {"Q": floats(2, 2, 19, 10), "K": floats(2, 2, 13, 10), "V": floats(2, 2, 13, 9)}
    scores = np.einsum("bhqd,bhkd->bhqk", given["Q"].astype(float), given["K"].astype(float)) * 0.5
    keep = np.arange(13)[None, :] <= np.arange(19)[:, None] - 6
    with np.errstate(divide="ignore"):
        expected = np.log(np.where(keep, np.exp(scores), 0).sum(axis=-1))
    found = run_region(region, given, "algebraic")["LSE"][:, :, 0]
    np.testing.assert_allclose(found, expected[:, :], rtol=1e-12)
    assert (found[:, :, :6] == -np.inf).all()


def test_chained_regions_in_place_of_what_they_cover() -> None:
    """The second attention takes the first one's output as Q; what follows them runs as graph."""
    shape = "tensor<6x6xfp32>"
    graph = f"""graph @g(%Q: {shape}, %K: {shape}, %V: {shape}) {{
  %S = matmul %Q, %K {{transpose_b = true}} : {shape}
  %P = softmax %S : {shape}
  %O = matmul %P, %V : {shape}
  %S2 = matmul %O, %K {{transpose_b = true}} : {shape}
  %P2 = softmax %S2 : {shape}
  %O2 = matmul %P2, %V : {shape}
  %R = neg %O2 : {shape}
  return %R
}}"""
    region = (
        "execution @{name}(%{q}: {shape}, %K: {shape}, %V: {shape}) -> (%{o}: {shape})\n"
        'attributes {{pattern = "scaled_dot_product_attention", graph = @g, q_name = "{q}", o_name = "{o}"}} {{\n}}'
    )
    # The second one stands first: order comes from the graph.
    texts = [region.format(name=name, q=q, o=o, shape=shape) for name, q, o in (("b", "O", "O2"), ("a", "Q", "O"))]
    module = run_streaming_lowering_pass(parse_module("\n".join([graph, *texts])))
    given = {name: floats(6, 6, dtype="float32") for name in "QKV"}
    expected = run_graph(module.graphs[0], given, "algebraic")["R"]
    np.testing.assert_allclose(run_lowered(module, module.graphs[0], given, "algebraic")["R"], expected, atol=1e-13)
    for node in module.graphs[0].nodes[:6]:
        node.op = "onnx.Foo"  # what the regions cover is not run
    np.testing.assert_allclose(run_lowered(module, module.graphs[0], given, "algebraic")["R"], expected, atol=1e-13)


def test_run_graph_draws_parameters_and_takes_them() -> None:
    module = parse_module(
        "graph @g(%x: tensor<2x3xfp32>) {\n  %w = parameter : tensor<3x4xfp32>\n"
        "  %y = matmul %x, %w : tensor<2x4xfp32>\n  return %y\n}"
    )
    x, w = floats(2, 3, dtype="float32"), floats(3, 4, dtype="float32")
    np.testing.assert_allclose(run_graph(module.graphs[0], {"x": x, "w": w})["y"], x @ w, rtol=1e-6)
    drawn = run_graph(module.graphs[0], {"x": x}, seed=5)["y"]
    weight = draw(MCValue("w", (3, 4), "fp32"), {}, 5)
    np.testing.assert_allclose(drawn, x @ weight, rtol=1e-6)
    assert not np.array_equal(drawn, run_graph(module.graphs[0], {"x": x}, seed=6)["y"])


def test_dead_nodes_may_be_opaque_and_dims_are_bound_by_name() -> None:
    module = parse_module(
        'graph @g(%x: tensor<(n)x4xfp32>, %y: tensor<(n)x4xfp32>) {\n  %dead = "onnx.Foo" %x : tensor<?xfp32>\n'
        "  %z = add %x, %y : tensor<(n)x4xfp32>\n  return %z\n}"
    )
    x = floats(3, 4, dtype="float32")
    assert (run_graph(module.graphs[0], {"x": x, "y": x})["z"] == x + x).all()
    with pytest.raises(MCIRError, match="dimension 'n' is 3 and, in 'y', 2"):
        run_graph(module.graphs[0], {"x": x, "y": x[:2]})


def test_a_named_size_fills_shapes_of_tensors_out_of_nothing() -> None:
    module = parse_module(
        "graph @g(%x: tensor<(n)xfp32>) {\n  %i = iota {axis = 0} : tensor<(n)xfp32>\n"
        "  %z = add %x, %i : tensor<(n)xfp32>\n  return %z\n}"
    )
    assert run_graph(module.graphs[0], {"x": np.zeros(4, np.float32)})["z"].tolist() == [0, 1, 2, 3]


BAD_INPUTS = {
    "missing": ({"K", "V"}, {}, "missing array 'Q' for region @attention_region"),
    "extra": ({"Q", "K", "V"}, {"X": (1,)}, "array 'X' is no input of region @attention_region"),
    "shape": ({"K", "V"}, {"Q": (2, 2, 13, 11)}, "array 'Q' has shape [2, 2, 13, 11], expected [2, 2, 13, 10]"),
    "rank": ({"K", "V"}, {"Q": (13, 10)}, "array 'Q' has shape [13, 10], expected [2, 2, 13, 10]"),
}


@pytest.mark.parametrize("name", BAD_INPUTS)
def test_arrays_that_do_not_fit(name: str) -> None:
    right, wrong, message = BAD_INPUTS[name]
    shapes = {"Q": (2, 2, 13, 10), "K": (2, 2, 19, 10), "V": (2, 2, 19, 9)}
    given = {key: floats(*shapes[key]) for key in right} | {key: floats(*shape) for key, shape in wrong.items()}
    with pytest.raises(MCIRError) as caught:
        run_region(sample_module(SAMPLES["plain"]).regions[0], given)
    assert message in [diagnostic.message for diagnostic in caught.value.diagnostics]


def test_a_wrong_dtype_is_named() -> None:
    given = {name: floats(1024, 64, dtype="float32") for name in "QKV"}
    with pytest.raises(MCIRError, match="array 'Q' has dtype float32, expected float16"):
        run_region(build_attention_module().regions[0], given)


def test_memory_is_looked_at_before_work() -> None:
    given = {name: floats(1024, 64) for name in "QKV"}
    with pytest.raises(MCIRError, match=r"matmul @S would need .* the limit is 1\.00 MiB"):
        run_graph(build_attention_semantic_graph(), given, memory_limit=1 << 20)
    with pytest.raises(MCIRError, match="region @attention_region would need"):
        run_region(build_attention_module().regions[0], given, memory_limit=1 << 10)


def test_a_graph_that_contradicts_its_types_is_an_error_at_the_node() -> None:
    module = parse_module(
        "graph @g(%x: tensor<?x4xfp32>) {\n  %y = reshape %x {shape = [2, 8]} : tensor<2x8xfp32>\n  return %y\n}"
    )
    with pytest.raises(MCIRError) as caught:
        run_graph(module.graphs[0], {"x": np.zeros((3, 4), np.float32)})
    diagnostic = caught.value.diagnostics[0]
    assert "reshape @y" in diagnostic.message
    assert diagnostic.location is not None and diagnostic.location.line_column()[0] == 2


def test_number_systems() -> None:
    typed, algebraic, exact = (Numerics(mode) for mode in ("typed", "algebraic", "exact"))
    assert [numerics.dtype("fp16") for numerics in (typed, algebraic, exact)] == [np.float16, np.float64, np.float64]
    assert [numerics.dtype("i32") for numerics in (typed, algebraic, exact)] == [np.int32] * 3
    assert algebraic.exp(np.array(1.0)) == np.e
    assert exact.exp(np.array([3.0 + 1e-9, -2.0, -np.inf])).tolist() == [8.0, 0.25, 0.0]
    assert (exact.lowest, exact.highest) == (-2.0, 3.0)
    assert exact.np.tanh(np.array([-3.0, 0.5])).tolist() == [-1.0, 0.5]
    with pytest.raises(NotExact):
        exact.exp(np.array([0.5]))
    with pytest.raises(ValueError, match="unknown mode 'real'"):
        Numerics("real")
    assert {name: numpy_dtype(name).itemsize * 8 for name in DTYPES} == {
        name: max(8, dtype.bits) for name, dtype in DTYPES.items()
    }
    assert numpy_dtype("bf16") == ml_dtypes.bfloat16


def test_arrays_by_label_go_there_and_back() -> None:
    sizes = {"b": 2, "h": 3, "g": 2, "q": 5, "d": 4}
    layout = parse_layout("q (h g) b d 1")
    array = np.arange(2 * 6 * 5 * 4).reshape(5, 6, 2, 4, 1)
    labels = ("b", "h", "g", "q", "d")
    canonical = to_canonical(array, layout, labels, sizes)
    assert canonical.shape == (2, 3, 2, 5, 4)
    assert canonical[1, 2, 0, 3, 1] == array[3, 4, 1, 1, 0]  # head 2*2 + 0
    assert np.array_equal(from_canonical(canonical, layout, labels, sizes), array)
    assert to_canonical(np.zeros((5, 2)), parse_layout("q b"), labels, sizes).shape == (2, 1, 1, 5, 1)


def test_padding_is_poisoned() -> None:
    tile, valid = cut(np.arange(5.0), 0, 3, 4)
    assert np.array_equal(tile, [3.0, 4.0, np.nan, np.nan], equal_nan=True)
    assert valid.tolist() == [True, True, False, False]
    tile, valid = cut(np.zeros((2, 3), bool), 1, 2, 2)
    assert tile.tolist() == [[False, True], [False, True]]
    assert cut(np.arange(5, dtype=np.int8), 0, 4, 2)[0].tolist() == [4, 127]
    whole, valid = cut(np.arange(5.0), 0, 1, 3)
    assert (whole.tolist(), bool(valid)) == ([1.0, 2.0, 3.0], True)
