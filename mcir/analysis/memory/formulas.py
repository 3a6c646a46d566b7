"""The account in closed form: counts of tiles, steps, keys and positions times what each move has for one of them.

With Tr query tiles, row range R_i and visible key tiles T_i of query tile i, for one batch index:

    rows = Sq;  tiles = Tr;  steps = sum_i |T_i|
    columns = sum_i columns_i  with  columns_i = sum_{j in T_i} |C_j|;  positions = sum_i |R_i| * columns_i

A move outside the stream moves its unit once a row (or once a tile), one inside once a visited key (or position).
Sizes may be names: the result is then a formula. Holds for one span of visible keys, which all nests but those with
several differently masked softmaxes have.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcir.analysis.memory.moves import Move, batch_size
from mcir.analysis.memory.sizes import Sizes
from mcir.analysis.memory.symbolic import Number, ceil_div, maximum, minimum, summation
from mcir.analysis.memory.visible import Span
from mcir.analysis.memory.walk import FLOP_LABELS, Totals, split
from mcir.analysis.phases import Nest, Phase


@dataclass(frozen=True, slots=True)
class Counts:
    """How often things happen for one batch index; see the head of this file."""

    rows: Number
    tiles: Number
    steps: Number
    all_steps: Number
    columns: Number
    positions: Number


def closed_form(nest: Nest, moves: list[Move], sizes: Sizes, span: Span, tile_m: int, tile_n: int) -> Totals:
    """The totals of a nest with sizes of either kind; equal to those of the walk where all are integers."""
    counts = count(sizes.label("q"), sizes.label("k"), span, tile_m, tile_n)
    batch = batch_size(nest, sizes)
    moved = {move.node.name: batch * _amount(move, counts) * move.unit for move in moves}
    trips = {move.node.name: batch * (counts.steps if move.phase is Phase.BODY else counts.tiles) for move in moves}
    flops: Number = 0
    for node in nest.tile.nodes:
        if node.op in FLOP_LABELS:
            flops = flops + 2 * batch * sizes.label(FLOP_LABELS[node.op]) * counts.positions
    read, written = split(moved, moves)
    return Totals(read, written, batch * counts.steps, batch * counts.all_steps, flops, moved, trips)


def count(rows: Number, keys: Number, span: Span, tile_m: int, tile_n: int) -> Counts:
    """The counts of a span over `rows` query rows and `keys` keys."""
    tiles, key_tiles = ceil_div(rows, tile_m), ceil_div(keys, tile_n)
    if span.is_full:
        return Counts(rows, tiles, tiles * key_tiles, tiles * key_tiles, tiles * keys, rows * keys)

    def of_tile(i: Number) -> tuple[Number, Number, Number]:
        """(steps, columns, positions) of query tile i."""
        start = i * tile_m
        first, last = span.tiles(start, minimum(rows, start + tile_m), keys, tile_n)
        columns = span.columns(first, last, keys, tile_n)
        steps = last if span.low is None else maximum(0, last - first)
        return steps, columns, minimum(tile_m, rows - start) * columns

    return Counts(
        rows, tiles,
        summation(tiles, lambda i: of_tile(i)[0]), tiles * key_tiles,
        summation(tiles, lambda i: of_tile(i)[1]), summation(tiles, lambda i: of_tile(i)[2]),
    )  # fmt: skip


def _amount(move: Move, counts: Counts) -> Number:
    """How many units a move has for one batch index. A move is in the stream where its tensor has keys."""
    if move.along_k:
        return counts.positions if move.along_q else counts.columns
    return counts.rows if move.along_q else counts.tiles
