"""The proof: what it proves, what it refuses to prove, and what it reports."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcir.interpreter.check import check_module, check_region
from mcir.interpreter.compare import first_difference
from mcir.interpreter.exactness import rounding, score_range, separation
from mcir.parser import parse_module
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from tests.unit.attention_samples import BIAS, CAUSAL, SAMPLES, SELECT, SOFTCAP, WINDOW, Sample, sample_module
from tests.unit.mutants import attr

SIZE = st.integers(1, 9)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_proved_at_every_level(name: str) -> None:
    module = sample_module(SAMPLES[name])
    result = check_region(module, module.regions[0])
    assert (result.status, result.levels, result.reason) == ("proved", ["exact", "algebraic", "typed"], ""), result
    assert result.cases >= 12


STEPS = st.lists(
    st.sampled_from([SOFTCAP, BIAS, SELECT, {**CAUSAL, "offset": 2}, {**WINDOW, "offset": 0, "left": 3},
                     {"op": "mul", "value": 0.25}, {"op": "cast", "dtype": "fp16"}]),
    max_size=4,
)  # fmt: skip


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Any sizes, scale (numbers of fp32: the graph's constants are), steps in any order, types, dead rows."""
    sizes = {"b": draw(st.integers(1, 2)), "h": draw(st.integers(1, 2)), "g": draw(st.integers(1, 3))}
    sizes |= {label: draw(SIZE) for label in "qkde"}
    steps = tuple(draw(STEPS))
    kinds = {"B": ("(h g) q k", "fp32"), "M": ("b 1 q k", "i1")}
    used = {step["operand"] for step in steps if "operand" in step}
    return Sample(
        dict(sizes), draw(st.sampled_from([1.0, 0.5, -0.25, 0.3535533845424652])), steps,
        {name: kind for name, kind in kinds.items() if name in used}, draw(st.sampled_from(["fp16", "fp32"])),
        draw(st.sampled_from(["nan", "zero", "zero_nan"])),
    )  # fmt: skip


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sample=samples(), tiles=st.tuples(SIZE, SIZE, SIZE))
def test_any_attention_is_proved_with_any_tiles(sample: Sample, tiles: tuple[int, int, int]) -> None:
    module = sample_module(sample, tiles=tiles)
    result = check_region(module, module.regions[0], ("exact", "algebraic"))
    assert result.status == "proved", (sample, result)


def test_a_difference_names_its_place() -> None:
    module = sample_module(SAMPLES["causal"])
    attr("score", offset=5)(module.regions[0])
    result = check_region(module, module.regions[0])
    assert result.status == "failed"
    difference = result.difference
    assert difference is not None
    # Row 0 sees keys 0 ... 6 in the graph, one less in the region.
    assert (difference.index, difference.row, difference.tile) == ({"b": 0, "h": 0, "g": 0}, 0, 0)
    assert difference.level == "exact"
    assert difference.family == "plain"
    assert difference.graph != difference.region
    text = str(result)
    assert "O[b = 0, h = 0, g = 0] row 0 (query tile 0), column" in text
    assert repr(difference.graph)[:8] in text
    assert json.loads(json.dumps(result.as_json()))["difference"]["row"] == 0


def test_the_query_tile_is_that_of_the_row() -> None:
    """A window that is too narrow cuts key 0 off from row 11 on: the third tile of four rows."""
    open_window = {**WINDOW, "offset": 2, "left": 13, "right": -1}
    module = sample_module(Sample(SAMPLES["plain"].sizes, steps=(open_window,)))
    attr("score_mask", left=12)(module.regions[0])
    result = check_region(module, module.regions[0], ("exact",))
    assert result.difference is not None
    assert (result.difference.row, result.difference.tile) == (11, 2)


def test_symbolic_sizes_are_drawn_several_times() -> None:
    static = sample_module(SAMPLES["dropped keys"])
    named = sample_module(SAMPLES["named sizes"])
    few = check_region(static, static.regions[0]).cases
    many = check_region(named, named.regions[0]).cases
    assert many > 3 * few


