"""Which ONNX operator is which MCIR operation: one row per operator and range of operator sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcir.importers import onnx_attention as fused
from mcir.importers import onnx_rules as rules
from mcir.importers.onnx_view import Rule

LATEST = 1 << 30


@dataclass(frozen=True, slots=True)
class Row:
    """An ONNX operator that has an exact equivalent.

    attrs: the attributes the rule understands, separated by blanks; a node with another one is opaque.
    ignored: attributes without influence on the result.
    since, until: the operator sets of the domain in which the row holds.
    results: how many results it may have; a node of which more are read is opaque (0: any number).
    attention: it is a whole attention, which the import can be told to keep as one node.
    """

    name: str
    rule: Rule
    attrs: str = ""
    since: int = 1
    until: int = LATEST
    domain: str = ""
    results: int = 1
    ignored: str = ""
    attention: bool = False

    def understands(self, attrs: Mapping[str, Any]) -> bool:
        """Whether the rule can read these attributes. Their kinds are known where onnx's checker has a schema."""
        read = self.attrs.split()
        if self.domain and not all(_is_of_kind(attrs[name], _KINDS[name]) for name in read if name in attrs):
            return False
        return attrs.keys() <= {*read, *self.ignored.split()}


# Kinds of the attributes of operators that are not ONNX's own.
_KINDS: dict[str, str] = {
    "num_heads": "int", "scale": "float", "unidirectional": "int", "mask_filter_value": "float",
    "qkv_hidden_sizes": "ints", "alpha": "float",
    "transA": "int", "transB": "int", "transBatchA": "int", "transBatchB": "int",
}  # fmt: skip


def _is_of_kind(value: Any, kind: str) -> bool:
    if kind == "ints":
        return isinstance(value, list) and all(type(item) is int for item in value)
    return type(value).__name__ == kind


# ONNX operator -> MCIR operation of the same operands, without attributes.
_PLAIN = {
    "Abs": "abs", "Add": "add", "And": "and", "Ceil": "ceil", "Cos": "cos", "Div": "div", "Equal": "equal",
    "Erf": "erf", "Exp": "exp", "Floor": "floor", "Greater": "greater", "GreaterOrEqual": "greater_equal",
    "Identity": "identity", "IsNaN": "isnan", "Less": "less", "LessOrEqual": "less_equal", "Log": "log",
    "MatMul": "matmul", "Mul": "mul", "Neg": "neg", "Not": "not", "Or": "or", "Pow": "pow", "Range": "range",
    "Reciprocal": "reciprocal", "Relu": "relu", "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign",
    "Sin": "sin", "Softplus": "softplus", "Sqrt": "sqrt", "Sub": "sub", "Tanh": "tanh", "Where": "where", "Xor": "xor",
}  # fmt: skip

_REDUCTIONS = {
    "ReduceMax": "reduce_max", "ReduceMean": "reduce_mean", "ReduceMin": "reduce_min", "ReduceProd": "reduce_prod",
    "ReduceSum": "reduce_sum",
}  # fmt: skip

