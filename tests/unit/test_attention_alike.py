"""Attentions that are alike but for names are matched once, and get the regions that they would get one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcir.analysis.attention.alike as alike
from mcir.analysis.attention.match import Matcher
from mcir.diagnostics import MCIRError
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.parser import parse_module
from mcir.passes.attention_pattern import AttentionPattern, run_attention_pattern_pass
from mcir.printer import print_module
from mcir.values import MCValue
from tests.bench.inputs import mcir_text

LIT = Path(__file__).parent.parent / "lit" / "attention"


@pytest.fixture
def matched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the softmaxes that the matcher looked at, in order."""
    names: list[str] = []
    match = Matcher.match

    def counted(self: Matcher, softmax: alike.Softmax) -> alike.Match:
        names.append(softmax.anchor.name)
        return match(self, softmax)

    monkeypatch.setattr(Matcher, "match", counted)
    return names


def _graphs(path: Path) -> list[SemanticGraph]:
    """The graphs of a test file whose texts are cut by lines."""
    texts = path.read_text(encoding="utf-8").split("// -----")
    return [graph for text in texts for graph in parse_module(text).graphs]


def _copies(graphs: list[SemanticGraph], count: int) -> SemanticGraph:
    """One graph with `count` copies of the nodes of each of `graphs`, taking turns."""
    whole = SemanticGraph("whole")
    for copy in range(count):
        for at, graph in enumerate(graphs):
            mark = f"{at}_{copy}"
            of = {id(value): MCValue(f"{value.name}.{mark}", value.shape, value.dtype) for value in _values(graph)}
            whole.inputs += [of[id(value)] for value in graph.inputs]
            for node in graph.nodes:
                inputs, outputs = ([of[id(value)] for value in values] for values in (node.inputs, node.outputs))
                whole.nodes.append(MCNode(f"{node.name}.{mark}", node.op, inputs, outputs, node.attrs))
            whole.outputs += [of[id(value)] for value in graph.outputs]
    return whole


def _values(graph: SemanticGraph) -> list[MCValue]:
    return [*graph.inputs, *(value for node in graph.nodes for value in node.outputs)]


def _detected(graph: SemanticGraph) -> tuple[str, list[str]]:
    detect = AttentionPattern()
    module = detect(MCModule(graphs=[graph]))
    return print_module(module), [remark.message for remark in detect.remarks]


@pytest.mark.parametrize("path", sorted(LIT.glob("*.mcir")), ids=lambda path: path.stem)
def test_copies_get_the_same_regions_as_one_by_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _copies(_graphs(path), 3)
    shared = _detected(whole)
    monkeypatch.setattr(alike, "MAX_KINDS", 0)
    assert shared == _detected(whole)


def test_each_kind_of_layer_is_matched_once(matched: list[str]) -> None:
    # The first plain layer takes an input, the later ones what the layer before made: that is no difference to it.
    module = run_attention_pattern_pass(parse_module(mcir_text(900, "model")))
    assert len(module.regions) == 10
    assert matched == ["l0_softmax44", "l1_softmax67"]


def test_kinds_beyond_the_limit_are_matched_one_by_one(matched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "MAX_KINDS", 1)
    assert len(run_attention_pattern_pass(parse_module(mcir_text(500, "model"))).regions) == 6
    assert [name[:2] for name in matched] == ["l0", "l1", "l3", "l5"]


LAYER = """
  %t{n} = transpose {k} {{perm = [1, 0]}} : tensor<8x16xfp32>
  %s{n} = matmul {q}, %t{n} : tensor<16x16xfp32>
  %c{n} = constant {{value = {scale}}} : tensor<fp32>
  %m{n} = {op} %s{n}, %c{n} : tensor<16x16xfp32>
  %p{n} = softmax %m{n} {{axis = -1}} : tensor<16x16xfp32>
  %o{n} = matmul %p{n}, {v} : tensor<16x8xfp32>
"""


@pytest.mark.parametrize(
    ("second", "differs"),
    [
        ({}, None),
        ({"scale": "0.25"}, ("scale", 0.25)),
        ({"scale": "-0.5"}, ("scale", -0.5)),
        ({"op": "div"}, ("scale", 2.0)),
        ({"v": "%k"}, ("v_name", "k")),
        ({"q": "%k"}, ("q_name", "k")),
    ],
)
def test_what_tells_attentions_apart(second: dict[str, str], differs: tuple[str, object] | None) -> None:
    layers = [{"q": "%q", "k": "%k", "v": "%v", "scale": "0.5", "op": "mul"} for _ in range(2)]
    layers[1].update(second)
    body = "".join(LAYER.format(n=n, **layer) for n, layer in enumerate(layers))
    inputs = ", ".join(f"%{name}: tensor<16x8xfp32>" for name in "qkv")
    first, other = run_attention_pattern_pass(parse_module(f"graph @g({inputs}) {{{body} return %o0, %o1 }}")).regions
    assert [value.name for value in first.inputs] == ["q", "k", "v"]
    assert [value.name for value in other.inputs] == list(dict.fromkeys(layers[1][role][1:] for role in "qkv"))
    assert other.outputs[0].name == "o1" and other.attrs["nodes"][-1] == "o1"
    if differs is not None:
        key, value = differs
        assert other.attrs[key] == value != first.attrs[key]
    else:
        assert {**other.attrs, "o_name": 0, "nodes": 0} == {**first.attrs, "o_name": 0, "nodes": 0}


def test_regions_share_nothing_that_can_be_changed() -> None:
    first, second = run_attention_pattern_pass(parse_module(mcir_text(10))).regions
    first.attrs["extents"]["q"] = 1
    first.attrs["modifiers"].append({"op": "tanh"})
    first.attrs["nodes"].clear()
    first.inputs[0].name = "other"
    assert second.attrs["extents"]["q"] == 128 and second.attrs["modifiers"] == []
    assert second.attrs["nodes"] == ["kt1", "s1", "p1", "o1"] and second.inputs[0].name == "q1"


@pytest.mark.parametrize("untrue", ["missing", "foreign", "producer"])
def test_a_graph_whose_uses_are_untrue_is_refused(untrue: str) -> None:
    graph = parse_module(mcir_text(10)).graphs[0]
    probs = graph.nodes[2].outputs[0]
    if untrue == "missing":
        probs.consumers.clear()
    elif untrue == "foreign":
        probs.consumers.append("add")
    else:
        graph.nodes[1].outputs[0].producer = None
    with pytest.raises(MCIRError, match="producer"):
        run_attention_pattern_pass(graph)
