"""What every pass keeps: valid modules stay valid, graphs print as before, round trips and uses hold."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from mcir.interpreter.check import check_module
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes import registered_passes
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from mcir.samples import build_attention_semantic_graph
from mcir.verifier import verify_module
from tests.support.attention_strategy import Attention, attentions
from tests.support.strategies import graph_modules
from tests.support.truth import check_uses


def errors(module: MCModule) -> list[str]:
    return [fault.render() for fault in verify_module(module) if fault.severity == "error"]


def check_sound(module: MCModule) -> None:
    """Valid, true uses, and the same again through text."""
    assert errors(module) == []
    check_uses(module)
    text = print_module(module)
    assert parse_module(text) == module
    assert print_module(parse_module(text)) == text


def graphs_text(module: MCModule) -> str:
    return print_module(MCModule(graphs=module.graphs))


@given(attentions())
@example(Attention(build_attention_semantic_graph(), scale=1.0, has_mask=True))
def test_an_attention_is_formed_and_lowered(drawn: Attention) -> None:
    before = MCModule(graphs=[drawn.graph])
    check_sound(before)
    text = graphs_text(before)
    formed = run_attention_pattern_pass(before)
    check_sound(formed)
    (region,) = formed.regions
    facts = {"pattern": "scaled_dot_product_attention", "scale": drawn.scale, "has_mask": drawn.has_mask}
    assert {name: region.attrs[name] for name in facts} == facts
    assert [value.name for value in region.inputs[:3]] == ["Q", "K", "V"]
    assert [value.name for value in region.outputs] == [drawn.graph.outputs[0].name]
    assert region.subregions == []
    lowered = run_streaming_lowering_pass(formed)
    check_sound(lowered)
    (region,) = lowered.regions
    assert [inner.kind for inner in region.walk()] == ["execution", "streaming", "tile"]
    assert graphs_text(lowered) == text


@given(attentions())
def test_a_second_run_adds_nothing(drawn: Attention) -> None:
    once = run_streaming_lowering_pass(run_attention_pattern_pass(MCModule(graphs=[drawn.graph])))
    text = print_module(once)
    assert print_module(run_streaming_lowering_pass(parse_module(text))) == text


@settings(max_examples=settings().max_examples // 3)
@given(attentions())
def test_the_streaming_form_computes_what_the_graph_computes(drawn: Attention) -> None:
    module = run_streaming_lowering_pass(run_attention_pattern_pass(MCModule(graphs=[drawn.graph])))
    (result,) = check_module(module, ("exact",))
    assert result.status == "proved", str(result)
    assert result.levels == ["exact"]


@given(graph_modules())
def test_any_graph_is_valid(module: MCModule) -> None:
    check_sound(module)


@pytest.mark.parametrize("name", sorted(registered_passes()))
@given(module=graph_modules())
def test_any_graph_goes_through_every_pass(name: str, module: MCModule) -> None:
    pass_ = registered_passes()[name]()
    text = graphs_text(module)
    after = pass_(module)
    check_sound(after)
    assert pass_.changes_graphs or graphs_text(after) == text