def test_equal_names_have_equal_sizes() -> None:
    """Queries and keys share the name `seq`: no drawn size may tell them apart, or the causal graph would not run."""
    module = sample_module(SAMPLES["self attention"])
    assert check_region(module, module.regions[0]).status == "proved"


def test_levels_can_be_chosen() -> None:
    module = sample_module(SAMPLES["plain"])
    result = check_region(module, module.regions[0], ("typed",))
    assert (result.levels, result.cases) == (["typed"], 2)
    with pytest.raises(ValueError, match="unknown level 'tyepd'"):
        check_region(module, module.regions[0], ("tyepd",))


def test_the_exact_level_says_when_it_does_not_apply() -> None:
    """exp of scores that are no integers has no exact form: sigmoid in the chain."""
    module = sample_module(Sample(SAMPLES["plain"].sizes, steps=({"op": "sigmoid"},)))
    result = check_region(module, module.regions[0])
    assert (result.status, result.levels) == ("proved", ["algebraic", "typed"])
    assert "exact does not apply" in result.reason


UNPROVABLE = {
    "not lowered": (lambda: sample_module(SAMPLES["plain"], lower=False), "is not lowered"),
    "no graph": (lambda: _without("graph"), "it names no graph"),
}


def _without(attribute: str):  # type: ignore[no-untyped-def]
    module = sample_module(SAMPLES["plain"])
    del module.regions[0].attrs[attribute]
    return module


@pytest.mark.parametrize("name", UNPROVABLE)
def test_not_provable(name: str) -> None:
    make, reason = UNPROVABLE[name]
    (result,) = check_module(make())
    assert result.status == "not provable"
    assert reason in result.reason


def test_an_opaque_op_on_the_path_is_named() -> None:
    module = sample_module(SAMPLES["plain"])
    graph = module.graphs[0]
    next(found for found in graph.nodes if found.op == "softmax").op = "onnx.Foo"
    (result,) = check_module(module)
    assert str(result) == '@attention_region: not provable: not runnable: op "onnx.Foo"'


def test_too_large_a_graph_is_not_begun() -> None:
    module = sample_module(SAMPLES["plain"])
    result = check_region(module, module.regions[0], memory_limit=1 << 12)
    assert result.status == "not provable"
    assert "the limit is" in result.reason


LARGE = {"b": 64, "h": 16, "g": 1, "q": 200, "k": 250, "d": 64, "e": 64}
BOTTOM_RIGHT = {**CAUSAL, "offset": 50}


def test_a_large_graph_is_proved_at_reduced_sizes() -> None:
    """Queries and keys lose the same whole multiple of both tile sizes: remainders and offset keep their meaning."""
    module = sample_module(Sample(LARGE, 0.125, (BOTTOM_RIGHT,)), tiles=(32, 16, 64))
    result = check_region(module, module.regions[0], ("exact",))
    reason = "at reduced sizes b 64 -> 2, q 200 -> 72, h 16 -> 2, k 250 -> 122"
    assert str(result) == f"@attention_region: proved (exact), 7 cases ({reason})"
    attr("score", offset=49)(module.regions[0])
    assert check_region(module, module.regions[0], ("exact",)).status == "failed"


FOLDED = """
graph @g(%Q: tensor<32x16x512x32xfp32>, %K: tensor<32x16x512x32xfp32>, %V: tensor<32x16x512x32xfp32>) {
  %n = constant {value = [BH, 512, 32]} : tensor<3xi64>
  %q = reshape %Q, %n : tensor<BHx512x32xfp32>
  %k = reshape %K {shape = [BH, 512, 32]} : tensor<BHx512x32xfp32>
  %v = reshape %V {shape = [-1, 512, 32]} : tensor<BHx512x32xfp32>
  %S = matmul %q, %k {transpose_b = true} : tensor<BHx512x512xfp32>
  %P = softmax %S : tensor<BHx512x512xfp32>
  %o = matmul %P, %v : tensor<BHx512x32xfp32>
  %O = reshape %o {shape = [32, 16, 512, 32]} : tensor<32x16x512x32xfp32>
  return %O
}
execution @attention_region(%Q: tensor<32x16x512x32xfp32>, %K: tensor<32x16x512x32xfp32>, %V: tensor<32x16x512x32xfp32>)
    -> (%O: tensor<32x16x512x32xfp32>)
    attributes {pattern = "scaled_dot_product_attention", graph = @g} {
}
"""


