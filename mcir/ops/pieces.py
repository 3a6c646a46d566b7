"""Layout ops that take pieces apart or put them together: concat, split, slice, gather, repeat, tile."""

from __future__ import annotations

from collections.abc import Sequence

from mcir.diagnostics import MCIRError
from mcir.ops.definition import OPTIONAL, Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.rules import (
    join_dim,
    list_operand,
    normal_axes,
    normal_axis,
    one_of,
    operand_text,
    require_family,
    require_same_dtype,
    result,
    shown,
)
from mcir.types import Dim, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

LAYOUT = frozenset({"layout"})

# Concat and split


def _infer_concat(ctx: TypeContext) -> list[TensorType]:
    """One element type, one rank, one size on every other axis; out: the sizes along the axis added."""
    first = ctx.operands[0]
    axis = normal_axis(ctx, ctx.attrs["axis"], first.rank)
    dims: list[Dim] = list(first.shape)
    for index, operand in enumerate(ctx.operands[1:], 1):
        require_same_dtype(ctx, 0, index)
        try:
            if operand.rank != first.rank:
                raise ValueError("their ranks differ")
            pairs = enumerate(zip(dims, operand.shape, strict=True))
            dims = [a if at == axis else join_dim(a, b) for at, (a, b) in pairs]
        except ValueError as error:
            both = f"{operand_text(ctx, 0)} and {operand_text(ctx, index)}"
            raise TypeRuleError(f"cannot join {both} along axis {axis}: {error}") from None
    along = [operand.shape[axis] for operand in ctx.operands]
    sizes = [size for size in along if isinstance(size, int)]
    dims[axis] = along[0] if len(along) == 1 else sum(sizes) if len(sizes) == len(along) else None
    return [result(ctx, dims)]


define(
    "concat", "xs...", "out",
    doc="The operands one after the other along an axis.",
    example="%y = concat %a, %b {axis = 1} : tensor<2x7xfp16>  // %a: tensor<2x3xfp16>, %b: tensor<2x4xfp16>",
    attrs=(Attr("axis", "int", doc="the axis along which they are joined"),),
    infer=_infer_concat,
    evaluate=lambda ctx, *xs: ctx.np.concatenate(xs, axis=ctx.attrs["axis"]),
    traits=LAYOUT,
)  # fmt: skip


