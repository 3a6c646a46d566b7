"""dump_module against the design note's two printouts (tests/data), byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcir.builder import MCIRBuilder
from mcir.dump import dump_module
from mcir.module import MCModule
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.samples import build_attention_module, build_attention_semantic_graph
from mcir.types import Symbol
from mcir.verifier import verify_module

DATA = Path(__file__).parent.parent / "data"
STYLES = [("tree", "attention.dump"), ("outline", "attention.outline")]


def expected(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def test_the_printouts_are_the_design_notes() -> None:
    assert expected("attention.outline").count("\n") == 10
    assert expected("attention.dump").startswith("ExecutionRegion(attention_region)\n  attrs: pattern=scaled_dot")


@pytest.mark.parametrize(("style", "name"), STYLES)
def test_hand_built_module(style: str, name: str) -> None:
    assert dump_module(build_attention_module(), style) == expected(name)


@pytest.mark.parametrize(("style", "name"), STYLES)
def test_flow_of_section_18(style: str, name: str) -> None:
    module = run_attention_pattern_pass(build_attention_semantic_graph())
    module = run_streaming_lowering_pass(module)
    assert dump_module(module, style) == expected(name)


def test_the_samples_are_valid() -> None:
    assert verify_module(build_attention_module()) == []
    assert verify_module(MCModule(graphs=[build_attention_semantic_graph()])) == []


def test_nothing_to_dump() -> None:
    assert dump_module(MCModule()) == ""
    assert dump_module(MCModule(graphs=[build_attention_semantic_graph()])) == ""


def test_unknown_style() -> None:
    with pytest.raises(ValueError, match="'flat' is none of tree, outline"):
        dump_module(MCModule(), "flat")


def test_dims_of_every_kind_and_user_attributes_show() -> None:
    b = MCIRBuilder()
    region = b.execution_region("r")
    region.attrs.update(owner="me", of=Symbol("g"), scale=0.5)
    out = b.value("x", (None, "seq", 4), "bf16", residency="register")
    region.nodes.append(b.node("n", "load_tile", outputs=[out], source="Q"))
    region.nodes.append(b.node("end", "store_tile", inputs=[out], target="O"))
    assert dump_module(MCModule([region])) == (
        "ExecutionRegion(r)\n  attrs: owner=me, of=@g\n\n"
        "  Node(n, op=load_tile)\n    outputs: x[?,seq,4]:bf16@register\n\n"
        "  Node(end, op=store_tile)\n    inputs: x\n"
    )
    assert dump_module(MCModule([region]), "outline") == "ExecutionRegion(r)\n  load_tile(Q)\n  store_tile(O)\n"


def test_several_regions_and_depth() -> None:
    b = MCIRBuilder()
    outer = inner = b.execution_region("deep")
    for level in range(3_000):
        inner.subregions.append(b.streaming_region(f"s{level}"))
        inner = inner.subregions[0]
    text = dump_module(MCModule([outer, b.execution_region("last")]), "outline")
    assert text.splitlines()[-2].strip() == "StreamingRegion(s2999)"
    assert text.splitlines()[-1] == "ExecutionRegion(last)"
