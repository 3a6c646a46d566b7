"""Attention in many spellings: the region each must give, proved against its graph, with distinct and equal sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mcir.interpreter.check import check_region
from mcir.module import MCModule
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.printer import print_module
from mcir.values import MCValue
from mcir.verifier import verify_module
from tests.unit.attention_graphs import DISTINCT, EQUAL, INF, Writer, detected

Expected = dict[str, Any]
Build = Callable[[Writer], tuple[MCValue, Expected]]
CASES: dict[str, Build] = {}


def case(build: Build) -> Build:
    CASES[build.__name__] = build
    return build


CAUSAL = {"op": "mask", "kind": "causal", "offset": 0, "fill": -INF}


def mul(value: float) -> dict[str, Any]:
    return {"op": "mul", "value": value}


# Scales


@case
def no_scale(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    return w.attend(w.scores(q, k), v), {"scale": 1.0, "modifiers": [], "has_mask": False, "dead_rows": "none"}


@case
def scale_on_q_before_the_head_split(w: Writer) -> tuple[MCValue, Expected]:
    b, h, q, d = w.dims("b h q d")
    x = w.op("identity", w.op("parameter", to=((b, q, h * d), "fp32"), name="X"))
    heads = w.transposed(w.reshaped(w.scaled(x, 0.25), b, q, h, d), 0, 2, 1, 3)
    k, v = w.input("K", "b h k d"), w.input("V", "b h k e")
    return w.attend(w.scores(heads, k), v), {"scale": 0.25, "q_name": "X", "q_layout": "b q (h d)"}


@case
def scale_on_both_sides_and_on_scores(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.op("matmul", w.scaled(q, 0.5), w.scaled(w.transposed(w.scaled(k, 0.25)), 2.0))
    scores = w.op("div", w.op("mul", w.const(3.0), scores), w.const(1.5))
    return w.attend(scores, v), {"scale": 0.5, "modifiers": [mul(0.5)], "q_name": "Q", "k_name": "K"}


@case
def scale_negated(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    return w.attend(w.op("neg", w.scaled(w.scores(q, k), 0.5)), v), {"scale": -0.5}


@case
def scale_from_the_shape_of_another_axis(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    shape = w.op("shape", q, start=2, end=3)
    root = w.op("sqrt", w.cast(shape, "fp32"))
    scale = w.op("div", w.const(1.0, shape=(1,)), root)
    expected = {5: 0.4472135901451111, 4: 0.5}[int(w.sizes["q"])]  # type: ignore[arg-type]
    return w.attend(w.op("mul", w.scores(q, k), scale), v), {"scale": expected}


@case
def scale_by_power_minimum_and_splat(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    power = w.op("pow", w.const(16.0), w.const(-0.5))
    splat = w.op("expand", w.op("min", power, w.const(8.0)), shape=list(w.dims("b h q k")))
    return w.attend(w.op("mul", w.scores(q, k), splat), v), {"scale": 0.25}


@case
def identities_everywhere(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    q = w.op("mul", w.op("add", q, w.const(0.0)), w.const(1.0, shape=(1,)))
    scores = w.op("sub", w.reshaped(w.scores(w.scaled(q, 0.5), w.op("identity", k)), *w.dims("b h q k")), w.const(0.0))
    probs = w.op("div", w.op("dropout", w.op("softmax", scores, axis=3)), w.const(1.0))
    out = w.op("matmul", w.op("identity", probs), w.op("identity", v))
    return out, {"scale": 0.5, "q_name": "Q", "k_name": "K", "v_name": "V"}


# Layouts


@case
def keys_in_columns(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(k="b h d k")
    return w.attend(w.op("matmul", q, k), v), {"k_layout": "b h d k"}


@case
def keys_transposed_in_one_step(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(k="b k h d")
    return w.attend(w.op("matmul", q, w.transposed(k, 0, 2, 3, 1)), v), {"k_name": "K", "k_layout": "b k h d"}


@case
def keys_transposed_through_three_axes(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    b, h, keys, d = w.dims("b h k d")
    flat = w.transposed(w.reshaped(k, b * h, keys, d))  # type: ignore[operator]
    return w.attend(w.op("matmul", q, w.reshaped(flat, b, h, d, keys)), v), {"k_name": "K", "k_layout": "b h k d"}


@case
def flags_and_swapped_operands(w: Writer) -> tuple[MCValue, Expected]:
    """S^T = K Q^T, softmax down the columns, O^T = V^T P^T."""
    q, k, v = w.qkv()
    scores = w.op("matmul", k, q, transpose_b=True)
    probs = w.op("softmax", scores, axis=-2)
    out = w.op("matmul", v, probs, transpose_a=True)
    return out, {"q_name": "Q", "k_name": "K", "o_layout": "b h e q", "v_layout": "b h k e"}


@case
def einsum_scores_out_of_order(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(q="b q h d", k="b k h d", v="k b h e")
    scores = w.op("einsum", k, q, equation="b k h d, b q h d -> b q h k")
    out = w.op("einsum", v, w.op("softmax", scores, axis=3), equation="kbhe,bqhk->bqhe")
    return out, {"q_layout": "b q h d", "v_layout": "k b h e", "o_layout": "b q h e"}


@case
def einsum_with_ellipsis(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.op("einsum", q, k, equation="...qd,...kd->...qk")
    return w.op("einsum", w.op("softmax", scores), v, equation="...qk,...ke->...qe"), {"k_layout": "b h k d"}


@case
def two_axes(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv("q d", "k d", "k e")
    extents = {label: w.sizes[label] for label in "qkde"}
    return w.attend(w.scores(q, k), v), {"q_layout": "q d", "o_layout": "q e", "extents": extents}


@case
def heads_folded_for_the_mask(w: Writer) -> tuple[MCValue, Expected]:
    """bmm over B*H, viewed with heads apart while the mask is added, and folded again."""
    b, h, q_, k_ = w.dims("b h q k")
    bh = b * h  # type: ignore[operator]
    w.sizes["n"] = bh
    q, k, v = w.qkv("n q d", "n k d", "n k e")
    m = w.input("M", "b 1 q k")
    scores = w.op("add", w.reshaped(w.scores(q, k), b, h, q_, k_), m)
    return w.attend(w.reshaped(scores, bh, q_, k_), v), {
        "q_layout": "(b h) q d", "o_layout": "(b h) q e",
        "modifiers": [{"op": "add", "operand": "M", "layout": "b 1 q k"}],
    }  # fmt: skip


@case
def probabilities_folded_to_three_axes(w: Writer) -> tuple[MCValue, Expected]:
    b, h, q_, k_, e = w.dims("b h q k e")
    q, k, v = w.qkv()
    probs = w.op("softmax", w.scores(q, k))
    folded = w.reshaped(probs, b * h, q_, k_)  # type: ignore[operator]
    out = w.op("matmul", folded, w.reshaped(v, b * h, k_, e))  # type: ignore[operator]
    return out, {"q_layout": "b h q d", "v_layout": "(b h) k e", "o_layout": "(b h) q e"}


@case
def windows_of_five_axes(w: Writer) -> tuple[MCValue, Expected]:
    """Swin: windows are folded into the batch, and apart only for the mask."""
    b, h, q_, k_ = w.dims("b h q k")
    w.sizes.update({"w": 3, "n": 3 * b})  # type: ignore[operator]
    q, k, v = w.qkv("n h q d", "n h k d", "n h k e")
    bias, mask = w.input("bias", "1 h q k"), w.input("mask", "1 w 1 q k")
    scores = w.op("add", w.scores(q, k), bias)
    apart = w.op("add", w.reshaped(scores, b, 3, h, q_, k_), mask)
    return w.attend(w.reshaped(apart, 3 * b, h, q_, k_), v), {  # type: ignore[operator]
        "q_layout": "(b h) c q d",
        "modifiers": [
            {"op": "add", "operand": "bias", "layout": "1 c q k"},
            {"op": "add", "operand": "mask", "layout": "1 h 1 q k"},
        ],
    }


@case
def value_is_the_key(w: Writer) -> tuple[MCValue, Expected]:
    q, k = w.input("Q", "b h q d"), w.input("K", "b h k d")
    return w.attend(w.scores(q, k), k), {"k_name": "K", "v_name": "K"}


@case
def cached_keys_are_outputs_too(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    keys = w.op("concat", k, k, axis=2, name="keys")
    values = w.op("concat", v, v, axis=2, name="values")
    w.graph.outputs = [keys, values]
    return w.attend(w.scores(q, keys), values), {"k_name": "keys", "v_name": "values"}


@case
def value_is_the_scaled_key(w: Writer) -> tuple[MCValue, Expected]:
    """The scale stays inside K: K before it and V behind it cannot both be inputs of one region."""
    q, k = w.input("Q", "b h q d"), w.input("X", "b h k d")
    k = w.op("mul", k, w.const(0.5), name="K")
    return w.attend(w.scores(q, k), k), {"scale": 1.0, "k_name": "K", "v_name": "K"}


@case
def value_is_the_transposed_key(w: Writer) -> tuple[MCValue, Expected]:
    w.sizes["e"] = w.sizes["d"]
    q, k = w.input("Q", "b h q d"), w.input("K", "b h d k")
    kt = w.op("transpose", k, perm=[0, 1, 3, 2], name="Kt")
    return w.attend(w.op("matmul", q, k), kt), {"k_name": "K", "k_layout": "b h d k", "v_name": "Kt"}


# Grouped heads


def grouped(w: Writer, labels: str, name: str, spelling: str) -> MCValue:
    """K or V of h heads, each repeated g times: by expand of a new axis, or by repeat."""
    few = w.input(name, labels)
    if spelling == "repeat":
        return w.op("repeat", few, axis=1, count=w.sizes["g"])
    b, h, length, width = w.dims(labels)
    wide = w.op("expand", w.op("unsqueeze", few, axes=[2]), shape=[b, h, w.sizes["g"], length, width])
    return w.reshaped(wide, b, h * w.sizes["g"], length, width)  # type: ignore[operator]


def _gqa(w: Writer, spelling: str) -> tuple[MCValue, Expected]:
    w.sizes.update({"g": 2 if w.sizes["h"] == 3 else 4})
    w.sizes["n"] = w.sizes["h"] * w.sizes["g"]  # type: ignore[operator]
    q = w.input("Q", "b n q d")
    k, v = grouped(w, "b h k d", "K", spelling), grouped(w, "b h k e", "V", spelling)
    layouts = {"q_layout": "b (h g) q d", "k_layout": "b h k d", "v_layout": "b h k e", "o_layout": "b (h g) q e"}
    return w.attend(w.scores(q, k), v), {"k_name": "K", "v_name": "V", **layouts}


@case
def grouped_by_expand(w: Writer) -> tuple[MCValue, Expected]:
    return _gqa(w, "expand")


@case
def grouped_by_repeat(w: Writer) -> tuple[MCValue, Expected]:
    return _gqa(w, "repeat")


@case
def grouped_on_one_side_only(w: Writer) -> tuple[MCValue, Expected]:
    """V comes with all its heads: the repeated K is kept as it is."""
    w.sizes.update({"g": 2})
    w.sizes["n"] = w.sizes["h"] * 2  # type: ignore[operator]
    q, v = w.input("Q", "b n q d"), w.input("V", "b n k e")
    k = grouped(w, "b h k d", "K", "expand")
    return w.attend(w.scores(q, k), v), {"k_name": k.name, "v_name": "V", "k_layout": "b h k d"}


@case
def grouped_one_way_and_tiled_the_other(w: Writer) -> tuple[MCValue, Expected]:
    """a a b b against a b a b: no common group, so both stay as they are."""
    w.sizes.update({"h": 2, "g": 2, "n": 4})
    q = w.input("Q", "b n q d")
    k = grouped(w, "b h k d", "K", "repeat")
    repeats = w.const([1, 2, 1, 1], "i64", (4,))
    v = w.op("tile", w.input("V", "b h k e"), repeats, to=(w.dims("b n k e"), "fp32"))
    return w.attend(w.scores(q, k), v), {"k_name": k.name, "v_name": v.name, "q_layout": "b h q d"}


@case
def one_key_head_by_broadcast(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(k="b 1 k d", v="b 1 k e")
    return w.attend(w.scores(q, k), v), {"q_layout": "b h q d", "k_layout": "b 1 k d", "v_layout": "b 1 k e"}


@case
def groups_as_an_axis_of_their_own(w: Writer) -> tuple[MCValue, Expected]:
    w.sizes["g"] = 2
    q, k, v = w.qkv("b h g q d", "b h 1 k d", "b h 1 k e")
    return w.attend(w.scores(q, k), v), {"q_layout": "b h g q d", "k_layout": "b h 1 k d", "o_layout": "b h g q e"}


@case
def one_key_head_by_einsum(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(k="b k d", v="b k e")
    scores = w.op("einsum", q, k, equation="bhqd,bkd->bhqk")
    out = w.op("einsum", w.op("softmax", scores), v, equation="bhqk,bke->bhqe")
    return out, {"q_layout": "b h q d", "k_layout": "b k d", "o_layout": "b h q e"}


# Masks and other steps


@case
def bias_alpha_beta(w: Writer) -> tuple[MCValue, Expected]:
    """BLOOM's baddbmm: beta * bias + alpha * scores, the bias on the left."""
    q, k, v = w.qkv()
    bias = w.op("mul", w.input("alibi", "b h 1 k"), w.const(2.0), name="bias")
    scores = w.op("add", bias, w.scaled(w.scores(q, k), 0.5))
    return w.attend(scores, v), {
        "scale": 0.5, "has_mask": True, "modifiers": [mul(0.5), {"op": "add", "operand": "bias", "layout": "b h 1 k"}],
    }  # fmt: skip


