"""Mapping rules of operators that move elements: views, joins, cuts, repeats and shifts."""

from __future__ import annotations

from typing import Any

from mcir.importers.call import END, Answer, Call, Rule, Size
from mcir.types import Dim, Shape
from mcir.values import MCValue

FAR = 2**31 - 1
"""Ends from here on are "to the end of the axis"."""

# Views


def transpose(first: str = "dim0", second: str = "dim1") -> Rule:
    """Two axes exchanged."""

    def rule(call: Call) -> Answer:
        x = call.value("self")
        perm = list(range(len(x.shape)))
        if not perm:
            return x
        a, b = call.axis(first, len(perm)), call.axis(second, len(perm))
        perm[a], perm[b] = b, a
        return call.emit("transpose", x, perm=perm)

    return rule


def permute(call: Call) -> Answer:
    x = call.value("self")
    return call.emit("transpose", x, perm=[axis % max(len(x.shape), 1) for axis in call.ints("dims")])


def transposed_matrix(call: Call) -> Answer:
    """The last two axes exchanged; of a vector nothing."""
    x = call.value("self")
    rank = len(x.shape)
    return x if rank < 2 else call.emit("transpose", x, perm=[*range(rank - 2), rank - 1, rank - 2])


def move_axes(call: Call) -> Answer:
    x = call.value("self")
    rank = len(x.shape)
    source = [axis % rank for axis in call.ints("source")]
    target = [axis % rank for axis in call.ints("destination")]
    rest = iter(axis for axis in range(rank) if axis not in source)
    perm = [source[target.index(axis)] if axis in target else next(rest) for axis in range(rank)]
    return call.emit("transpose", x, perm=perm)


def reshape(sizes: str = "") -> Rule:
    """The elements under the shape of the result. `sizes`: the argument that lists it, where one does."""

    def rule(call: Call) -> Answer:
        return reshaped(call, call.value("self"), call.result.shape, call.args.get(sizes))

    return rule


def reshaped(call: Call, x: MCValue, shape: Shape, sizes: list[Any] | None = None) -> MCValue:
    """`x` under `shape`. Sizes known at run time only are copied, worked out, or read from `sizes`."""
    if all(isinstance(dim, int) for dim in shape):
        zero: dict[str, Any] = {"allow_zero": True} if 0 in shape else {}
        return call.emit("reshape", x, shape=list(shape), **zero)
    wanted = [_copied(x, axis, dim) for axis, dim in enumerate(shape)]
    if 0 not in shape and wanted.count(-1) <= 1:
        return call.emit("reshape", x, shape=wanted)
    call.require(sizes is not None, "a size of the result is known at run time only")
    return call.emit("reshape", x, call.size_vector(sizes or []))


def _copied(x: MCValue, axis: int, dim: Dim) -> int:
    """How reshape says a size of its result: the number, 0 for that of the operand's axis, -1 for the rest."""
    if isinstance(dim, int):
        return dim
    return 0 if dim is not None and axis < len(x.shape) and x.shape[axis] == dim else -1


def unsqueeze(call: Call) -> Answer:
    x = call.value("self")
    return call.emit("unsqueeze", x, axes=[call.axis("dim", len(x.shape) + 1)])


def squeeze(call: Call) -> Answer:
    """Without those of the named axes (all by default) that have size 1."""
    x = call.value("self")
    axes = [axis for axis in call.axes("dim", len(x.shape)) if x.shape and x.shape[axis] == 1]
    call.require(len(x.shape) - len(axes) == len(call.result.shape), "which axes have size 1 is not known")
    return call.emit("squeeze", x, axes=axes) if axes else x


def expand(call: Call) -> Answer:
    """Axes of size 1 widened; -1 keeps an axis."""
    return expanded(call, call.value("self"), call.args["size"])


def expand_as(call: Call) -> Answer:
    like = call.value("other")
    return expanded(call, call.value("self"), sizes_of(call, like))


def expanded(call: Call, x: MCValue, sizes: list[Any]) -> MCValue:
    """`x` broadcast to `sizes`; -1, and the unknown size that an axis has, is written 1: the axis stays."""
    dims = [None] * (len(sizes) - len(x.shape)) + list(x.shape)
    wanted = [1 if _stays(dim, size) else size for dim, size in zip(dims, sizes, strict=True)]
    if all(isinstance(size, int) for size in wanted):
        return call.emit("expand", x, shape=wanted)
    return call.emit("expand", x, call.size_vector(wanted))


def _stays(dim: Dim, size: Any) -> bool:
    return size.dim is not None and size.dim == dim if isinstance(size, Size) else size == -1


def sizes_of(call: Call, x: MCValue) -> list[Any]:
    """The sizes of `x`: numbers, and Size for those known at run time only."""
    sizes: list[Any] = []
    for axis, dim in enumerate(x.shape):
        sizes.append(dim if isinstance(dim, int) else Size(call.emit("shape", x, start=axis, end=axis + 1), dim))
    return sizes


# Joins and cuts


def concat(call: Call) -> Answer:
    """torch passes over vectors of no elements, whatever the rank of the others."""
    rank = len(call.result.shape)
    tensors = [item for item in call.args["tensors"] if tuple(item.shape) != (0,) or rank == 1]
    parts = [call.cast(item, call.result.dtype) for item in tensors]
    return parts[0] if len(parts) == 1 else call.emit("concat", *parts, axis=call.axis("dim", rank))


