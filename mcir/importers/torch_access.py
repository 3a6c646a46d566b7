"""Mapping rules of operators that read at indices, or write into a part of a tensor."""

from __future__ import annotations

from typing import Any

from mcir.importers.call import END, Answer, Call, Rule
from mcir.importers.torch_layout import expanded, sizes_of, sliced
from mcir.types import Shape
from mcir.values import MCValue

# Reads at indices


def gather(data: str, indices: str, dim: str = "") -> Rule:
    """Whole slices along the axis `dim`, by default the first."""

    def rule(call: Call) -> Answer:
        x = call.value(data)
        axis = call.axis(dim, len(x.shape)) if dim else 0
        return call.emit("gather", x, call.value(indices), axis=axis)

    return rule


def gather_elements(call: Call) -> Answer:
    x = call.value("self")
    return call.emit("gather_elements", x, call.value("index"), axis=call.axis("dim", len(x.shape)))


def index(call: Call) -> Answer:
    """x[:, i] is a gather; x[i, j, ...] from the first axis on reads at coordinates."""
    x, given = call.value("self"), call.args["indices"]
    places = [axis for axis, item in enumerate(given) if item is not None]
    tensors = [given[axis] for axis in places]
    call.require(bool(tensors) and all(item.dtype in ("i64", "i32") for item in tensors), "a mask as index")
    if len(tensors) == 1:
        return call.emit("gather", x, tensors[0], axis=places[0])
    call.require(places == list(range(len(places))), "indices that do not begin at the first axis")
    shape = call.result.shape[: len(call.result.shape) - len(x.shape) + len(places)]
    call.require(all(isinstance(dim, int) for dim in shape), "the shape of the indices is known at run time only")
    columns = [_column(call, item, shape) for item in tensors]
    return call.emit("gather_nd", x, call.emit("concat", *columns, axis=len(shape)), batch_dims=0)


def _column(call: Call, item: MCValue, shape: Shape) -> MCValue:
    wide = call.cast(item, "i64")
    wide = wide if item.shape == shape else call.emit("expand", wide, shape=list(shape))
    return call.emit("unsqueeze", wide, axes=[len(shape)])


# Writes into a part, after torch has made them functions


def copy(call: Call) -> Answer:
    """The source in the shape and element type of the target."""
    target = call.value("self")
    source = call.cast(call.value("src"), target.dtype)
    return source if source.shape == target.shape else expanded(call, source, sizes_of(call, target))


def slice_scatter(call: Call) -> Answer:
    """The target with the slices from start to end replaced."""
    x, source = call.value("self"), call.value("src")
    call.require(call.args.get("step", 1) == 1, "slices with a step")
    axis = call.axis("dim", len(x.shape))
    start, end = (call.args.get(name) for name in ("start", "end"))
    return _replaced(call, x, source, axis, start or 0, END if end is None else end)


def select_scatter(call: Call) -> Answer:
    """The target with one slice replaced."""
    x, at = call.value("self"), call.number("index")
    axis = call.axis("dim", len(x.shape))
    source = call.emit("unsqueeze", call.value("src"), axes=[axis])
    return _replaced(call, x, source, axis, at, END if at == -1 else at + 1)


def _replaced(call: Call, x: MCValue, source: MCValue, axis: int, start: Any, end: Any) -> MCValue:
    size = x.shape[axis]
    if not isinstance(size, int) or not isinstance(start, int) or not isinstance(end, int):
        call.require(False, "what is replaced is known at run time only")
        return x
    first, last, _ = slice(start, end).indices(size)
    parts = [sliced(call, x, axis, 0, first)] if first else []
    parts.append(call.cast(source, x.dtype))
    parts += [sliced(call, x, axis, last, END)] if last < size else []
    return parts[0] if len(parts) == 1 else call.emit("concat", *parts, axis=axis)
