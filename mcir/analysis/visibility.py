"""Which key tiles a query tile must look at: all but those that are provably masked.

A tile may be skipped only where every score in it is -inf whatever the data: where masks by position with fill -inf are
the last steps before softmax. Skipping it is then the identity on the carried state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mcir.analysis.phases import Nest
from mcir.nodes import MCNode


@dataclass(frozen=True, slots=True)
class Band:
    """Columns row + offset - left ... row + offset + right are kept; None is unbounded."""

    offset: int
    left: int | None
    right: int | None

    def hides(self, rows: range, cols: range) -> bool:
        """Whether no position of a tile (non-empty ranges of rows and columns) is kept."""
        above = self.right is not None and cols[0] > rows[-1] + self.offset + self.right
        below = self.left is not None and cols[-1] < rows[0] + self.offset - self.left
        return above or below


def visible_tiles(nest: Nest, rows: range, keys: int, tile_n: int) -> list[int]:
    """The key tiles, first to last, that the query rows `rows` (non-empty) must look at."""
    masks = position_bands(nest)
    visible = []
    for tile in range(-(-keys // tile_n)):
        cols = range(tile * tile_n, min(keys, (tile + 1) * tile_n))
        hidden = bool(masks) and all(any(band.hides(rows, cols) for band in bands) for bands in masks)
        if not hidden:
            visible.append(tile)
    return visible


def position_bands(nest: Nest) -> list[list[Band]]:
    """For each softmax of the nest the bands that a position must be in to be seen; empty where none is proven."""
    return [
        [band for band in map(_band, _last_masks(nest, node)) if band is not None]
        for node in nest.tile.nodes
        if node.op == "update_softmax"
    ]


def _last_masks(nest: Nest, softmax: MCNode) -> list[MCNode]:
    """The nodes that end the score chain and mask by position, from the softmax backwards."""
    producers = {value.name: node for node in nest.tile.nodes for value in node.outputs}
    masks = []
    node = producers.get(softmax.inputs[0].name)
    while node is not None and node.op == "mask" and _band(node) is not None:
        masks.append(node)
        node = producers.get(node.inputs[0].name)
    return [*masks, node] if node is not None and node.op == "compute_score" else masks


def _band(node: MCNode) -> Band | None:
    """The band that a mask keeps; None where it is no mask by position with fill -inf."""
    offset = node.attrs.get("offset", 0)
    if node.op == "compute_score":
        return Band(offset, None, 0) if node.attrs.get("mask") == "causal" else None
    kind = node.attrs.get("kind", "boolean")
    if node.attrs.get("fill", -math.inf) != -math.inf or kind == "boolean":
        return None
    if kind == "causal":
        return Band(offset, None, 0)
    left, right = node.attrs.get("left", -1), node.attrs.get("right", -1)
    return Band(offset, None if left == -1 else left, None if right == -1 else right)
