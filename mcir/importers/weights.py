"""The weights of an imported model as an .npz archive."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcir.diagnostics import Diagnostic


def weights_archive(weights: Mapping[str, Any]) -> bytes:
    """The bytes of an .npz file of the arrays, each under its parameter's name.

    NumPy's format has no bf16 and fp8: such arrays are stored as fp32, which holds them exactly.
    """
    buffer = io.BytesIO()
    plain = {name: _storable(array) for name, array in weights.items()}
    np.savez(buffer, **plain)
    return buffer.getvalue()


def missing_data(names: Sequence[str], why: str) -> list[Diagnostic]:
    """The warning for parameters whose data was not there, and `why`; none if there are no such."""
    if not names:
        return []
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    message = f"no data for {', '.join(names[:3])}{more}: {why}"
    return [Diagnostic(message, severity="warning", rule="missing-data")]


def _storable(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype.kind not in "fiub" else array
