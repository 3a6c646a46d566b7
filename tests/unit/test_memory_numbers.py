"""The account on known cases: bytes of the literature's tilings, of the design note's tile, of grouped queries."""

from __future__ import annotations

import pytest

from mcir.analysis.memory import account_region
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.samples import build_attention_module
from tests.unit.memory_cases import CAUSAL, attention, attention_text, lowered, window

# case -> (module, dims, bytes moved, steps, steps without a mask)
CASES: dict[str, tuple[MCModule, int, int, int]] = {
    "1024": (attention("", 1024, 1024, 64, lse=True), 2_363_392, 128, 128),
    "1024 causal": (attention("", 1024, 1024, 64, CAUSAL, lse=True), 1_445_888, 72, 128),
    "1000 ragged": (attention("", 1000, 1000, 64, lse=True), 2_308_000, 128, 128),
    "window": (attention("", 4096, 4096, 64, window(256, 0)), 4_096_000, 186, 2048),
    "decode": (attention("32x", 1, 4096, 128, lse=True), 67_125_376, 32 * 64, 32 * 64),
    "gpt2-medium": (attention("64x16x", 1024, 1024, 64, lse=True), 2_420_113_408, 131_072, 131_072),
    "gpt2-medium causal": (attention("64x16x", 1024, 1024, 64, CAUSAL, lse=True), 1_480_589_312, 73_728, 131_072),
}


@pytest.mark.parametrize("case", CASES)
def test_bytes_and_steps(case: str) -> None:
    module, moved, steps, all_steps = CASES[case]
    account = account_region(module, module.regions[0])
    assert account.streaming is not None
    assert (account.streaming.total, account.steps, account.all_steps) == (moved, steps, all_steps)


def test_read_and_written_apart() -> None:
    module = CASES["1024"][0]
    account = account_region(module, module.regions[0])
    assert account.streaming is not None
    q, kv, o, lse = 1024 * 64 * 2, 8 * 1024 * 128 * 2, 1024 * 64 * 2, 4 * 1024
    assert (account.streaming.read, account.streaming.written) == (q + kv, o + lse)
    (nest,) = account.nests
    assert nest.totals.moved == {
        "load_q": q, "load_k": kv // 2, "load_v": kv // 2, "store_o": o, "store_lse": lse
    }  # fmt: skip
    assert nest.totals.trips == {"load_q": 8, "load_k": 128, "load_v": 128, "store_o": 8, "store_lse": 8}
    assert account.flops == 2 * 1024 * 1024 * 128


@pytest.mark.parametrize("case", ["gpt2-medium", "gpt2-medium causal"])
def test_compulsory_reads_each_input_and_writes_each_output_once(case: str) -> None:
    module = CASES[case][0]
    account = account_region(module, module.regions[0])
    assert account.compulsory.total == 541_065_216 == 4 * 64 * 16 * 1024 * 64 * 2 + 4 * 64 * 16 * 1024


def test_op_by_op_of_gpt2_medium() -> None:
    """Two matmuls and a softmax: the score matrix is written twice and read twice."""
    tensor, score = "tensor<64x16x1024x64xfp16>", "tensor<64x16x1024x1024xfp16>"
    graph = f"""
graph @gpt2(%Q: {tensor}, %K: {tensor}, %V: {tensor}) {{
  %S = matmul %Q, %K {{transpose_b = true}} : {score}
  %P = softmax %S {{axis = -1}} : {score}
  %O = matmul %P, %V : {tensor}
  return %O
}}
"""
    region = attention_text(*["64x16x1024x64xfp16"] * 4, ("b h q d", "b h k d", "b h k e", "b h q e"))
    text = graph + region.replace("modifiers =", 'graph = @gpt2, nodes = ["S", "P", "O"], modifiers =')
    module = parse_module(text)
    naive = account_region(module, module.regions[0]).op_by_op
    assert naive is not None
    assert (naive.total, naive.nodes, naive.layout) == (9_126_805_504, 3, 0)


