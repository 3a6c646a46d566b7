"""Python's search for cyclic garbage, paused while models are made: none of them is garbage, and there are many."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused_collector() -> Iterator[None]:
    """Within, no search for garbage. Who finds it paused leaves it alone, so that it goes on after all threads."""
    collecting = gc.isenabled()
    if collecting:
        gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