def stack(call: Call) -> Answer:
    axis = call.axis("dim", len(call.result.shape))
    parts = [call.emit("unsqueeze", call.cast(item, call.result.dtype), axes=[axis]) for item in call.args["tensors"]]
    return call.emit("concat", *parts, axis=axis)


def slice_axis(call: Call) -> Answer:
    """x[start:end:step] along an axis."""
    start, end = (call.args.get(name) for name in ("start", "end"))
    step = call.number("step") if call.has("step") else 1
    axis = call.axis("dim", len(call.value("self").shape))
    return sliced(call, call.value("self"), axis, 0 if start is None else start, END if end is None else end, step)


def sliced(call: Call, x: MCValue, axis: int, start: Any, end: Any, step: int = 1) -> MCValue:
    """`x` from start to end by step; bounds are numbers or Size."""
    if isinstance(start, int) and isinstance(end, int):
        if start == 0 and end >= FAR and step == 1:
            return x
        stepped: dict[str, Any] = {"steps": [step]} if step != 1 else {}
        return call.emit("slice", x, starts=[start], ends=[end], axes=[axis], **stepped)
    bounds = [call.size_part(bound) for bound in (start, end)]
    axes = call.constant(axis, "i64", (1,))
    steps = [call.constant(step, "i64", (1,))] if step != 1 else []
    return call.emit("slice", x, *bounds, axes, *steps)


def narrow(call: Call) -> Answer:
    """`length` elements from `start` on."""
    x, start, length = call.value("self"), call.number("start"), call.number("length")
    axis = call.axis("dim", len(x.shape))
    return sliced(call, x, axis, start, END if start < 0 and start + length == 0 else start + length)


def select(call: Call) -> Answer:
    """x at one place of an axis, without the axis."""
    x, at = call.value("self"), call.args["index"]
    axis = call.axis("dim", len(x.shape))
    if not isinstance(at, int):
        return call.emit("gather", x, call.tensor("index", "i64"), axis=axis)
    piece = sliced(call, x, axis, at, END if at == -1 else at + 1)
    return call.emit("squeeze", piece, axes=[axis])


def split(call: Call) -> Answer:
    """The parts whose sizes the results have."""
    x = call.value("self")
    axis = call.axis("dim", len(x.shape))
    return call.emit_split(x, axis, _part_sizes(call, axis))


def unbind(call: Call) -> Answer:
    x = call.value("self")
    axis = call.axis("dim", len(x.shape))
    parts = call.emit_split(x, axis, [1] * len(call.results))
    return [call.emit("squeeze", part, axes=[axis]) for part in parts]


def _part_sizes(call: Call, axis: int) -> list[int]:
    sizes: list[int] = []
    for part in call.results:
        dim = part.shape[axis] if part is not None else None
        if not isinstance(dim, int):
            call.require(False, "the size of a part is known at run time only")
        else:
            sizes.append(dim)
    return sizes


# Repeats and shifts


def tile(repeats: str) -> Rule:
    """The whole side by side, as often as said for each axis; the lists are aligned at the last axis."""

    def rule(call: Call) -> Answer:
        x, counts = call.value("self"), list(call.args[repeats])
        counts = [1] * (len(x.shape) - len(counts)) + counts
        front = len(counts) - len(x.shape)
        x = call.emit("unsqueeze", x, axes=list(range(front))) if front else x
        if all(isinstance(count, int) for count in counts):
            return call.emit("tile", x, repeats=counts)
        return call.emit("tile", x, call.size_vector(counts))

    return rule


def repeat_each(call: Call) -> Answer:
    """Every slice along an axis several times in a row; without an axis, every element."""
    x, count = call.value("self"), call.number("repeats")
    if not call.has("dim"):
        return call.emit("repeat", call.emit("reshape", x, shape=[-1]), axis=0, count=count)
    return call.emit("repeat", x, axis=call.axis("dim", len(x.shape)), count=count)


def roll(call: Call) -> Answer:
    """The last `shift` slices along each axis come first."""
    x, shifts = call.value("self"), call.ints("shifts")
    call.require(bool(call.args.get("dims")), "it rolls over all axes as one")
    for axis, shift in zip(call.axes("dims", len(x.shape)), shifts, strict=True):
        size = x.shape[axis]
        if not isinstance(size, int):
            call.require(False, "the size of an axis is known at run time only")
        elif size and shift % size:
            cut = size - shift % size
            x = call.emit("concat", sliced(call, x, axis, cut, END), sliced(call, x, axis, 0, cut), axis=axis)
    return x


def flip(call: Call) -> Answer:
    x = call.value("self")
    axes = [axis % max(len(x.shape), 1) for axis in call.ints("dims")]
    if not axes:
        return x
    count = len(axes)
    return call.emit("slice", x, starts=[-1] * count, ends=[-END] * count, axes=axes, steps=[-1] * count)


def pad(call: Call) -> Answer:
    """A border of a number; torch lists pairs (before, behind) from the last axis on."""
    x, pairs = call.value("self"), call.ints("pad")
    call.require(call.args.get("mode", "constant") == "constant", "the border is no constant")
    counts = [0] * (2 * len(x.shape))
    for at in range(len(pairs) // 2):
        axis = len(x.shape) - 1 - at
        counts[axis], counts[len(x.shape) + axis] = pairs[2 * at], pairs[2 * at + 1]
    fill = call.args.get("value")
    return call.emit("pad", x, pads=counts, value=float(0 if fill is None else fill))
