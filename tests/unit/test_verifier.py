"""The verifier: rules that text cannot reach, the driver, and that every rule has its tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcir.builder import MCIRBuilder
from mcir.diagnostics import MCIRError
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.regions import ExecutionRegion, Region
from mcir.samples import build_attention_module, build_attention_semantic_graph
from mcir.types import Symbol
from mcir.values import MCValue
from mcir.verifier import all_rules, check_module, verify_module
from mcir.verifier.rules import rule

LIT = Path(__file__).parent.parent / "lit" / "verifier"
B = MCIRBuilder()


def sample() -> MCModule:
    """The lowered attention and its graph: a valid module."""
    module = build_attention_module()
    module.graphs.append(build_attention_semantic_graph())
    return module


def tile(module: MCModule) -> Region:
    return module.regions[0].subregions[0].subregions[0]


# Rule id -> an edit of the sample that breaks it and that no text can spell.
Edit = Callable[[MCModule], object]
BREAKS: dict[str, Edit] = {
    "graph.name": lambda m: setattr(m.graphs[0], "name", ""),
    "region.name": lambda m: setattr(tile(m), "name", ""),
    "region.kind": lambda m: setattr(tile(m), "kind", "tiles"),
    "node.name": lambda m: setattr(tile(m).nodes[0], "name", ""),
    "node.op": lambda m: setattr(m.graphs[0].nodes[0], "op", ""),
    "node.attributes": lambda m: m.graphs[0].nodes[3].attrs.update(axis={1, 2}),
    "region.attributes": lambda m: m.regions[0].attrs.update(deep=nested(70)),
    "module.comments": lambda m: setattr(tile(m).nodes[0], "comments", Comments(before=["one\ntwo"])),
    "value.name": lambda m: setattr(m.graphs[0].inputs[0], "name", ""),
    "value.shape": lambda m: setattr(m.graphs[0].inputs[0], "shape", (-1, 64)),
    "value.dtype": lambda m: setattr(m.graphs[0].inputs[0], "dtype", "float16"),
    "value.residency": lambda m: setattr(tile(m).nodes[0].outputs[0], "residency", "local"),
    "value.single": lambda m: m.graphs[0].inputs.append(MCValue("S", (1,), "fp16")),
    "value.defined": lambda m: m.graphs[0].nodes.reverse(),
    "value.uses": lambda m: m.graphs[0].inputs[0].consumers.append("nobody"),
}


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def rules_of(module: MCModule) -> set[str]:
    return {diagnostic.rule for diagnostic in verify_module(module)}


def test_the_sample_is_valid() -> None:
    assert verify_module(sample()) == []


@pytest.mark.parametrize("rule_id", BREAKS)
def test_rules_that_text_cannot_reach(rule_id: str) -> None:
    module = sample()
    BREAKS[rule_id](module)
    assert rule_id in rules_of(module)


def test_every_rule_has_a_failing_text_or_a_failing_model() -> None:
    announced = {path.stem for path in LIT.glob("*.mcir") if f"[{path.stem}]}}}}" in path.read_text()}
    rules = {rule.id for rule in all_rules()}
    assert rules == announced | set(BREAKS)
    assert not announced & set(BREAKS)


def test_every_rule_text_begins_with_a_valid_module() -> None:
    for path in LIT.glob("*.mcir"):
        good = path.read_text().split("// -----")[0]
        assert "expected-" not in good, path
        assert verify_module(parse_module(good)) == [], path


def test_titles_say_what_holds() -> None:
    for rule_ in all_rules():
        assert rule_.title.endswith(".") and "." in rule_.id and rule_.severity in ("error", "warning")


def test_a_rule_id_is_taken_once() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        rule("value.dtype", "Again.", scope="type")
    with pytest.raises(ValueError, match="unknown scope"):
        rule("new.rule", "Another.", scope="everything")


@pytest.mark.parametrize("shape", [None, (True, 4), (4.0, 4), ("",), (-3,)])
def test_shapes_that_are_none(shape: object) -> None:
    module = sample()
    module.graphs[0].inputs[0].shape = shape  # type: ignore[assignment]
    assert "value.shape" in rules_of(module)


def test_equal_looking_shapes_are_told_apart() -> None:
    # 4, 4.0 and True are equal as dictionary keys: a verdict on one must not count for another.
    values = [B.value("a", (4, 1), "fp16"), B.value("b", (4.0, 1), "fp16"), B.value("c", (4, True), "fp16")]
    module = MCModule(graphs=[SemanticGraph("g", inputs=values)])
    assert [diagnostic.rule for diagnostic in verify_module(module)] == ["value.shape", "value.shape"]


def test_an_execution_region_is_isolated() -> None:
    module = sample()
    foreign = module.graphs[0].inputs[0]
    node = tile(module).nodes[3]
    node.inputs[0] = foreign
    found = [d for d in verify_module(module) if d.rule == "value.defined"]
    assert [d.message for d in found] == ["node 'score' uses %Q, which @attention_region does not define"]


def test_values_of_a_sibling_tile_are_not_visible() -> None:
    module = sample()
    stream = module.regions[0].subregions[0]
    x = tile(module).nodes[0].outputs[0]
    other = B.tile_region("other", 1, 1, 1)
    other.nodes.append(MCNode("again", "exp", [x], [B.value("y", (128, 64), "fp16", "shared")]))
    stream.subregions.append(other)
    assert any("not defined before it in its own or an enclosing region" in d.message for d in verify_module(module))


def test_a_place_is_named_where_there_is_no_location() -> None:
    module = sample()
    module.graphs[0].nodes[3].attrs["axes"] = 1
    (diagnostic,) = verify_module(module)
    assert diagnostic.render().splitlines()[0] == "error: P: 'softmax' has no attribute 'axes' [op.attributes]"
    assert diagnostic.hint == "did you mean 'axis'?"


def test_notes_point_at_the_first_definition() -> None:
    text = "graph @g(%x: tensor<4xfp16>) {\n  return %x\n}\ngraph @g(%x: tensor<4xfp16>) {\n  return %x\n}\n"
    (diagnostic,) = verify_module(parse_module(text, "f.mcir"))
    assert str(diagnostic.location) == "f.mcir:4:1"
    assert [str(note.location) for note in diagnostic.notes] == ["f.mcir:1:1"]


def test_diagnostics_come_in_text_order() -> None:
    lines = "\n".join(f"  %y{at} = neg %x : tensor<{at + 5}xfp16>" for at in range(20))
    module = parse_module(f"graph @g(%x: tensor<4xfp16>) {{\n{lines}\n  return %x\n}}\n")
    found = verify_module(module)
    assert [d.location.line_column()[0] for d in found if d.location] == list(range(2, 22))


def test_only_errors_are_raised() -> None:
    warning = 'graph @g(%x: tensor<4x4xfp16>) {\n  %y = mask %x {kind = "causal", fill = -1.0} : tensor<4x4xfp16>\n'
    module = parse_module(warning + "  return %y\n}\n")
    assert [d.severity for d in verify_module(module)] == ["warning"]
    check_module(module)
    module.graphs[0].name = ""
    with pytest.raises(MCIRError) as raised:
        check_module(module)
    assert [d.rule for d in raised.value.diagnostics] == ["graph.name"]


def test_a_constant_operand_reaches_the_type_rule() -> None:
    text = """graph @g(%x: tensor<4x6xfp16>) {
  %s = constant {value = [3, 8]} : tensor<2xi64>
  %y = reshape %x, %s : tensor<8x3xfp16>
  return %y
}
"""
    (diagnostic,) = verify_module(parse_module(text))
    assert diagnostic.message == "the result of 'reshape' is tensor<3x8xfp16>, not tensor<8x3xfp16>"
    assert verify_module(parse_module(text.replace("8x3x", "3x8x"))) == []


def test_attributes_too_large_for_a_key_are_judged_each_time() -> None:
    graph = SemanticGraph("g", inputs=[x := B.value("x", (4,), "fp16")])
    for at, huge in enumerate((10**5000, "a" * 10_000)):
        graph.nodes.append(B.node(f"n{at}", "neg", [x], [B.value(f"y{at}", (4,), "fp16")], extra=huge))
    assert [d.rule for d in verify_module(MCModule(graphs=[graph]))] == ["op.attributes"] * 2


def test_a_graph_symbol_that_dangles_is_found_after_an_edit() -> None:
    module = sample()
    module.regions[0].attrs["graph"] = Symbol("attention")
    assert verify_module(module) == []
    del module.graphs[0]
    assert rules_of(module) == {"attention.graph"}


def test_ten_thousand_nested_regions() -> None:
    top = region = ExecutionRegion("r0")
    for at in range(1, 10_000):
        inner = ExecutionRegion(f"r{at}")
        region.subregions.append(inner)
        region = inner
    found = verify_module(MCModule(regions=[top]))
    assert len(found) == 9_999 and {d.rule for d in found} == {"region.nesting"}


def chain(nodes: int) -> MCModule:
    lines = [f"  %v{at + 1} = {('neg', 'exp')[at % 2]} %v{at} : tensor<4x8xfp16>" for at in range(nodes)]
    return parse_module("\n".join(["graph @g(%v0: tensor<4x8xfp16>) {", *lines, f"  return %v{nodes}", "}"]))


def seconds(module: MCModule) -> float:
    begin = time.process_time()
    assert verify_module(module) == []
    return time.process_time() - begin


def test_verification_takes_linear_time() -> None:
    small, large = chain(2_000), chain(20_000)
    best = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(3)) < 30 * best + 0.05


def test_printed_samples_verify() -> None:
    assert verify_module(parse_module(print_module(sample()))) == []


ODD = [
    16**5000, -(16**5000), -1, 0, 2.5, float("nan"), float("-inf"), True, "", "q d", "(q", [], [[]], {}, {"op": {}},
    [{"op": []}], [{"op": "mul", "value": 16**5000}], [{"op": "cast", "dtype": []}], [{"op": "where", "operand": {}}],
    [{"op": "mask", "kind": {}, "offset": []}], {"q": []}, Symbol("nowhere"),
]  # fmt: skip
NAMES = [
    "has_mask", "q_name", "o_name", "q_layout", "o_layout", "extents", "scale", "modifiers", "score_dtype",
    "softmax_dtype", "dead_rows", "graph", "nodes",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_attributes_of_any_kind_are_judged(name: str) -> None:
    for value in ODD:
        module = sample()
        module.regions[0].attrs[name] = value
        for diagnostic in verify_module(module):
            assert diagnostic.rule.split(".")[0] in ("attention", "modifier", "region", "axes", "state")
            assert len(diagnostic.render()) < 400


def test_node_attributes_of_any_kind_are_judged() -> None:
    for at, node in enumerate(tile(sample()).nodes):
        for name in node.attrs:
            for value in ODD:
                module = sample()
                tile(module).nodes[at].attrs[name] = value
                assert all(len(diagnostic.render()) < 400 for diagnostic in verify_module(module))


def test_many_regions_over_one_large_graph_take_linear_time() -> None:
    module = chain(5_000)
    covered = [node.name for node in module.graphs[0].nodes[:3]]
    for at in range(200):
        region = build_attention_module().regions[0]
        region.name = f"r{at}"
        region.subregions.clear()
        region.attrs.update(graph=Symbol("g"), nodes=covered)
        module.regions.append(region)
    begin = time.process_time()
    assert verify_module(module) == []
    assert time.process_time() - begin < 1.0
