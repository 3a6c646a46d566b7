"""Phase inference: what runs when, whatever the order in the text, and which states are ill-formed."""

from __future__ import annotations

import pytest

from mcir.analysis.axes import Layout, label_sizes, operand_layout, parse_layout, tile_axes
from mcir.analysis.phases import Phase, infer_nests
from mcir.analysis.visibility import visible_tiles
from mcir.parser import parse_module
from mcir.samples import build_attention_module
from tests.unit.attention_samples import SAMPLES, Sample, sample_module

REGION = """
execution @r(%Q: tensor<16x8xfp16>, %K: tensor<24x8xfp16>, %V: tensor<24x8xfp16>, %B: tensor<16x1xfp32>)
    -> (%O: tensor<16x8xfp16>, %S: tensor<16x24xfp32>) {
  streaming @s attributes {stream_axis = "sequence"} {
    tile @t attributes {tile_m = 8, tile_n = 8, tile_k = 8} {
@BODY@
    }
  }
}
"""

BODY = """
%q = load_tile {source = "Q", layout = "q d"} : tensor<8x8xfp16, shared>
%k = load_tile {source = "K", layout = "k d"} : tensor<8x8xfp16, shared>
%v = load_tile {source = "V", layout = "k e"} : tensor<8x8xfp16, shared>
%s = compute_score %q, %k {scale = 1.0} : tensor<8x8xfp32, register>
%m, %l = update_softmax %s : tensor<8xfp32, register>, tensor<8xfp32, register>
%a = accumulate_output %s, %v : tensor<8x8xfp32, register>
%o = store_tile %a {target = "O", layout = "q e"} : tensor<8x8xfp16>
""".strip().splitlines()


def nest_of(*lines: str):  # type: ignore[no-untyped-def]
    module = parse_module(REGION.replace("@BODY@", "\n".join(lines)))
    (nest,) = infer_nests(module.regions[0])
    return nest


def rules(*lines: str) -> list[str]:
    return [problem.rule for problem in nest_of(*lines).problems]


def test_phases_of_the_seven_nodes() -> None:
    (nest,) = infer_nests(build_attention_module().regions[0])
    assert nest.problems == []
    assert [node.name for node in nest.nodes(Phase.PROLOGUE)] == ["load_q"]
    assert [node.name for node in nest.nodes(Phase.BODY)] == ["load_k", "load_v", "score", "softmax", "accumulate"]
    assert [node.name for node in nest.nodes(Phase.EPILOGUE)] == ["store_o"]


def test_position_does_not_matter() -> None:
    """A row bias that is loaded after the scores is prologue all the same."""
    nest = nest_of(
        *BODY[:4],
        '%b = load_tile {source = "B", layout = "q 1"} : tensor<8x1xfp32, shared>',
        "%c = constant {value = 2.0} : tensor<fp32, register>",
        "%b2 = mul %b, %c : tensor<8x1xfp32, register>",
        "%t = add %s, %b2 : tensor<8x8xfp32, register>",
        *(line.replace("%s", "%t") for line in BODY[4:6]),
        BODY[6],
    )
    assert nest.problems == []
    assert [node.name for node in nest.nodes(Phase.PROLOGUE)] == ["q", "b", "c", "b2"]
    assert nest.phases["t"] is Phase.BODY
    assert nest.axes["t"] == ("q", "k")


def test_axes_and_softmax_of_states() -> None:
    nest = nest_of(*BODY)
    assert nest.axes["s"] == ("q", "k")
    assert nest.axes["m"] == ("q",)
    assert nest.axes["a"] == ("q", "e")
    assert {name: softmax.name for name, softmax in nest.softmax_of.items()} == {"a": "m", "o": "m"}


