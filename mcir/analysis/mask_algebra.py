"""What can be said of a mask's elements, and arithmetic on what is said.

    Uniform(0.0)                    every element
    Affine({axis: factor}, start)   start + sum of factor * position along axis
    Magnitude(affine)               its absolute value
    Select(band, inside, outside)   `inside` within the band, `outside` elsewhere; a boolean mask is true and false

Axes are those of the value that is spoken of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mcir.analysis.bands import UNBOUNDED, Band, band_of_matrix
from mcir.analysis.scalars import Scalar, round_to
from mcir.analysis.shadow import same_dim
from mcir.types import Shape


@dataclass(frozen=True, slots=True)
class Uniform:
    value: Scalar


@dataclass(frozen=True, slots=True)
class Affine:
    """start + sum of factor * position; axes with factor 0 are left out."""

    factors: tuple[tuple[int, int], ...]
    start: Scalar

    def scaled(self, by: int) -> Affine:
        return Affine(tuple((axis, value * by) for axis, value in self.factors), self.start * by)


@dataclass(frozen=True, slots=True)
class Magnitude:
    of: Affine


@dataclass(frozen=True, slots=True)
class Select:
    band: Band
    inside: Scalar
    outside: Scalar

    def both_ways(self) -> Iterator[Select]:
        """This form, and the same one told by the complement of its band."""
        yield self
        rest = self.band.complement()
        if rest is not None:
            yield Select(rest, self.outside, self.inside)


Form = Uniform | Affine | Magnitude | Select

# Types in which positions and their differences are exact up to 2^24 at least.
_POSITION_DTYPES = frozenset({"i32", "i64", "fp32", "fp64"})


def settled(form: Form, shape: Shape, dtype: str) -> Form | None:
    """`form` in its simplest terms: a position along an axis of size one is 0; None if the type may round positions."""
    if isinstance(form, Affine):
        factors = tuple((axis, factor) for axis, factor in form.factors if factor != 0 and shape[axis] != 1)
        if not factors:
            return Uniform(form.start)
        return Affine(factors, form.start) if dtype in _POSITION_DTYPES else None
    if isinstance(form, Select):
        if form.inside == form.outside:
            return Uniform(form.inside)
        return None if 1 in (shape[form.band.row_axis], shape[form.band.column_axis]) else form
    return form


def form_of_data(shape: Shape, items: Sequence[Any]) -> Form | None:
    """A constant whose last two axes of more than one element hold a band, or a vector that counts."""
    axes = [axis for axis, dim in enumerate(shape) if dim != 1]
    sizes = [dim for dim in shape if isinstance(dim, int) and dim != 1]
    if len(axes) != len(sizes) or not axes:
        return None
    if len(axes) == 1:
        return _counting(axes[0], items)
    rows, columns = sizes[-2:]
    first = items[: rows * columns]
    if any(items[at : at + len(first)] != first for at in range(len(first), len(items), len(first))):
        return None
    found = band_of_matrix(rows, columns, first)
    if found is None:
        return None
    lo, hi, inside, outside = found
    return Select(Band(axes[-2], axes[-1], lo, hi), inside, outside)


def _counting(axis: int, items: Sequence[Any]) -> Form | None:
    if not all(isinstance(item, (int, float)) and not isinstance(item, bool) and item % 1 == 0 for item in items):
        return None
    step = items[1] - items[0]
    if any(after - before != step for before, after in pairwise(items)):
        return None
    return Affine(((axis, int(step)),), int(items[0]))


def aligned(form: Form, shape: Shape, result: Shape) -> Form | None:
    """`form` of an operand in the axes of the broadcast result; axes that count must not be broadcast."""
    shift = len(result) - len(shape)
    if any(not same_dim(shape[axis], result[axis + shift]) for axis in _axes(form)):
        return None
    return moved(form, {axis: axis + shift for axis in range(len(shape))})


def _axes(form: Form) -> list[int]:
    if isinstance(form, Select):
        return [form.band.row_axis, form.band.column_axis]
    affine = form.of if isinstance(form, Magnitude) else form
    return [axis for axis, _ in affine.factors] if isinstance(affine, Affine) else []


def moved(form: Form, axes: dict[int, int]) -> Form | None:
    """`form` under other axis numbers; None when an axis it speaks of is gone."""
    if any(axis not in axes for axis in _axes(form)):
        return None
    if isinstance(form, Affine):
        return Affine(tuple((axes[axis], factor) for axis, factor in form.factors), form.start)
    if isinstance(form, Magnitude):
        return Magnitude(Affine(tuple((axes[axis], factor) for axis, factor in form.of.factors), form.of.start))
    if isinstance(form, Select):
        band = form.band.moved(axes)
        return None if band is None else Select(band, form.inside, form.outside)
    return form


def shifted(form: Form, axis: int, first: int) -> Form | None:
    """`form` where position p along `axis` was position p + first before."""
    if isinstance(form, Affine):
        return Affine(form.factors, form.start + dict(form.factors).get(axis, 0) * first)
    if isinstance(form, Select):
        band = form.band
        by = first * ((axis == band.row_axis) - (axis == band.column_axis))
        return Select(Band(band.row_axis, band.column_axis, band.lo + by, band.hi + by), form.inside, form.outside)
    return form if isinstance(form, Uniform) else None


def linear(op: str, left: Form, right: Form) -> Form | None:
    """left + right, left - right, or a product with an integer."""
    if isinstance(left, (Select, Magnitude)) or isinstance(right, (Select, Magnitude)):
        return None
    (factors, start), (others, other) = _parts(left), _parts(right)
    if op in ("add", "sub"):
        sign = 1 if op == "add" else -1
        axes = sorted({*factors, *others})
        total = tuple((axis, factors.get(axis, 0) + sign * others.get(axis, 0)) for axis in axes)
        return Affine(total, start + sign * other)
    if op == "mul" and isinstance(left, Affine) and isinstance(right, Uniform) and other % 1 == 0:
        return left.scaled(int(other))
    if op == "mul" and isinstance(left, Uniform) and isinstance(right, Affine) and start % 1 == 0:
        return right.scaled(int(start))
    return None


def _parts(form: Uniform | Affine) -> tuple[dict[int, int], Scalar]:
    return (dict(form.factors), form.start) if isinstance(form, Affine) else ({}, form.value)


# left <op> right as bounds on the integer left - right.
COMPARED: dict[str, tuple[float, float]] = {
    "less": (-UNBOUNDED, -1), "less_equal": (-UNBOUNDED, 0), "greater": (1, UNBOUNDED),
    "greater_equal": (0, UNBOUNDED), "equal": (0, 0),
}  # fmt: skip
MIRRORED = {
    "less": "greater", "greater": "less", "less_equal": "greater_equal", "greater_equal": "less_equal",
    "equal": "equal",
}  # fmt: skip


def compared(op: str, left: Form, right: Form) -> Form | None:
    """A comparison of integer positions is a band where two axes count against each other."""
    if isinstance(right, Magnitude):
        return compared(MIRRORED[op], right, left) if isinstance(left, Uniform) else None
    if isinstance(left, Magnitude):
        return _within(op, left.of, right)
    difference = linear("sub", left, right)
    return _band(difference, *COMPARED[op]) if isinstance(difference, Affine) else None


def _within(op: str, difference: Affine, limit: Form) -> Form | None:
    """|difference| < limit: a band around the diagonal."""
    if not isinstance(limit, Uniform) or limit.value % 1 or op not in ("less", "less_equal"):
        return None
    reach = int(limit.value) - (op == "less")
    return _band(difference, -reach, reach) if reach >= 0 else None


def _band(difference: Affine, least: float, most: float) -> Form | None:
    """The places where least <= difference <= most."""
    if len(difference.factors) != 2 or difference.start % 1:
        return None
    (row, row_factor), (column, column_factor) = sorted(difference.factors)
    lo, hi = least - int(difference.start), most - int(difference.start)
    if (row_factor, column_factor) == (-1, 1):
        return Select(Band(row, column, lo, hi), True, False)
    if (row_factor, column_factor) == (1, -1):
        return Select(Band(row, column, -hi, -lo), True, False)
    return None


def on_selects(compute: Callable[[Scalar, Scalar], Scalar], dtype: str, left: Form, right: Form) -> Form | None:
    """`compute`, element by element, where one side or both are a Select."""

    def both(a: Scalar, b: Scalar) -> Scalar:
        return round_to(dtype, compute(a, b))

    if isinstance(left, Select) and isinstance(right, Uniform):
        return Select(left.band, both(left.inside, right.value), both(left.outside, right.value))
    if isinstance(right, Select) and isinstance(left, Uniform):
        return Select(right.band, both(left.value, right.inside), both(left.value, right.outside))
    if not isinstance(left, Select) or not isinstance(right, Select):
        return None
    for a in left.both_ways():
        for b in right.both_ways():
            outside = both(a.outside, b.outside)
            kept = a.band.intersection(b.band)
            if kept is not None and both(a.inside, b.outside) == outside == both(a.outside, b.inside):
                return Select(kept, both(a.inside, b.inside), outside)
    return None
