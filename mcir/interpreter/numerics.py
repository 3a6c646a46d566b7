"""The three number systems in which a module runs.

| mode | floats | exp | use |
|---|---|---|---|
| typed | as declared, sums in fp32 | e^x | what the program computes |
| algebraic | fp64 | e^x | the same up to rounding: |dO| <= 1e-12 max|V| |
| exact | fp64 | 2^x of integers | no rounding at all: see `interpreter/exactness.py` |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from mcir.ops.definition import EvalContext, OpDef
from mcir.types import DTYPES, TensorType

MODES = ("typed", "algebraic", "exact")

Array = Any  # numpy.ndarray of any element type

# Below this 2^x is zero in fp64 and nothing is lost or rounded: a masked position.
_VANISHES = -1100.0
_NEAR = 1e-6  # how far from an integer a score may be for being one that was rounded


class NotExact(Exception):
    """A score is no integer: the exact level says nothing about this case."""


class Numerics:
    """One number system: dtypes, exp and log, and where sums are kept.

    In the exact mode `lowest` and `highest` record the exponents that 2^x saw, apart from those that vanish.
    Raises ValueError for an unknown mode.
    """

    def __init__(self, mode: str = "typed") -> None:
        if mode not in MODES:
            raise ValueError(f"unknown mode '{mode}', expected one of {', '.join(MODES)}")
        self.mode = mode
        self.accumulate = "fp32" if mode == "typed" else "fp64"
        exact = mode == "exact"
        self.np: Any = _ExactNumPy() if exact else np
        self.exp: Callable[[Array], Array] = self._exp2 if exact else np.exp
        self.log: Callable[[Array], Array] = np.log2 if exact else np.log
        self.lowest = self.highest = 0.0

    def dtype(self, name: str) -> np.dtype[Any]:
        """The NumPy dtype in which values declared as `name` are held. Raises KeyError."""
        if self.mode != "typed" and DTYPES[name].kind == "float":
            return np.dtype(np.float64)
        return numpy_dtype(name)

    def context(
        self, op: OpDef, attrs: dict[str, Any], results: list[TensorType], rows: Array = None, cols: Array = None
    ) -> EvalContext:
        """What a NumPy meaning sees in this number system."""
        return EvalContext(
            self.np, op.attributes(attrs), results, self.dtype, self.exp, self.log, self.accumulate, rows, cols
        )

    def _exp2(self, x: Array) -> Array:
        x = np.asarray(x)
        near = np.rint(x)
        seen = np.isfinite(x) & (x > _VANISHES)
        if (np.abs(x[seen] - near[seen]) > _NEAR).any():
            raise NotExact
        if seen.any():
            self.lowest = min(self.lowest, float(near[seen].min()))
            self.highest = max(self.highest, float(near[seen].max()))
        return np.exp2(near)


class _ExactNumPy:
    """NumPy with tanh replaced by its limiter, so that softcap keeps integers: clip(x, -1, 1)."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def tanh(x: Array) -> Array:
        return np.clip(x, -1.0, 1.0)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy (or ml_dtypes) dtype of an MCIR element type. Raises KeyError."""
    spelled = DTYPES[name].numpy
    return np.dtype(getattr(ml_dtypes, spelled) if hasattr(ml_dtypes, spelled) else spelled)


def is_float(array: Array) -> bool:
    """True for NumPy and ml_dtypes floats."""
    return array.dtype.kind not in "biu"
