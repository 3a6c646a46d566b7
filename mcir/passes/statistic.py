"""What a pass counts. One line in the class declares a counter, and the pass adds to it as to a number:

    removed = Statistic("nodes that led to no output")            self.removed += 3
    declined = StatisticBy("rule", "softmaxes not taken")         self.declined["dtype"] += 1

The numbers stand in the `counters` of the pass; every run of it begins without any. `--statistics` shows all counters
of a pass, also those that stayed at zero.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Self, overload


class AnyStatistic:
    """What the kinds of statistics share: a name (that of the class attribute), and what is counted.

    key: what it is split by, "" for a plain number.
    """

    name = ""
    key = ""

    def __init__(self, description: str) -> None:
        self.description = description

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


class Statistic(AnyStatistic):
    """A number that a pass counts up."""

    @overload
    def __get__(self, made: None, owner: type) -> Self: ...
    @overload
    def __get__(self, made: Any, owner: type) -> int: ...
    def __get__(self, made: Any, owner: type) -> Self | int:
        return self if made is None else int(made.counters.get(self.name, 0))

    def __set__(self, made: Any, value: int) -> None:
        made.counters[self.name] = value


class StatisticBy(AnyStatistic):
    """A number for each key that comes up; `key` says what the keys are: "rule"."""

    def __init__(self, key: str, description: str) -> None:
        super().__init__(description)
        self.key = key

    @overload
    def __get__(self, made: None, owner: type) -> Self: ...
    @overload
    def __get__(self, made: Any, owner: type) -> Counter[str]: ...
    def __get__(self, made: Any, owner: type) -> Self | Counter[str]:
        return self if made is None else made.counters.setdefault(self.name, Counter())