def even_sizes(size: int, count: int) -> list[int]:
    """`size` cut into `count` equal parts, the last one smaller if it must (ONNX Split)."""
    part = -(-size // count)
    return [min(part, max(0, size - index * part)) for index in range(count)]


def _infer_split(ctx: TypeContext) -> list[TensorType]:
    """The sizes add up along the axis; outs: one for each size, or equal parts."""
    shape = ctx.operands[0].shape
    axis = normal_axis(ctx, ctx.attrs["axis"], len(shape))
    size = shape[axis]
    if one_of(ctx, 1, "sizes", optional=True):
        sizes, count = list_operand(ctx, 1)
    else:
        sizes, count = ctx.attrs["sizes"], len(ctx.attrs["sizes"] or ctx.declared)
        if sizes is None and count and isinstance(size, int):
            sizes = even_sizes(size, count)
    count = len(ctx.declared) if count is None else count
    if sizes is not None and (min(sizes, default=0) < 0 or (isinstance(size, int) and sum(sizes) != size)):
        raise TypeRuleError(f"sizes {shown(sizes)} do not add up along axis {axis} of {operand_text(ctx, 0)}")
    parts: Sequence[Dim] = sizes if sizes is not None else [size if count == 1 else None] * count
    return [result(ctx, (*shape[:axis], part, *shape[axis + 1 :])) for part in parts]


def _split(ctx: EvalContext, x: Any, sizes: Any) -> tuple[Any, ...]:
    axis = ctx.attrs["axis"]
    given = ctx.attrs["sizes"] if sizes is None else [int(size) for size in sizes]
    parts = given or even_sizes(x.shape[axis], len(ctx.results))
    if sum(parts) != x.shape[axis]:
        raise MCIRError(f"'split' into {list(parts)} does not add up to the {x.shape[axis]} along axis {axis}")
    return tuple(ctx.np.split(x, ctx.np.cumsum(parts)[:-1], axis=axis))


define(
    "split", "x, sizes?", "outs...",
    doc="x cut along an axis: by sizes, or into equal parts, one for each result.",
    example="%a, %b = split %x {axis = 1, sizes = [3, 4]} : tensor<2x3xfp16>, tensor<2x4xfp16>  "
    "// %x: tensor<2x7xfp16>",
    attrs=(
        Attr("axis", "int", doc="the axis that is cut"),
        Attr("sizes", "ints", OPTIONAL, "the size of each part, if no operand gives them"),
    ),
    infer=_infer_split,
    evaluate=_split,
    traits=LAYOUT,
)  # fmt: skip

# Slice

_PARTS = ("starts", "ends", "axes", "steps")


def _slice_parts(ctx: TypeContext) -> tuple[dict[str, list[int] | None], int | None]:
    """(each of starts, ends, axes, steps as far as known, how many axes are sliced if known)."""
    values: dict[str, list[int] | None] = {}
    lengths: set[int] = set()
    by_operand = one_of(ctx, 1, "starts")
    for index, name in enumerate(_PARTS, 1):
        given = index < len(ctx.operands) if by_operand else name in ctx.attrs
        if not given and name in ("starts", "ends"):
            raise TypeRuleError(f"'{name}' is missing")
        if by_operand and name in ctx.attrs:
            raise TypeRuleError(f"bounds are given as operands, so attribute '{name}' is one too many")
        if given:
            values[name], length = list_operand(ctx, index) if by_operand else (ctx.attrs[name], len(ctx.attrs[name]))
            lengths |= {length} if length is not None else set()
    if len(lengths) > 1:
        raise TypeRuleError(f"the lists of bounds have different lengths: {sorted(lengths)}")
    return values, next(iter(lengths), None)


def slice_dim(dim: Dim, start: int, end: int, step: int) -> Dim:
    """The size of dim[start:end:step]: None if it depends on the run."""
    if isinstance(dim, int):
        first, last, step = slice(start, end, step).indices(dim)
        return max(0, -((first - last) // step))
    # ONNX writes "to the end" as a huge number
    return dim if start == 0 and end >= 2**31 - 1 and step == 1 else None


def _infer_slice(ctx: TypeContext) -> list[TensorType]:
    """As many starts, ends, axes and steps; no step 0; out: the number of steps along each named axis."""
    values, count = _slice_parts(ctx)
    dims: list[Dim] = list(ctx.operands[0].shape)
    if count is not None and "axes" not in values:
        values["axes"] = list(range(count))
    axes, starts, ends = values.get("axes"), values["starts"], values["ends"]
    if axes is None:
        return [result(ctx, [None] * len(dims))]
    steps = values.get("steps", [1] * len(axes))
    for index, axis in enumerate(normal_axes(ctx, axes, len(dims))):
        known = starts is not None and ends is not None and steps is not None
        if steps is not None and steps[index] == 0:
            raise TypeRuleError("a step is 0")
        dims[axis] = slice_dim(dims[axis], starts[index], ends[index], steps[index]) if known else None  # type: ignore[index]
    return [result(ctx, dims)]


def _slice(ctx: EvalContext, x: Any, *operands: Any) -> Any:
    lists = operands if operands[0] is not None else [ctx.attrs[name] for name in _PARTS]
    starts, ends, axes, steps = (None if part is None else [int(item) for item in part] for part in lists)
    window = [slice(None)] * x.ndim
    for index, axis in enumerate(axes if axes is not None else range(len(starts or ()))):
        window[axis] = slice(starts[index], ends[index], 1 if steps is None else steps[index])  # type: ignore[index]
    return x[tuple(window)]


define(
    "slice", "x, starts?, ends?, axes?, steps?", "out",
    doc="x from start to end (exclusive) by step along each named axis; negative bounds count from the end.",
    example="%y = slice %x {starts = [0], ends = [4], axes = [1]} : tensor<2x4xfp16>  // %x: tensor<2x8xfp16>",
    attrs=(
        Attr("starts", "ints", OPTIONAL, "first positions, if no operands give the bounds"),
        Attr("ends", "ints", OPTIONAL, "positions to stop before; beyond the axis means to its end"),
        Attr("axes", "ints", OPTIONAL, "the axes sliced; the first ones by default"),
        Attr("steps", "ints", OPTIONAL, "steps, 1 by default; negative ones go backwards"),
    ),
    infer=_infer_slice,
    evaluate=_slice,
    traits=LAYOUT,
)  # fmt: skip

# Gather


def _infer_gather(ctx: TypeContext) -> list[TensorType]:
    """indices of integers; out: the axes of indices in the place of the axis."""
    x, indices = ctx.operands
    require_family(ctx, 1, "integer")
    axis = normal_axis(ctx, ctx.attrs["axis"], x.rank)
    return [result(ctx, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)]


def _gather(ctx: EvalContext, x: Any, indices: Any) -> Any:
    size = x.shape[ctx.attrs["axis"]]
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        raise MCIRError(f"'gather' has an index outside the {size} positions of axis {ctx.attrs['axis']}")
    return ctx.np.asarray(ctx.np.take(x, indices, axis=ctx.attrs["axis"]))


define(
    "gather", "x, indices", "out",
    doc="Slices of x along an axis at the indices (negative ones count from the end), whose axes replace that axis.",
    example="%y = gather %x, %i {axis = 0} : tensor<3x8xfp16>  // %x: tensor<16x8xfp16>, %i: tensor<3xi64>",
    attrs=(Attr("axis", "int", 0, "the axis of x that is indexed"),),
    infer=_infer_gather,
    evaluate=_gather,
    traits=LAYOUT,
)  # fmt: skip

# Repetition


def repeated_dim(dim: Dim, count: int | None) -> Dim:
    """The size of an axis repeated `count` times: None if it depends on the run."""
    if count == 1:
        return dim
    return dim * count if isinstance(dim, int) and count is not None else None


def _infer_repeat(ctx: TypeContext) -> list[TensorType]:
    """out: the axis is count times as long."""
    shape, count = ctx.operands[0].shape, ctx.attrs["count"]
    axis = normal_axis(ctx, ctx.attrs["axis"], len(shape))
    if count < 0:
        raise TypeRuleError(f"the count is negative: {shown(count)}")
    return [result(ctx, (*shape[:axis], repeated_dim(shape[axis], count), *shape[axis + 1 :]))]


define(
    "repeat", "x", "out",
    doc="Each slice along an axis `count` times in a row (interleaved: a a b b), as NumPy's repeat.",
    example="%y = repeat %x {axis = 1, count = 4} : tensor<2x8x5xfp16>  // %x: tensor<2x2x5xfp16>",
    attrs=(Attr("axis", "int", doc="the axis that grows"), Attr("count", "int", doc="how often each slice stands")),
    infer=_infer_repeat,
    evaluate=lambda ctx, x: ctx.np.repeat(x, ctx.attrs["count"], axis=ctx.attrs["axis"]),
    traits=LAYOUT,
)  # fmt: skip


def _infer_tile(ctx: TypeContext) -> list[TensorType]:
    """One count for each axis; out: each axis that many times as long."""
    shape = ctx.operands[0].shape
    if one_of(ctx, 1, "repeats"):
        repeats, length = list_operand(ctx, 1)
    else:
        repeats, length = ctx.attrs["repeats"], len(ctx.attrs["repeats"])
    if length is not None and length != len(shape):
        raise TypeRuleError(f"{length} repeats are given for {operand_text(ctx, 0)}", "write one for each axis")
    if repeats is not None and min(repeats, default=0) < 0:
        raise TypeRuleError(f"a count is negative: {shown(repeats)}")
    counts: Sequence[int | None] = repeats if repeats is not None else [None] * len(shape)
    return [result(ctx, list(map(repeated_dim, shape, counts)))]


def _tile(ctx: EvalContext, x: Any, repeats: Any) -> Any:
    return ctx.np.tile(x, [int(count) for count in (ctx.attrs["repeats"] if repeats is None else repeats)])


define(
    "tile", "x, repeats?", "out",
    doc="x as a whole side by side (a b a b) as often as said for each axis, as NumPy's tile.",
    example="%y = tile %x {repeats = [1, 4]} : tensor<2x12xfp16>  // %x: tensor<2x3xfp16>",
    attrs=(Attr("repeats", "ints", OPTIONAL, "how often along each axis, if no operand gives it"),),
    infer=_infer_tile,
    evaluate=_tile,
    traits=LAYOUT,
)  # fmt: skip
