"""Masks over the last two axes (row, column): mask and trilu."""

from __future__ import annotations

import math

from mcir.ops.definition import Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.numeric import rounded
from mcir.ops.rules import broadcast_operands, operand_text, require_family, require_rank, result, shown
from mcir.types import TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

FAR = 2**60  # beyond every position; sums of a few still fit 64 bits


def _infer_mask(ctx: TypeContext) -> list[TensorType]:
    """s of floats; keep of i1 broadcasts with it and is there for kind \"boolean\" only; rank 2 or more for the other
    kinds; out: the shape of s."""
    require_family(ctx, 0, "float")
    boolean = ctx.attrs["kind"] == "boolean"
    if boolean != (len(ctx.operands) == 2):
        need = "needs the operand 'keep'" if boolean else "takes no operand 'keep'"
        raise TypeRuleError(f"kind \"{ctx.attrs['kind']}\" {need}")
    if boolean:
        require_family(ctx, 1, "bool")
        return [result(ctx, broadcast_operands(ctx, (0, 1)))]
    if ctx.operands[0].rank < 2:
        raise TypeRuleError(f"needs a row and a column axis in {operand_text(ctx, 0)}")
    return [result(ctx, ctx.operands[0].shape)]


def _check_mask(ctx: TypeContext) -> None:
    for name in ("left", "right"):
        if ctx.attrs[name] < -1:
            hint = "write 0 or more columns, or -1 for all"
            raise TypeRuleError(f"{name} is {shown(ctx.attrs[name])}", hint, "modifier.window")
        if name in ctx.attrs and ctx.attrs["kind"] != "window":
            raise TypeRuleError(f"kind \"{ctx.attrs['kind']}\" has no '{name}'", 'write kind = "window"')
    if "offset" in ctx.attrs and ctx.attrs["kind"] == "boolean":
        raise TypeRuleError("kind \"boolean\" has no 'offset'")
    rows, columns = ctx.operands[0].shape[-2:] if ctx.attrs["kind"] != "boolean" else (1, 1)
    if rows != columns and "offset" not in ctx.attrs:
        hint = "offset = 0 aligns the diagonal at the top left, columns - rows at the bottom right"
        message = f"{operand_text(ctx, 0)} is not square, so 'offset' must be written"
        raise TypeRuleError(message, hint, "modifier.offset")
    if ctx.attrs["fill"] != ctx.attrs["fill"]:
        raise TypeRuleError("fill is NaN")


def _positions(ctx: EvalContext, x: Any) -> tuple[Any, Any]:
    """Row positions as a column and column positions as a row: global ones if the runner gives them."""
    rows = ctx.np.arange(x.shape[-2]) if ctx.rows is None else ctx.np.asarray(ctx.rows)
    columns = ctx.np.arange(x.shape[-1]) if ctx.cols is None else ctx.np.asarray(ctx.cols)
    return rows.reshape(-1, 1), columns.reshape(1, -1)


def _distance(value: int) -> int:
    """An attribute of any size as one that can be added to a position: far is far."""
    return max(-FAR, min(FAR, value))


def _kept(ctx: EvalContext, x: Any) -> Any:
    """Where a causal or window mask keeps the score."""
    attrs = ctx.attrs
    return _kept_at(*_positions(ctx, x), attrs["kind"], attrs["offset"], attrs["left"], attrs["right"])


def kept_by_position(attrs: dict[str, Any], rows: int, columns: int) -> Any:
    """Where a causal or window mask with these attributes keeps the scores: [rows, columns] of booleans."""
    import numpy as np

    places = np.arange(rows).reshape(-1, 1), np.arange(columns).reshape(1, -1)
    return _kept_at(*places, attrs["kind"], attrs.get("offset", 0), attrs.get("left", -1), attrs.get("right", -1))


def _kept_at(rows: Any, columns: Any, kind: str, offset: int, left: int, right: int) -> Any:
    middle = rows + _distance(offset)
    if kind == "causal":
        return columns <= middle
    left, right = _distance(left), _distance(right)
    kept: Any = True
    if left >= 0:
        kept = kept & (columns >= middle - left)
    if right >= 0:
        kept = kept & (columns <= middle + right)
    return kept


def _mask(ctx: EvalContext, x: Any, keep: Any) -> Any:
    kept = _kept(ctx, x) if keep is None else keep
    return rounded(ctx, ctx.np.where(kept, x, rounded(ctx, ctx.attrs["fill"])))


define(
    "mask", "s, keep?", "out",
    doc="Scores with those that are not allowed replaced by `fill`: by an operand, by the diagonal, or by a window.",
    example='%M = mask %S {kind = "causal", offset = 0} : tensor<2x4x8xfp16>  // %S: tensor<2x4x8xfp16>',
    attrs=(
        Attr("kind", "str", "boolean", "boolean keeps where the operand is true; causal keeps col <= row + offset; "
             "window keeps row + offset - left <= col <= row + offset + right",
             choices=("boolean", "causal", "window")),
        Attr("offset", "int", 0, "how far the diagonal is shifted to the right"),
        Attr("left", "int", -1, "columns a window keeps before the diagonal; -1 all"),
        Attr("right", "int", -1, "columns a window keeps after the diagonal; -1 all"),
        Attr("fill", "float", -math.inf, "what the others become"),
    ),
    infer=_infer_mask,
    verify=_check_mask,
    evaluate=_mask,
    traits={"tile"},
)  # fmt: skip


def _infer_trilu(ctx: TypeContext) -> list[TensorType]:
    """Rank 2 or more; k an integer scalar; out: as x."""
    if ctx.operands[0].rank < 2:
        raise TypeRuleError(f"needs a row and a column axis in {operand_text(ctx, 0)}")
    if len(ctx.operands) > 1:
        require_family(ctx, 1, "integer")
        require_rank(ctx, 1, 0, 1)
        if "k" in ctx.attrs:
            raise TypeRuleError("'k' is given both as operand and as attribute", "write one of them")
    return [result(ctx, ctx.operands[0].shape)]


def _trilu(ctx: EvalContext, x: Any, k: Any) -> Any:
    diagonal = _distance(ctx.attrs["k"] if k is None else int(k.reshape(())))
    rows, columns = _positions(ctx, x)
    kept = columns >= rows + diagonal if ctx.attrs["upper"] else columns <= rows + diagonal
    return rounded(ctx, ctx.np.where(kept, x, ctx.np.zeros((), dtype=x.dtype)))


define(
    "trilu", "x, k?", "out",
    doc="The lower (or upper) triangle of the last two axes, zero elsewhere.",
    example="%y = trilu %x {k = 0, upper = true} : tensor<4x8xfp16>  // %x: tensor<4x8xfp16>",
    attrs=(
        Attr("k", "int", 0, "the last diagonal kept (first for upper), if no operand gives it; 0 is the main one"),
        Attr("upper", "bool", False, "keep what is on and above the diagonal instead"),
    ),
    infer=_infer_trilu,
    evaluate=_trilu,
)  # fmt: skip
