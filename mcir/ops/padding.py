"""The layout op `pad`: a constant border, with the meaning of ONNX's Pad in mode "constant"."""

from __future__ import annotations

from mcir.ops.definition import OPTIONAL, Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.rules import list_operand, one_of, operand_text, require_same_dtype, result, shown
from mcir.types import Dim, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _infer_pad(ctx: TypeContext) -> list[TensorType]:
    """Two counts for each axis of x, all in front before all behind; out: sizes with them added."""
    shape = ctx.operands[0].shape
    if one_of(ctx, 1, "pads"):
        pads, length = list_operand(ctx, 1)
    else:
        pads, length = ctx.attrs["pads"], len(ctx.attrs["pads"])
    if length is not None and length != 2 * len(shape):
        hint = "write all that go before, then all behind"
        raise TypeRuleError(f"{length} pads are given for {operand_text(ctx, 0)}", hint)
    if len(ctx.operands) > 2:
        require_same_dtype(ctx, 0, 2)
        one_of(ctx, 2, "value")
    if pads is None:
        return [result(ctx, [None] * len(shape))]
    ends = zip(shape, pads[: len(shape)], pads[len(shape) :], strict=True)
    return [result(ctx, [_padded(dim, before + behind, pads) for dim, before, behind in ends])]


def _padded(dim: Dim, added: int, pads: list[int]) -> Dim:
    if added == 0:
        return dim
    if not isinstance(dim, int):
        return None
    if dim + added < 0:
        raise TypeRuleError(f"pads {shown(pads)} take away more than there is")
    return dim + added


def _pad(ctx: EvalContext, x: Any, pads: Any, value: Any) -> Any:
    np = ctx.np
    given = [int(count) for count in (ctx.attrs["pads"] if pads is None else pads)]
    rank = x.ndim
    # A negative count cuts off what it would have added.
    kept = x[tuple(slice(max(0, -given[at]), x.shape[at] - max(0, -given[rank + at])) for at in range(rank))]
    border = [(max(0, given[at]), max(0, given[rank + at])) for at in range(rank)]
    fill = np.asarray(ctx.attrs["value"] or 0.0 if value is None else value).astype(x.dtype).reshape(())
    out = np.full([size + sum(ends) for size, ends in zip(kept.shape, border, strict=True)], fill, dtype=x.dtype)
    out[tuple(slice(before, before + size) for size, (before, _) in zip(kept.shape, border, strict=True))] = kept
    return out


define(
    "pad", "x, pads?, value?", "out",
    doc="x with a border of `value`; negative counts cut off.",
    example="%y = pad %x {pads = [0, 1, 0, 2]} : tensor<2x6xfp16>  // %x: tensor<2x3xfp16>",
    attrs=(
        Attr("pads", "ints", OPTIONAL, "how many before each axis, then how many behind each, if no operand says it"),
        Attr("value", "float", OPTIONAL, "what the border is filled with, if no operand says it; else 0"),
    ),
    infer=_infer_pad, evaluate=_pad, traits={"layout"},
)  # fmt: skip
