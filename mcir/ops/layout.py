"""Layout ops that keep every element: transpose, reshape, expand, flatten, squeeze, unsqueeze."""

from __future__ import annotations

from collections.abc import Sequence

from mcir.ops.definition import OPTIONAL, Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.numeric import rounded
from mcir.ops.rules import (
    broadcast_shapes,
    declared_type,
    elements,
    list_operand,
    normal_axes,
    normal_axis,
    one_of,
    operand_text,
    result,
    shape_text,
    shown,
)
from mcir.types import Dim, Shape, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

LAYOUT = frozenset({"layout"})


def _infer_transpose(ctx: TypeContext) -> list[TensorType]:
    """perm names each axis of x once; out: its sizes in that order."""
    shape, perm = ctx.operands[0].shape, ctx.attrs["perm"]
    if sorted(perm) != list(range(len(shape))):
        raise TypeRuleError(
            f"perm {shown(perm)} does not order the axes of {operand_text(ctx, 0)}",
            f"perm names each of {list(range(len(shape)))} once",
        )
    return [result(ctx, [shape[axis] for axis in perm])]


define(
    "transpose", "x", "out",
    doc="The axes of x in another order: result axis i is axis perm[i] of x.",
    example="%y = transpose %x {perm = [0, 2, 1]} : tensor<2x8x4xfp16>  // %x: tensor<2x4x8xfp16>",
    attrs=(Attr("perm", "ints", doc="for each axis of the result the axis of x"),),
    infer=_infer_transpose,
    evaluate=lambda ctx, x: x.transpose(ctx.attrs["perm"]),
    traits=LAYOUT,
)  # fmt: skip

# Reshape and expand: the shape is an attribute, a constant operand, or known at run time only


def _given_shape(ctx: TypeContext) -> tuple[list[int] | None, int | None]:
    """The wanted shape as (its value if known, its length if known)."""
    if one_of(ctx, 1, "shape", hint=_shape_to_write(ctx)):
        return list_operand(ctx, 1)
    return ctx.attrs["shape"], len(ctx.attrs["shape"])


def _shape_to_write(ctx: TypeContext) -> str:
    """The attribute that the written result type asks for, where all of its sizes are known."""
    sizes = ctx.declared[0].shape if ctx.declared else (None,)
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        return ""  # a name cannot stand in the attribute, and a 0 has a meaning of its own
    return f"write {{shape = [{', '.join(map(str, sizes))}]}}"


def reshaped(ctx: TypeContext, wanted: Sequence[int]) -> Shape:
    """The shape that `wanted` (with its 0 and -1) makes of the first operand's. Raises TypeRuleError."""
    shape = ctx.operands[0].shape
    if list(wanted).count(-1) > 1 or min(wanted, default=0) < -1:
        raise TypeRuleError(f"a size of {shown(list(wanted))} is negative", "-1 may stand once and is worked out")
    dims: list[Dim] = list(wanted)
    if not ctx.attrs["allow_zero"]:
        for axis, dim in enumerate(dims):
            if dim == 0 and axis >= len(shape):
                raise TypeRuleError(f"size {axis} cannot be copied from {operand_text(ctx, 0)}")
            dims[axis] = shape[axis] if dim == 0 else dim
    elif -1 in dims and 0 in dims:
        raise TypeRuleError(f"-1 cannot be worked out beside a size of 0: {shown(list(wanted))}")
    if -1 in dims:
        at = dims.index(-1)
        dims[at] = _left_over(ctx, shape, dims[:at] + dims[at + 1 :])
    return tuple(dims)


def _left_over(ctx: TypeContext, shape: Shape, others: list[Dim]) -> Dim:
    """The size that -1 stands for: elements of `shape` over elements of the other axes, None if unknown."""
    # each unknown among the others is a copy of one in `shape`: they cancel, if none is left over
    if shape.count(None) != others.count(None):
        return None
    (total, names), (rest, copied) = elements(shape), elements(others)
    names.subtract(copied)
    left = [*names.elements()]
    if rest == 0 or (not left and total % rest):
        raise TypeRuleError(f"cannot divide {operand_text(ctx, 0)} among {shape_text(tuple(others))}")
    if not left:
        return total // rest
    return left[0] if len(left) == 1 and total == rest else None


