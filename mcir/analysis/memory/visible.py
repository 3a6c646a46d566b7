"""How much of the scores a nest visits: whole tiles, counted without looking at each.

A mask by position keeps, in row r, the columns r + low ... r + high - 1 (`Span`). All bounds move with the row, so that
the key tiles a query tile must visit are one interval, found by two divisions. `mcir.analysis.visibility` says the
same tile by tile; property tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcir.analysis.memory.symbolic import Number, ceil_div, clip, floor_div, maximum, minimum, summation
from mcir.analysis.phases import Nest
from mcir.analysis.visibility import position_bands


@dataclass(frozen=True, slots=True)
class Span:
    """Columns r + low ... r + high - 1 of row r are kept; None is unbounded."""

    low: int | None = None
    high: int | None = None

    @property
    def is_full(self) -> bool:
        return self.low is None and self.high is None

    def tiles(self, first_row: Number, end_row: Number, keys: Number, tile_n: int) -> tuple[Number, Number]:
        """(first, end) of the key tiles that rows first_row ... end_row - 1 visit; end <= first for none."""
        count = ceil_div(keys, tile_n)
        end = count if self.high is None else clip(ceil_div(end_row + (self.high - 1), tile_n), 0, count)
        if self.low is None:
            return 0, end
        lowest = first_row + self.low
        # Where the last key lies before the lowest kept column, no tile is left, ragged or not.
        some = clip(keys - lowest, 0, 1)
        return clip(floor_div(lowest, tile_n), 0, count), end * some

    def columns(self, first: Number, end: Number, keys: Number, tile_n: int) -> Number:
        """The keys in the tiles first ... end - 1."""
        last = minimum(keys, end * tile_n)
        return last if self.low is None else maximum(0, last - first * tile_n)

    def kept_columns(self, rows: Number, keys: Number) -> Number:
        """The keys that at least one of the first `rows` rows keeps."""
        if rows == 0:
            return 0
        if self.is_full:
            return keys
        if self.low is not None and self.high is not None and self.high <= self.low:
            return 0
        end = keys if self.high is None else clip(rows + (self.high - 1), 0, keys)
        return end if self.low is None else maximum(0, end - clip(self.low, 0, keys))

    def kept_positions(self, rows: Number, keys: Number) -> Number:
        """The (row, column) positions that are kept."""
        if self.low is not None and self.high is not None and self.high <= self.low:
            return 0
        upper = rows * keys if self.high is None else _clipped_sum(self.high, rows, keys)
        return upper - (0 if self.low is None else _clipped_sum(self.low, rows, keys))


def _clipped_sum(start: int, count: Number, top: Number) -> Number:
    """The sum of clip(start + i, 0, top) over i = 0 ... count - 1."""
    if isinstance(count, int) and isinstance(top, int):
        return _ramp(start + count, top) - _ramp(start, top)
    return summation(count, lambda i: clip(i + start, 0, top))


def _ramp(end: int, top: int) -> int:
    """The sum of min(t, top) over t = 0 ... end - 1, and 0 where end <= 0."""
    rising = min(max(end, 0), top)
    return rising * (rising - 1) // 2 + max(0, end - top) * top


def nest_spans(nest: Nest) -> list[Span]:
    """What each softmax of the nest keeps, each different span once; [Span()] where no tile may be skipped."""
    spans: dict[Span, None] = {}
    for bands in position_bands(nest):
        lows = [band.offset - band.left for band in bands if band.left is not None]
        highs = [band.offset + band.right + 1 for band in bands if band.right is not None]
        spans[Span(max(lows, default=None), min(highs, default=None))] = None
    if not spans or any(span.is_full for span in spans):
        return [Span()]
    return list(spans)


@dataclass(frozen=True, slots=True)
class QueryTiles:
    """`times` query tiles alike: `rows` rows each, visiting the key tiles of `intervals` (disjoint, ascending)."""

    times: int
    rows: int
    intervals: tuple[tuple[int, int], ...]


def query_tiles(spans: list[Span], queries: int, keys: int, tile_m: int, tile_n: int) -> Iterator[QueryTiles]:
    """The query tiles from first to last; tiles that visit the same come as one entry where nothing is masked."""
    if spans == [Span()]:
        everything = ((0, -(-keys // tile_n)),) if keys else ()
        if queries >= tile_m:
            yield QueryTiles(queries // tile_m, tile_m, everything)
        if queries % tile_m:
            yield QueryTiles(1, queries % tile_m, everything)
        return
    for start in range(0, queries, tile_m):
        end = min(queries, start + tile_m)
        yield QueryTiles(1, end - start, _union([_interval(span, start, end, keys, tile_n) for span in spans]))


def _interval(span: Span, start: int, end: int, keys: int, tile_n: int) -> tuple[int, int]:
    first, last = span.tiles(start, end, keys, tile_n)
    if not isinstance(first, int) or not isinstance(last, int):
        raise TypeError("intervals of tiles need integer sizes")
    return first, last


def _union(intervals: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, end in sorted(interval for interval in intervals if interval[0] < interval[1]):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return tuple(merged)
