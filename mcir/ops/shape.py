"""Shape arithmetic and tensors out of nothing: shape, full, range, iota, constant, parameter."""

from __future__ import annotations

import math

from mcir.ops.definition import OPTIONAL, Attr, EvalContext, TypeContext, TypeRuleError, define, is_int, is_number
from mcir.ops.numeric import rounded
from mcir.ops.rules import (
    as_declared,
    declared_type,
    dtype_kind,
    list_operand,
    normal_axis,
    require_family,
    require_rank,
    require_same_dtype,
    result,
    shown,
    type_text,
)
from mcir.types import DTYPES, Dim, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _infer_shape(ctx: TypeContext) -> list[TensorType]:
    """out: i64, one element for each axis in the window."""
    window = slice(ctx.attrs["start"], ctx.attrs["end"]).indices(ctx.operands[0].rank)
    return [result(ctx, (len(range(*window)),), "i64")]


define(
    "shape", "x", "out",
    doc="The sizes of the axes of x, from `start` up to `end`, as a vector.",
    example="%y = shape %x : tensor<3xi64>  // %x: tensor<2x(seq)x8xfp16>",
    attrs=(
        Attr("start", "int", 0, "the first axis"),
        Attr("end", "int", OPTIONAL, "the axis to stop before; all by default"),
    ),
    infer=_infer_shape,
    evaluate=lambda ctx, x: ctx.np.asarray(x.shape[ctx.attrs["start"] : ctx.attrs["end"]], dtype=ctx.dtype("i64")),
)  # fmt: skip

# Filled tensors


def _element_problem(value: Any, dtype: str) -> str | None:
    """Why `value` is no element of `dtype`, or None."""
    kind, bits = dtype_kind(dtype), DTYPES[dtype].bits
    if kind == "bool":
        return None if isinstance(value, bool) else "true or false"
    if kind == "float":
        return None if is_number(value) else "a number"
    low, high = (0, 2**bits - 1) if kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return None if is_int(value) and low <= value <= high else f"an integer from {low} to {high}"


def _check_element(ctx: TypeContext, value: Any, dtype: str) -> None:
    problem = _element_problem(value, dtype)
    if problem is not None:
        raise TypeRuleError(f"an element of {dtype} is {problem}, not {shown(value)}")


def _known_sizes(ctx: TypeContext, declared: TensorType) -> None:
    if None in declared.shape:
        raise TypeRuleError(f"an axis of {type_text(declared)} has no size", "write sizes or names")


def _constant_elements(ctx: TypeContext) -> None:
    declared, value = declared_type(ctx), ctx.attrs["value"]
    for item in value if isinstance(value, list) else [value]:
        _check_element(ctx, item, declared.dtype)
    if not isinstance(value, list):
        return
    if not declared.is_static() or len(value) != math.prod(declared.shape):  # type: ignore[arg-type]
        raise TypeRuleError(
            f"{len(value)} elements are given for {type_text(declared)}",
            "write one element to fill the tensor, or all of them in row-major order",
        )


def _sizes(ctx: EvalContext) -> tuple[int, ...]:
    """The first result's sizes (the runner has put numbers for names)."""
    return tuple(ctx.results[0].shape)  # type: ignore[arg-type]


def _filled(ctx: EvalContext, value: Any, shape: tuple[int, ...]) -> Any:
    return ctx.np.full(shape, value, dtype=ctx.dtype(ctx.results[0].dtype))


def _constant(ctx: EvalContext) -> Any:
    value = ctx.attrs["value"]
    if not isinstance(value, list):
        return _filled(ctx, value, _sizes(ctx))
    return ctx.np.asarray(value, dtype=ctx.dtype(ctx.results[0].dtype)).reshape(_sizes(ctx))


define(
    "constant", "", "out",
    doc="A tensor of known elements: one that fills it, or all of them in row-major order.",
    example="%c = constant {value = [1.0, 0.5, -inf, 2.0]} : tensor<2x2xfp16>",
    attrs=(Attr("value", "any", doc="a number or boolean, or a flat list of them"),),
    infer=as_declared(check=_known_sizes),
    verify=_constant_elements,
    evaluate=_constant,
    traits={"tile"},
)  # fmt: skip


