"""What agreement means at each level, and the first place where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from mcir.interpreter.arrays import to_canonical
from mcir.interpreter.families import Draw
from mcir.interpreter.numerics import Array, numpy_dtype
from mcir.interpreter.subject import factor_of
from mcir.ops.mask import kept_by_position
from mcir.types import DTYPES

ALGEBRAIC = 1e-12  # of max |V|: what sums in another order may differ by in fp64
NO_WEIGHT = -64.0  # a score this far below all others has no weight, whatever rounding makes of it


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element in which a region differs from its graph.

    index: the batch labels' values; row, column: position in O; tile: the query tile that holds the row.
    """

    level: str
    family: str
    schedule: str
    output: str
    index: dict[str, int]
    row: int
    column: int
    tile: int
    graph: float
    region: float

    def __str__(self) -> str:
        place = ", ".join(f"{label} = {value}" for label, value in self.index.items())
        return (
            f"{self.output}[{place}] row {self.row} (query tile {self.tile}), column {self.column}: "
            f"graph {self.graph:.17g}, region {self.region:.17g} "
            f"(level {self.level}, inputs '{self.family}', {self.schedule})"
        )

    def as_json(self) -> dict[str, Any]:
        """The fields, with NaN and infinities as strings."""
        numbers = {"graph": self.graph, "region": self.region}
        shown = {key: value if np.isfinite(value) else str(value) for key, value in numbers.items()}
        return {
            "level": self.level, "inputs": self.family, "schedule": self.schedule, "output": self.output,
            "index": self.index, "row": self.row, "column": self.column, "tile": self.tile, **shown,
        }  # fmt: skip


def first_difference(graph: Array, region: Array, bound: Array | float) -> tuple[int, ...] | None:
    """The index of the first element that differs by more than `bound`, or in being NaN or infinite."""
    graph, region = np.broadcast_arrays(np.asarray(graph, dtype=float), np.asarray(region, dtype=float))
    with np.errstate(all="ignore"):
        same = (graph == region) | (np.isnan(graph) & np.isnan(region))
        finite = np.isfinite(graph) & np.isfinite(region)
        bad = ~(same | (finite & (np.abs(graph - region) <= bound)))
    return tuple(int(at) for at in np.argwhere(bad)[0]) if bad.any() else None


def typed_bound(draw: Draw, given: dict[str, Array], batch: tuple[str, ...], steps: int, dtypes: set[str]) -> Array:
    """A-priori bound on |O_graph - O_region| per row in the declared types: [batch..., q, 1].

    With T the largest sum of absolute products (and addends, and fills that have weight) of a row and u the unit
    roundoff of the coarsest type, each of `steps` roundings moves a score by u*T at most, hence each weight by
    exp(2*steps*u*T) - 1 relatively; to this come one rounding each of P, O and the casts, and the sums in fp32.
    """
    at, sizes = draw.subject.attention, draw.sizes.labels
    arrays = {name: np.nan_to_num(np.abs(array.astype(float)), posinf=0.0) for name, array in given.items()}
    q = to_canonical(arrays[at.q.value.name], at.q.layout, (*batch, "q", "d"), sizes)
    k = to_canonical(arrays[at.k.value.name], at.k.layout, (*batch, "k", "d"), sizes)
    total = np.matmul(q, k.swapaxes(-1, -2)) * abs(draw.subject.gain)
    for operand in draw.subject.operands:
        if operand.role == "add":
            array = to_canonical(arrays[operand.value.name], operand.layout, (*batch, "q", "k"), sizes)
            total = total + array * abs(operand.gain)
    largest = total.max(axis=-1, initial=0.0)[..., None] + _constant_sum(at.modifiers) + _fills(draw, given, batch)
    u = max(roundoff(name) for name in dtypes)
    keys = sizes.get("k", 0)
    relative = np.expm1(np.minimum(2 * (steps + 2) * (u * largest + 2.0**-24 * (sizes.get("d", 0) + 1)), 50.0))
    relative = relative + (steps + 8) * u + (keys + 4) * (2.0**-23 + smallest(dtypes))
    return np.asarray(relative * max(1e-30, float(arrays[at.v.value.name].max(initial=0.0))))


def _constant_sum(steps: list[dict[str, Any]]) -> float:
    """The sum of the magnitudes of constants that steps add, as they are after the factors that follow."""
    return sum(
        abs(float(step["value"]) * factor_of(steps[at + 1 :]))
        for at, step in enumerate(steps)
        if step.get("op") in ("add", "sub") and "value" in step
    )


def _fills(draw: Draw, given: dict[str, Array], batch: tuple[str, ...]) -> Array:
    """The largest magnitude of a finite fill that has weight in a row: [batch..., q, 1].

    A fill far below the scores has some only in a row whose every score was replaced. Then what later steps add to it
    is rounded as coarsely as numbers of its size are: -10000 + 1 is -10000 in fp16.
    """
    steps, sizes = draw.subject.attention.modifiers, draw.sizes.labels
    left: Array = np.ones((1,) * (len(batch) + 2), bool)
    for operand in draw.subject.operands:
        array = to_canonical(given[operand.value.name], operand.layout, (*batch, "q", "k"), sizes)
        if operand.role == "select":
            left = left & (array == operand.keep)
        elif operand.role == "add":
            left = left & np.isfinite(array.astype(float))
    fills: list[float] = []
    for at, step in enumerate(steps):
        if step.get("op") in ("where", "mask"):
            fills.append(float(step.get("fill", -np.inf)) * factor_of(steps[at + 1 :]))
        if step.get("op") == "mask":
            left = left & kept_by_position(step, sizes.get("q", 1), sizes.get("k", 0))
    finite = [fill for fill in fills if np.isfinite(fill)]
    always = max((abs(fill) for fill in finite if fill > NO_WEIGHT), default=0.0)
    largest = max(map(abs, finite), default=0.0)
    return np.where(left.any(axis=-1)[..., None], always, largest)


def roundoff(dtype: str) -> float:
    """Unit roundoff of a float type: half the distance from 1 to the next number."""
    return float(ml_dtypes.finfo(numpy_dtype(dtype)).eps) / 2  # type: ignore[no-untyped-call]


def smallest(dtypes: set[str]) -> float:
    """What a number may lose by underflow in the coarsest of the types."""
    return max(float(ml_dtypes.finfo(numpy_dtype(name)).smallest_subnormal) for name in dtypes)  # type: ignore[no-untyped-call]


def float_types(names: set[str]) -> set[str]:
    """The float types among `names`, with fp32: states are never narrower."""
    return {name for name in names if DTYPES[name].kind == "float"} | {"fp32"}
