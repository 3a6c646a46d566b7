"""streaming-lowering: the seven nodes, the visible steps, the types and names, and what is refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from mcir.diagnostics import MCIRError
from mcir.dump import dump_module
from mcir.module import MCModule
from mcir.passes.streaming_lowering import (
    StreamingLowering,
    StreamingOptions,
    lower_attention_to_streaming,
    run_streaming_lowering_pass,
)
from mcir.printer import print_module, print_node
from mcir.regions import ExecutionRegion, Region
from mcir.samples import build_attention_module, build_attention_semantic_graph
from mcir.values import MCValue
from mcir.verifier import verify_module
from tests.unit.attention_samples import CAUSAL, PAD, SAMPLES, SIZES, WINDOW, Sample, sample_module

DATA = Path(__file__).resolve().parent.parent / "data"
SEVEN = ["load_q", "load_k", "load_v", "score", "softmax", "accumulate", "store_o"]


def tile_of(region: Region) -> Region:
    return region.subregions[0].subregions[0]


def lowered(sample: Sample, **options: Any) -> Region:
    """The tile region of a sample, lowered with the default tile sizes unless others are given."""
    module = StreamingLowering(**options)(sample_module(sample, lower=False))
    assert [diagnostic.render() for diagnostic in verify_module(module)] == []
    return tile_of(module.regions[0])


def note_region() -> ExecutionRegion:
    """What the design note's section 9.3 makes by hand."""
    region = ExecutionRegion("attention_region")
    region.attrs["pattern"] = "scaled_dot_product_attention"
    region.attrs["has_mask"] = True
    region.attrs["q_name"] = "Q"
    region.attrs["k_name"] = "K"
    region.attrs["v_name"] = "V"
    return region


@pytest.mark.parametrize("style, name", [("tree", "attention.dump"), ("outline", "attention.outline")])
def test_a_region_made_by_hand_gives_the_note_s_dump(style: str, name: str) -> None:
    region = note_region()
    assert lower_attention_to_streaming(region) is region
    dumped = dump_module(MCModule(regions=[region]), style=style)
    assert dumped.rstrip("\n") == (DATA / name).read_text().rstrip("\n")


def test_a_region_made_by_hand_becomes_a_valid_one() -> None:
    region = lower_attention_to_streaming(note_region())
    assert [(value.name, value.shape, value.dtype) for value in region.inputs] == [
        (name, (None, 64), "fp16") for name in "QKV"
    ]
    assert [(value.name, value.shape, value.dtype) for value in region.outputs] == [("O", (None, 64), "fp16")]
    errors = [found for found in verify_module(MCModule(regions=[region])) if found.severity == "error"]
    assert errors == []


def test_the_pass_of_the_note_gives_the_hand_built_body() -> None:
    """Lowering the causal sample equals the module of the note but for what only a lowering writes."""
    by_hand = build_attention_module()
    module = copy.deepcopy(by_hand)
    region = module.regions[0]
    region.subregions.clear()
    region.attrs["modifiers"] = [{"op": "mask", "kind": "causal", "offset": 0, "fill": float("-inf")}]
    assert run_streaming_lowering_pass(module) is module
    for made, expected in zip(tile_of(region).nodes, tile_of(by_hand.regions[0]).nodes, strict=True):
        for key in ("layout", "dead_rows"):
            made.attrs.pop(key, None)
        assert made == expected


@pytest.mark.parametrize("name", ["plain", "causal", "causal top-left", "double", "square"])
def test_simple_and_causal_cases_are_seven_nodes(name: str) -> None:
    assert [node.name for node in lowered(SAMPLES[name]).nodes] == SEVEN


def test_a_causal_mask_is_folded_only_where_nothing_changes() -> None:
    """It must come last, alone, and fill with -inf."""
    for steps in ((CAUSAL, WINDOW), ({**CAUSAL, "fill": -1e9},), (CAUSAL, {"op": "mul", "value": 2.0})):
        module = StreamingLowering()(sample_module(Sample(SIZES, steps=steps), lower=False))
        nodes = tile_of(module.regions[0]).nodes
        assert "mask" not in nodes[3].attrs
        assert "mask" in [node.op for node in nodes]


