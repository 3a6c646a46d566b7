"""What mutations begin from: the texts of the lit tests and examples, lowered attentions, models, generated modules."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import NonInteractiveExampleWarning

from mcir.module import MCModule
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from tests.support.attention_strategy import attentions
from tests.support.strategies import graph_modules, modules
from tests.unit.attention_samples import SAMPLES, sample_module

ROOT = Path(__file__).parent.parent.parent
MODELS = ROOT / "tests" / "models"
LONGEST = 12_000  # bytes of a seed: what is longer is cut into time, not into faults
BATCH = 40  # generated modules come in batches: hypothesis is slow to begin
CASES = 2000  # that take their modules from one batch


@cache
def texts() -> list[str]:
    """Every text of the tests and examples that is not long, and lowered attentions; in a fixed order."""
    paths = sorted([*(ROOT / "tests" / "lit").rglob("*.mcir"), *(ROOT / "examples").glob("*.mcir")])
    found = [path.read_text(encoding="utf-8") for path in paths if path.stat().st_size <= LONGEST]
    return found + lowered()


@cache
def lowered() -> list[str]:
    """Graphs with the regions that the passes made from them: what region mutations are most about."""
    texts = [print_module(sample_module(sample)) for sample in SAMPLES.values()]
    for path in sorted((ROOT / "examples").glob("*.mcir")):
        from mcir.parser import parse_module

        text = path.read_text(encoding="utf-8")
        texts.append(print_module(run_streaming_lowering_pass(run_attention_pattern_pass(parse_module(text)))))
    return texts


@cache
def onnx_models() -> list[bytes]:
    """The small models of the tests, as bytes."""
    return [path.read_bytes() for path in sorted(MODELS.glob("*.onnx")) if path.stat().st_size < 70_000]


def pick_text(random: Random) -> str:
    """A seed; every third is a lowered one."""
    return random.choice(lowered() if random.random() < 0.33 else texts())


def generated(number: int, random: Random) -> str:
    """The text of a generated module for the case of that number."""
    return random.choice(_drawn(number // CASES, random.choice(("modules", "graphs"))))


def attention(number: int, random: Random) -> str:
    """The text of a generated graph with one attention in it."""
    return random.choice(_drawn(number // CASES, "attentions"))


@cache
def _strategies() -> dict[str, st.SearchStrategy[MCModule]]:
    return {
        "modules": modules(),
        "graphs": graph_modules(),
        "attentions": attentions().map(lambda drawn: MCModule(graphs=[drawn.graph])),
    }


_last: dict[str, tuple[int, list[str]]] = {}


def _drawn(batch: int, which: str) -> list[str]:
    """A batch of printed modules, always the same for a number."""
    known = _last.get(which)
    if known is not None and known[0] == batch:
        return known[1]
    texts: list[str] = []

    @seed(batch)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_strategies()[which])
    def collect(module: Any) -> None:
        texts.append(print_module(module))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        collect()
    _last[which] = batch, texts
    return texts


def words(text: str) -> Iterator[str]:
    """The tokens of a text, blanks and comments among them."""
    from tests.support.grammar_texts import TOKENS

    yield from TOKENS.findall(text)
