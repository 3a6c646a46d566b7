"""What is done twice, once quickly: the sweep of the verifier, the lines of the printer. Nobody can tell which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcir.diagnostics import MCIRError
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.parser import parse_module
from mcir.printer import _Known, _node_lines, print_node
from mcir.samples import build_attention_semantic_graph
from mcir.values import MCValue
from mcir.verifier import driver, verify_module
from mcir.verifier.keys import TypeKeys
from mcir.verifier.sweep import sweep
from tests.support.grammar_texts import grammar_texts, mutated_texts
from tests.support.strategies import graph_modules, modules

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.mcir"))
NAMES = ["", "x", "y", "a b", 3, None]


def swap_order(nodes: list[MCNode], draw: Callable[..., object]) -> None:
    nodes.insert(draw(st.integers(0, len(nodes))), nodes.pop())


# Each breaks a module in one place, more or less; some changes break nothing.
DAMAGES: dict[str, Callable[[MCNode, Callable[..., object]], None]] = {
    "node name": lambda node, draw: setattr(node, "name", draw(st.sampled_from(NAMES))),
    "op": lambda node, draw: setattr(node, "op", draw(st.sampled_from(["", "add", "matmul"]))),
    "result name": lambda node, draw: [setattr(value, "name", draw(st.sampled_from(NAMES))) for value in node.outputs],
    "producer": lambda node, draw: [setattr(value, "producer", draw(st.sampled_from(NAMES))) for value in node.outputs],
    "residency": lambda node, draw: [setattr(value, "residency", "shared") for value in node.outputs],
    "dtype": lambda node, draw: [setattr(value, "dtype", "f16") for value in node.outputs],
    "shape": lambda node, draw: [setattr(value, "shape", (4, True)) for value in node.outputs],
    "consumers": lambda node, draw: [value.consumers.append(draw(st.sampled_from(NAMES))) for value in node.outputs],
    "no consumer": lambda node, draw: [value.consumers.clear() for value in node.inputs],
    "other operand": lambda node, draw: node.inputs.append(MCValue("x", (4,), "fp16")),
    "operand twice": lambda node, draw: node.inputs.extend(node.inputs[:1]),
    "result twice": lambda node, draw: node.outputs.extend(node.outputs[:1]),
    "attribute": lambda node, draw: node.attrs.update(axis=draw(st.sampled_from([1, 1.0, True, (1,), None, "a"]))),
}  # fmt: skip


def told(module: MCModule) -> list[str]:
    return [f"{fault.rule} {fault.severity} {fault.render()}" for fault in verify_module(module)]


def told_by_the_rules(module: MCModule) -> list[str]:
    with mock.patch.object(driver, "sweep", lambda *_: None):
        return told(module)


@given(graph_modules(), st.data())
def test_the_sweep_hides_nothing(module: MCModule, data: st.DataObject) -> None:
    assert told(module) == told_by_the_rules(module)
    nodes = [node for graph in module.graphs for node in graph.nodes]
    for _ in range(data.draw(st.integers(1, 2)) if nodes else 0):
        damage = data.draw(st.sampled_from(sorted(DAMAGES)))
        DAMAGES[damage](data.draw(st.sampled_from(range(len(nodes))).map(nodes.__getitem__)), data.draw)
    if nodes and data.draw(st.booleans()):
        holder = data.draw(st.sampled_from([graph for graph in module.graphs if graph.nodes]))
        swap_order(holder.nodes, data.draw)
    assert told(module) == told_by_the_rules(module)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_sweep_vouches_for_real_graphs(file: Path) -> None:
    """Else it would be of no use."""
    for graph in parse_module(file.read_text(encoding="utf-8")).graphs:
        assert sweep(graph, TypeKeys(), {}) is not None


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_each_damage_is_told_in_a_graph(damage: str) -> None:
    module = MCModule(graphs=[build_attention_semantic_graph()])
    assert told(module) == []
    draws = iter([3, "zzz"])
    DAMAGES[damage](module.graphs[0].nodes[2], lambda _: next(draws))
    assert told(module) == told_by_the_rules(module) != []


@given(mutated_texts() | grammar_texts())
def test_what_the_parser_refuses_is_not_looked_for_again(text: str) -> None:
    try:
        module = parse_module(text)
    except MCIRError:
        return
    assert verify_module(module, read=True) == verify_module(module)


@given(modules())
def test_quick_lines_are_the_lines(module: MCModule) -> None:
    known = _Known()
    for holder in [*module.graphs, *module.walk()]:
        for node in holder.nodes:
            node.comments = None
            assert _node_lines([node], "", known) == [print_node(node)]


def test_quick_lines_tell_equal_attributes_apart() -> None:
    known = _Known()
    lines = set()
    for value in (1, 1.0, True, -0.0, 0.0, 0, [1], [1.0], {"a": 1}, {"a": True}, "1"):
        out = MCValue("x", (4,), "fp16")
        node = MCNode("x", "neg", [], [out], {"k": value})
        assert _node_lines([node], "", known) == [print_node(node)]
        lines.add(print_node(node))
    assert len(lines) == 11