def _same_count(ctx: TypeContext, target: Shape) -> None:
    """Refuses a target that has another number of elements, as far as sizes and equal names tell."""
    if None in target or None in ctx.operands[0].shape:
        return
    (total, names), (wanted, others) = elements(ctx.operands[0].shape), elements(target)
    if names == others and total != wanted:
        raise TypeRuleError(f"cannot make {shape_text(target)} of {operand_text(ctx, 0)}: "
                            f"{shown(wanted)} elements of {shown(total)}")  # fmt: skip


def _infer_reshape(ctx: TypeContext) -> list[TensorType]:
    """As many elements as x; in the shape one -1 is computed, and 0 keeps a size unless allow_zero. An operand whose
    value is not known: as written."""
    wanted, length = _given_shape(ctx)
    if wanted is not None:
        shape = reshaped(ctx, wanted)
        _same_count(ctx, shape)
    else:
        shape = (None,) * length if length is not None else declared_type(ctx).shape
    if ctx.declared and len(shape) == ctx.declared[0].rank:
        _same_count(ctx, ctx.declared[0].shape)
    return [result(ctx, shape)]


def _reshape(ctx: EvalContext, x: Any, shape: Any) -> Any:
    wanted = [int(dim) for dim in (ctx.attrs["shape"] if shape is None else shape)]
    if not ctx.attrs["allow_zero"]:
        wanted = [x.shape[axis] if dim == 0 else dim for axis, dim in enumerate(wanted)]
    return x.reshape(wanted)


define(
    "reshape", "x, shape?", "out",
    doc="The elements of x in row-major order under another shape.",
    example="%y = reshape %x {shape = [0, -1, 4]} : tensor<2x6x4xfp16>  // %x: tensor<2x3x8xfp16>",
    attrs=(
        Attr("shape", "ints", OPTIONAL, "sizes, if no operand gives them; -1 is worked out, 0 copies the size of x"),
        Attr("allow_zero", "bool", False, "0 is a size of zero instead"),
    ),
    infer=_infer_reshape,
    evaluate=_reshape,
    traits=LAYOUT,
)  # fmt: skip


def _infer_expand(ctx: TypeContext) -> list[TensorType]:
    """out: x and the shape broadcast. An operand whose value is not known: as written."""
    wanted, length = _given_shape(ctx)
    if wanted is not None and min(wanted, default=0) < 0:
        raise TypeRuleError(f"a size of {shown(wanted)} is negative", "write 1 for an axis that stays as it is")
    if wanted is None and length is None:
        return [result(ctx, declared_type(ctx).shape)]
    target: Shape = tuple(wanted) if wanted is not None else (None,) * (length or 0)
    try:
        return [result(ctx, broadcast_shapes(ctx.operands[0].shape, target))]
    except ValueError as error:
        message = f"cannot broadcast {operand_text(ctx, 0)} with {shape_text(target)}: {error}"
        raise TypeRuleError(message, "axes are aligned at the last one; sizes must be equal or 1") from None


def _expand(ctx: EvalContext, x: Any, shape: Any) -> Any:
    wanted = tuple(int(dim) for dim in (ctx.attrs["shape"] if shape is None else shape))
    return ctx.np.broadcast_to(x, ctx.np.broadcast_shapes(x.shape, wanted))


define(
    "expand", "x, shape?", "out",
    doc="x broadcast with a shape, both ways as in ONNX: a size of 1 in the shape keeps the axis of x.",
    example="%y = expand %x {shape = [2, 3, 4, 8]} : tensor<2x3x4x8xfp16>  // %x: tensor<2x1x4x8xfp16>",
    attrs=(Attr("shape", "ints", OPTIONAL, "sizes, if no operand gives them"),),
    infer=_infer_expand,
    evaluate=_expand,
    traits=LAYOUT,
)  # fmt: skip