def test_every_step_is_a_visible_node_in_order() -> None:
    """Type and text of each node between score and softmax."""
    nodes = lowered(SAMPLES["softcap, bias, mask"]).nodes
    assert [node.op for node in nodes] == [
        "load_tile", "load_tile", "load_tile", "compute_score", "softcap", "load_tile", "add", "load_tile", "constant",
        "where", "update_softmax", "accumulate_output", "store_tile",
    ]  # fmt: skip
    assert [print_node(node) for node in nodes[3:10]] == [
        "%score_frag = compute_score @score %Q_tile, %K_tile {scale = 0.5} : tensor<13x19xfp32, register>",
        "%score_softcap = softcap %score_frag {cap = 3.0} : tensor<13x19xfp32, register>",
        '%bias_tile = load_tile @load_bias {source = "B", layout = "(h g) q k"} : tensor<13x19xfp32, shared>',
        "%score_add = add %score_softcap, %bias_tile : tensor<13x19xfp32, register>",
        '%mask_tile = load_tile @load_mask {source = "M", layout = "b 1 q k"} : tensor<13x19xi1, shared>',
        "%score_const = constant {value = -inf} : tensor<fp32, register>",
        "%score_where = where %mask_tile, %score_add, %score_const : tensor<13x19xfp32, register>",
    ]


def test_the_polarity_of_a_select_is_kept() -> None:
    """PAD drops where the boolean is true; its tile has one row, since it is the same for all queries."""
    where = next(node for node in lowered(SAMPLES["dropped keys"]).nodes if node.op == "where")
    assert [value.name for value in where.inputs] == ["mask_tile", "score_const", "score_frag"]
    assert where.inputs[0].shape == (1, 19)
    assert PAD["keep"] is False


def test_a_narrower_operand_is_cast_and_a_rounding_comes_back() -> None:
    bias = {"op": "add", "operand": "B", "layout": "(h g) q k"}
    nodes = lowered(Sample(SIZES, steps=({"op": "cast", "dtype": "bf16"}, bias), operands={"B": ("(h g) q k", "fp32")}))
    casts = [(node.inputs[0].dtype, node.outputs[0].dtype) for node in nodes.nodes if node.op == "cast"]
    assert casts == [("fp32", "bf16"), ("bf16", "fp32")]


def test_an_fp16_bias_is_cast_to_the_scores_type() -> None:
    module = sample_module(SAMPLES["bias"], lower=False)
    region = module.regions[0]
    region.inputs[3] = MCValue("B", region.inputs[3].shape, "fp16")
    nodes = tile_of(lower_attention_to_streaming(region)).nodes
    add = next(node for node in nodes if node.op == "add")
    assert [value.name for value in add.inputs] == ["score_frag", "bias_tile_fp32"]
    assert (add.inputs[1].dtype, add.inputs[1].residency) == ("fp32", "register")


def test_an_operand_of_two_steps_is_loaded_once() -> None:
    bias = {"op": "add", "operand": "B", "layout": "(h g) q k"}
    tile = lowered(Sample(SIZES, steps=(bias, bias), operands={"B": ("(h g) q k", "fp32")}))
    assert [node.attrs["source"] for node in tile.nodes if node.op == "load_tile"] == ["Q", "K", "V", "B"]
    assert [node.op for node in tile.nodes].count("add") == 2


def test_tiles_are_clipped_to_known_extents() -> None:
    tile = lowered(SAMPLES["plain"])
    assert tile.attrs == {"tile_m": 13, "tile_n": 19, "tile_k": 10}
    shapes = {node.name: [value.shape for value in node.outputs] for node in tile.nodes}
    assert shapes == {
        "load_q": [(13, 10)], "load_k": [(19, 10)], "load_v": [(19, 9)], "score": [(13, 19)], "softmax": [(13,), (13,)],
        "accumulate": [(13, 9)], "store_o": [(13, 9)],
    }  # fmt: skip
    assert lowered(SAMPLES["plain"], tile_m=4, tile_n=6, tile_k=3).attrs == {"tile_m": 4, "tile_n": 6, "tile_k": 3}


