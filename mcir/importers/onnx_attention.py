"""ONNX Runtime's fused attention operators in MCIR operations, where their documentation says what they compute.

    S = Q K^T * scale;   causal: where column <= row + past;   S + (attention_bias + (padding ? mask_filter_value : 0))
    O = softmax(S) V, heads merged again

`MultiHeadAttention` takes Q, K and V with heads merged, `Attention` an input that it projects itself; K and
V of earlier steps stand before the new ones and are returned with them. Source: ContribOperators.md of ONNX
Runtime. Opaque stay what it leaves to the kernels (masks given as lengths, shared or quantised buffers,
rotation inside, packed operands), and all of `GroupQueryAttention`: how much of its cache counts depends on
whether the run shares buffers, which the model does not say.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mcir.importers.call import Call, Draft
from mcir.importers.onnx_view import NodeView, Rule, Step
from mcir.types import TensorType
from mcir.values import MCValue

FILTER = -10000.0
"""What is added to the score of a padded key, unless `mask_filter_value` says otherwise."""

Composite = Callable[[Call, NodeView], list[MCValue]]


def composite(make: Composite) -> Rule:
    """The rule whose nodes `make` emits; its values are the results of the ONNX node, in order."""

    def rule(view: NodeView) -> list[Step]:
        call = Call({}, list(view.results))
        values = make(call, view)
        places = {id(value): at for at, value in enumerate(values) if at and _is_read(view, at)}
        return _steps(call.drafts, values[0], places)

    return rule


def _steps(drafts: list[Draft], first: MCValue, places: dict[int, int]) -> list[Step]:
    """The drafts as steps. The last one gives the first result, others the further results at `places`."""
    made: dict[int, Step] = {}
    steps = []
    for draft in drafts:
        operands: list[MCValue | Step] = [made.get(id(value), value) for value in draft.operands]
        (output,) = draft.outputs
        types = [TensorType(output.shape, output.dtype)] if output is not first else None
        made[id(output)] = Step(draft.op, operands, draft.attrs, types, places.get(id(output)))
        steps.append(made[id(output)])
    return steps


def _is_read(view: NodeView, at: int) -> bool:
    return at < len(view.results) and view.results[at] is not None


# Operands of MultiHeadAttention and of Attention.
_BIAS, _PADDING, _SCORE_BIAS, _PAST_KEY, _PAST_VALUE = 3, 4, 5, 6, 7
_WEIGHTS, _PROJECTION_BIAS, _MASK, _PAST, _OTHER_BIAS = 1, 2, 3, 4, 5


def multi_head(call: Call, view: NodeView) -> list[MCValue]:
    """MultiHeadAttention with unpacked operands."""
    call.require(not view.given(8) and not view.given(9), "shared buffers")
    tensors = [view.operand(index) for index in range(3)]
    call.require(len(tensors[0].shape) == 3, "packed operands")
    if view.given(_BIAS):
        call.require(all(len(item.shape) == 3 for item in tensors), "a bias for projected keys")
        tensors = _with_bias(call, tensors, view.operand(_BIAS))
    query, key, value = (_heads(call, item, view.attrs.get("num_heads", 0)) for item in tensors)
    aligned = query.shape[2] is not None and query.shape[2] == key.shape[2]
    call.require(aligned or not view.attrs.get("unidirectional"), "causal, but other rows than keys: alignment is open")
    past = [view.operand(_PAST_KEY), view.operand(_PAST_VALUE)] if view.given(_PAST_KEY) else []
    if past:
        key, value = (call.emit("concat", old, new, axis=2) for old, new in zip(past, (key, value), strict=True))
    present = [_given(call, item, view, at) for at, item in ((1, key), (2, value))]
    scores = _scores(call, view, query, key, past[0] if past else None)
    scores = _biased(call, view, scores, _PADDING, _SCORE_BIAS)
    return [_merged(call, scores, value), *present]


def self_attention(call: Call, view: NodeView) -> list[MCValue]:
    """Attention: the projection of Q, K and V, then as MultiHeadAttention."""
    call.require(not view.given(6), "shared buffers")
    call.require(len(view.operand(0).shape) == 3 and len(view.operand(_WEIGHTS).shape) == 2, "ranks of no meaning")
    sizes = _hidden_sizes(call, view)
    projected = call.emit("matmul", view.operand(0), view.operand(_WEIGHTS))
    if view.given(_PROJECTION_BIAS):
        projected = call.emit("add", projected, view.operand(_PROJECTION_BIAS))
    parts = _cut(call, projected, 2, sizes)
    query, key, value = (_heads(call, item, view.attrs.get("num_heads", 0)) for item in parts)
    past = view.operand(_PAST) if view.given(_PAST) else None
    if past is not None:
        old = [call.emit("squeeze", item, axes=[0]) for item in _cut(call, past, 0, [1, 1])]
        key, value = (call.emit("concat", before, new, axis=2) for before, new in zip(old, (key, value), strict=True))
    present = _both(call, view, key, value)
    scores = _scores(call, view, query, key, past)
    scores = _biased(call, view, scores, _MASK, _OTHER_BIAS)
    return [_merged(call, scores, value), *present]


def _hidden_sizes(call: Call, view: NodeView) -> list[int]:
    given: list[int] = list(view.attrs.get("qkv_hidden_sizes", []))
    total = view.operand(_WEIGHTS).shape[-1]
    if given:
        fit = len(given) == 3 and min(given) >= 0 and (not isinstance(total, int) or sum(given) == total)
        call.require(fit, "the sizes of Q, K and V are not those of the weights")
        return given
    if not isinstance(total, int) or total % 3:
        call.require(False, "the sizes of Q, K and V are not known")
        return []
    return [total // 3] * 3


def _cut(call: Call, x: MCValue, axis: int, sizes: list[int]) -> list[MCValue]:
    ends = [sum(sizes[: at + 1]) for at in range(len(sizes))]
    return [
        call.emit("slice", x, starts=[end - size], ends=[end], axes=[axis])
        for size, end in zip(sizes, ends, strict=True)
    ]


def _with_bias(call: Call, tensors: list[MCValue], bias: MCValue) -> list[MCValue]:
    sizes = [item.shape[-1] for item in tensors]
    known = [size for size in sizes if isinstance(size, int)]
    call.require(len(known) == 3, "the sizes of Q, K and V are not known")
    parts = _cut(call, bias, 0, known)
    return [call.emit("add", item, part) for item, part in zip(tensors, parts, strict=True)]


def _heads(call: Call, x: MCValue, count: int) -> MCValue:
    """(batch, length, count * size) as (batch, count, length, size); a tensor of four axes is that already."""
    if len(x.shape) == 4:
        return x
    call.require(len(x.shape) == 3, "the size of a head is not known")
    width = x.shape[2]
    call.require(isinstance(width, int) and count > 0 and width % count == 0, "the size of a head is not known")
    split = call.emit("reshape", x, shape=[0, 0, count, width // count])  # type: ignore[operator]
    return call.emit("transpose", split, perm=[0, 2, 1, 3])


def _given(call: Call, x: MCValue, view: NodeView, at: int) -> MCValue:
    """`x` under a node of its own if result `at` is read."""
    return call.emit("identity", x) if _is_read(view, at) else x


def _both(call: Call, view: NodeView, key: MCValue, value: MCValue) -> list[MCValue]:
    """Keys and values as one tensor, if that result is read."""
    if not _is_read(view, 1):
        return []
    return [call.emit("concat", *(call.emit("unsqueeze", item, axes=[0]) for item in (key, value)), axis=0)]


def _scores(call: Call, view: NodeView, query: MCValue, key: MCValue, past: MCValue | None) -> MCValue:
    """Scaled scores; `past`: the keys of earlier steps, (.., batch, heads, length, size)."""
    scale = view.attrs.get("scale", 0.0)
    if not scale:  # 0 is "not given" too
        size = query.shape[-1]
        call.require(isinstance(size, int) and size > 0, "the size of a head is not known")
        scale = 1.0 / math.sqrt(size)  # type: ignore[arg-type]
    scores = call.emit("matmul", query, key, transpose_b=True)
    scores = call.emit("mul", scores, call.constant(scale, scores.dtype))
    if not view.attrs.get("unidirectional", 0):
        return scores
    before = past.shape[-2] if past is not None else 0
    call.require(isinstance(before, int), "how many keys come before is not known")
    return call.emit("mask", scores, kind="causal", offset=before, fill=-math.inf)


def _biased(call: Call, view: NodeView, scores: MCValue, mask: int, bias: int) -> MCValue:
    """With what operands `mask` and `bias` add to the scores; a mask of two axes is the same for all rows."""
    added = [view.operand(bias)] if view.given(bias) else []
    if view.given(mask):
        keep = call.cast(view.operand(mask), "i1")
        call.require(len(keep.shape) in (2, 3), "a mask that is a list of lengths, or for a buffer")
        keep = call.emit("unsqueeze", keep, axes=[1, 2] if len(keep.shape) == 2 else [1])
        filler = call.constant(view.attrs.get("mask_filter_value", FILTER), scores.dtype)
        added.append(call.emit("where", keep, call.constant(0, scores.dtype), filler))
    if not added:
        return scores
    return call.emit("add", scores, added[0] if len(added) == 1 else call.emit("add", *added))


def _merged(call: Call, scores: MCValue, value: MCValue) -> MCValue:
    """softmax(S) V as (batch, length, heads * size)."""
    out = call.emit("matmul", call.emit("softmax", scores, axis=-1), value)
    heads, size = out.shape[1], out.shape[3]
    call.require(isinstance(heads, int) and isinstance(size, int), "the size of a head is not known")
    rows = call.emit("transpose", out, perm=[0, 2, 1, 3])
    return call.emit("reshape", rows, shape=[0, 0, heads * size])  # type: ignore[operator]
