"""Constant folding in plain Python, bit for bit what the interpreter computes; used by `canonicalize`.

Only what Python's doubles and integers give exactly is folded. Sums, products, quotients and square roots of
numbers of at most 24 bits, computed in double precision and rounded to fp32, are the fp32 results (the second
rounding is harmless since 53 >= 2 * 24 + 2), and fp16 and bf16 are computed in fp32 and rounded once more, as the
ops are. exp, tanh and the like are not: each library rounds them its own way. fp8 is left alone.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mcir.nodes import MCNode
from mcir.types import DTYPES, Shape, attribute_key
from mcir.values import MCValue

EXACT_INTEGERS = 2**24  # integers up to here are exact in fp32, so that every way of converting them agrees


class NotFolded(Exception):
    """This step has no result that is certain to the bit."""


@dataclass(frozen=True, slots=True)
class Known:
    """A known tensor: one element that fills it (`splat`), or all of them in row-major order."""

    shape: Shape
    dtype: str
    items: list[Any]
    splat: bool


# Element types


def _packed(code: str, value: float) -> float:
    try:
        return float(struct.unpack(code, struct.pack(code, value))[0])
    except OverflowError:  # struct refuses what rounds to infinity
        return math.copysign(math.inf, value)


def _fp32(value: float) -> float:
    return _packed("<f", value)


def _bf16(value: float) -> float:
    """The upper half of the fp32 pattern, rounded to nearest even; from doubles by way of fp32, as ml_dtypes does."""
    single = _fp32(value)
    if not math.isfinite(single):
        return single
    bits = int(struct.unpack("<I", struct.pack("<f", single))[0])
    bits += 0x7FFF + ((bits >> 16) & 1)
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])


_ROUND: dict[str, Callable[[float], float]] = {
    "fp64": float, "fp32": _fp32, "bf16": _bf16, "fp16": lambda value: _packed("<e", value),
}  # fmt: skip


def _kind(dtype: str) -> str:
    return DTYPES[dtype].kind


def element(dtype: str, value: Any) -> Any:
    """A number as an element of `dtype`: floats rounded, integers wrapped. Raises NotFolded for fp8."""
    kind = _kind(dtype)
    if kind == "bool":
        return bool(value)
    if kind == "float":
        if dtype not in _ROUND:
            raise NotFolded
        return _ROUND[dtype](float(value))
    bits = DTYPES[dtype].bits
    wrapped = value & ((1 << bits) - 1)
    return wrapped - (1 << bits) if kind == "int" and wrapped >> (bits - 1) else wrapped


def _computed(dtype: str, value: Any) -> Any:
    """The result of an op: of floats below 64 bits by way of fp32, in which the ops compute."""
    narrow = _kind(dtype) == "float" and dtype != "fp64"
    return element(dtype, _fp32(value) if narrow else value)


# Meanings on elements; each takes the operands' element type too


def _quotient(dtype: str, left: Any, right: Any) -> Any:
    if _kind(dtype) == "float":
        return left / right
    toward_zero = abs(left) // abs(right)
    quotient = toward_zero if (left < 0) == (right < 0) else -toward_zero
    if element(dtype, quotient) != quotient:
        raise NotFolded
    return quotient


def _integers(compute: Callable[[Any, Any], Any]) -> Callable[[str, Any, Any], Any]:
    """Of floats, which zero is the larger one is not certain."""

    def meaning(dtype: str, left: Any, right: Any) -> Any:
        if _kind(dtype) == "float":
            raise NotFolded
        return compute(left, right)

    return meaning


def _plain(compute: Callable[..., Any]) -> Callable[..., Any]:
    return lambda dtype, *items: compute(*items)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": _plain(operator.add), "sub": _plain(operator.sub), "mul": _plain(operator.mul), "div": _quotient,
    "min": _integers(min), "max": _integers(max), "neg": _plain(operator.neg), "abs": _plain(abs),
    "sqrt": _plain(math.sqrt),
}  # fmt: skip

TRUTHS: dict[str, Callable[..., bool]] = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "not": operator.not_, "isnan": lambda x: x != x, "isinf": lambda x: abs(x) == math.inf,
}  # fmt: skip


def _cast(source: str, target: str, value: Any) -> Any:
    if _kind(target) == "bool":
        return value != 0
    from_float, to_float = _kind(source) == "float", _kind(target) == "float"
    if from_float and not to_float:
        whole = int(value) if math.isfinite(value) else None
        if whole is None or element(target, whole) != whole:
            raise NotFolded  # out of range: the processor decides
        return whole
    if to_float and not from_float and abs(value) > EXACT_INTEGERS:
        raise NotFolded
    return element(target, value)


# Whole nodes


def read_constant(node: MCNode, limit: int) -> Known | None:
    """What a `constant`, or a `full` without operand, holds; None for any other node, fp8 and long lists."""
    if node.op not in ("constant", "full") or node.inputs:
        return None
    result, value = node.outputs[0], node.attrs.get("value")
    items = value if isinstance(value, list) else [value]
    if len(items) > limit or not all(isinstance(item, (bool, int, float)) for item in items):
        return None
    try:
        return Known(result.shape, result.dtype, [element(result.dtype, item) for item in items], items is not value)
    except (NotFolded, OverflowError, TypeError):
        return None


def fold(node: MCNode, operands: Sequence[Known | None], limit: int) -> Known | None:
    """The result of `node` on known operands, None where it is not certain or has more than `limit` elements."""
    folder = _FOLDERS.get(node.op)
    known = [operand for operand in operands if operand is not None]
    if folder is None or len(known) < len(operands) or len(node.outputs) != 1 or None in node.outputs[0].shape:
        return None
    try:
        items, splat = folder(node, known, limit)
    except (NotFolded, ValueError, OverflowError, ZeroDivisionError, IndexError):
        return None
    if not splat and len(items) != element_count(node.outputs[0].shape):
        return None
    return Known(node.outputs[0].shape, node.outputs[0].dtype, items, splat)


def constant_value(known: Known) -> Any:
    """The attribute `value` of the constant that holds `known`: one element where all are the same."""
    keys = {attribute_key(item) for item in known.items}
    return known.items[0] if known.splat or len(keys) == 1 else list(known.items)


def element_count(shape: Shape) -> int | None:
    """The number of elements, None where a size is no number."""
    return math.prod(shape) if all(isinstance(dim, int) for dim in shape) else None  # type: ignore[arg-type]


_Folded = tuple[list[Any], bool]


def _columns(result: MCValue, operands: list[Known], limit: int) -> tuple[list[list[Any]], bool]:
    """The operands' elements side by side, and whether all are splats. Lists must have the result's shape."""
    if all(operand.splat for operand in operands):
        return [operand.items for operand in operands], True
    count = element_count(result.shape)
    if count is None or count > limit or any(not op.splat and op.shape != result.shape for op in operands):
        raise NotFolded
    return [operand.items * count if operand.splat else operand.items for operand in operands], False


def _pointwise(compute: Callable[..., Any]) -> Callable[[MCNode, list[Known], int], _Folded]:
    """`compute` takes the element type of the first operand, that of the result, and one element each."""

    def folder(node: MCNode, operands: list[Known], limit: int) -> _Folded:
        columns, splat = _columns(node.outputs[0], operands, limit)
        source, target = operands[0].dtype, node.outputs[0].dtype
        return [compute(source, target, *row) for row in zip(*columns, strict=True)], splat

    return folder


def _arithmetic(meaning: Callable[..., Any]) -> Callable[[MCNode, list[Known], int], _Folded]:
    return _pointwise(lambda source, target, *items: _computed(target, meaning(source, *items)))


def _truth(meaning: Callable[..., bool]) -> Callable[[MCNode, list[Known], int], _Folded]:
    return _pointwise(lambda source, target, *items: bool(meaning(*items)))


def _same_order(node: MCNode, operands: list[Known], limit: int) -> _Folded:
    return operands[0].items, operands[0].splat


def _moved(node: MCNode, operands: list[Known], limit: int) -> _Folded:
    """A tensor of equal elements stays one, however they are moved or repeated."""
    if not operands[0].splat:
        raise NotFolded
    return operands[0].items, True


def _concat(node: MCNode, operands: list[Known], limit: int) -> _Folded:
    sizes = [element_count(operand.shape) for operand in operands]
    if len(node.outputs[0].shape) != 1 or None in sizes or sum(size or 0 for size in sizes) > limit:
        raise NotFolded
    parts = [op.items * (size or 0) if op.splat else op.items for op, size in zip(operands, sizes, strict=True)]
    return [item for part in parts for item in part], False


def _gather(node: MCNode, operands: list[Known], limit: int) -> _Folded:
    source, indices = operands
    size = source.shape[0] if len(source.shape) == 1 else None
    if not isinstance(size, int) or any(not -size <= index < size for index in indices.items):
        raise NotFolded
    return [source.items[0 if source.splat else index] for index in indices.items], indices.splat


def _slice(node: MCNode, operands: list[Known], limit: int) -> _Folded:
    if operands[0].splat:
        return operands[0].items, True
    bounds = [node.attrs.get(name, [1]) for name in ("starts", "ends", "steps")]
    if len(operands) != 1 or len(operands[0].shape) != 1 or any(len(bound) != 1 for bound in bounds):
        raise NotFolded
    return operands[0].items[slice(*(bound[0] for bound in bounds))], False


def _where(node: MCNode, operands: list[Known], limit: int) -> _Folded:
    columns, splat = _columns(node.outputs[0], operands, limit)
    return [yes if test else no for test, yes, no in zip(*columns, strict=True)], splat


_FOLDERS: dict[str, Callable[[MCNode, list[Known], int], _Folded]] = {
    **{op: _arithmetic(meaning) for op, meaning in ARITHMETIC.items()},
    **{op: _truth(meaning) for op, meaning in TRUTHS.items()},
    **dict.fromkeys(("reshape", "flatten", "squeeze", "unsqueeze", "identity"), _same_order),
    **dict.fromkeys(("transpose", "expand", "repeat", "tile"), _moved),
    "cast": _pointwise(_cast), "concat": _concat, "gather": _gather, "slice": _slice, "where": _where,
}  # fmt: skip

FOLDABLE = frozenset(_FOLDERS)