def test_op_by_op_counts_covered_nodes_and_no_data() -> None:
    module = parse_module("""
graph @g(%Q: tensor<4x8xfp16>, %K: tensor<6x8xfp16>) {
  %c = constant {value = 0.5} : tensor<fp16>
  %Kt = transpose %K {perm = [1, 0]} : tensor<8x6xfp16>
  %S = matmul %Q, %Kt : tensor<4x6xfp16>
  %T = mul %S, %c : tensor<4x6xfp16>
  %D = add %T, %T : tensor<4x6xfp16>
  %other = neg %Q : tensor<4x8xfp16>
  return %D, %other
}
execution @r(%Q: tensor<4x8xfp16>, %K: tensor<6x8xfp16>) -> (%D: tensor<4x6xfp16>)
    attributes {graph = @g, nodes = ["c", "Kt", "S", "T", "D"]} {
}
""")
    naive = account_region(module, module.regions[0]).op_by_op
    assert naive is not None
    # transpose 96 + 96; matmul 64 + 96 + 48; mul 48 + 2 + 48; add reads its operand once, 48 + 48
    assert (naive.nodes, naive.read, naive.written) == (4, 96 + 160 + 50 + 48, 96 + 48 + 48 + 48)
    assert naive.layout == 192


def test_a_size_that_only_a_reshape_made_follows_from_the_number_of_elements() -> None:
    """The export of `[-1, s, 16]` has a size that nothing else says."""
    module = parse_module("""
graph @g(%K: tensor<(b)x4x(s)x16xfp32>, %n: tensor<3xi64>, %m: tensor<4xi64>) {
  %flat = reshape %K, %n : tensor<(unk__7)x(s)x16xfp32>
  %back = reshape %flat, %m : tensor<(b)x4x(s)x16xfp32>
  %odd = reshape %flat, %n : tensor<(unk__8)x(unk__9)xfp32>
  return %back, %odd
}
execution @r(%K: tensor<(b)x4x(s)x16xfp32>) -> (%back: tensor<(b)x4x(s)x16xfp32>)
    attributes {graph = @g, nodes = ["flat", "back", "odd"]} {
}
""")
    naive = account_region(module, module.regions[0]).op_by_op
    assert naive is not None
    assert str(naive.written) == "512*b*s + 4*unk__8*unk__9"
    given = account_region(module, module.regions[0], {"unk__7": 5, "s": 1}).op_by_op
    assert given is not None
    assert str(given.written) == "4*unk__8*unk__9 + 256*b + 320"


def test_design_notes_tile() -> None:
    """Shared 32 KiB: Q 16, K 8, V 8. Registers: score 32 KiB, acc 32 KiB, max and sum 1 KiB."""
    module = build_attention_module()
    (nest,) = account_region(module, module.regions[0]).nests
    kib = {name: size / 1024 for name, size in nest.live.bytes.items() if isinstance(size, int)}
    assert kib == {
        "Q_tile": 16, "K_tile": 8, "V_tile": 8,
        "score_frag": 32, "output_acc": 32, "softmax_max": 0.5, "softmax_sum": 0.5,
    }  # fmt: skip
    assert nest.live.peak == {"shared": 32 << 10, "register": 65 << 10}


@pytest.mark.parametrize(
    ("dim", "tile_m", "tile_n", "kib"), [(64, 128, 128, 48), (128, 128, 64, 64), (256, 128, 64, 128), (256, 64, 64, 96)]
)
def test_footprint_of_flash_attention_2(dim: int, tile_m: int, tile_n: int, kib: int) -> None:
    """(tile_m + 2 tile_n) * d * 2 bytes of shared memory."""
    module = attention("", 1024, 1024, dim, tile_m=tile_m, tile_n=tile_n)
    assert account_region(module, module.regions[0]).live("shared") == kib << 10


