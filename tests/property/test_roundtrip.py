"""Round trips of drawn modules: parse(print(m)) == m, and print(parse(t)) is a fixed point."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.samples import build_attention_module, build_attention_semantic_graph
from tests.support.strategies import modules
from tests.support.truth import check_uses

LOWERED = build_attention_module()
GRAPH = MCModule(graphs=[build_attention_semantic_graph()])


@given(modules())
@example(MCModule())
@example(LOWERED)
@example(GRAPH)
def test_parse_of_print_is_the_module(module: MCModule) -> None:
    text = print_module(module)
    again = parse_module(text)
    assert again == module
    assert print_module(again) == text
    check_uses(module)
    check_uses(again)


@pytest.mark.parametrize("digits", [3999, 4000, 4001, 50_000])
def test_huge_integers(digits: int) -> None:
    attrs = {"positive": 10**digits, "negative": -(10**digits) + 1}
    module = MCModule(graphs=[SemanticGraph("g", attrs=attrs)])
    assert parse_module(print_module(module)) == module


@given(modules())
def test_line_ends_and_blanks_do_not_matter(module: MCModule) -> None:
    text = print_module(module)
    spread = text.replace("\n", "\r\n") if "//" not in text else text.replace("\n", "\n\n")
    assert print_module(parse_module(spread)) == text


@given(modules(), modules())
def test_different_text_means_different_modules(left: MCModule, right: MCModule) -> None:
    assert (print_module(left) == print_module(right)) == (left == right)


def test_a_node_without_name_takes_its_ops_whatever_names_users_gave() -> None:
    text = 'graph @g(%x: tensor<fp32>) {\n  "a" %x\n  "a" @"\\u{0}1" %x\n  "a" %x\n  "b"\n  return\n}\n'
    graph = parse_module(text).graphs[0]
    assert [node.name for node in graph.nodes] == ["a", "\x001", "a_1", "b"]
    assert graph.inputs[0].consumers == ["a", "\x001", "a_1"]
