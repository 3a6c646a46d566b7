"""Proves what a mask's elements are, op by op: iota and range comparisons, triangles, running sums, constants.

A value of none of the forms of `mask_algebra` is not proved, and a mask of it stays an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcir.analysis.bands import UNBOUNDED, Band
from mcir.analysis.constants import Constants
from mcir.analysis.mask_algebra import (
    COMPARED,
    Affine,
    Form,
    Magnitude,
    Select,
    Uniform,
    aligned,
    compared,
    form_of_data,
    linear,
    moved,
    on_selects,
    settled,
    shifted,
)
from mcir.analysis.scalars import BINARY, UNARY, Scalar, round_to
from mcir.analysis.shadow import Shadow, axes_of, normal_axis, same_dim
from mcir.nodes import MCNode
from mcir.types import Shape
from mcir.values import MCValue

_FAULTS = (ValueError, OverflowError, TypeError, ZeroDivisionError)


class MaskForms:
    """Proves forms of the values of one graph; each value is looked at once."""

    def __init__(self, shadow: Shadow, constants: Constants) -> None:
        self._shadow = shadow
        self._constants = constants
        self._memo: dict[str, Form | None] = {}

    def of(self, value: MCValue) -> Form | None:
        """The form of `value`, or None if it has none."""
        memo = self._memo
        stack = [value]
        while stack:
            top = stack[-1]
            node = self._shadow.producer_of(top)
            missing = self._missing(node) if top.name not in memo and node is not None else None
            if missing is not None:
                stack.append(missing)
                continue
            if top.name not in memo:
                memo[top.name] = self._prove(node, top)
            stack.pop()
        return memo[value.name]

    def argument(self, node: MCNode, index: int, name: str) -> list[Any] | None:
        """A constant list that is an operand or attribute of `node`."""
        return self._constants.argument(node, index, name)

    def shape(self, value: MCValue) -> Shape:
        """The shape with all sizes that the graph tells."""
        return self._constants.shape(value)

    def scalar(self, value: MCValue) -> Scalar | None:
        return self._constants.scalar(value)

    def _missing(self, node: MCNode) -> MCValue | None:
        """The first operand still to be looked at; none once one of them has no form."""
        for operand in node.inputs[: _OPERANDS.get(node.op, 0)]:
            if operand.name not in self._memo:
                return operand
            if self._memo[operand.name] is None:
                return None
        return None

    def _prove(self, node: MCNode | None, value: MCValue) -> Form | None:
        if node is None:
            return None
        constant = self._constants.of(value)
        if constant is not None and constant.uniform is not None:
            return Uniform(constant.uniform)
        if constant is not None and constant.items is not None:
            form = form_of_data(value.shape, constant.items)
            return None if form is None else settled(form, self.shape(value), value.dtype)
        rule = _RULES.get(node.op)
        operands = [self._memo.get(operand.name) for operand in node.inputs[: _OPERANDS.get(node.op, 0)]]
        if rule is None or any(operand is None for operand in operands):
            return None
        try:
            form = rule(self, node, [operand for operand in operands if operand is not None])
        except _FAULTS:
            return None
        return None if form is None else settled(form, self.shape(value), value.dtype)


def _iota(forms: MaskForms, node: MCNode, _: list[Form]) -> Form | None:
    axis = normal_axis(node.attrs.get("axis", 0), len(node.outputs[0].shape))
    return None if axis is None else Affine(((axis, 1),), 0)


def _range(forms: MaskForms, node: MCNode, _: list[Form]) -> Form | None:
    start, step = forms.scalar(node.inputs[0]), forms.scalar(node.inputs[2])
    if not isinstance(start, (int, float)) or not isinstance(step, (int, float)) or start % 1 or step % 1:
        return None
    return Affine(((0, int(step)),), int(start))


def _cumsum(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    """Running sums of ones count positions."""
    axis = normal_axis(node.attrs.get("axis", 0), len(node.outputs[0].shape))
    ones = operands[0]
    if axis is None or not isinstance(ones, Uniform) or ones.value != 1:
        return None
    exclusive = node.attrs.get("exclusive", False)
    if not node.attrs.get("reverse", False):
        return Affine(((axis, 1),), 0 if exclusive else 1)
    size = node.outputs[0].shape[axis]
    return Affine(((axis, -1),), size - 1 if exclusive else size) if isinstance(size, int) else None


def _trilu(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    """Keeps the triangle of a uniform tensor; the rest is zero."""
    k = forms.scalar(node.inputs[1]) if len(node.inputs) > 1 else node.attrs.get("k", 0)
    rank = len(node.outputs[0].shape)
    if not isinstance(operands[0], Uniform) or not isinstance(k, int) or rank < 2:
        return None
    lo, hi = (k, UNBOUNDED) if node.attrs.get("upper", False) else (-UNBOUNDED, k)
    return Select(Band(rank - 2, rank - 1, lo, hi), operands[0].value, round_to(node.outputs[0].dtype, 0))


def _unary(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    form, dtype, compute = operands[0], node.outputs[0].dtype, UNARY[node.op]
    if isinstance(form, Select):
        return Select(form.band, round_to(dtype, compute(form.inside)), round_to(dtype, compute(form.outside)))
    if isinstance(form, Affine) and node.op in ("identity", "cast", "dropout"):
        return form
    if isinstance(form, Affine) and node.op == "neg":
        return form.scaled(-1)
    return Magnitude(form) if isinstance(form, Affine) and node.op == "abs" else None


def _binary(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    result = node.outputs[0]
    shape = forms.shape(result)
    sides = [aligned(form, forms.shape(value), shape) for form, value in zip(operands, node.inputs, strict=True)]
    left, right = sides
    if left is None or right is None:
        return None
    if isinstance(left, Select) or isinstance(right, Select):
        return on_selects(BINARY[node.op], result.dtype, left, right)
    return compared(node.op, left, right) if node.op in COMPARED else linear(node.op, left, right)


def _where(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    yes, no = operands[1:]
    test = aligned(operands[0], forms.shape(node.inputs[0]), forms.shape(node.outputs[0]))
    if not isinstance(yes, Uniform) or not isinstance(no, Uniform):
        return None
    if isinstance(test, Uniform):
        return yes if test.value else no
    if not isinstance(test, Select):
        return None
    pick = {True: yes.value, False: no.value}
    return Select(test.band, pick[bool(test.inside)], pick[bool(test.outside)])


def _transpose(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    perm = node.attrs.get("perm") or []
    return moved(operands[0], {source: target for target, source in enumerate(perm)})


def _regrouped(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    """A reshape that only enters or drops axes of size one."""
    source, target = forms.shape(node.inputs[0]), forms.shape(node.outputs[0])
    before = [axis for axis, dim in enumerate(source) if dim != 1]
    after = [axis for axis, dim in enumerate(target) if dim != 1]
    if len(before) != len(after) or any(not same_dim(source[a], target[b]) for a, b in zip(before, after, strict=True)):
        return None
    return moved(operands[0], dict(zip(before, after, strict=True)))


def _squeezed(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    rank = max(len(node.inputs[0].shape), len(node.outputs[0].shape))
    changed = axes_of(node, rank)
    if changed is None:
        return None
    kept = [axis for axis in range(rank) if axis not in changed]
    axes = dict(enumerate(kept)) if node.op == "unsqueeze" else {axis: at for at, axis in enumerate(kept)}
    return moved(operands[0], axes)


def _expand(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    return aligned(operands[0], forms.shape(node.inputs[0]), forms.shape(node.outputs[0]))


def _slice(forms: MaskForms, node: MCNode, operands: list[Form]) -> Form | None:
    """A slice with steps of one moves the positions by its start; where it ends does not matter."""
    shape = node.inputs[0].shape
    starts = forms.argument(node, 1, "starts")
    has_axes = len(node.inputs) > 3 or "axes" in node.attrs
    has_steps = len(node.inputs) > 4 or "steps" in node.attrs
    axes = forms.argument(node, 3, "axes") if has_axes else list(range(len(starts or ())))
    steps = forms.argument(node, 4, "steps") if has_steps else [1]
    if starts is None or axes is None or steps is None or any(step != 1 for step in steps):
        return None
    form: Form | None = operands[0]
    for start, axis in zip(starts, axes, strict=True):
        at = normal_axis(axis, len(shape))
        if form is None or at is None:
            return None
        first = _first(start, shape[at])
        form = None if first is None else shifted(form, at, first)
    return form


def _first(start: Any, size: Any) -> int | None:
    """The position at which a slice from `start` begins in an axis of `size`."""
    if not isinstance(start, int) or (start < 0 and not isinstance(size, int)):
        return None
    first = max(0, start + size) if start < 0 else start
    return min(first, size) if isinstance(size, int) else first


_Rule = Callable[[MaskForms, MCNode, list[Form]], Form | None]

_RULES: dict[str, _Rule] = {
    **dict.fromkeys(UNARY, _unary),
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(("squeeze", "unsqueeze"), _squeezed),
    "reshape": _regrouped, "iota": _iota, "range": _range, "cumsum": _cumsum, "trilu": _trilu, "where": _where,
    "transpose": _transpose, "expand": _expand, "slice": _slice,
}  # fmt: skip

# How many leading operands carry elements, by op; the others are shapes, bounds and the like.
_OPERANDS: dict[str, int] = {
    **dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2), "where": 3,
    **dict.fromkeys(("reshape", "squeeze", "unsqueeze", "cumsum", "trilu", "transpose", "expand", "slice"), 1),
}  # fmt: skip
