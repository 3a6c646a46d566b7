"""Layout ops that read at computed places: gather_nd and gather_elements, with the meaning of ONNX's."""

from __future__ import annotations

from mcir.diagnostics import MCIRError
from mcir.ops.definition import Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.rules import join_dim, normal_axis, operand_text, require_family, result
from mcir.types import Dim, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

LAYOUT = frozenset({"layout"})


def _infer_gather_nd(ctx: TypeContext) -> list[TensorType]:
    """indices of integers, with a last axis of known size; out: batch axes, the other axes of indices, and those of x
    that the coordinates do not name."""
    data, indices = ctx.operands
    require_family(ctx, 1, "integer")
    batch = ctx.attrs["batch_dims"]
    if not 0 <= batch < min(data.rank, indices.rank):
        raise TypeRuleError(f"batch_dims {batch} does not fit {operand_text(ctx, 0)} and {operand_text(ctx, 1)}")
    try:
        front: list[Dim] = [join_dim(a, b) for a, b in zip(data.shape[:batch], indices.shape[:batch], strict=True)]
    except ValueError as error:
        both = f"{operand_text(ctx, 0)} and {operand_text(ctx, 1)}"
        raise TypeRuleError(f"the batch axes of {both} differ: {error}") from None
    depth = indices.shape[-1]
    if not isinstance(depth, int):
        raise TypeRuleError("the size of the last axis of the indices must be known")
    if not 1 <= depth <= data.rank - batch:
        raise TypeRuleError(f"indices of {depth} coordinates do not fit {operand_text(ctx, 0)}")
    return [result(ctx, [*front, *indices.shape[batch:-1], *data.shape[batch + depth :]])]


def _gather_nd(ctx: EvalContext, data: Any, indices: Any) -> Any:
    np, batch = ctx.np, ctx.attrs["batch_dims"]
    sizes = np.asarray(data.shape[batch : batch + indices.shape[-1]])
    _in_range(np, indices, sizes, "gather_nd")
    # Index arrays for the batch axes too, each along its own axis of the indices.
    shared = np.indices(indices.shape[:batch] + (1,) * (indices.ndim - 1 - batch), sparse=True)[:batch]
    return data[(*shared, *np.moveaxis(indices, -1, 0))]


define(
    "gather_nd", "x, indices", "out",
    doc="x at the coordinates in the last axis of the indices; the first batch_dims axes go together.",
    example="%y = gather_nd %x, %i : tensor<5x4xfp16>  // %x: tensor<2x3x4xfp16>, %i: tensor<5x2xi64>",
    attrs=(Attr("batch_dims", "int", 0, "leading axes that x and the indices share"),),
    infer=_infer_gather_nd, evaluate=_gather_nd, traits=LAYOUT,
)  # fmt: skip


def _infer_gather_elements(ctx: TypeContext) -> list[TensorType]:
    """indices of integers, of the rank of x; out: the shape of indices, element type of x."""
    data, indices = ctx.operands
    require_family(ctx, 1, "integer")
    normal_axis(ctx, ctx.attrs["axis"], data.rank)
    if data.rank != indices.rank:
        raise TypeRuleError(f"{operand_text(ctx, 0)} and {operand_text(ctx, 1)} differ in rank")
    return [result(ctx, indices.shape)]


def _gather_elements(ctx: EvalContext, data: Any, indices: Any) -> Any:
    np, axis = ctx.np, ctx.attrs["axis"]
    _in_range(np, indices, data.shape[axis], "gather_elements")
    places = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    return data[tuple(places)]


define(
    "gather_elements", "x, indices", "out",
    doc="out[i, j] = x[indices[i, j], j] for axis 0, and so on.",
    example="%y = gather_elements %x, %i {axis = 1} : tensor<2x5xfp16>  // %x: tensor<2x3xfp16>, %i: tensor<2x5xi64>",
    attrs=(Attr("axis", "int", 0, "the axis that is indexed"),),
    infer=_infer_gather_elements, evaluate=_gather_elements, traits=LAYOUT,
)  # fmt: skip


def _in_range(np: Any, indices: Any, sizes: Any, op: str) -> None:
    if np.any(indices < -sizes) or np.any(indices >= sizes):
        raise MCIRError(f"{op}: an index is out of range")
