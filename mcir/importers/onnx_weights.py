"""The weights of an imported model as an .npz archive."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def weights_archive(weights: Mapping[str, Any]) -> bytes:
    """The bytes of an .npz file of the arrays, each under its parameter's name.

    NumPy's format has no bf16 and fp8: such arrays are stored as fp32, which holds them exactly.
    """
    buffer = io.BytesIO()
    plain = {name: _storable(array) for name, array in weights.items()}
    np.savez(buffer, **plain)
    return buffer.getvalue()


def missing_note(names: Sequence[str]) -> list[str]:
    """What to tell the user of parameters whose data was not there."""
    if not names:
        return []
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return [f"warning: no data for {', '.join(names[:3])}{more}: the external data file is not there"]


def _storable(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype.kind not in "fiub" else array
