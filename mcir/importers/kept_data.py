"""Which tensors of an imported model keep their data in the text: constants do, weights do not."""

from __future__ import annotations

from typing import Any

import numpy as np

SMALL = 256
"""Elements up to which a tensor keeps its data whatever it is: scalars, shapes, per-head slopes, frequencies."""

FEW_VALUES = 16
"""A larger float tensor keeps its data if it has at most this many distinct elements: a mask, not a weight."""


def kept_data(array: Any, limit: int) -> bool | int | float | list[Any] | None:
    """The `value` of a constant node for the array: one element that fills it, or all in row-major order;
    None if it is a weight, whose data stays outside.

    An array of equal elements is one element, of any size. Else the data is kept of up to SMALL elements;
    and of up to `limit` if they are integers, booleans, or floats of FEW_VALUES kinds.
    """
    if array.size == 0:
        return []
    flat = array.reshape(-1)
    if _is_uniform(flat):
        first: bool | int | float = _elements(flat[:1])[0]
        return first
    if flat.size > limit or (flat.size > SMALL and _is_float(flat) and not _has_few_values(flat)):
        return None
    return _elements(flat)


def _is_float(flat: Any) -> bool:
    return flat.dtype.kind not in "iub"  # the 8-bit and bf16 types of ml_dtypes have a kind of their own


def _bits(flat: Any) -> Any:
    """The elements as integers: NaN equals NaN and -0.0 is not 0.0."""
    return np.ascontiguousarray(flat).view(f"u{flat.dtype.itemsize}")


def _is_uniform(flat: Any) -> bool:
    bits = _bits(flat)
    return bool((bits[:64] == bits[0]).all() and (bits == bits[0]).all())


def _has_few_values(flat: Any) -> bool:
    return len(np.unique(_bits(flat))) <= FEW_VALUES


def _elements(flat: Any) -> list[Any]:
    """As Python numbers; floats as the doubles that they exactly are."""
    return (flat.astype(np.float64) if _is_float(flat) else flat).tolist()  # type: ignore[no-any-return]
