"""`--timing`: how long each phase of a run took, as a tree and as JSON.

    timing (wall clock):
        0.0021 s   24.4 %  parse
        0.0040 s   46.5 %  pipeline
        0.0040 s   46.5 %    attention-pattern
        0.0032 s   37.2 %      run
        0.0011 s   12.8 %        find
        ...

A phase holds the time of the phases below it. `rest` is what no phase says; the top level adds up to `total`. Passes
stand in pipeline order, one that runs twice stands there twice; the modules of a split input are added up.

`--timing=json` writes one object on one line. Keys may be added, none goes and none changes its meaning:

    {"timing": {"clock": "wall", "unit": "s", "total": 0.0086,
                "phases": [{"name": "parse", "seconds": 0.0021, "percent": 24.4, "phases": []}, ...]}}

The names are parse, verify the input, pipeline, memory report, prove, print, write and rest; below pipeline the passes;
below a pass run, verify and watchers (checks and prints after the pass), where they took place; below run what the pass
says of itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from mcir.passes.manager import PassRun


class Phase:
    """Seconds under a name, and the phases that they are made of, by position and name."""

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.name = name
        self.seconds = seconds
        self.parts: dict[tuple[int, str], Phase] = {}

    def part(self, name: str, position: int = 0) -> Phase:
        """The part under that name; `position` tells those of one name apart."""
        return self.parts.setdefault((position, name), Phase(name))

    def add(self, name: str, seconds: float, position: int = 0) -> Phase:
        """Counts `seconds` for a part and gives it back."""
        part = self.part(name, position)
        part.seconds += seconds
        return part


class _Span:
    """Adds the time inside to a part of `whole`; `contextlib` would take longer to import than most phases."""

    def __init__(self, whole: Phase, name: str) -> None:
        self._whole = whole
        self._name = name

    def __enter__(self) -> None:
        self._begin = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._whole.add(self._name, time.perf_counter() - self._begin)


class Timing:
    """Adds up wall-clock seconds by phase, in the order in which phases first came."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._root = Phase("total")

    def phase(self, name: str) -> _Span:
        """A context that counts the time inside as that of the phase `name`."""
        return _Span(self._root, name)

    def add_passes(self, name: str, runs: Iterable[PassRun]) -> None:
        """Enters what passes cost below the phase `name`."""
        pipeline = self._root.part(name)
        for position, run in enumerate(runs):
            seconds = run.seconds + run.verify_seconds + run.watch_seconds
            entry = pipeline.add(run.name, seconds, position)
            itself = entry.add("run", run.seconds)
            for part, part_seconds in run.phases.items():
                itself.add(part, part_seconds)
            for part, part_seconds in (("verify", run.verify_seconds), ("watchers", run.watch_seconds)):
                if part_seconds:
                    entry.add(part, part_seconds)

    def total(self) -> Phase:
        """The whole until now, with what no phase says as `rest`."""
        whole = Phase("total", time.perf_counter() - self._begin)
        whole.parts.update(self._root.parts)
        whole.add("rest", max(0.0, whole.seconds - sum(part.seconds for part in whole.parts.values())))
        return whole


def timing_text(total: Phase) -> str:
    """Seconds, share of the total, and name of every phase, indented by its depth."""
    lines = [line for part in total.parts.values() for line in _lines(part, total.seconds, 0)]
    return "\n".join(["timing (wall clock):", *lines, _line(total, total.seconds, 0)])


def timing_record(total: Phase) -> dict[str, Any]:
    """The data of `--timing=json`; see the head of this file."""
    phases = [_record(part, total.seconds) for part in total.parts.values()]
    return {"timing": {"clock": "wall", "unit": "s", "total": total.seconds, "phases": phases}}


def _lines(phase: Phase, total: float, depth: int) -> Iterator[str]:
    yield _line(phase, total, depth)
    for part in phase.parts.values():
        yield from _lines(part, total, depth + 1)


def _line(phase: Phase, total: float, depth: int) -> str:
    return f"{phase.seconds:10.4f} s {_percent(phase, total):6.1f} %  {'  ' * depth}{phase.name}"


def _record(phase: Phase, total: float) -> dict[str, Any]:
    parts = [_record(part, total) for part in phase.parts.values()]
    return {"name": phase.name, "seconds": phase.seconds, "percent": round(_percent(phase, total), 1), "phases": parts}


def _percent(phase: Phase, total: float) -> float:
    return phase.seconds / total * 100 if total else 0.0
