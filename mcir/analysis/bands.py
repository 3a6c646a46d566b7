"""Bands of a matrix: the places whose column minus row lies between two bounds. All masks by position are such.

A `Band` names two axes; `row` and `column` are positions along them: lo <= column - row <= hi.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

UNBOUNDED = math.inf


@dataclass(frozen=True, slots=True)
class Band:
    """The places of `column_axis` and `row_axis` with lo <= column - row <= hi; infinite bounds are open."""

    row_axis: int
    column_axis: int
    lo: float
    hi: float

    def swapped(self) -> Band:
        """The same places with rows and columns named the other way round."""
        return Band(self.column_axis, self.row_axis, -self.hi, -self.lo)

    def complement(self) -> Band | None:
        """All other places, where they are a band too."""
        if self.lo == -UNBOUNDED:
            return Band(self.row_axis, self.column_axis, self.hi + 1, UNBOUNDED)
        if self.hi == UNBOUNDED:
            return Band(self.row_axis, self.column_axis, -UNBOUNDED, self.lo - 1)
        return None

    def intersection(self, other: Band) -> Band | None:
        """The places in both, if both are over the same axes and some place can be left."""
        if (self.row_axis, self.column_axis) == (other.column_axis, other.row_axis):
            other = other.swapped()
        if (self.row_axis, self.column_axis) != (other.row_axis, other.column_axis):
            return None
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Band(self.row_axis, self.column_axis, lo, hi) if lo <= hi else None

    def moved(self, axes: dict[int, int]) -> Band | None:
        """The band under other axis numbers; None when an axis is gone."""
        if self.row_axis not in axes or self.column_axis not in axes:
            return None
        return Band(axes[self.row_axis], axes[self.column_axis], self.lo, self.hi)


def band_of_matrix(rows: int, columns: int, items: Sequence[Any]) -> tuple[float, float, Any, Any] | None:
    """(lo, hi, value inside, value outside) if the row-major matrix has exactly two values in the form of a band.

    Linear in the number of elements.
    """
    if len(items) != rows * columns or rows < 1 or columns < 1:
        return None
    first = items[0]
    second = next((item for item in items if item != first), None)
    if second is None or items.count(first) + items.count(second) != len(items):
        return None
    for inside, outside in ((first, second), (second, first)):
        bounds = _bounds(rows, columns, items, inside)
        if bounds is not None:
            return (*bounds, inside, outside)
    return None


def _bounds(rows: int, columns: int, items: Sequence[Any], inside: Any) -> tuple[float, float] | None:
    """The bounds under which exactly the places of value `inside` lie in the band."""
    runs = []
    for row in range(rows):
        line = items[row * columns : (row + 1) * columns]
        count = line.count(inside)
        start = line.index(inside) if count else 0
        if line[start : start + count].count(inside) != count:
            return None
        runs.append((start, start + count))
    lo: float = -UNBOUNDED
    hi: float = UNBOUNDED
    for row, (start, end) in enumerate(runs):
        if start > 0 and end > start:
            lo = start - row
        if end < columns and end > start:
            hi = end - 1 - row
    if lo == -UNBOUNDED and hi == UNBOUNDED:
        return None
    expected = [_run(row, columns, lo, hi) for row in range(rows)]
    return (lo, hi) if expected == [run if run[0] < run[1] else (0, 0) for run in runs] else None


def _run(row: int, columns: int, lo: float, hi: float) -> tuple[int, int]:
    """Start and end of the columns of `row` that lie in the band; (0, 0) if none."""
    start = 0 if lo == -UNBOUNDED else max(0, row + int(lo))
    end = columns if hi == UNBOUNDED else min(columns, row + int(hi) + 1)
    return (start, end) if start < end else (0, 0)


def mask_attributes(band: Band, difference: int | None) -> dict[str, Any] | None:
    """The `mask` kind that keeps `band`: causal where only the upper bound is finite, else a window.

    difference: number of columns minus number of rows, where known: the offset that aligns the last row with the last
    column. None for a band without bounds or with none left.
    """
    lo, hi = band.lo, band.hi
    if lo > hi or (lo == -UNBOUNDED and hi == UNBOUNDED):
        return None
    if lo == -UNBOUNDED:
        return {"kind": "causal", "offset": int(hi)}
    if hi == UNBOUNDED:
        offset = max(0, int(lo))
        return {"kind": "window", "left": offset - int(lo), "right": -1, "offset": offset}
    around_zero = lo <= 0 <= hi and (hi != difference or lo == -hi)
    offset = 0 if around_zero else int(hi)
    return {"kind": "window", "left": offset - int(lo), "right": int(hi) - offset, "offset": offset}


def may_empty_a_row(band: Band, rows: Any, columns: Any) -> bool:
    """Whether some row may have no column in the band; rows and columns are sizes or names."""
    if band.hi < 0:
        return True
    if band.lo == -UNBOUNDED or (band.lo <= 0 and rows == columns and rows is not None):
        return False
    if isinstance(rows, int) and isinstance(columns, int):
        return rows - 1 + band.lo > columns - 1
    return True
