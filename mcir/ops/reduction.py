"""Reductions over axes, and the running sum. Floats add up in the accumulation type and are rounded once."""

from __future__ import annotations

from collections.abc import Callable

from mcir.ops.definition import Attr, EvalContext, TypeContext, define
from mcir.ops.numeric import accumulated, is_float
from mcir.ops.rules import FAMILIES, normal_axes, normal_axis, require_family, result
from mcir.types import Dim, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _infer_reduce(family: str) -> Callable[[TypeContext], list[TensorType]]:
    def infer(ctx: TypeContext) -> list[TensorType]:
        require_family(ctx, 0, family)
        shape = ctx.operands[0].shape
        axes = set(normal_axes(ctx, ctx.attrs["axes"], len(shape)))
        kept: list[Dim] = [1] if ctx.attrs["keepdims"] else []
        dims = [kept if axis in axes else [dim] for axis, dim in enumerate(shape)]
        return [result(ctx, [dim for part in dims for dim in part])]

    words = FAMILIES[family][0]
    infer.__doc__ = f"x {words}; out: its element type, the named axes of size 1, or gone without keepdims."
    return infer


def _lowest(np: Any, dtype: Any) -> Any:
    """What the maximum of no elements is."""
    return False if dtype.kind == "b" else np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(np: Any, dtype: Any) -> Any:
    """What the minimum of no elements is."""
    return True if dtype.kind == "b" else np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _mean(ctx: EvalContext, x: Any, **how: Any) -> Any:
    """The mean of floats; of integers toward zero. NaN (or 0 for integers) over no elements."""
    total = ctx.np.sum(x, dtype=x.dtype if is_float(x) else None, **how)
    count = x.size // total.size if total.size else 1
    return total / count if count else ctx.np.zeros_like(total) / count


# name, family, doc, meaning on an array in the accumulation type
REDUCTIONS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    (
        "max", "any", "The largest element over the axes; NaN if one is; -inf over none.",
        lambda ctx, x, **how: ctx.np.max(x, initial=_lowest(ctx.np, x.dtype), **how),
    ),
    (
        "min", "any", "The smallest element over the axes; NaN if one is; inf over none.",
        lambda ctx, x, **how: ctx.np.min(x, initial=_highest(ctx.np, x.dtype), **how),
    ),
    ("sum", "number", "The sum over the axes.", lambda ctx, x, **how: ctx.np.sum(x, dtype=x.dtype, **how)),
    ("mean", "number", "The mean over the axes; of integers toward zero.", _mean),
    ("prod", "number", "The product over the axes.", lambda ctx, x, **how: ctx.np.prod(x, dtype=x.dtype, **how)),
)  # fmt: skip


def _reduction(meaning: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ctx, x: meaning(ctx, x, axis=tuple(ctx.attrs["axes"]), keepdims=ctx.attrs["keepdims"])


for _name, _family, _doc, _meaning in REDUCTIONS:
    define(
        f"reduce_{_name}", "x", "out",
        doc=_doc,
        example=f"%y = reduce_{_name} %x {{axes = [-1], keepdims = true}} : tensor<4x1xfp16>  // %x: tensor<4x8xfp16>",
        attrs=(
            Attr("axes", "ints", doc="the axes that are reduced; none leaves x as it is"),
            Attr("keepdims", "bool", True, "the axes stay, with size 1"),
        ),
        infer=_infer_reduce(_family),
        evaluate=accumulated(_reduction(_meaning)),
    )  # fmt: skip


def _infer_cumsum(ctx: TypeContext) -> list[TensorType]:
    """Numbers; out: as x."""
    require_family(ctx, 0, "number")
    normal_axis(ctx, ctx.attrs["axis"], ctx.operands[0].rank)
    return [result(ctx, ctx.operands[0].shape)]


def _cumsum(ctx: EvalContext, x: Any) -> Any:
    axis = ctx.attrs["axis"]
    x = ctx.np.flip(x, axis) if ctx.attrs["reverse"] else x
    if ctx.attrs["exclusive"]:
        # shifted by one, not "minus itself": that would turn inf into NaN
        first = ctx.np.zeros_like(x.take([0] if x.shape[axis] else [], axis))
        x = ctx.np.concatenate([first, x.take(range(x.shape[axis] - 1), axis)], axis)
    total = ctx.np.cumsum(x, axis, dtype=x.dtype)
    return ctx.np.flip(total, axis) if ctx.attrs["reverse"] else total


define(
    "cumsum", "x", "out",
    doc="The running sum along an axis.",
    example="%y = cumsum %x {axis = 1} : tensor<4x8xfp16>  // %x: tensor<4x8xfp16>",
    attrs=(
        Attr("axis", "int", doc="the axis along which it runs"),
        Attr("exclusive", "bool", False, "the sum before each element"),
        Attr("reverse", "bool", False, "from the end of the axis"),
    ),
    infer=_infer_cumsum,
    evaluate=accumulated(_cumsum),
)  # fmt: skip
