"""Python's search for cyclic garbage, paused while models are made: none of them is garbage, and there are many."""

from __future__ import annotations

import gc


class paused_collector:
    """Within, no search for garbage. Who finds it paused leaves it alone, so that it goes on after all threads.

    (`contextlib` would do, but takes long to import.)
    """

    def __enter__(self) -> None:
        self._collecting = gc.isenabled()
        if self._collecting:
            gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._collecting:
            gc.enable()
