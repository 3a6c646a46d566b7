"""`--timing`: how long each phase of a run took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Timing:
    """Adds up wall-clock seconds by phase, in the order in which phases first came."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the time inside as that of the phase `name`."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - begin)

    def add(self, name: str, seconds: float) -> None:
        """Counts `seconds` for the phase `name`."""
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def table(self) -> str:
        """Seconds, share of the total, and name of every phase; then the rest and the total."""
        total = time.perf_counter() - self._begin
        rows = [*self._seconds.items(), ("rest", max(0.0, total - sum(self._seconds.values()))), ("total", total)]
        lines = [f"{seconds:10.4f} s {seconds / total * 100:6.1f} %  {name}" for name, seconds in rows]
        return "\n".join(["timing (wall clock):", *lines])