def test_named_sizes_are_not_clipped_and_reach_the_tiles() -> None:
    tile = lowered(SAMPLES["named sizes"])
    assert tile.attrs == {"tile_m": 128, "tile_n": 64, "tile_k": 8}
    v_tile = tile.nodes[2].outputs[0]
    assert v_tile.shape == (64, "dv")


@pytest.mark.parametrize(
    "sample, state, tiles", [("plain", "fp32", "fp16"), ("bfloat", "fp32", "bf16"), ("double", "fp64", "fp64")]
)
def test_states_are_wide_and_tiles_have_the_graph_s_type(sample: str, state: str, tiles: str) -> None:
    nodes = {node.name: node for node in lowered(SAMPLES[sample]).nodes}
    for name in ("score", "softmax", "accumulate"):
        assert {(value.dtype, str(value.residency)) for value in nodes[name].outputs} == {(state, "register")}
    assert {nodes[name].outputs[0].dtype for name in ("load_q", "load_k", "load_v", "store_o")} == {tiles}
    assert nodes["store_o"].outputs[0].residency == "global"


def test_lowering_is_idempotent_and_leaves_the_graph_alone() -> None:
    module = sample_module(SAMPLES["grouped"], lower=False)
    graph = print_module(MCModule(graphs=module.graphs))
    once = print_module(run_streaming_lowering_pass(module))
    again = StreamingLowering()
    assert print_module(again(module)) == once
    assert again.remarks == []
    assert print_module(MCModule(graphs=module.graphs)) == graph


def test_names_of_the_user_stay_and_new_ones_are_fresh() -> None:
    region = note_region()
    region.attrs.update(q_name="Q_tile", k_name="softmax_max", v_name="score_frag", o_name="O_tile")
    nodes = tile_of(lower_attention_to_streaming(region)).nodes
    assert [node.attrs.get("source", node.attrs.get("target")) for node in nodes if node.op.endswith("_tile")] == [
        "Q_tile", "softmax_max", "score_frag", "O_tile",
    ]  # fmt: skip
    made = [value.name for node in nodes for value in node.outputs]
    assert made == [
        "Q_tile_1", "K_tile", "V_tile", "score_frag_1", "softmax_max_1", "softmax_sum", "output_acc", "O_tile_1",
    ]  # fmt: skip


def test_region_names_are_unique_in_the_module() -> None:
    module = MCModule(regions=[note_region(), note_region()])
    module.regions[1].name = "attention_region_1"
    run_streaming_lowering_pass(module)
    assert [region.name for region in module.walk()] == [
        "attention_region", "attention_stream", "q_tile_loop",
        "attention_region_1", "attention_stream_1", "q_tile_loop_1",
    ]  # fmt: skip


def test_the_log_sum_exp_is_a_second_output() -> None:
    module = sample_module(SAMPLES["grouped"], lse=True)
    region = module.regions[0]
    assert [(value.name, value.shape, value.dtype) for value in region.outputs][1:] == [("LSE", (2, 2, 3, 13), "fp32")]
    store = tile_of(region).nodes[-1]
    assert (store.op, [value.name for value in store.inputs]) == ("store_lse", ["softmax_max", "softmax_sum"])
    assert store.attrs == {"target": "LSE", "layout": "b h g q"}


def test_other_execution_regions_are_not_touched() -> None:
    other = ExecutionRegion("other")
    other.attrs["pattern"] = "layer_norm"
    module = MCModule(regions=[other])
    lowering = StreamingLowering()
    lowering(module)
    assert (other.subregions, lowering.remarks) == ([], [])