@pytest.mark.parametrize("batch, status", [(24, "proved"), (32, "not provable")])
def test_sizes_that_a_graph_spells_out_are_mapped_where_they_are_unambiguous(batch: int, status: str) -> None:
    """In a batch of 32 the head dim has the same size: which of the 32s in `[32, 16, 512, 32]` changes is unclear."""
    text = FOLDED.replace("32x16x", f"{batch}x16x").replace("[32, 16", f"[{batch}, 16").replace("BH", str(batch * 16))
    module = run_streaming_lowering_pass(parse_module(text))
    result = check_region(module, module.regions[0], ("exact",), memory_limit=256 << 20)
    assert result.status == status
    assert ("b 24 -> 2, h 16 -> 2, q 512 -> 256" in result.reason) == (status == "proved"), result


def test_a_has_mask_without_a_mask_fails() -> None:
    module = sample_module(SAMPLES["plain"])
    module.regions[0].attrs["has_mask"] = True
    result = check_region(module, module.regions[0])
    assert result.status == "failed"
    assert "none of its nodes masks" in result.reason


def test_the_graph_is_cut_at_the_inputs_of_the_region() -> None:
    """What makes Q is not run: it may be opaque."""
    module = sample_module(SAMPLES["plain"])
    text = """
graph @g(%X: tensor<2x2x13x10xfp16>, %K: tensor<2x2x19x10xfp16>, %V: tensor<2x2x19x9xfp16>) {
  %Q = "onnx.Foo" %X : tensor<2x2x13x10xfp16>
  %s = matmul %Q, %K {transpose_b = true} : tensor<2x2x13x19xfp16>
  %h = constant {value = 0.5} : tensor<fp16>
  %t = mul %s, %h : tensor<2x2x13x19xfp16>
  %p = softmax %t : tensor<2x2x13x19xfp16>
  %O = matmul %p, %V : tensor<2x2x13x9xfp16>
  return %O
}
"""
    module.graphs = parse_module(text).graphs
    assert check_region(module, module.regions[0]).status == "proved"


def test_first_difference() -> None:
    nan, inf = float("nan"), float("inf")
    assert first_difference([nan, inf, 1.0], [nan, inf, 1.0], 0.0) is None
    assert first_difference([1.0, 2.0], [1.0, 2.5], 0.5) is None
    assert first_difference([1.0, 2.0], [1.0, 2.5], 0.4) == (1,)
    assert first_difference([1.0, nan], [1.0, 0.0], inf) == (1,)
    assert first_difference([inf], [-inf], inf) == (0,)
    assert first_difference([[1.0, inf]], [[1.0, 1.0]], inf) == (0, 1)


def test_separation_is_below_every_real_difference() -> None:
    """Against exact fractions: all results of 3 keys with weights 2^-3 ... 1 and V in -1 ... 1."""
    weights = [2**-power for power in range(4)]
    found = {
        Fraction(sum(Fraction(w) * v for w, v in zip(ws, vs, strict=True))) / sum(Fraction(w) for w in ws)
        for ws in np.array(np.meshgrid(weights, weights, weights)).reshape(3, -1).T.tolist()
        for vs in np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1])).reshape(3, -1).T.tolist()
    }
    ordered = sorted(found)
    least = min(right - left for left, right in itertools.pairwise(ordered))
    half = separation(3, 3.0, 1.0)
    assert half is not None
    assert 2 * half <= least
    assert rounding(3, 1.0) < half


def test_what_fp64_cannot_separate_is_no_case() -> None:
    assert separation(1 << 20, 12.0, 4.0) is None
    for keys in (1, 16, 300, 1024):
        assert separation(keys, score_range(keys), 4.0) is not None
