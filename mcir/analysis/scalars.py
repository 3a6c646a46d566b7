"""Scalar arithmetic as the graph does it: in Python, rounded to the element type after each step."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

from mcir.types import DTYPES

Scalar = Any  # bool, int or float


def _through(code: str, value: float) -> float:
    try:
        return float(struct.unpack(code, struct.pack(code, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _to_bf16(value: float) -> float:
    """Round to nearest even on the upper half of the fp32 pattern."""
    single = _through("<f", value)
    if not math.isfinite(single):
        return single
    bits = int(struct.unpack("<I", struct.pack("<f", single))[0])
    bits += 0x7FFF + ((bits >> 16) & 1)
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])


_FLOATS: dict[str, Callable[[float], float]] = {
    "fp16": lambda value: _through("<e", value),
    "bf16": _to_bf16,
    "fp32": lambda value: _through("<f", value),
    "fp64": float,
}


def round_to(dtype: str, value: Scalar) -> Scalar | None:
    """`value` as an element of `dtype`; None where this module has no exact rule (fp8, NaN to int)."""
    kind = DTYPES[dtype].kind if dtype in DTYPES else ""
    if kind == "float":
        rounding = _FLOATS.get(dtype)
        return rounding(float(value)) if rounding else None
    if kind == "bool":
        return bool(value)
    if kind in ("int", "uint"):
        return int(value) if math.isfinite(value) else None
    return None


def is_widening(source: str, target: str) -> bool:
    """True when every value of float type `source` is exactly a value of float type `target`."""
    exact = {
        ("fp16", "fp32"), ("fp16", "fp64"), ("bf16", "fp32"), ("bf16", "fp64"), ("fp32", "fp64"),
        ("fp8e4m3", "fp16"), ("fp8e4m3", "bf16"), ("fp8e4m3", "fp32"), ("fp8e4m3", "fp64"),
        ("fp8e5m2", "fp16"), ("fp8e5m2", "bf16"), ("fp8e5m2", "fp32"), ("fp8e5m2", "fp64"),
    }  # fmt: skip
    return source == target or (source, target) in exact


def _divide(left: Scalar, right: Scalar) -> Scalar:
    if isinstance(left, float) or isinstance(right, float):
        if right == 0:
            return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1.0, right)
        return left / right
    if left < 0 or right <= 0:
        raise ValueError("integer division of negatives differs between frameworks")
    return left // right


def _modulo(left: Scalar, right: Scalar) -> Scalar:
    if left < 0 or right <= 0:
        raise ValueError("modulo of negatives differs between frameworks")
    return left % right


# Python's meaning of each foldable op. A raised ValueError, OverflowError, TypeError or
# ZeroDivisionError means: not folded.
UNARY: dict[str, Callable[[Scalar], Scalar]] = {
    "neg": operator.neg, "abs": abs, "sqrt": math.sqrt, "reciprocal": lambda x: _divide(1.0, float(x)),
    "exp": math.exp, "log": math.log, "tanh": math.tanh, "erf": math.erf, "sin": math.sin, "cos": math.cos,
    "floor": lambda x: x if isinstance(x, int) else float(math.floor(x)),
    "ceil": lambda x: x if isinstance(x, int) else float(math.ceil(x)),
    "sign": lambda x: (x > 0) - (x < 0), "not": lambda x: not x,
    "isnan": lambda x: x != x, "isinf": lambda x: x in (math.inf, -math.inf),
    "identity": lambda x: x, "cast": lambda x: x, "dropout": lambda x: x, "relu": lambda x: max(x, 0),
}  # fmt: skip

BINARY: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": _divide, "pow": operator.pow,
    "mod": _modulo, "min": min, "max": max, "equal": operator.eq, "not_equal": operator.ne,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "and": lambda a, b: bool(a) and bool(b), "or": lambda a, b: bool(a) or bool(b),
    "xor": lambda a, b: bool(a) != bool(b),
}  # fmt: skip
