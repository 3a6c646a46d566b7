"""The proof that a lowered region computes what its graph computes: `mcir-run --check`.

The graph is cut at the region's inputs, both sides run on the same adversarial data, and O (and the LSE) are compared:

| level | data | agreement |
|---|---|---|
| exact | integers, 2^x for e^x, fp64 | equal (see `exactness.py`); all tile sizes and orders bit for bit |
| algebraic | fp64 | |dO| <= 1e-12 max|V|, |dLSE| <= 1e-12 max(1, |LSE|) |
| typed | the declared types | the a-priori bound of `compare.typed_bound` |

NaN on one side only, or infinities in other places, are differences. Static shapes are run as they are; named and
unknown sizes at several choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcir.analysis.axes import batch_labels
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.interpreter.arrays import to_canonical
from mcir.interpreter.compare import ALGEBRAIC, Difference, first_difference, float_types, typed_bound
from mcir.interpreter.exactness import separation
from mcir.interpreter.families import LEVEL_FAMILIES, Draw, draw_case
from mcir.interpreter.graph import MEMORY_LIMIT, draw, run_nodes
from mcir.interpreter.numerics import Array, NotExact, Numerics, numpy_dtype
from mcir.interpreter.reduced import reduced, reduced_text
from mcir.interpreter.region import Meanings, Schedule, run_region
from mcir.interpreter.sizes import Sizes, score_bytes, size_choices
from mcir.interpreter.subject import Subject, find_subject
from mcir.module import MCModule
from mcir.regions import Region

LEVELS = ("exact", "algebraic", "typed")

# Bytes of score matrices above which smaller sizes are tried first: all cases of a proof then take seconds.
COMFORT = 16 << 20

_LIVE_SCORES = 5  # score matrices that a graph holds at once, at most: scores, mask, exp, weights, one temporary


@dataclass(slots=True)
class CheckResult:
    """The outcome for one region.

    status: "proved", "failed" or "not provable". levels: those at which every case agreed. cases: how many (level,
    inputs, sizes) agreed. reason: why not proved, or which level had no case that can tell. family: of the inputs
    that showed a failure.
    """

    region: str
    status: str
    levels: list[str] = field(default_factory=list)
    cases: int = 0
    reason: str = ""
    family: str = ""
    difference: Difference | None = None

    def __str__(self) -> str:
        if self.status == "proved":
            note = f" ({self.reason})" if self.reason else ""
            return f"@{self.region}: proved ({', '.join(self.levels)}), {self.cases} cases{note}"
        return f"@{self.region}: {self.status}: {self.difference or self.reason}"

    def as_json(self) -> dict[str, Any]:
        """A dictionary of plain values for `--json`."""
        return {
            "region": self.region, "status": self.status, "levels": self.levels, "cases": self.cases,
            "reason": self.reason, "difference": self.difference.as_json() if self.difference else None,
        }  # fmt: skip


def check_module(
    module: MCModule, levels: tuple[str, ...] = LEVELS, *, seed: int = 0, memory_limit: int = MEMORY_LIMIT
) -> list[CheckResult]:
    """The outcome for every execution region of `module`, in order."""
    return [
        check_region(module, region, levels, seed=seed, memory_limit=memory_limit)
        for region in module.regions
        if region.kind == "execution"
    ]


def check_region(
    module: MCModule, region: Region, levels: tuple[str, ...] = LEVELS, *,
    seed: int = 0, memory_limit: int = MEMORY_LIMIT, meanings: Meanings | None = None,
) -> CheckResult:  # fmt: skip
    """Proves one region of `module` against the graph it names.

    meanings: other NumPy meanings of tile ops, by name: wrong ones must make the proof fail (mutation tests).
    Raises ValueError for an unknown level.
    """
    unknown = [level for level in levels if level not in LEVELS]
    if unknown:
        raise ValueError(f"unknown level '{unknown[0]}', expected one of {', '.join(LEVELS)}")
    try:
        subject = find_subject(module, region)
        choices = size_choices(subject)
        subject, choices, note = _fitting(subject, choices, min(memory_limit, COMFORT))
    except MCIRError as error:
        return CheckResult(region.name, "not provable", reason=_first(error))
    result = _Proof(subject, choices, levels, seed, memory_limit, meanings or {}).run()
    if result.status == "proved":
        result.reason = "; ".join(filter(None, (note, result.reason)))
    return result


def _fitting(subject: Subject, choices: list[Sizes], limit: int) -> tuple[Subject, list[Sizes], str]:
    """The subject at sizes that run within `limit` bytes where it can be made smaller, and what to say of it."""
    full = choices[0].labels
    if _LIVE_SCORES * score_bytes(choices[0]) <= limit:
        return subject, choices, ""
    smaller = reduced(subject, full)
    if smaller is None:
        return subject, choices, ""
    fitting = size_choices(smaller)
    return smaller, fitting, reduced_text(full, fitting[0].labels)


class _Failure(Exception):
    """A case in which the region differs, or cannot run where its graph can."""

    def __init__(self, family: str, difference: Difference | None, reason: str = "") -> None:
        super().__init__(reason)
        self.family, self.difference, self.reason = family, difference, reason


class _Unprovable(Exception):
    """The graph itself cannot run at these sizes."""


class _Proof:
    """All cases of one region."""

    def __init__(
        self, subject: Subject, choices: list[Sizes], levels: tuple[str, ...], seed: int, memory_limit: int,
        meanings: Meanings,
    ) -> None:  # fmt: skip
        self.subject, self.choices, self.levels, self.seed = subject, choices, levels, seed
        self.memory_limit, self.meanings = memory_limit, meanings
        at = subject.attention
        self.batch = batch_labels([at.o.layout, at.q.layout, at.k.layout, at.v.layout])
        self.name = subject.region.name

    def run(self) -> CheckResult:
        """Level by level; the first difference ends the proof."""
        counts = dict.fromkeys(self.levels, 0)
        obstacles: list[str] = []
        try:
            for sizes in self.choices:
                try:
                    self._check_memory(sizes)
                    for level in self.levels:
                        counts[level] += self._level(level, sizes)
                except _Unprovable as obstacle:
                    obstacles.append(str(obstacle))
        except _Failure as failure:
            return CheckResult(
                self.name, "failed", cases=sum(counts.values()), reason=failure.reason, family=failure.family,
                difference=failure.difference,
            )  # fmt: skip
        proved = [level for level, count in counts.items() if count]
        if not proved:
            return CheckResult(self.name, "not provable", reason=obstacles[0] if obstacles else "no case can tell")
        silent = [level for level in self.levels if level not in proved]
        reason = f"{', '.join(silent)} does not apply: the score chain leaves the integers" if silent else ""
        return CheckResult(self.name, "proved", proved, sum(counts.values()), reason)

    def _level(self, level: str, sizes: Sizes) -> int:
        """How many cases of a level count; none where plain data cannot tell."""
        plain, *others = LEVEL_FAMILIES[level]
        if not self._case(level, plain, sizes):
            return 0
        return 1 + sum(self._case(level, family, sizes) for family in others)

    def _case(self, level: str, family: str, sizes: Sizes) -> bool:
        """Whether a case counts; raises _Failure where it differs."""
        case = draw_case(self.subject, sizes, family, level == "exact", self.seed)
        if case is None:
            return False
        given = self._given(case, level)
        numerics = Numerics(level)
        try:
            graph = self._graph(given, numerics, sizes)
        except NotExact:
            return False
        bound = self._bound(case, level, given, numerics)
        if bound is None:
            return False
        first: dict[str, Array] = {}
        for schedule in self._schedules(level, sizes):
            region = self._region(given, level, family, numerics, schedule)
            self._compare(level, family, sizes, schedule, graph, region, bound)
            if level == "exact" and first:
                self._compare(level, family, sizes, schedule, first, region, dict.fromkeys(first, 0.0))
            first = first or region
        return True

    def _given(self, case: Draw, level: str) -> dict[str, Array]:
        """The region's inputs and what the graph needs besides, in the level's types."""
        given = {}
        for value in self.subject.region.inputs:
            if value.name in case.arrays:
                array = case.arrays[value.name]
                given[value.name] = array.astype(numpy_dtype(value.dtype)) if level == "typed" else array
            else:
                given[value.name] = draw(value, case.sizes.names, self.seed)
        for leaf in self.subject.leaves:
            given[leaf.name] = draw(leaf, case.sizes.names, self.seed)
        return given

    def _graph(self, given: dict[str, Array], numerics: Numerics, sizes: Sizes) -> dict[str, Array]:
        """O by the graph, and the LSE where the region stores one. Raises _Unprovable, NotExact."""
        output = self.subject.attention.o.value.name
        lse = self.subject.lse() if numerics.mode != "typed" else None
        wanted = [output, lse.scores] if lse else [output]
        try:
            values = run_nodes(
                self.subject.nodes, given, numerics, dict(sizes.names), wanted, self.memory_limit
            )  # fmt: skip
        except MCIRError as error:
            raise _Unprovable(_first(error)) from None
        results = {output: values[output]}
        if lse:
            results[lse.output] = lse.reference(values[lse.scores], numerics, sizes.labels)
        return results

    def _region(
        self, given: dict[str, Array], level: str, family: str, numerics: Numerics, schedule: Schedule
    ) -> dict[str, Array]:
        inputs = {value.name: given[value.name] for value in self.subject.region.inputs}
        try:
            return run_region(
                self.subject.region, inputs, level, schedule=schedule, numerics=numerics, memory_limit=self.memory_limit
            )
        except NotExact:
            reason = f"its scores are no integers where the graph's are (level exact, inputs '{family}')"
            raise _Failure(family, None, reason) from None
        except MCIRError as error:
            raise _Failure(family, None, _first(error)) from None

    def _bound(
        self, case: Draw, level: str, given: dict[str, Array], numerics: Numerics
    ) -> dict[str, Array | float] | None:
        """The bound for each output of the region; None where the case cannot tell."""
        at = self.subject.attention
        v = np.abs(given[at.v.value.name].astype(float))
        largest = float(v[np.isfinite(v)].max(initial=0.0))
        bound: Array | float | None
        if level == "exact":
            keys, spread = case.sizes.labels.get("k", 0), numerics.highest - numerics.lowest
            bound = separation(keys, spread, largest / abs(case.v_unit))
            if bound is None:
                return None
            bound *= abs(case.v_unit)
        elif level == "algebraic":
            bound = ALGEBRAIC * largest
        else:
            types = {value.dtype for node in self.subject.nodes for value in node.outputs}
            types |= {value.dtype for value in (at.q.value, at.k.value, at.v.value, at.o.value)}
            bound = typed_bound(case, given, self.batch, len(self.subject.nodes), float_types(types))
        return {at.o.value.name: bound}

    def _schedules(self, level: str, sizes: Sizes) -> Iterator[Schedule]:
        """The region's own tiles; beyond the declared types, ragged small ones and key tiles in other orders too."""
        own = Schedule(meanings=self.meanings)
        yield own
        if level != "typed":
            q, k, d = (max(1, sizes.labels.get(label, 1)) for label in "qkd")
            yield replace(own, tile_m=q // 3 + 1, tile_n=k // 3 + 1, tile_k=d // 2 + 1, order="backward")
            yield replace(own, tile_m=q, tile_n=k // 7 + 1, tile_k=d, order="inside out")

    def _compare(
        self, level: str, family: str, sizes: Sizes, schedule: Schedule, graph: dict[str, Array],
        region: dict[str, Array], bound: dict[str, Array | float],
    ) -> None:  # fmt: skip
        """Raises _Failure at the first difference."""
        for name, reference in graph.items():
            layout, tail = self.subject.stored(name)
            labels = (*self.batch, *tail)
            left, right = (
                to_canonical(np.asarray(array, dtype=float), layout, labels, sizes.labels)
                for array in (reference, region[name])
            )
            # The log-sum-exp has no bound of its own: it is compared relatively, and in fp64 only.
            limit = bound[name] if name in bound else ALGEBRAIC * np.maximum(1.0, np.abs(left))
            at = first_difference(left, right, limit)
            if at is not None:
                index = dict(zip(self.batch, at, strict=False))
                row, column = at[len(self.batch)], at[-1] if len(tail) > 1 else 0
                tile_m = schedule.tile_m or self.subject.region.subregions[0].subregions[0].attrs["tile_m"]
                difference = Difference(
                    level, family, _schedule_text(schedule), name, index, row, column, row // tile_m,
                    float(left[at]), float(right[at]),
                )  # fmt: skip
                raise _Failure(family, difference)

    def _check_memory(self, sizes: Sizes) -> None:
        need = _LIVE_SCORES * score_bytes(sizes)
        if need > self.memory_limit:
            raise _Unprovable(f"its score matrices need {need >> 20} MiB, the limit is {self.memory_limit >> 20} MiB")


def _schedule_text(schedule: Schedule) -> str:
    if schedule.tile_m is None:
        return "its own tiles"
    return f"tiles {schedule.tile_m}x{schedule.tile_n}x{schedule.tile_k}, key tiles {schedule.order}"


def _first(error: MCIRError) -> str:
    diagnostic: Diagnostic = error.diagnostics[0]
    return diagnostic.message