ROWS: tuple[Row, ...] = (
    *(Row(name, rules.same(op)) for name, op in _PLAIN.items()),
    *(Row(name, rules.reduce(op), "axes keepdims noop_with_empty_axes") for name, op in _REDUCTIONS.items()),
    # any number of operands
    Row("Max", rules.chain("max")),
    Row("Min", rules.chain("min")),
    Row("Sum", rules.chain("add")),
    # pointwise with attributes
    Row("Cast", rules.cast, "to saturate", ignored="round_mode"),
    Row("CastLike", rules.cast, "saturate", ignored="round_mode"),
    Row("Clip", rules.clip_attributes, "min max", until=10),
    Row("Clip", rules.clip_operands, since=11),
    Row("Elu", rules.same("elu", alpha=1.0), "alpha"),
    Row("Gelu", rules.same("gelu", approximate="none"), "approximate"),
    Row("IsInf", rules.isinf, "detect_negative detect_positive"),
    Row("Mod", rules.mod, "fmod"),
    Row("Swish", rules.swish, "alpha"),
    # products
    Row("Einsum", rules.same("einsum", equation=""), "equation"),
    Row("Gemm", rules.gemm, "alpha beta transA transB"),
    # layout
    Row("Concat", rules.concat, "axis"),
    Row("Expand", rules.expand),
    Row("Flatten", rules.same("flatten", axis=1), "axis"),
    Row("Gather", rules.same("gather", axis=0), "axis"),
    Row("GatherElements", rules.same("gather_elements", axis=0), "axis"),
    Row("GatherND", rules.same("gather_nd", batch_dims=0), "batch_dims"),
    Row("Pad", rules.pad_attributes, "mode pads value", since=2, until=10),
    Row("Pad", rules.pad_operands, "mode", since=11),
    Row("Reshape", rules.reshape, "shape allowzero"),
    Row("Slice", rules.slice_attributes, "axes starts ends", until=9),
    Row("Slice", rules.slice_operands, since=10),
    Row("Split", rules.split, "axis split", ignored="num_outputs", since=2, results=0),
    Row("Squeeze", rules.squeeze, "axes"),
    Row("Tile", rules.tile, since=6),
    Row("Transpose", rules.transpose, "perm"),
    Row("Unsqueeze", rules.unsqueeze, "axes"),
    # shape arithmetic and masks
    Row("ConstantOfShape", rules.constant_of_shape, "value"),
    Row("CumSum", rules.cumsum, "exclusive reverse"),
    Row("Shape", rules.shape, "start end"),
    Row("Size", rules.size),
    Row("Trilu", rules.trilu, "upper"),
    # normalisation
    Row("Dropout", rules.dropout_test, "ratio is_test", until=6),
    Row("Dropout", rules.dropout_attributes, "ratio", since=7, until=11),
    Row("Dropout", rules.dropout_operands, since=12, ignored="seed"),
    Row("LayerNormalization", rules.norm("layer_norm"), "axis epsilon stash_type"),
    Row("LogSoftmax", rules.softmax_flattened("log_softmax"), "axis", until=12),
    Row("LogSoftmax", rules.same("log_softmax", axis=-1), "axis", since=13),
    Row("RMSNormalization", rules.norm("rms_norm"), "axis epsilon stash_type"),
    Row("SimplifiedLayerNormalization", rules.norm("rms_norm"), "axis epsilon stash_type"),
    Row("Softmax", rules.softmax_flattened("softmax"), "axis", until=12),
    Row("Softmax", rules.same("softmax", axis=-1), "axis", since=13),
    # what ONNX Runtime's optimizer writes
    Row(
        "Attention", fused.composite(fused.self_attention),
        "num_heads scale unidirectional mask_filter_value qkv_hidden_sizes",
        domain="com.microsoft", results=2, attention=True,
    ),
    Row(
        "MultiHeadAttention", fused.composite(fused.multi_head), "num_heads scale unidirectional mask_filter_value",
        domain="com.microsoft", results=3, attention=True,
    ),
    Row("BiasGelu", rules.biased_gelu("none"), domain="com.microsoft"),
    Row("FastGelu", rules.biased_gelu("tanh"), domain="com.microsoft"),
    Row("FusedMatMul", rules.fused_matmul, "alpha transA transB transBatchA transBatchB", domain="com.microsoft"),
    Row("Gelu", rules.same("gelu", approximate="none"), domain="com.microsoft"),
    Row("QuickGelu", rules.quick_gelu, "alpha", domain="com.microsoft"),
    Row("TransposeMatMul", rules.fused_matmul, "alpha transA transB", domain="com.microsoft"),
)

_BY_NAME: dict[tuple[str, str], list[Row]] = {}
for _row in ROWS:
    _BY_NAME.setdefault((_row.domain, _row.name), []).append(_row)


def find_row(domain: str, name: str, opset: int) -> Row | None:
    """The row of an operator in an operator set of its domain, or None: it is opaque."""
    rows = _BY_NAME.get((domain, name), ())
    return next((row for row in rows if row.since <= opset <= row.until), None)


def mapped_operators() -> set[tuple[str, str]]:
    """(domain, operator) of every row."""
    return set(_BY_NAME)
