"""The account by walking the nest: loads and stores times the trips of their phase, query tile by query tile."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcir.analysis.memory.moves import Move, batch_size
from mcir.analysis.memory.sizes import Sizes
from mcir.analysis.memory.symbolic import Number
from mcir.analysis.memory.visible import QueryTiles, Span, query_tiles
from mcir.analysis.phases import Nest, Phase

# Contractions and the label that each sums or spreads over: 2 operations for each row, key and element of it.
FLOP_LABELS = {"compute_score": "d", "accumulate_output": "e"}


@dataclass(slots=True)
class Totals:
    """What one nest moves and does over all batch indices.

    read, written: global bytes. steps: visits of a key tile. all_steps: what they were without any mask. moved: bytes
    of each load and store, by node name. trips: how often each runs.
    """

    read: Number = 0
    written: Number = 0
    steps: Number = 0
    all_steps: Number = 0
    flops: Number = 0
    moved: dict[str, Number] = field(default_factory=dict)
    trips: dict[str, Number] = field(default_factory=dict)


def walk_nest(nest: Nest, moves: list[Move], sizes: Sizes, spans: list[Span], tile_m: int, tile_n: int) -> Totals:
    """The totals of a nest whose sizes are all integers. Linear in the query tiles, whatever the keys."""
    queries, keys = _integer(sizes.label("q")), _integer(sizes.label("k"))
    totals = Totals()
    per_pair = sum(
        2 * _integer(sizes.label(FLOP_LABELS[node.op])) for node in nest.tile.nodes if node.op in FLOP_LABELS
    )
    for tiles in query_tiles(spans, queries, keys, tile_m, tile_n):
        steps = sum(end - first for first, end in tiles.intervals)
        seen = sum(min(keys, end * tile_n) - first * tile_n for first, end in tiles.intervals)
        totals.steps += tiles.times * steps
        totals.all_steps += tiles.times * -(-keys // tile_n)
        totals.flops += tiles.times * tiles.rows * seen * per_pair
        for move in moves:
            _enter(totals, move, tiles, steps, seen)
    return _times(totals, _integer(batch_size(nest, sizes)), moves)


def _enter(totals: Totals, move: Move, tiles: QueryTiles, steps: int, seen: int) -> None:
    """A body move runs in each step, and the keys of all steps of one query tile add up to `seen`."""
    body = move.phase is Phase.BODY
    name = move.node.name
    totals.moved[name] = totals.moved.get(name, 0) + tiles.times * move.trip(tiles.rows, seen if body else 1)
    totals.trips[name] = totals.trips.get(name, 0) + tiles.times * (steps if body else 1)


def _times(totals: Totals, batch: int, moves: list[Move]) -> Totals:
    moved = {name: batch * amount for name, amount in totals.moved.items()}
    trips = {name: batch * count for name, count in totals.trips.items()}
    read, written = split(moved, moves)
    return Totals(read, written, batch * totals.steps, batch * totals.all_steps, batch * totals.flops, moved, trips)


def split(moved: dict[str, Number], moves: list[Move]) -> tuple[Number, Number]:
    """(bytes read, bytes written) of the moves together."""
    read: Number = 0
    written: Number = 0
    for move in moves:
        if move.is_read:
            read = read + moved.get(move.node.name, 0)
        else:
            written = written + moved.get(move.node.name, 0)
    return read, written


def _integer(number: Number) -> int:
    if not isinstance(number, int):
        raise TypeError(f"the walk needs integer sizes, got {number}")
    return number
