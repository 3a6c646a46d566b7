"""Large inputs: time in proportion, memory within the factor that the language reference states, errors as soon."""

from __future__ import annotations

import os
import re
import time

import pytest

from mcir.tools import opt
from tests.endurance.seeds import ROOT
from tests.endurance.sizes import BROKEN, SHAPES, cost
from tests.unit.tool_harness import run

COUNT = 40_000  # parts of a text; seconds for the slowest
pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peaks of memory are read from /proc")
GROWTH = 2.6  # times the seconds for twice the size
SECONDS = 8.0  # for a broken text of COUNT parts: quadratic ones take minutes
STATED = re.compile(r"at most (\d+) bytes of memory for a byte of text, (\d+) where lists nest deep")


def stated() -> tuple[int, int]:
    """The factors that the language reference states: of any text, and of one of nested lists."""
    found = STATED.search(re.sub(r"\s+", " ", (ROOT / "grammar" / "LANGUAGE.md").read_text(encoding="utf-8")))
    assert found is not None
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("shape", SHAPES)
def test_time_and_memory_are_in_proportion(shape: str) -> None:
    count = COUNT * (50 if shape in ("a long name", "a long line") else 1)
    whole = cost(shape, count)
    assert whole.factor < stated()[shape == "nested lists"]
    half = min((cost(shape, count // 2) for _ in range(2)), key=lambda measured: measured.seconds)
    assert whole.seconds < GROWTH * half.seconds + 0.25


@pytest.mark.parametrize("shape", BROKEN)
def test_a_broken_text_has_its_error_as_soon(shape: str) -> None:
    text = BROKEN[shape](COUNT)
    begin = time.process_time()
    ran = run(opt.main, "-o", "/dev/null", stdin=text)
    assert time.process_time() - begin < SECONDS
    assert ran.code == 1 and re.match(r"<stdin>:\d+:\d+: error: \S", ran.err) and len(ran.err) < 60_000


def test_a_quadratic_tool_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measure can fail: a text that is looked through again for each of its lines takes four times as long."""
    from tests.endurance import sizes

    def slow(text: str) -> tuple[float, int, int]:
        begin = time.process_time()
        for _ in range(text.count("\n") // 20):
            text.count("x")
        return time.process_time() - begin, len(text) ** 2, 0

    monkeypatch.setattr(sizes, "_process", slow)
    monkeypatch.setattr(sizes, "_empty", lambda: (0.0, 0, 0))
    half, whole = cost("nodes", COUNT // 2), cost("nodes", COUNT)
    assert whole.seconds > GROWTH * half.seconds and whole.factor > 1.9 * half.factor
