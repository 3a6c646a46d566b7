"""Mutation tests of the proof: each wrong lowering fails it, under the input family that was built to show it."""

from __future__ import annotations

import pytest

from mcir.interpreter.check import check_region
from tests.unit.attention_samples import SAMPLES, sample_module
from tests.unit.mutants import MUTANTS, Mutant, right, unfilled_load


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_wrong_lowering_is_caught(mutant: Mutant) -> None:
    module = sample_module(SAMPLES[mutant.sample], lse=mutant.lse)
    region = module.regions[0]
    if mutant.edit is not None:
        mutant.edit(region)
    result = check_region(module, region, meanings=mutant.meanings)
    assert (result.status, result.family) == ("failed", mutant.kills), result


@pytest.mark.parametrize("sample", sorted({mutant.sample for mutant in MUTANTS}))
def test_its_right_lowering_is_proved(sample: str) -> None:
    module = sample_module(SAMPLES[sample], lse=True)
    result = check_region(module, module.regions[0])
    assert result.status == "proved", result
    assert result.levels == ["exact", "algebraic", "typed"]


def test_an_equivalent_mutant_is_proved() -> None:
    """Splitting the head dim otherwise, or an output rescaled by one more power of two and back, changes nothing."""
    module = sample_module(SAMPLES["causal"])

    def halves(ctx, q, k):  # type: ignore[no-untyped-def]
        ctx.extra["tile_k"] = 3
        return right("compute_score")(ctx, q, k)

    assert check_region(module, module.regions[0], meanings={"compute_score": halves}).status == "proved"


def test_aligned_sizes_hide_what_ragged_ones_show() -> None:
    """Without padding an unfilled load is right; the proof's own ragged tiles still catch it."""
    sample = SAMPLES["plain"].with_sizes(q=8, k=12, d=8, e=8)
    module = sample_module(sample, tiles=(4, 6, 8))
    result = check_region(module, module.regions[0], meanings={"load_tile": unfilled_load})
    assert result.status == "failed"
    assert result.difference is not None
    assert result.difference.schedule != "its own tiles"
