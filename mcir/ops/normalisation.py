"""Normalisations: softmax and log_softmax along one axis, layer_norm and rms_norm from an axis on."""

from __future__ import annotations

from mcir.ops.definition import Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.numeric import accumulated
from mcir.ops.rules import (
    broadcast_shapes,
    normal_axis,
    operand_text,
    require_family,
    require_same_dtype,
    result,
    shape_text,
)
from mcir.types import TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _infer_along_axis(ctx: TypeContext) -> list[TensorType]:
    """x of floats; out: as x."""
    require_family(ctx, 0, "float")
    normal_axis(ctx, ctx.attrs["axis"], ctx.operands[0].rank)
    return [result(ctx, ctx.operands[0].shape)]


def _shifted(ctx: EvalContext, x: Any) -> Any:
    """x minus its maximum along the axis. A row of -inf gives NaN, on purpose: softmax has no guard."""
    return x - ctx.np.max(x, axis=ctx.attrs["axis"], keepdims=True, initial=-ctx.np.inf)


def _softmax(ctx: EvalContext, x: Any) -> Any:
    weights = ctx.exp(_shifted(ctx, x))
    return weights / ctx.np.sum(weights, axis=ctx.attrs["axis"], keepdims=True)


def _log_softmax(ctx: EvalContext, x: Any) -> Any:
    shifted = _shifted(ctx, x)
    return shifted - ctx.log(ctx.np.sum(ctx.exp(shifted), axis=ctx.attrs["axis"], keepdims=True))


define(
    "softmax", "x", "out",
    doc="exp(x - max) / sum of them along an axis; NaN where all of it is -inf.",
    example="%P = softmax %S {axis = -1} : tensor<2x4x8xfp16>  // %S: tensor<2x4x8xfp16>",
    attrs=(Attr("axis", "int", -1, "the axis whose elements sum to one"),),
    infer=_infer_along_axis,
    evaluate=accumulated(_softmax),
)  # fmt: skip

define(
    "log_softmax", "x", "out",
    doc="The logarithm of softmax along an axis, without its underflow.",
    example="%y = log_softmax %x {axis = -1} : tensor<2x4x8xfp16>  // %x: tensor<2x4x8xfp16>",
    attrs=(Attr("axis", "int", -1, "the axis whose softmax is taken"),),
    infer=_infer_along_axis,
    evaluate=accumulated(_log_softmax),
)  # fmt: skip


def _infer_norm(ctx: TypeContext) -> list[TensorType]:
    """x of floats; scale and bias have its element type and broadcast to the normalised axes; out: as x."""
    require_family(ctx, 0, "float")
    shape = ctx.operands[0].shape
    normalised = shape[normal_axis(ctx, ctx.attrs["axis"], len(shape)) :]
    for index in range(1, len(ctx.operands)):
        require_same_dtype(ctx, 0, index)
        given = ctx.operands[index].shape
        try:
            fits = broadcast_shapes(normalised, given) == normalised
        except ValueError:
            fits = False
        if not fits:
            both = f"{operand_text(ctx, 0)} and {operand_text(ctx, index)}"
            raise TypeRuleError(f"{shape_text(normalised)} is normalised, which the operand does not fit: {both}")
    return [result(ctx, shape)]


def _normalised_axes(ctx: EvalContext, x: Any) -> tuple[int, ...]:
    return tuple(range(ctx.attrs["axis"] % x.ndim, x.ndim))


def _layer_norm(ctx: EvalContext, x: Any, scale: Any, bias: Any) -> Any:
    axes = _normalised_axes(ctx, x)
    centred = x - x.mean(axis=axes, keepdims=True)
    out = centred / ctx.np.sqrt((centred * centred).mean(axis=axes, keepdims=True) + ctx.attrs["epsilon"])
    out = out if scale is None else out * scale
    return out if bias is None else out + bias


def _rms_norm(ctx: EvalContext, x: Any, scale: Any) -> Any:
    axes = _normalised_axes(ctx, x)
    out = x / ctx.np.sqrt((x * x).mean(axis=axes, keepdims=True) + ctx.attrs["epsilon"])
    return out if scale is None else out * scale


_NORM_ATTRS = (
    Attr("axis", "int", -1, "the first of the axes that are normalised together; all after it are too"),
    Attr("epsilon", "float", 1e-5, "added under the square root"),
)

define(
    "layer_norm", "x, scale?, bias?", "out",
    doc="(x - mean) / sqrt(variance + epsilon) * scale + bias over the axes from `axis` on.",
    example="%y = layer_norm %x, %g, %b {axis = -1, epsilon = 1e-05} : tensor<4x8xfp16>  "
    "// %x: tensor<4x8xfp16>, %g: tensor<8xfp16>, %b: tensor<8xfp16>",
    attrs=_NORM_ATTRS,
    infer=_infer_norm,
    evaluate=accumulated(_layer_norm),
)  # fmt: skip

define(
    "rms_norm", "x, scale?", "out",
    doc="x / sqrt(mean of squares + epsilon) * scale over the axes from `axis` on.",
    example="%y = rms_norm %x, %g {axis = -1, epsilon = 1e-06} : tensor<4x8xfp16>  "
    "// %x: tensor<4x8xfp16>, %g: tensor<8xfp16>",
    attrs=_NORM_ATTRS,
    infer=_infer_norm,
    evaluate=accumulated(_rms_norm),
)  # fmt: skip
