"""Diagnostics of the verifier point at the part that is at fault: attribute, operand, type."""

from __future__ import annotations

import pytest

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.manager import MCIRPassManager
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from mcir.samples import build_attention_semantic_graph
from mcir.verifier import verify_module

# A statement in a graph -> the text that is underlined.
NODES = [
    ("%a = softmax %x {axis = -3} : tensor<4x8xfp16>", "-3"),
    ("%a = softmax %x {axsi = -1} : tensor<4x8xfp16>", "axsi"),
    ('%a = softmax %x {"a b" = [1, {c = "}"}], axis = -1} : tensor<4x8xfp16>', '"a b"'),
    ('%a = transpose %x // c\n {perm = // {perm = 3}\n "a"} : tensor<8x4xfp16>', '"a"'),
    ('%a = mask %x {kind = "cuasal"} : tensor<4x8xfp16>', '"cuasal"'),
    ("%a = reshape %x {shape = [4, -8]} : tensor<4x8xfp16>", "%a ="),
    ("%a = transpose %x : tensor<8x4xfp16>", "transpose"),
    ("%a = add %x, // c\n %y : tensor<4x8xfp16>", "%y"),
    ("%a = add %x, %i : tensor<4x8xfp16>", "%i"),
    ("%a = neg %x, %y, %y : tensor<4x8xfp16>", "%y"),
    ("%a = neg %x\n %b = neg %x : tensor<4x8xfp16>, tensor<4x8xfp16>", ""),
    ("%a = neg %x : tensor<4x9xfp16>", "tensor<4x9xfp16>"),
    ("%a, %b = split @s %x {axis = 0, sizes = [2, 2]} : tensor<2x8xfp16>, tensor<3x8xfp16>", "tensor<3x8xfp16>"),
]


def faults(text: str) -> list[Diagnostic]:
    try:
        return verify_module(parse_module(text))
    except MCIRError:
        return []


def underlined(fault: Diagnostic) -> str:
    assert fault.location is not None
    return fault.location.source.text[fault.location.offset : fault.location.end]


@pytest.mark.parametrize(("node", "part"), NODES, ids=[part or "not parsed" for _, part in NODES])
def test_the_part_of_a_node_at_fault_is_underlined(node: str, part: str) -> None:
    head = "graph @g(%x: tensor<4x8xfp16>, %y: tensor<3x8xfp16>, %i: tensor<4x8xi32>) {\n"
    found = faults(f"{head} %f = neg %x : tensor<4x8xfp16>\n {node}\n return %f\n}}\n")
    assert [underlined(fault) for fault in found] == ([part] if part else [])


def test_the_attribute_of_a_head_is_underlined() -> None:
    text = print_module(run_streaming_lowering_pass(run_attention_pattern_pass(build_attention_semantic_graph())))
    for old, new, part in (
        ("tile_m = 128", "tile_m = 0", "0"),
        ('stream_axis = "sequence"', 'stream_axis = ""', '""'),
        ('q_layout = "q d"', 'q_layout = "q"', '"q"'),
        ('scale = 1.0', 'scale = 2.0', '2.0'),
    ):
        assert old in text
        assert part in [underlined(fault) for fault in faults(text.replace(old, new))]


def test_after_a_pass_the_line_is_shown_that_it_came_from() -> None:
    text = print_module(MCModule(graphs=[build_attention_semantic_graph()]))
    lines = text.splitlines()

    def broken(module: MCModule) -> MCModule:
        module = run_streaming_lowering_pass(run_attention_pattern_pass(module))
        list(module.walk())[-1].nodes[0].attrs["layuot"] = "q d"
        return module

    with pytest.raises(MCIRError) as caught:
        MCIRPassManager([broken]).run(parse_module(text, "in.mcir"))
    (fault,) = caught.value.diagnostics
    assert fault.location is not None and "softmax" in lines[fault.location.line_column()[0] - 1]
    assert "did you mean 'layout'?" in fault.hint and "the pass broken left" in fault.notes[0].message


def test_a_part_that_a_pass_changed_is_not_looked_for_in_the_text() -> None:
    module = parse_module("graph @g(%x: tensor<4xfp16>) { %a = neg %x {k = 1} : tensor<4xfp16> return %a }")
    module.graphs[0].nodes[0].op = "softmax"
    module.graphs[0].nodes[0].attrs["axis"] = 9
    assert {underlined(fault) for fault in verify_module(module)} == {"%a ="}
