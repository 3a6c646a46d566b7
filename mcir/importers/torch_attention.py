"""torch's scaled_dot_product_attention in MCIR operations, by its documented semantics.

    S = Q K^T * scale;   S = mask(S);   P = softmax(S), 0 in rows of nothing but -inf;   O = P V

scale is 1/sqrt(columns of Q) unless given; is_causal keeps columns <= row (aligned at the top left); a
boolean mask keeps where it is true, a float mask is added; enable_gqa repeats each head of K and V in a row.
"""

from __future__ import annotations

import math

from mcir.importers.call import Answer, Call
from mcir.importers.torch_math import guarded_softmax
from mcir.values import MCValue


def attention(call: Call) -> Answer:
    """The call written out. Raises KeepOpaque with dropout, or where sizes that decide are unknown."""
    call.require(call.args.get("dropout_p", 0.0) == 0.0, "dropout is random")
    query, key, value = (call.value(name) for name in ("query", "key", "value"))
    if call.args.get("enable_gqa"):
        key, value = (_repeated(call, query, item) for item in (key, value))
    scores = call.emit("matmul", query, key, transpose_b=True)
    scores = call.emit("mul", scores, call.constant(_scale(call, query), scores.dtype))
    causal = bool(call.args.get("is_causal"))
    if causal:
        scores = call.emit("mask", scores, kind="causal", offset=0, fill=-math.inf)
    if not call.has("attn_mask"):  # every row keeps a column
        return call.emit("matmul", call.emit("softmax", scores, axis=-1), value)
    call.require(not causal, "both is_causal and a mask")
    return call.emit("matmul", guarded_softmax(call, _masked(call, scores), -1), value)


def _scale(call: Call, query: MCValue) -> float:
    if call.has("scale"):
        return float(call.number("scale"))
    columns = query.shape[-1]
    if not isinstance(columns, int) or columns == 0:
        call.require(False, "the head size is known at run time only")
    return 1.0 / math.sqrt(columns)  # type: ignore[arg-type]


def _masked(call: Call, scores: MCValue) -> MCValue:
    mask = call.value("attn_mask")
    if mask.dtype == "i1":
        return call.emit("mask", scores, mask, kind="boolean", fill=-math.inf)
    return call.emit("add", scores, call.cast(mask, scores.dtype))


def _repeated(call: Call, query: MCValue, item: MCValue) -> MCValue:
    heads, own = query.shape[-3], item.shape[-3]
    if not isinstance(heads, int) or not isinstance(own, int) or own == 0 or heads % own:
        call.require(heads == own, "the numbers of heads are known at run time only")
        return item
    return item if heads == own else call.emit("repeat", item, axis=len(item.shape) - 3, count=heads // own)
