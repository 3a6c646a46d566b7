"""The rules of detection, and how a failed one is told.

    S[b,q,k] = sum_d Q[b,q,d] K[b,k,d];   T = f(S) pointwise;   P = softmax_k T;   O[b,q,e] = sum_k P[b,q,k] V[b,k,e]
"""

from __future__ import annotations

from mcir.nodes import MCNode

# Rule id -> what would make a graph that fails it match.
RULES: dict[str, str] = {
    "no-softmax": "attention-pattern looks for softmax: one op, exp of log_softmax, or max, sub, exp, sum and div",
    "no-contraction": "attention needs scores from a matmul or einsum of Q and K in front of the softmax",
    "score-chain": "between scores and softmax only pointwise and layout ops can be kept",
    "sink": "scores with an added column are not Q K^T alone: give the sink as a key and value instead",
    "single-use": "values from the scores to the probabilities are never stored by a streaming form: use them once",
    "softmax-axis": "softmax must run over the axis that comes from K and that the second contraction sums",
    "softmax-parts": "maximum, sum and quotient must be of the same value over the same axis",
    "softmax-max": "subtract the row maximum before exp; without it large scores overflow where attention does not",
    "log-softmax": "take exp of it, or use softmax",
    "no-value": "attention needs a matmul or einsum of the probabilities with V behind the softmax",
    "post-softmax": "between softmax and V only casts, layout ops, inference dropout and NaN guards can be kept",
    "contraction-labels": "the scores must sum exactly one axis of Q against one of K, and keep the others",
    "value-labels": "V must have the key axis, one axis of its own, and no query axis",
    "query-axis": "one axis of the scores must come from Q alone",
    "weight": "an operand without batch axes that is a weight makes a linear layer, a router or a pooling, not scores",
    "select-fill": "where(mask, S, fill) needs one constant number as fill",
    "broadcast": "a mask or bias must fit into the scores; one with further axes repeats the scores",
    "labels": "the sizes of a reshape must tell which axes it splits or merges",
    "scale": "the scale of attention is a finite number, and a normal one of fp32",
    "dtype": "Q, K, V and the scores must be of float types",
    "fused-op": "write it out; the import does, unless it is told not to or nothing defines exactly what it computes",
}  # fmt: skip

# Ops that hold a whole attention and have no definition here: they stay opaque, with a remark.
FUSED_OPS = frozenset(
    f"{domain}.{op}"
    for domain, ops in (
        ("onnx", ("Attention",)),
        ("com.microsoft", (
            "Attention", "MultiHeadAttention", "GroupQueryAttention", "QAttention", "PackedAttention",
            "PackedMultiHeadAttention", "DecoderMaskedMultiHeadAttention", "SparseAttention",
        )),
        ("aten", (
            "scaled_dot_product_attention", "_scaled_dot_product_attention_math", "_native_multi_head_attention",
            "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_efficient_attention",
            "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu",
            "_scaled_dot_product_fused_attention_overrideable", "_transformer_encoder_layer_fwd",
        )),
        ("higher_order", ("flex_attention",)),
    )
    for op in ops
)  # fmt: skip


class Declined(Exception):
    """A softmax that is not attention by the contract: the rule, where it failed, and why."""

    def __init__(self, rule: str, node: MCNode | None, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.node = node
        self.message = message
