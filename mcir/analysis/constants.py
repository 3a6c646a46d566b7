"""Constant folding on demand: scalars, small lists, shapes and splats, never a whole tensor.

A folded value is a splat (every element the same) or a flat row-major list. Elements that come from
shapes may be dimension names, so `shape`, `gather`, `concat` chains keep named sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcir.analysis.scalars import BINARY, UNARY, Scalar, round_to
from mcir.analysis.shadow import Shadow, axes_of, normal_axis
from mcir.nodes import MCNode
from mcir.types import Shape
from mcir.values import MCValue

# Longer lists are kept as they stand in a `constant`, but not computed with.
MAX_ELEMENTS = 4096

_FOLD_FAULTS = (ValueError, OverflowError, TypeError, ZeroDivisionError)


@dataclass(frozen=True, slots=True)
class Constant:
    """A known value. `items` is None for a splat, else the elements in row-major order."""

    shape: Shape
    dtype: str
    splat: Scalar = None
    items: list[Any] | None = None

    @property
    def uniform(self) -> Scalar | None:
        """The one value that all elements have, or None (also for a dimension name)."""
        return self.splat if self.items is None and isinstance(self.splat, (bool, int, float)) else None

    def elements(self) -> list[Any] | None:
        """All elements; None when their number is unknown or above MAX_ELEMENTS."""
        if self.items is not None:
            return self.items
        count = _count(self.shape)
        return None if count is None or count > MAX_ELEMENTS else [self.splat] * count


class Constants:
    """Folds values of one graph; each value is looked at once."""

    def __init__(self, shadow: Shadow) -> None:
        self._shadow = shadow
        self._memo: dict[str, Constant | None] = {}
        self._sizes: dict[str, int] | None = None

    def of(self, value: MCValue) -> Constant | None:
        """The constant that `value` is, or None."""
        memo = self._memo
        if value.name in memo:
            return memo[value.name]
        stack = [value]
        while stack:
            top = stack[-1]
            if top.name in memo:
                stack.pop()
                continue
            node = self._shadow.producer_of(top)
            folder = _FOLDERS.get(node.op) if node is not None else None
            if node is None or folder is None:
                memo[top.name] = None
                continue
            missing = self._first_missing(node)
            if missing is not None:
                stack.append(missing)
                continue
            memo[top.name] = self._fold(node, folder)
        return memo[value.name]

    def scalar(self, value: MCValue) -> Scalar | None:
        """The number that every element of `value` has, or None."""
        constant = self.of(value)
        return None if constant is None else constant.uniform

    def elements(self, value: MCValue) -> list[Any] | None:
        """All elements of a small constant, row-major, or None."""
        constant = self.of(value)
        return None if constant is None else constant.elements()

    def argument(self, node: MCNode, index: int, name: str) -> list[Any] | None:
        """A list that comes as operand `index` or as attribute `name` (shape, starts, axes, ...)."""
        if index < len(node.inputs):
            return self.elements(node.inputs[index])
        given = node.attrs.get(name)
        return given if isinstance(given, list) else None

    def shape(self, value: MCValue) -> Shape:
        """The shape of `value` with numbers for the names whose size the graph itself tells: lengths of ranges."""
        if not any(isinstance(dim, str) for dim in value.shape):
            return value.shape
        if self._sizes is None:
            self._sizes = self._range_lengths()
        sizes = self._sizes
        return tuple(sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in value.shape)

    def _range_lengths(self) -> dict[str, int]:
        """The length of each range with constant bounds, by the name that its type gives it."""
        lengths: dict[str, int] = {}
        for node in self._shadow.graph.nodes:
            name = node.outputs[0].shape[0] if node.op == "range" and node.outputs[0].shape else None
            bounds = [self.scalar(value) for value in node.inputs] if isinstance(name, str) else []
            if isinstance(name, str) and all(isinstance(bound, int) for bound in bounds) and bounds[2]:
                lengths[name] = len(range(*[int(bound) for bound in bounds if bound is not None]))
        return lengths

    def _first_missing(self, node: MCNode) -> MCValue | None:
        """The first operand not looked at; none once an operand is known not to be constant."""
        if node.op == "shape":
            return None
        memo = self._memo
        for operand in node.inputs:
            if operand.name not in memo:
                return operand
            if memo[operand.name] is None:
                return None
        return None

    def _fold(self, node: MCNode, folder: Folder) -> Constant | None:
        operands = [] if node.op == "shape" else [self._memo.get(operand.name) for operand in node.inputs]
        if any(operand is None for operand in operands):
            return None
        try:
            return folder(node, [operand for operand in operands if operand is not None])
        except _FOLD_FAULTS:
            return None


Folder = Callable[[MCNode, list[Constant]], Constant | None]


def _count(shape: Shape) -> int | None:
    total = 1
    for dim in shape:
        if not isinstance(dim, int):
            return None
        total *= dim
    return total


def _made(node: MCNode, items: list[Any]) -> Constant | None:
    """`items` as the first result of `node`, a splat where all are equal."""
    result = node.outputs[0]
    if any(item is None for item in items):
        return None
    if items and items.count(items[0]) == len(items):
        return Constant(result.shape, result.dtype, splat=items[0])
    return Constant(result.shape, result.dtype, items=items)


def _splat(node: MCNode, value: Scalar) -> Constant | None:
    result = node.outputs[0]
    return None if value is None else Constant(result.shape, result.dtype, splat=value)


def _constant(node: MCNode, _: list[Constant]) -> Constant | None:
    value = node.attrs.get("value")
    dtype = node.outputs[0].dtype
    if not isinstance(value, list):
        return _splat(node, round_to(dtype, value))
    if len(value) > MAX_ELEMENTS:
        return _made(node, value)
    return _made(node, [round_to(dtype, item) for item in value])


def _full(node: MCNode, _: list[Constant]) -> Constant | None:
    return _splat(node, round_to(node.outputs[0].dtype, node.attrs.get("value", 0)))


def _shape(node: MCNode, _: list[Constant]) -> Constant | None:
    dims = list(node.inputs[0].shape)
    start, end = node.attrs.get("start", 0), node.attrs.get("end")
    return _made(node, dims[start : len(dims) if end is None else end])


def _elementwise(node: MCNode, operands: list[Constant], compute: Callable[..., Scalar]) -> Constant | None:
    """`compute` on splats, or on lists of one length; sizes that are names cannot be computed with."""
    dtype = node.outputs[0].dtype
    lists = [operand.items for operand in operands if operand.items is not None]
    if not lists:
        values = [operand.splat for operand in operands]
        if node.op in ("identity", "cast") and isinstance(values[0], str):
            return _splat(node, values[0])
        return _splat(node, round_to(dtype, compute(*map(_number, values))))
    length = len(lists[0])
    if length > MAX_ELEMENTS or any(len(items) != length for items in lists) or _count(node.outputs[0].shape) != length:
        return None
    columns = [operand.items if operand.items is not None else [operand.splat] * length for operand in operands]
    if node.op in ("identity", "cast"):
        return _made(node, [item if isinstance(item, str) else round_to(dtype, item) for item in columns[0]])
    return _made(node, [round_to(dtype, compute(*map(_number, row))) for row in zip(*columns, strict=True)])


def _number(value: Any) -> Scalar:
    if not isinstance(value, (bool, int, float)):
        raise TypeError("a dimension name is no number")
    return value


def _unary(node: MCNode, operands: list[Constant]) -> Constant | None:
    return _elementwise(node, operands[:1], UNARY[node.op])


def _binary(node: MCNode, operands: list[Constant]) -> Constant | None:
    return _elementwise(node, operands, BINARY[node.op])


def _where(node: MCNode, operands: list[Constant]) -> Constant | None:
    return _elementwise(node, operands, lambda test, yes, no: yes if test else no)


def _same_order(node: MCNode, operands: list[Constant]) -> Constant | None:
    """Reshape, squeeze and unsqueeze keep the row-major order of the elements."""
    source, result = operands[0], node.outputs[0]
    return Constant(result.shape, result.dtype, source.splat, source.items)


def _splat_only(node: MCNode, operands: list[Constant]) -> Constant | None:
    source, result = operands[0], node.outputs[0]
    return Constant(result.shape, result.dtype, source.splat) if source.items is None else None


def _concat(node: MCNode, operands: list[Constant]) -> Constant | None:
    if len(node.outputs[0].shape) != 1:
        return _splat_only(node, operands) if len(operands) == 1 else None
    parts = [operand.elements() for operand in operands]
    if any(part is None for part in parts):
        return None
    return _made(node, [item for part in parts if part is not None for item in part])


def _gather(node: MCNode, operands: list[Constant]) -> Constant | None:
    items, indices = operands[0].elements(), operands[1].elements()
    if items is None or indices is None or len(operands[0].shape) != 1:
        return None
    if any(not -len(items) <= index < len(items) for index in indices):
        return None
    return _made(node, [items[index] for index in indices])


def _slice(node: MCNode, operands: list[Constant]) -> Constant | None:
    items = operands[0].elements()
    if items is None or len(operands[0].shape) != 1:
        return _splat_only(node, operands)
    bounds: list[int | None] = []
    for index, name in ((1, "starts"), (2, "ends"), (4, "steps")):
        given = operands[index].elements() if index < len(operands) else node.attrs.get(name)
        bounds.append(given[0] if given else None)
    return _made(node, items[bounds[0] : bounds[1] : bounds[2]])


def _range(node: MCNode, operands: list[Constant]) -> Constant | None:
    bounds = [operand.uniform for operand in operands]
    if len(bounds) != 3 or not all(isinstance(bound, int) for bound in bounds) or not bounds[2]:
        return None
    positions = range(*[int(bound) for bound in bounds if bound is not None])
    return _made(node, list(positions)) if 0 < len(positions) <= MAX_ELEMENTS else None


def _reduce(compute: Callable[[list[Any]], Scalar]) -> Folder:
    def fold(node: MCNode, operands: list[Constant]) -> Constant | None:
        if compute in (max, min) and operands[0].uniform is not None:
            return _splat(node, operands[0].uniform)
        items = operands[0].elements()
        axes = axes_of(node, len(operands[0].shape))
        if items is None or (axes is not None and len(axes) != len(operands[0].shape)):
            return None
        return _splat(node, round_to(node.outputs[0].dtype, compute([_number(item) for item in items])))

    return fold


def _split(node: MCNode, operands: list[Constant]) -> Constant | None:
    axis = normal_axis(node.attrs.get("axis", 0), len(operands[0].shape))
    return _same_order(node, operands) if len(node.outputs) == 1 and axis is not None else None


def _product(items: list[Any]) -> Scalar:
    total = 1
    for item in items:
        total *= item
    return total


_FOLDERS: dict[str, Folder] = {
    **dict.fromkeys(UNARY, _unary),
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(("reshape", "squeeze", "unsqueeze", "flatten"), _same_order),
    **dict.fromkeys(("expand", "transpose", "repeat", "tile"), _splat_only),
    "constant": _constant, "full": _full, "shape": _shape, "where": _where, "concat": _concat,
    "gather": _gather, "slice": _slice, "range": _range, "split": _split,
    "reduce_prod": _reduce(_product), "reduce_sum": _reduce(sum), "reduce_max": _reduce(max),
    "reduce_min": _reduce(min),
}  # fmt: skip