def test_a_module_without_regions_is_told_what_makes_them() -> None:
    graphs = MCModule(graphs=[build_attention_semantic_graph()])
    lowering = StreamingLowering()
    assert lowering(graphs).regions == []
    (remark,) = lowering.remarks
    assert (remark.status, remark.message) == ("declined", "the module has no attention region")
    assert remark.hint.startswith("put --attention-pattern before it")
    lowering(MCModule())
    assert lowering.remarks == []


# (what is changed, the rule that refuses, a part of the message)
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no such input": ({"q_name": "X"}, "lowering.operands", "Q is 'X'"),
    "layout without the key axis": ({"k_layout": "b h q d"}, "lowering.layout", "has not the labels k and d"),
    "layout of another rank": ({"k_layout": "b k d"}, "lowering.layout", "has 3 axes, 'K' has 4"),
    "layout that is none": ({"v_layout": "b (h k e"}, "lowering.layout", "'(' is not closed"),
    "a batch label summed away": ({"k_layout": "b c k d"}, "lowering.layout", "batch label c of K is not in O"),
    "sizes that disagree": ({"o_layout": "(b h) g q e"}, "lowering.extents", "has size 2, its labels make 4"),
    "an infinite scale": ({"modifiers": [{"op": "mul", "value": float("inf")}]}, "lowering.scale", "finite"),
    "an unknown step": ({"modifiers": [{"op": "softmax"}]}, "lowering.step", "no pointwise op"),
    "a step that gives booleans": ({"modifiers": [{"op": "isnan"}]}, "lowering.step", "'isnan'"),
    "an operand that is no input": (
        {"modifiers": [{"op": "add", "operand": "X", "layout": "q k"}]}, "lowering.operands", "'X'"),
    "a constant that is no number": ({"modifiers": [{"op": "add", "value": True}]}, "lowering.step", "number"),
    "a cast to integers": ({"modifiers": [{"op": "cast", "dtype": "i8"}]}, "lowering.step", "between floats"),
    "a softcap of zero": ({"modifiers": [{"op": "softcap", "value": 0.0}]}, "lowering.step", "softcap"),
    "unknown dead rows": ({"dead_rows": "mean"}, "lowering.dead_rows", "'mean'"),
    "modifiers that are no list": ({"modifiers": "causal"}, "lowering.modifiers", "list"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_lowered_exactly_is_refused(name: str) -> None:
    attrs, rule, message = REFUSED[name]
    module = sample_module(SAMPLES["grouped"], lower=False)
    region = module.regions[0]
    region.attrs.update(attrs)
    before = print_module(module)
    lowering = StreamingLowering()
    lowering(module)
    (remark,) = lowering.remarks
    assert (remark.status, remark.rule, remark.region) == ("refused", rule, "attention_region")
    assert message in remark.message
    assert print_module(module) == before
    with pytest.raises(MCIRError) as caught:
        lower_attention_to_streaming(region)
    assert caught.value.diagnostics[0].rule == rule


def test_integer_attention_is_refused() -> None:
    module = sample_module(SAMPLES["plain"], lower=False)
    region = module.regions[0]
    region.inputs[0] = MCValue("Q", region.inputs[0].shape, "i8")
    lowering = StreamingLowering()
    lowering(module)
    assert [(remark.status, remark.rule) for remark in lowering.remarks] == [("refused", "lowering.dtype")]


@pytest.mark.parametrize("options, message", [
    (StreamingOptions(tile_m=0), "tile-m must be at least 1, got 0"),
    (StreamingOptions(tile_k=-3), "tile-k must be at least 1, got -3"),
    (StreamingOptions(stream_axis="sequenec"), "unknown stream axis 'sequenec'"),
])  # fmt: skip
def test_options_out_of_range_are_errors(options: StreamingOptions, message: str) -> None:
    with pytest.raises(MCIRError) as caught:
        lower_attention_to_streaming(note_region(), options)
    assert caught.value.diagnostics[0].message == message
