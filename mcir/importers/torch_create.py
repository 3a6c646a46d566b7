"""Mapping rules of operators that make tensors out of nothing, and of arithmetic on sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mcir.importers.call import Answer, Call, Rule, Size, element
from mcir.importers.torch_layout import sizes_of
from mcir.types import Dim

# Tensors out of nothing


def filled(value: Callable[[Call], Any], sizes: str = "") -> Rule:
    """A tensor of one number. `sizes`: the argument that lists its shape; by default it is that of `self`."""

    def rule(call: Call) -> Answer:
        wanted = call.result
        fill = element(value(call), wanted.dtype)
        if call.known_sizes(wanted.shape):
            return call.emit("full", declared=wanted, value=fill)
        given = call.args[sizes] if sizes else sizes_of(call, call.value("self"))
        return call.emit("full", call.size_vector(given), declared=wanted, value=fill)

    return rule


def given(name: str) -> Callable[[Call], Any]:
    """The number that the argument `name` holds."""
    return lambda call: call.number(name)


def scalar_tensor(call: Call) -> Answer:
    return call.tensor("s", call.result.dtype)


def arange(call: Call) -> Answer:
    """start, start + step, ...: positions if it is 0, 1, ... of a known number, else a range."""
    start, step = (call.args.get(name, default) for name, default in (("start", 0), ("step", 1)))
    wanted = call.result
    counts = (start, step) == (0, 1) and _counts(call.args["end"], wanted.shape[0])
    if counts and call.known_sizes(wanted.shape):
        return call.emit("iota", declared=wanted, axis=0)
    numbers = {"start": start, "end": call.args["end"], "step": step}
    call.args.update(numbers)
    fractions = any(isinstance(number, float) for number in numbers.values())
    dtype = wanted.dtype if not fractions or wanted.dtype == "fp64" else "fp64"
    return call.cast(call.emit("range", *(call.tensor(name, dtype) for name in numbers)), wanted.dtype)


def _counts(end: Any, size: Dim) -> bool:
    """True if `end` is the number of elements (and no fraction beyond it)."""
    return end.dim == size if isinstance(end, Size) else math.ceil(end) == size


def triangle(upper: bool) -> Rule:
    """The lower or upper triangle from a diagonal on."""

    def rule(call: Call) -> Answer:
        return call.emit("trilu", call.value("self"), k=int(call.args.get("diagonal", 0)), upper=upper)

    return rule


# Sizes: each is a vector of one element


def size_of_axis(call: Call) -> Answer:
    x = call.value("self")
    axis = call.axis("dim", len(x.shape))
    return call.emit("shape", x, start=axis, end=axis + 1)


def size_of_all(call: Call) -> Answer:
    return call.emit("reduce_prod", call.emit("shape", call.value("self")), axes=[0], keepdims=True)


def size_arithmetic(op: str) -> Rule:
    return lambda call: call.emit(op, call.size_part(call.args["self"]), call.size_part(call.args["other"]))


def size_quotient(call: Call) -> Answer:
    """Python's a // b: (a - a mod b) / b."""
    lhs, rhs = call.size_part(call.args["self"]), call.size_part(call.args["other"])
    return call.emit("div", call.emit("sub", lhs, call.emit("mod", lhs, rhs)), rhs)