ILL_FORMED: dict[str, tuple[list[str], list[str]]] = {
    "two softmaxes of one score": (
        [*BODY[:5], BODY[4].replace("%m, %l", "%m2, %l2"), *BODY[5:]], ["state.single"]),
    "accumulates another score": (
        [*BODY[:4], "%s2 = add %s, %s : tensor<8x8xfp32, register>", BODY[4], BODY[5].replace("%s", "%s2"), BODY[6]],
        ["state.shared"]),
    "never finalised": (BODY[:6], ["state.finalise"]),
    "finalised twice": (
        [*BODY, BODY[6].replace("%o", "%o2")], ["state.finalise"]),
    "a state beside a streamed value": (
        [*BODY[:6], "%x = add %a, %v : tensor<8x8xfp32, register>", BODY[6]],
        ["state.streamed", "axes.operands", "state.finalise"]),
    "scores stored": (
        [*BODY, '%z = store_tile %s {target = "S", layout = "q k"} : tensor<8x8xfp32>'], ["state.escape"]),
    "scores of the queries alone": (
        [BODY[0], BODY[0].replace("%q", "%q2"), BODY[2], BODY[3].replace("%k", "%q2"), *BODY[4:]],
        ["axes.operands", "state.stream"]),
    "values that are not streamed": (
        [*BODY[:5], BODY[5].replace("%v", "%q"), BODY[6]], ["axes.operands", "state.stream"]),
    "no such input": (
        [BODY[0].replace('"Q"', '"X"'), *BODY[1:]], ["region.binding"]),
    "a layout of another rank": ([BODY[0].replace("q d", "b q d"), *BODY[1:]], ["region.layout"]),
    "K for Q": ([BODY[0], BODY[1], BODY[2], BODY[3].replace("%q, %k", "%k, %q"), *BODY[4:]], ["axes.operands"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ILL_FORMED)
def test_ill_formed_nests_are_named(name: str) -> None:
    lines, expected = ILL_FORMED[name]
    assert rules(*lines) == expected


@pytest.mark.parametrize("text, groups", [
    ("b h q d", (("b",), ("h",), ("q",), ("d",))),
    ("b (h g) 1 k", (("b",), ("h", "g"), (), ("k",))),
    ("", ()),
    ("(b h)  q d", (("b", "h"), ("q",), ("d",))),
])  # fmt: skip
def test_layouts(text: str, groups: tuple[tuple[str, ...], ...]) -> None:
    layout = parse_layout(text)
    assert layout.groups == groups
    assert parse_layout(str(layout)) == layout


@pytest.mark.parametrize("text", ["b (h q", "b) q", "q q", "b 2 q", "b-h", "((b))", "q 1x"])
def test_bad_layouts(text: str) -> None:
    with pytest.raises(ValueError, match="layout"):
        parse_layout(text)


def test_label_sizes() -> None:
    solved = label_sizes([(parse_layout("b (h g) q d"), (2, 6, "s", 8)), (parse_layout("b h k d"), (2, 3, None, 8))])
    assert solved == {"b": 2, "h": 3, "g": 2, "d": 8}
    with pytest.raises(ValueError, match="no multiple"):
        label_sizes([(parse_layout("(h g)"), (6,)), (parse_layout("h"), (4,))])
    with pytest.raises(ValueError, match="has size 5, its labels make 4"):
        label_sizes([(parse_layout("h"), (4,)), (parse_layout("h"), (5,))])


def test_tile_axes_and_defaults() -> None:
    assert tile_axes(parse_layout("b h 1 k")) == ("q", "k")
    assert tile_axes(parse_layout("b h k e")) == ("k", "e")
    with pytest.raises(ValueError, match="neither"):
        tile_axes(parse_layout("b d e"))
    assert operand_layout((3, 1, 7), 4) == Layout((("h",), (), ("k",)))


@pytest.mark.parametrize("offset, rows, expected", [
    (0, range(0, 4), [0]), (0, range(4, 8), [0, 1]), (6, range(0, 4), [0, 1]), (-6, range(0, 4), []),
    (-6, range(4, 8), [0]), (15, range(8, 12), [0, 1, 2, 3]),
])  # fmt: skip
def test_causal_tiles(offset: int, rows: range, expected: list[int]) -> None:
    """Key tiles of 6 over 19 keys; a row sees keys up to row + offset."""
    causal = {"op": "mask", "kind": "causal", "offset": offset, "fill": float("-inf")}
    module = sample_module(Sample(SAMPLES["plain"].sizes, steps=(causal,)))
    (nest,) = infer_nests(module.regions[0])
    assert visible_tiles(nest, rows, 19, 6) == expected


def test_a_window_hides_on_both_sides() -> None:
    module = sample_module(SAMPLES["grouped"])  # offset 6, left 5, right 0
    (nest,) = infer_nests(module.regions[0])
    assert visible_tiles(nest, range(8, 12), 19, 6) == [1, 2]


def test_no_tile_is_skipped_where_a_later_step_unmasks() -> None:
    """softcap turns -inf into a finite score: after it nothing is provably masked."""
    steps = ({"op": "mask", "kind": "causal", "offset": 0, "fill": float("-inf")}, {"op": "softcap", "value": 5.0})
    module = sample_module(Sample(SAMPLES["plain"].sizes, steps=steps))
    (nest,) = infer_nests(module.regions[0])
    assert visible_tiles(nest, range(0, 4), 19, 6) == [0, 1, 2, 3]


def test_the_account_s_causal_count() -> None:
    """1024 x 1024 in tiles of 128 x 64: 72 of 128 steps are visible."""
    (nest,) = infer_nests(build_attention_module().regions[0])
    steps = [visible_tiles(nest, range(start, start + 128), 1024, 64) for start in range(0, 1024, 128)]
    assert sum(map(len, steps)) == 72
