"""`--statistics`: what the passes of a run counted, as text and as JSON.

    statistics:
      attention-pattern
               3  softmaxes   softmaxes looked at
               2  formed      regions formed
               1  declined    softmaxes that are not taken as attention, by rule:
                   1  scale

Passes stand in pipeline order, one that runs twice stands there twice; the modules of a split input are added up. All
counters of a pass are shown, in the order in which it declares them (`mcir/passes/statistic.py`).

`--statistics=json` writes the same as one object on one line. `key` and `by` are "" and {} for a counter that is not
split up; otherwise `value` is the sum of `by`. Keys may be added, none goes and none changes its meaning:

    {"statistics": [{"pass": "attention-pattern", "counters": [
        {"name": "declined", "description": "softmaxes ...", "value": 1, "key": "rule", "by": {"scale": 1}}, ...]}]}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mcir.passes.manager import PassRun
from mcir.passes.statistic import AnyStatistic

_WIDTH = 13  # of a number, which ends here


@dataclass(slots=True)
class Count:
    """What one statistic came to. `key` says what `by` is split by, "" for a plain number; `value` is its sum."""

    name: str
    description: str
    value: int
    key: str = ""
    by: Counter[str] = field(default_factory=Counter)

    def add(self, other: Count) -> None:
        """Adds what the same statistic of another run came to."""
        self.value += other.value
        self.by += other.by


class Statistics:
    """The counts of the passes of a pipeline, added up over the modules that it ran on."""

    def __init__(self) -> None:
        self._passes: list[tuple[str, list[Count]]] = []

    def add(self, runs: Iterable[PassRun]) -> None:
        """Adds the counts of one module's passes."""
        for position, run in enumerate(runs):
            if position == len(self._passes):
                self._passes.append((run.name, counts_of(run)))
                continue
            for count, other in zip(self._passes[position][1], counts_of(run), strict=True):
                count.add(other)

    def text(self) -> str:
        """The table for people; no final newline."""
        lines = ["statistics:"]
        for name, counts in self._passes:
            lines.append(f"  {name}" if counts else f"  {name} (counts nothing)")
            width = max((len(count.name) for count in counts), default=0)
            lines += [line for count in counts for line in _lines(count, width)]
        return "\n".join(lines)

    def record(self) -> dict[str, Any]:
        """The data of `--statistics=json`; see the head of this file."""
        return {
            "statistics": [{"pass": name, "counters": list(map(_record, counts))} for name, counts in self._passes]
        }


def counts_of(run: PassRun) -> list[Count]:
    """What every statistic of the pass came to, in the order of declaration."""
    declared = run.pass_type.statistics() if run.pass_type is not None else []
    return [_count(statistic, run.counters.get(statistic.name, 0)) for statistic in declared]


def _count(statistic: AnyStatistic, counted: int | Counter[str]) -> Count:
    by = Counter(counted) if isinstance(counted, Counter) else Counter()
    value = by.total() if isinstance(counted, Counter) else counted
    return Count(statistic.name, statistic.description, value, statistic.key, by)


def _lines(count: Count, width: int) -> Iterator[str]:
    split = f", by {count.key}:" if count.by else ""
    yield f"{count.value:{_WIDTH}}  {count.name:{width}}  {count.description}{split}"
    for key, value in _sorted(count):
        yield f"{value:{_WIDTH + 4}}  {key}"


def _record(count: Count) -> dict[str, Any]:
    names = ("name", "description", "value", "key")
    return {**{name: getattr(count, name) for name in names}, "by": dict(_sorted(count))}


def _sorted(count: Count) -> list[tuple[str, int]]:
    """The largest first, equal ones by name."""
    return sorted(count.by.items(), key=lambda item: (-item[1], item[0]))