@case
def scale_after_the_bias(w: Writer) -> tuple[MCValue, Expected]:
    """(S + B) * c is S * c + B * c: the order stays, and the scale of S is c."""
    q, k, v = w.qkv()
    scores = w.scaled(w.op("add", w.scores(q, k), w.input("B", "1 h q k")), 0.5)
    return w.attend(scores, v), {
        "scale": 0.5, "modifiers": [{"op": "add", "operand": "B", "layout": "1 h q k"}, mul(0.5)],
    }  # fmt: skip


@case
def bias_from_another_product(w: Writer) -> tuple[MCValue, Expected]:
    """Both terms come from a matmul; the second one is a bias of low rank."""
    q, k, v = w.qkv()
    left, right = w.input("L", "b h q d"), w.input("R", "b h d k")
    bias = w.op("matmul", left, right, name="bias")
    return w.attend(w.op("add", w.scores(q, k), bias), v), {
        "q_name": "Q", "modifiers": [{"op": "add", "operand": "bias", "layout": "b h q k"}],
    }  # fmt: skip


@case
def several_masks(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    keep, drop, pad = w.input("keep", "q k", "i1"), w.input("drop", "b 1 1 k", "i1"), w.input("pad", "k")
    scores = w.op("where", keep, w.scores(q, k), w.const(-INF))
    scores = w.op("where", drop, w.const(-1e4), scores)
    return w.attend(w.op("sub", scores, pad), v), {
        "modifiers": [
            {"op": "where", "operand": "keep", "layout": "q k", "keep": True, "fill": -INF},
            {"op": "where", "operand": "drop", "layout": "b 1 1 k", "keep": False, "fill": -1e4},
            {"op": "sub", "operand": "pad", "layout": "k"},
        ],
        "dead_rows": "nan",
    }


@case
def softcap_before_and_mask_after(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    capped = w.scaled(w.op("tanh", w.op("div", w.scaled(w.scores(q, k), 0.5), w.const(3.0))), 3.0)
    scores = w.op("where", w.input("M", "b 1 1 k", "i1"), capped, w.const(-INF))
    where = {"op": "where", "operand": "M", "layout": "b 1 1 k", "keep": True, "fill": -INF}
    return w.attend(scores, v), {"scale": 0.5, "modifiers": [mul(0.5), {"op": "softcap", "value": 3.0}, where]}


@case
def tanh_of_another_factor_is_no_softcap(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.scaled(w.op("tanh", w.scaled(w.scores(q, k), 0.5)), 3.0)
    return w.attend(scores, v), {"scale": 0.5, "modifiers": [mul(0.5), {"op": "tanh"}, mul(3.0)]}


@case
def exact_reciprocal_of_the_cap(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.scaled(w.op("tanh", w.scaled(w.scores(q, k), 0.125)), 8.0)
    return w.attend(scores, v), {"scale": 1.0, "modifiers": [{"op": "softcap", "value": 8.0}]}


@case
def rounded_reciprocal_of_the_cap_stays(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    third = 0.03333333507180214  # 1/30 in fp32
    scores = w.scaled(w.op("tanh", w.scaled(w.scores(q, k), third)), 30.0)
    return w.attend(scores, v), {"scale": third, "modifiers": [mul(third), {"op": "tanh"}, mul(30.0)]}


@case
def heads_of_one_key_as_rows(w: Writer) -> tuple[MCValue, Expected]:
    """No tensor of the region has h or q as an axis of its own: their sizes are those that `extents` says."""
    b, h, rows, keys, d, e = w.dims("b h q k d e")
    q, k, v = w.qkv("b h q d", "b k d", "b k e")
    assert isinstance(h, int) and isinstance(rows, int)
    scores = w.scores(w.reshaped(q, b, h * rows, d), k)
    weights = w.op("softmax", w.reshaped(scores, b, h, rows, keys), axis=-1)
    output = w.op("matmul", w.reshaped(weights, b, h * rows, keys), v)
    return w.reshaped(output, b, h, rows, e), {"q_layout": "b (h q) d", "k_layout": "b k d", "o_layout": "b (h q) e"}


@case
def finite_fill_that_fp16_rounds_with_what_is_added(w: Writer) -> tuple[MCValue, Expected]:
    """-10000 + 1 is -10000 in fp16: a row without any key is the average of V there, the softmax of S in fp32."""
    q, k, v = w.qkv(dtype="fp16")
    keep, bias = w.input("keep", "b 1 1 k", "i1"), w.input("bias", "k", "fp16")
    scores = w.op("add", w.op("where", keep, w.scores(q, k), w.const(-1e4, "fp16")), bias)
    return w.attend(scores, v), {
        "modifiers": [
            {"op": "where", "operand": "keep", "layout": "b 1 1 k", "keep": True, "fill": -1e4},
            {"op": "add", "operand": "bias", "layout": "k"},
        ],
    }


@case
def constant_that_fp16_rounds_with_the_scores(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(dtype="fp16")
    scores = w.op("add", w.scores(q, k), w.const(-1e4, "fp16"))
    return w.attend(scores, v), {"modifiers": [{"op": "add", "value": -1e4}]}


@case
def one_head_and_one_query_folded(w: Writer) -> tuple[MCValue, Expected]:
    """A decoder's step: of the two axes of one that the reshape makes, the second is that of the queries."""
    w.sizes |= {"h": 1, "q": 1}
    b, keys, d = w.sizes["b"], w.sizes["k"], w.sizes["d"]
    q, k, v = w.qkv()
    scores = w.scores(w.reshaped(q, b, 1, d), w.reshaped(k, b, keys, d))
    return w.attend(w.reshaped(scores, b, 1, 1, keys), v), {"q_layout": "b q d", "v_layout": "b 1 k e"}


@case
def number_over_scores_is_no_scale(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.op("div", w.const(2.0), w.op("add", w.op("abs", w.scores(q, k)), w.const(1.0)))
    return w.attend(scores, v), {
        "scale": 1.0,
        "modifiers": [{"op": "abs"}, {"op": "add", "value": 1.0}, {"op": "div", "value": 2.0, "reversed": True}],
    }


@case
def clipped_scores(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.op("clip", w.scores(q, k), min=-2.0, max=3.0)
    return w.attend(scores, v), {"modifiers": [{"op": "max", "value": -2.0}, {"op": "min", "value": 3.0}]}


@case
def learned_temperature(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    return w.attend(w.op("mul", w.input("t", "h 1 1"), w.scores(q, k)), v), {
        "scale": 1.0, "has_mask": False, "modifiers": [{"op": "mul", "operand": "t", "layout": "h 1 1"}],
    }  # fmt: skip


@case
def mask_op_of_the_graph(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    masked = w.op("mask", w.scores(q, k), kind="causal", offset=0)
    return w.attend(masked, v), {"modifiers": [CAUSAL], "has_mask": True, "dead_rows": "none"}


@case
def mask_op_on_transposed_scores(w: Writer) -> tuple[MCValue, Expected]:
    """Rows of the mask are keys here: causal becomes its mirror image."""
    q, k, v = w.qkv()
    masked = w.op("mask", w.op("matmul", k, q, transpose_b=True), kind="causal", offset=0)
    out = w.op("matmul", w.op("softmax", masked, axis=2), v, transpose_a=True)
    mirror = {"op": "mask", "kind": "window", "left": 0, "right": -1, "offset": 0, "fill": -INF}
    return out, {"modifiers": [mirror]}


# Softmax and what follows it


@case
def decomposed_without_kept_axes(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.scores(q, k)
    top = w.op("unsqueeze", w.op("reduce_max", scores, axes=[3], keepdims=False), axes=[3])
    power = w.op("exp", w.op("sub", scores, top))
    total = w.op("reciprocal", w.op("reduce_sum", power, axes=[-1], keepdims=True))
    return w.op("matmul", w.op("mul", power, total), v), {"scale": 1.0}


@case
def division_after_the_product(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.scores(q, k)
    power = w.op("exp", w.op("sub", scores, w.op("reduce_max", scores, axes=[-1], keepdims=True)))
    total = w.op("reduce_sum", power, axes=[-1], keepdims=True)
    out = w.op("div", w.op("matmul", power, v), total, name="O")
    return out, {"o_name": "O", "o_layout": "b h q e"}


@case
def exp_of_log_softmax(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    return w.op("matmul", w.op("exp", w.op("log_softmax", w.scores(q, k), axis=-1)), v), {}


@case
def half_precision_with_wide_softmax(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(dtype="fp16")
    wide = w.cast(w.scaled(w.scores(q, k), 0.5), "fp32")
    out = w.op("matmul", w.cast(w.op("softmax", wide), "fp16"), v)
    return out, {"score_dtype": "fp16", "softmax_dtype": "fp32", "modifiers": [mul(0.5)]}


@case
def scores_rounded_on_the_way(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    narrow = w.cast(w.scores(q, k), "fp16")
    return w.attend(w.cast(narrow, "fp32"), v), {"modifiers": [{"op": "cast", "dtype": "fp16"}]}


@case
def operands_widened_first(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv(dtype="fp16")
    scores = w.op("matmul", w.scaled(w.cast(q, "fp32"), 0.5), w.transposed(w.cast(k, "fp32")))
    out = w.op("matmul", w.cast(w.op("softmax", scores), "fp16"), v)
    return out, {"q_name": "Q", "k_name": "K", "scale": 0.5, "score_dtype": "fp32"}


@case
def nan_guard(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    probs = w.op("softmax", w.op("add", w.scores(q, k), w.input("M", "b 1 q k")))
    safe = w.op("where", w.op("isnan", probs), w.const(0.0), probs)
    return w.op("matmul", safe, v), {"dead_rows": "zero_nan"}


def _dead_row_guard(w: Writer, dead: Callable[[MCValue], MCValue], zero_first: bool = True) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    scores = w.op("where", w.input("M", "b 1 q k", "i1"), w.scores(q, k), w.const(-INF))
    probs, zero = w.op("softmax", scores), w.const(0.0)
    safe = w.op("where", dead(scores), *((zero, probs) if zero_first else (probs, zero)))
    return w.op("matmul", safe, v), {"dead_rows": "zero"}


@case
def guard_by_minimum_of_a_comparison(w: Writer) -> tuple[MCValue, Expected]:
    def dead(scores: MCValue) -> MCValue:
        flags = w.cast(w.op("equal", scores, w.const(-INF)), "fp32")
        return w.cast(w.op("reduce_min", flags, axes=[-1], keepdims=True), "i1")

    return _dead_row_guard(w, dead)


@case
def guard_by_the_row_maximum(w: Writer) -> tuple[MCValue, Expected]:
    def alive(scores: MCValue) -> MCValue:
        return w.op("not_equal", w.const(-INF), w.op("reduce_max", scores, axes=[-1], keepdims=True))

    return _dead_row_guard(w, alive, zero_first=False)


@case
def guard_by_counting_live_scores(w: Writer) -> tuple[MCValue, Expected]:
    def dead(scores: MCValue) -> MCValue:
        live = w.cast(w.op("not", w.op("equal", w.const(-INF), scores)), "i32")
        return w.op("not", w.op("greater", w.op("reduce_sum", live, axes=[-1], keepdims=True), w.const(0, "i32")))

    return _dead_row_guard(w, dead)


@case
def guard_by_the_mask_itself(w: Writer) -> tuple[MCValue, Expected]:
    q, k, v = w.qkv()
    mask = w.input("M", "b 1 q k", "i1")
    scores = w.op("where", mask, w.scores(q, k), w.const(-INF))
    kept = w.cast(w.op("reduce_max", w.cast(mask, "i32"), axes=[-1], keepdims=True), "i1")
    safe = w.op("where", kept, w.op("softmax", scores), w.const(0.0))
    return w.op("matmul", safe, v), {"dead_rows": "zero"}


@pytest.mark.parametrize("sizes", [DISTINCT, EQUAL], ids=["distinct", "equal"])
@pytest.mark.parametrize("name", CASES)
def test_region(name: str, sizes: dict[str, int]) -> None:
    writer = Writer(sizes)
    out, expected = CASES[name](writer)
    graph = writer.module(out)
    text = print_module(graph)
    module, remarks = detected(graph)
    assert [remark.message for remark in remarks if remark.status != "formed"] == []
    (region,) = module.regions
    assert {key: region.attrs[key] for key in expected} == expected
    assert [found.message for found in verify_module(module) if found.severity == "error"] == []
    assert print_module(MCModule(graphs=module.graphs)) == text, "the graph was changed"
    lowering = StreamingLowering(tile_m=3, tile_n=4, tile_k=3)
    lowered = lowering(module)
    assert [remark.message for remark in lowering.remarks if remark.status != "lowered"] == []
    result = check_region(lowered, lowered.regions[0], ("exact", "algebraic", "typed"))
    assert result.status == "proved", str(result)
