"""Edits keep producers, consumers and names true."""

from __future__ import annotations

import pytest

from mcir.graph import SemanticGraph
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.rewriter import Rewriter, fresh_name
from mcir.types import TensorType

TEXT = """graph @g(%a: tensor<4xfp32>, %b: tensor<4xfp32>) {
  %x = add %a, %b : tensor<4xfp32>
  %y = mul @product %x, %x : tensor<4xfp32>
  %z = add %x, %a : tensor<4xfp32>
  return %y, %z, %x
}
"""


def graph() -> SemanticGraph:
    return parse_module(TEXT).graphs[0]


def uses(graph: SemanticGraph) -> dict[str, list[str]]:
    """Value -> names of the nodes that take it, found by looking at every node."""
    found: dict[str, list[str]] = {name: [] for name in graph.values()}
    for node in graph.nodes:
        for name in dict.fromkeys(value.name for value in node.inputs):
            found[name].append(node.name)
    return found


def assert_true(graph: SemanticGraph) -> None:
    assert {name: value.consumers for name, value in graph.values().items()} == uses(graph)
    for node in graph.nodes:
        assert all(value.producer == node.name for value in node.outputs)


def test_a_parsed_graph_knows_its_uses() -> None:
    found = graph()
    assert_true(found)
    assert found.values()["x"].consumers == ["product", "z"]  # each user once, also where it reads twice


def test_replace_all_uses_reaches_operands_and_outputs() -> None:
    found = graph()
    values = found.values()
    Rewriter(found).replace_all_uses(values["x"], values["b"])
    assert_true(found)
    assert [value.name for value in found.nodes[1].inputs] == ["b", "b"]
    assert [value.name for value in found.outputs] == ["y", "z", "b"]
    assert values["x"].consumers == []


def test_replacing_a_value_by_itself_changes_nothing() -> None:
    found = graph()
    Rewriter(found).replace_all_uses(found.values()["x"], found.values()["x"])
    assert found == graph()


def test_inserting_takes_free_names_and_enters_uses() -> None:
    found = graph()
    rewriter = Rewriter(found)
    value = rewriter.fresh_value("x", TensorType((4,), "fp32"))
    assert value.name == "x_1"
    node = rewriter.node("neg", [found.inputs[0]], [value], {}, name="product")
    assert node.name == "product_1"
    rewriter.insert_before(found.nodes[1], node)
    assert [node.name for node in found.nodes] == ["x", "product_1", "product", "z"]
    assert value.producer == "product_1"
    assert "product_1" in found.inputs[0].consumers
    assert parse_module(print_module(parse_module(TEXT))).graphs[0] == graph()


def test_erase_refuses_what_is_in_use_and_frees_operands() -> None:
    found = graph()
    rewriter = Rewriter(found)
    with pytest.raises(ValueError, match="%x is still in use"):
        rewriter.erase(found.nodes[0])
    with pytest.raises(ValueError, match="%z is still in use"):
        rewriter.erase(found.nodes[2])  # only the graph's outputs use it
    del found.outputs[1]
    rewriter.erase(found.nodes[2])
    assert_true(found)
    assert fresh_name("z", rewriter.value_names) == "z"


def test_an_anchor_of_another_graph_is_refused() -> None:
    found, other = graph(), graph()
    rewriter = Rewriter(found)
    node = rewriter.node("neg", [found.inputs[0]], [rewriter.fresh_value("n", TensorType((4,), "fp32"))], {})
    with pytest.raises(ValueError, match="is not in g"):
        rewriter.insert_before(other.nodes[0], node)


def test_regions_are_edited_through_all_levels() -> None:
    module = parse_module(
        "execution @e(%a: tensor<4xfp32>) { %x = neg %a : tensor<4xfp32> streaming @s {"
        " %y = neg %x : tensor<4xfp32> } }"
    )
    region = module.regions[0]
    rewriter = Rewriter(region)
    inner = region.subregions[0]
    rewriter.replace_all_uses(region.nodes[0].outputs[0], region.inputs[0])
    assert inner.nodes[0].inputs[0] is region.inputs[0]
    assert region.inputs[0].consumers == ["x", "y"]
    rewriter.erase(region.nodes[0])
    added = rewriter.append(
        rewriter.node("neg", [region.inputs[0]], [rewriter.fresh_value("y", TensorType((4,), "fp32"))], {}), inner
    )
    assert inner.nodes[-1] is added
    assert added.outputs[0].name == "y_1"


def test_fresh_names_are_given_in_turn() -> None:
    taken = {"y"}
    assert [fresh_name("x", taken) for _ in range(1000)] == ["x", *(f"x_{number}" for number in range(1, 1000))]
    assert len(taken) == 1001


def test_a_fresh_name_is_free_whatever_gaps_there_are() -> None:
    for gaps in range(2**6):
        taken = {"x", *(f"x_{number}" for number in range(1, 7) if gaps >> number & 1)}
        before = set(taken)
        assert fresh_name("x", taken) not in before
        assert len(taken) == len(before) + 1
