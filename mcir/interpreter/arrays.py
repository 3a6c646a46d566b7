"""Arrays by label: from stored order to [batch labels..., row, column] and back; and tiles cut out of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcir.analysis.axes import Layout, axis_size
from mcir.interpreter.numerics import Array, is_float


def to_canonical(array: Array, layout: Layout, labels: tuple[str, ...], sizes: dict[str, int]) -> Array:
    """`array` with one axis for each of `labels`, of size one where the layout has not the label."""
    split = array.reshape([sizes[label] for label in layout.labels])
    present = [label for label in labels if label in layout.labels]
    ordered = split.transpose([layout.labels.index(label) for label in present])
    return ordered.reshape([sizes[label] if label in layout.labels else 1 for label in labels])


def from_canonical(array: Array, layout: Layout, labels: tuple[str, ...], sizes: dict[str, int]) -> Array:
    """The inverse: `array` has one axis per label, the result is stored as the layout says."""
    ordered = array.transpose([labels.index(label) for label in layout.labels])
    return ordered.reshape([axis_size(group, sizes) for group in layout.groups])


def poison(dtype: np.dtype[Any]) -> object:
    """What padding holds before a load fills it: NaN, True, or the largest integer."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).max
    return True if dtype.kind == "b" else np.nan


def cut(array: Array, axis: int, start: int, size: int) -> tuple[Array, Array]:
    """(`size` elements of an axis from `start` on, where they are real): beyond the end they are poisoned.

    The second array broadcasts against the first.
    """
    extent = array.shape[axis]
    stop = min(start + size, extent)
    piece = array[(slice(None),) * axis + (slice(start, stop),)]
    if stop - start == size:
        return piece, np.True_
    shape = list(array.shape)
    shape[axis] = size
    tile = np.full(shape, poison(array.dtype), array.dtype)
    tile[(slice(None),) * axis + (slice(0, max(0, stop - start)),)] = piece
    valid = np.arange(start, start + size) < extent
    return tile, valid.reshape([size if at == axis else 1 for at in range(array.ndim)])


def as_mode(array: Array, dtype: np.dtype[Any]) -> Array:
    """`array` in the dtype that a mode holds it in; copies only where it must."""
    return array.astype(dtype, copy=False) if is_float(array) or array.dtype != dtype else array
