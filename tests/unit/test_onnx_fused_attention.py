"""ONNX Runtime's fused attention operators: written out where they are documented, equal to what they compute.

What they should give is worked out here by loops over heads and rows; where onnxruntime is installed, its own
kernels are asked as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from mcir.importers.onnx import read_onnx
from mcir.interpreter.check import check_module as prove
from mcir.interpreter.graph import run_graph
from mcir.passes.attention_pattern import AttentionPattern, run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from tests.unit.onnx_samples import FLOAT, ops, read, value
from tests.unit.onnx_samples import one_node as onnx_node

Array = Any
MODELS = Path(__file__).parents[1] / "models"
BATCH, ROWS, KEYS, HEADS, SIZE, WIDE = 2, 5, 7, 3, 4, 6
RNG = np.random.default_rng(11)


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def keeps(*shape: int) -> Array:
    """A mask of 0 and 1 that keeps something in each row."""
    mask = (RNG.random(shape) < 0.6).astype(np.int32)
    mask[..., 0] = 1
    return mask


def expected(
    q: Array, k: Array, v: Array, *, scale: float = 0.5, mask: Array | None = None, fill: float = -10000.0,
    bias: Array | None = None, causal: bool = False, past: tuple[Array, Array] | None = None,
) -> list[Array]:  # fmt: skip
    """Output, keys and values of attention on (batch, heads, length, size), in float64, row by row."""
    k, v = (k, v) if past is None else (np.concatenate([old, new], 2) for old, new in zip(past, (k, v), strict=True))
    before = 0 if past is None else past[0].shape[2]
    out = np.zeros((*q.shape[:3], v.shape[3]))
    for b, h, row in np.ndindex(*q.shape[:3]):
        score = k[b, h].astype(float) @ q[b, h, row].astype(float) * scale
        if mask is not None:
            score += np.where(mask[b] if mask.ndim == 2 else mask[b, row], 0.0, fill)
        if bias is not None:
            score += bias[b % bias.shape[0], h % bias.shape[1], row]
        if causal:
            score[before + row + 1 :] = -math.inf
        weight = np.exp(score - score.max())
        out[b, h, row] = weight / weight.sum() @ v[b, h]
    return [out.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1), k, v]


def heads(x: Array) -> Array:
    return x.reshape(*x.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)


@dataclass
class Case:
    """One node with its operands (None is left out), and what its results should be."""

    op: str
    operands: dict[str, Array | None]
    wanted: list[Array]
    attrs: dict[str, Any] = field(default_factory=dict)

    def model(self) -> ModelProto:
        codes = {np.dtype(np.float32): FLOAT, np.dtype(np.int32): TensorProto.INT32}
        inputs = [
            None if array is None else value(name, array.shape, codes[array.dtype])
            for name, array in self.operands.items()
        ]
        results = [value(f"y{at}", array.shape) for at, array in enumerate(self.wanted)]
        attrs = {"num_heads": HEADS, **self.attrs}
        return onnx_node(self.op, inputs, 17, "com.microsoft", results, **attrs)

    def given(self) -> dict[str, Array]:
        return {name: array for name, array in self.operands.items() if array is not None}


def multi_head(*, past: int = 0, results: int = 1, **more: Any) -> Case:
    """MultiHeadAttention; `past` and causal ones are of K and V as long as Q."""
    keys = ROWS if past or more.get("causal") else KEYS
    wide = SIZE if past else WIDE
    q, k, v = floats(BATCH, ROWS, HEADS * SIZE), floats(BATCH, keys, HEADS * SIZE), floats(BATCH, keys, HEADS * wide)
    operands: dict[str, Array | None] = {"q": q, "k": k, "v": v, "b": None}
    operands |= {"m": more.get("mask"), "a": more.get("bias")}
    if past:
        more["past"] = floats(BATCH, HEADS, past, SIZE), floats(BATCH, HEADS, past, SIZE)
        operands |= {"pk": more["past"][0], "pv": more["past"][1]}
    wanted = expected(heads(q), heads(k), heads(v), **more)[:results]
    return Case("MultiHeadAttention", operands, wanted, attributes(more))


def attributes(more: dict[str, Any]) -> dict[str, Any]:
    names = {"scale": "scale", "fill": "mask_filter_value", "causal": "unidirectional"}
    return {names[name]: int(given) if name == "causal" else given for name, given in more.items() if name in names}


def with_bias() -> Case:
    case = multi_head()
    operands = case.operands
    bias = operands["b"] = floats(HEADS * (2 * SIZE + WIDE))
    parts = np.split(bias, [HEADS * SIZE, 2 * HEADS * SIZE])
    projected = [heads(array + part) for array, part in zip(list(operands.values())[:3], parts, strict=True)]
    return Case(case.op, operands, expected(*projected)[:1])


def cross() -> Case:
    """K and V with heads split already."""
    q, k, v = floats(BATCH, ROWS, HEADS * SIZE), floats(BATCH, HEADS, KEYS, SIZE), floats(BATCH, HEADS, KEYS, SIZE)
    return Case("MultiHeadAttention", {"q": q, "k": k, "v": v}, expected(heads(q), k, v)[:1])


def projecting(*, past: int = 0, wide: int = SIZE, biased: bool = True, **more: Any) -> Case:
    """Attention, which projects its input itself."""
    sizes = [HEADS * SIZE, HEADS * SIZE, HEADS * wide]
    x, w, b = floats(BATCH, ROWS, 8), floats(8, sum(sizes)), floats(sum(sizes))
    projected = x @ w + (b if biased else 0)
    q, k, v = (heads(part) for part in np.split(projected, np.cumsum(sizes)[:2], axis=-1))
    operands = {"x": x, "w": w, "b": b if biased else None, "m": more.get("mask"), "p": None, "a": more.get("bias")}
    if past:
        operands["p"] = floats(2, BATCH, HEADS, past, SIZE)
        more["past"] = (operands["p"][0], operands["p"][1])
    out, keys, values = expected(q, k, v, **more)
    attrs = attributes(more) | ({"qkv_hidden_sizes": sizes} if wide != SIZE else {})
    return Case("Attention", operands, [out, np.stack([keys, values])] if past else [out], attrs)


CASES = {
    "plain": multi_head,
    "scale": lambda: multi_head(scale=0.3),
    "bias of the projection": with_bias,
    "padding": lambda: multi_head(mask=keeps(BATCH, KEYS)),
    "padding by row": lambda: multi_head(mask=keeps(BATCH, ROWS, KEYS)),
    "padding with another filler": lambda: multi_head(mask=keeps(BATCH, KEYS), fill=-3.0),
    "bias of the scores": lambda: multi_head(bias=floats(1, HEADS, ROWS, KEYS)),
    "bias and padding": lambda: multi_head(bias=floats(BATCH, 1, ROWS, KEYS), mask=keeps(BATCH, KEYS)),
    "causal": lambda: multi_head(causal=True),
    "causal with padding": lambda: multi_head(causal=True, mask=keeps(BATCH, ROWS)),
    "cache": lambda: multi_head(past=3, results=3),
    "cache, causal": lambda: multi_head(past=3, results=3, causal=True),
    "cache with padding": lambda: multi_head(past=3, results=3, mask=keeps(BATCH, ROWS + 3)),
    "keys and values returned": lambda: multi_head(results=3, causal=True),
    "heads split already": cross,
    "projecting": projecting,
    "projecting without a bias": lambda: projecting(biased=False),
    "projecting, causal": lambda: projecting(causal=True),
    "projecting, padding": lambda: projecting(mask=keeps(BATCH, ROWS)),
    "projecting, padding by row": lambda: projecting(mask=keeps(BATCH, ROWS, ROWS)),
    "projecting, bias of the scores": lambda: projecting(bias=floats(BATCH, HEADS, ROWS, ROWS)),
    "projecting, V wider": lambda: projecting(wide=WIDE),
    "projecting, cache": lambda: projecting(past=3),
    "projecting, cache, causal": lambda: projecting(past=3, causal=True),
}


@pytest.mark.parametrize("name", CASES)
def test_written_out_equal_and_proved(name: str) -> None:
    case = CASES[name]()
    module = read(case.model()).module
    assert [op for op in ops(module.graphs[0]) if "." in op] == []
    results = run_graph(module.graphs[0], case.given())
    for result, wanted in zip(results.values(), case.wanted, strict=True):
        np.testing.assert_allclose(result, wanted, atol=2e-5)
    proofs = prove(run_streaming_lowering_pass(run_attention_pattern_pass(module)))
    assert [proof.status for proof in proofs] == ["proved"]


@pytest.mark.parametrize("name", CASES)
def test_onnx_runtime_agrees(name: str) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    case = CASES[name]()
    session = runtime.InferenceSession(case.model().SerializeToString(), providers=["CPUExecutionProvider"])
    for result, wanted in zip(session.run(None, case.given()), case.wanted, strict=True):
        np.testing.assert_allclose(result, wanted, atol=2e-5)


def changed(case: Case, **more: Any) -> ModelProto:
    """The model of a case with other attributes, or other operands where the value is an array."""
    arrays = {name: item for name, item in more.items() if isinstance(item, np.ndarray)}
    rest = {name: item for name, item in more.items() if name not in arrays}
    return Case(case.op, {**case.operands, **arrays}, case.wanted, {**case.attrs, **rest}).model()


def lengths() -> Array:
    return np.asarray([3, 5], np.int32)


def group_query() -> ModelProto:
    q, k, v = floats(1, ROWS, 4 * SIZE), floats(1, ROWS, 2 * SIZE), floats(1, ROWS, 2 * SIZE)
    last, total = np.asarray([ROWS - 1], np.int32), np.asarray([ROWS], np.int32)
    operands = {"q": q, "k": k, "v": v, "pk": None, "pv": None, "last": last, "total": total}
    case = Case("GroupQueryAttention", operands, [floats(1, ROWS, 4 * SIZE)], {"kv_num_heads": 2})
    return changed(case, num_heads=4)


OPAQUE = {
    "lengths as mask": lambda: changed(multi_head(), m=lengths()),
    "packed": lambda: Case(
        "MultiHeadAttention", {"q": floats(BATCH, ROWS, HEADS, 3, SIZE)}, [floats(BATCH, ROWS, HEADS * SIZE)]
    ).model(),
    "causal over other rows than keys": lambda: changed(multi_head(), unidirectional=1),
    "bias beside split heads": lambda: changed(cross(), b=floats(3 * HEADS * SIZE)),
    "projecting, lengths as mask": lambda: changed(projecting(), m=lengths()),
    "projecting, rotation inside": lambda: changed(projecting(), do_rotary=1),
    "projecting, shared buffer": lambda: changed(projecting(past=3), past_present_share_buffer=1),
    "group query": group_query,
}  # fmt: skip


@pytest.mark.parametrize("name", OPAQUE)
def test_what_is_not_determined_stays_opaque_with_a_remark(name: str) -> None:
    module = read(OPAQUE[name]()).module
    (op,) = ops(module.graphs[0])
    assert op.startswith("com.microsoft.")
    detector = AttentionPattern()
    assert detector(module).regions == []
    assert ("fused-op", op) in [(remark.rule, remark.op) for remark in detector.remarks]


def test_scores_that_are_returned_keep_the_operator() -> None:
    case = multi_head()
    inputs = [value(name, array.shape) for name, array in case.given().items()]
    results = [value("y", case.wanted[0].shape), "", "", value("qk", (BATCH, HEADS, ROWS, KEYS))]
    source = onnx_node("MultiHeadAttention", inputs, 17, "com.microsoft", results, num_heads=HEADS)
    assert ops(read(source).module.graphs[0]) == ["com.microsoft.MultiHeadAttention"]


def test_kept_on_request() -> None:
    assert ops(read(multi_head().model(), keep_attention=True).module.graphs[0]) == ["com.microsoft.MultiHeadAttention"]


def test_sizes_known_at_run_time() -> None:
    inputs = [value(name, ["b", length, HEADS * SIZE]) for name, length in (("q", "s"), ("k", "s"), ("v", "s"))]
    source = onnx_node("MultiHeadAttention", inputs, 17, "com.microsoft", num_heads=HEADS, unidirectional=1)
    graph = read(source).module.graphs[0]
    q, k, v = (floats(BATCH, ROWS, HEADS * SIZE) for _ in range(3))
    wanted = expected(heads(q), heads(k), heads(v), causal=True)[0]
    np.testing.assert_allclose(run_graph(graph, {"q": q, "k": k, "v": v})["y"], wanted, atol=2e-5)
    assert len(run_attention_pattern_pass(read(source).module).regions) == 1


@pytest.mark.parametrize("name", sorted(path.name for path in MODELS.glob("*_op23.onnx")))
def test_fused_attention_of_real_exports_is_found(name: str) -> None:
    kept = read_onnx(MODELS / name, keep_attention=True).module
    fused = sum(node.op == "onnx.Attention" for graph in kept.graphs for node in graph.nodes)
    assert fused > 0
    found = run_attention_pattern_pass(read_onnx(MODELS / name).module)
    assert len(found.regions) == fused