def test_grouped_queries_read_kv_for_each_head_but_need_it_once() -> None:
    layouts = ("b (h g) q d", "b h k d", "b h k e", "b (h g) q e")
    shapes = ("2x6x32x16xfp16", "2x3x48x16xfp16", "2x3x48x8xfp16", "2x6x32x8xfp16")
    module = lowered(attention_text(*shapes, layouts), 16, 16)
    account = account_region(module, module.regions[0])
    assert account.streaming is not None
    heads, q, kv, o = 2 * 6, 32 * 16 * 2, 48 * (16 + 8) * 2, 32 * 8 * 2
    assert account.streaming.read == heads * (q + 2 * kv)
    assert account.streaming.written == heads * o
    assert account.compulsory.read == heads * q + 2 * 3 * kv


def test_mask_and_bias_tiles_with_broadcast_axes() -> None:
    """A bias [h, q, k] is loaded a tile a step; a mask [b, k] one row of it; a bias [q] once a query tile."""
    modifiers = (
        '{op = "add", operand = "bias", layout = "h q k"}, {op = "add", operand = "rows", layout = "q 1"}, '
        '{op = "where", operand = "keep", layout = "b 1 1 k", keep = true, fill = -inf}'
    )
    operands = ", %bias: tensor<3x40x50xfp32>, %rows: tensor<40x1xfp32>, %keep: tensor<2x1x1x50xi1>"
    module = attention("2x3x", 40, 50, 8, modifiers, tile_m=16, tile_n=16, operands=operands)
    account = account_region(module, module.regions[0])
    (nest,) = account.nests
    moved = {move.tensor: nest.totals.moved[move.node.name] for move in nest.moves}
    assert moved["bias"] == 2 * 3 * 40 * 50 * 4
    assert moved["rows"] == 2 * 3 * 40 * 4
    assert moved["keep"] == 2 * 3 * 3 * 50 * 1
    assert account.compulsory.read == (2 * 3 * 40 * 8 + 2 * 2 * 3 * 50 * 8) * 2 + 3 * 40 * 50 * 4 + 40 * 4 + 2 * 50


def test_compulsory_leaves_out_keys_that_no_row_may_see() -> None:
    """Causal with 10 rows and 4096 keys: keys 10 ... 4095 are never needed."""
    module = attention("", 10, 4096, 64, CAUSAL)
    account = account_region(module, module.regions[0])
    assert account.streaming is not None
    assert account.compulsory.read == 10 * 64 * 2 * 3
    assert account.streaming.read == 10 * 64 * 2 + 64 * 64 * 2 * 2


def test_a_chain_of_modifiers_needs_one_score_tile() -> None:
    """Each step writes over the scores that it read; the bias is widened in registers, and takes the place of K."""
    modifiers = '{op = "softcap", value = 5.0}, {op = "add", operand = "bias", layout = "q k"}, {op = "tanh"}'
    module = attention("", 256, 256, 64, modifiers, operands=", %bias: tensor<256x256xfp16>")
    (nest,) = account_region(module, module.regions[0]).nests
    score, acc, state, wide_bias = 128 * 64 * 4, 128 * 64 * 4, 2 * 128 * 4, 128 * 64 * 4
    assert nest.live.peak["register"] == score + acc + state + wide_bias
    q, k, v, bias = 128 * 64 * 2, 64 * 64 * 2, 64 * 64 * 2, 128 * 64 * 2
    assert nest.live.peak["shared"] == max(q + k + v, q + v + bias)
    assert nest.live.at_peak["shared"] == ["Q_tile", "V_tile", "bias_tile"]


def test_not_lowered_yet() -> None:
    text = attention_text(*["8x16xfp16"] * 4, ("q d", "k d", "k e", "q e"))
    module = parse_module(text)
    account = account_region(module, module.regions[0])
    assert account.streaming is None
    assert (account.compulsory.read, account.compulsory.written) == (3 * 256, 256)