def _infer_full(ctx: TypeContext) -> list[TensorType]:
    """The shape operand is a list of integers; out: as written, of that shape."""
    declared = declared_type(ctx)
    if not ctx.operands:
        _known_sizes(ctx, declared)
        return [declared]
    sizes, length = list_operand(ctx, 0)
    shape: tuple[Dim, ...] = declared.shape if length is None else (None,) * length
    if sizes is not None and min(sizes, default=0) < 0:
        raise TypeRuleError(f"a size of {shown(sizes)} is negative")
    return [result(ctx, shape if sizes is None else sizes, declared.dtype)]


def _full(ctx: EvalContext, shape: Any) -> Any:
    return _filled(ctx, ctx.attrs["value"], _sizes(ctx) if shape is None else tuple(map(int, shape)))


define(
    "full", "shape?", "out",
    doc="A tensor of one value, of the shape that the operand gives or the result type says.",
    example="%y = full %n {value = 0.0} : tensor<?x8xfp16>  // %n: tensor<2xi64>",
    attrs=(Attr("value", "any", doc="the number or boolean of every element"),),
    infer=_infer_full,
    verify=lambda ctx: _check_element(ctx, ctx.attrs["value"], declared_type(ctx).dtype),
    evaluate=_full,
)  # fmt: skip

define(
    "parameter", "", "out",
    doc="A weight: a tensor that is given from outside, whose elements the module does not hold.",
    example="%w = parameter : tensor<64x128xfp16>",
    infer=as_declared(),
)

# Positions


def _infer_range(ctx: TypeContext) -> list[TensorType]:
    """Number scalars of one element type, delta not 0; out: one axis."""
    for index in range(3):
        require_family(ctx, index, "number")
        require_same_dtype(ctx, 0, index)
        require_rank(ctx, index, 0)
    bounds = [ctx.constants.get(index) for index in range(3)]
    if bounds[2] == 0:
        raise TypeRuleError("delta is 0")
    known = all(is_int(bound) or (isinstance(bound, float) and math.isfinite(bound)) for bound in bounds)
    return [result(ctx, (range_length(*bounds) if known else None,))]  # type: ignore[arg-type]


def range_length(start: float, limit: float, delta: float) -> int:
    """How many elements `range` gives: start, start + delta, ... before limit."""
    # integers stay integers: a quotient of large ones would be rounded
    return max(0, math.ceil(-((start - limit) // delta)))


def _range(ctx: EvalContext, start: Any, limit: Any, delta: Any) -> Any:
    count = range_length(start.item(), limit.item(), delta.item())
    return rounded(ctx, start.item() + ctx.np.arange(count) * delta.item())


define(
    "range", "start, limit, delta", "out",
    doc="start, start + delta, start + 2 delta, ... up to but not including limit.",
    example="%y = range %a, %b, %c : tensor<?xi64>  // %a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>",
    infer=_infer_range,
    evaluate=_range,
)


def _axis_in_result(ctx: TypeContext, declared: TensorType) -> None:
    _known_sizes(ctx, declared)
    normal_axis(ctx, ctx.attrs["axis"], declared.rank)


def _iota(ctx: EvalContext) -> Any:
    shape = _sizes(ctx)
    axis = ctx.attrs["axis"] % len(shape)
    positions = ctx.np.arange(shape[axis]).reshape(-1, *[1] * (len(shape) - axis - 1))
    return rounded(ctx, ctx.np.broadcast_to(positions, shape))


define(
    "iota", "", "out",
    doc="The position of each element along an axis: 0, 1, 2, ...",
    example="%y = iota {axis = 1} : tensor<4x8xi32>",
    attrs=(Attr("axis", "int", doc="the axis along which positions count"),),
    infer=as_declared(family="number", check=_axis_in_result),
    evaluate=_iota,
)