# Axes of size 1, and merging axes


def _infer_squeeze(ctx: TypeContext) -> list[TensorType]:
    """The named axes have size 1; out: x without them."""
    shape = ctx.operands[0].shape
    axes = set(normal_axes(ctx, ctx.attrs["axes"], len(shape)))
    for axis in axes:
        if isinstance(shape[axis], int) and shape[axis] != 1:
            raise TypeRuleError(f"axis {axis} of {operand_text(ctx, 0)} has size {shown(shape[axis])}, not 1")
    return [result(ctx, [dim for axis, dim in enumerate(shape) if axis not in axes])]


define(
    "squeeze", "x", "out",
    doc="x without the named axes, each of size 1.",
    example="%y = squeeze %x {axes = [1]} : tensor<2x4xfp16>  // %x: tensor<2x1x4xfp16>",
    attrs=(Attr("axes", "ints", doc="the axes to drop"),),
    infer=_infer_squeeze,
    evaluate=lambda ctx, x: ctx.np.squeeze(x, tuple(ctx.attrs["axes"])),
    traits=LAYOUT,
)  # fmt: skip


def _infer_unsqueeze(ctx: TypeContext) -> list[TensorType]:
    """axes are counted in the result, each named once; out: x with 1 there."""
    rest = iter(ctx.operands[0].shape)
    rank = ctx.operands[0].rank + len(ctx.attrs["axes"])
    axes = set(normal_axes(ctx, ctx.attrs["axes"], rank))
    return [result(ctx, [1 if axis in axes else next(rest) for axis in range(rank)])]


define(
    "unsqueeze", "x", "out",
    doc="x with new axes of size 1 at the named places of the result.",
    example="%y = unsqueeze %x {axes = [1]} : tensor<2x1x4xfp16>  // %x: tensor<2x4xfp16>",
    attrs=(Attr("axes", "ints", doc="where the new axes stand in the result"),),
    infer=_infer_unsqueeze,
    evaluate=lambda ctx, x: ctx.np.expand_dims(x, tuple(ctx.attrs["axes"])),
    traits=LAYOUT,
)  # fmt: skip


def _merged(dims: Shape) -> Dim:
    """The size of merged axes: known, or the one name or None that is not 1."""
    rest = [dim for dim in dims if dim != 1]
    if len(rest) == 1:
        return rest[0]
    return elements(dims)[0] if all(isinstance(dim, int) for dim in dims) else None


def _flatten_axis(ctx: TypeContext) -> int:
    rank, axis = ctx.operands[0].rank, ctx.attrs["axis"]
    return rank if axis == rank else normal_axis(ctx, axis, rank)


def _infer_flatten(ctx: TypeContext) -> list[TensorType]:
    """out: two axes, the products of the sizes on either side."""
    shape, axis = ctx.operands[0].shape, _flatten_axis(ctx)
    return [result(ctx, (_merged(shape[:axis]), _merged(shape[axis:])))]


def _flatten(ctx: EvalContext, x: Any) -> Any:
    axis = ctx.attrs["axis"] if ctx.attrs["axis"] >= 0 else ctx.attrs["axis"] + x.ndim
    rows = ctx.np.prod(x.shape[:axis], dtype=int)
    columns = ctx.np.prod(x.shape[axis:], dtype=int)
    return rounded(ctx, x.reshape(rows, columns))


define(
    "flatten", "x", "out",
    doc="x as a matrix: the axes before `axis` merged into rows, the others into columns.",
    example="%y = flatten %x {axis = 1} : tensor<2x32xfp16>  // %x: tensor<2x4x8xfp16>",
    attrs=(Attr("axis", "int", 1, "the first axis of the columns; the rank merges all into rows"),),
    infer=_infer_flatten,
    evaluate=_flatten,
    traits=LAYOUT,
)  # fmt: skip
