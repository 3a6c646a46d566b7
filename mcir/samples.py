"""The design note's attention, twice: as a semantic graph, and built by hand as a lowered region.

Both are causal attention of one head: Q, K, V and O are [1024, 64] in fp16 and no scale is applied.
"""

from __future__ import annotations

from mcir.builder import MCIRBuilder
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.regions import ExecutionRegion, TileRegion
from mcir.values import MCValue

SEQUENCE = 1024  # rows of Q, K, V and O
HEAD_DIM = 64  # their columns
TILE_M, TILE_N, TILE_K = 128, 64, 64


def build_attention_semantic_graph() -> SemanticGraph:
    """The graph that the design note's flow (section 18) begins with.

    Five nodes: transpose, matmul, a causal mask, softmax, matmul; `examples/attention.mcir` is its text.
    """
    b = MCIRBuilder()
    q, k, v = (b.value(name, (SEQUENCE, HEAD_DIM), "fp16") for name in "QKV")
    kt = b.value("Kt", (HEAD_DIM, SEQUENCE), "fp16")
    s, m, p = (b.value(name, (SEQUENCE, SEQUENCE), "fp16") for name in "SMP")
    o = b.value("O", (SEQUENCE, HEAD_DIM), "fp16")
    nodes = [
        b.node("Kt", "transpose", [k], [kt], perm=[1, 0]),
        b.node("S", "matmul", [q, kt], [s]),
        b.node("M", "mask", [s], [m], kind="causal", offset=0),
        b.node("P", "softmax", [m], [p], axis=-1),
        b.node("O", "matmul", [p, v], [o]),
    ]
    return SemanticGraph("attention", inputs=[q, k, v], nodes=nodes, outputs=[o])


def build_attention_module() -> MCModule:
    """The lowered attention built by hand (design note, section 11; milestone A).

    A complete module: it passes the verifier and its dump is that of section 12, byte for byte.
    """
    b = MCIRBuilder()
    region = b.execution_region("attention_region")
    region.inputs = [b.value(name, (SEQUENCE, HEAD_DIM), "fp16") for name in "QKV"]
    region.outputs = [b.value("O", (SEQUENCE, HEAD_DIM), "fp16")]
    _describe(region)
    stream = b.streaming_region("attention_stream", stream_axis="sequence")
    stream.subregions.append(_tile())
    region.subregions.append(stream)
    return MCModule(regions=[region])


def _describe(region: ExecutionRegion) -> None:
    region.attrs.update(
        pattern="scaled_dot_product_attention", has_mask=True, q_name="Q", k_name="K", v_name="V", o_name="O"
    )


def _tile() -> TileRegion:
    b = MCIRBuilder()
    tile = b.tile_region("q_tile_loop", TILE_M, TILE_N, TILE_K)
    q, k, v, score, top, total, acc, out = _tile_values()
    tile.nodes = [
        b.node("load_q", "load_tile", outputs=[q], source="Q"),
        b.node("load_k", "load_tile", outputs=[k], source="K"),
        b.node("load_v", "load_tile", outputs=[v], source="V"),
        b.node("score", "compute_score", [q, k], [score], scale=1.0, mask="causal", offset=0),
        b.node("softmax", "update_softmax", [score], [top, total]),
        b.node("accumulate", "accumulate_output", [score, v], [acc]),
        b.node("store_o", "store_tile", [acc], [out], target="O"),
    ]
    return tile


def _tile_values() -> list[MCValue]:
    b = MCIRBuilder()
    return [
        b.value("Q_tile", (TILE_M, HEAD_DIM), "fp16", residency="shared"),
        b.value("K_tile", (TILE_N, HEAD_DIM), "fp16", residency="shared"),
        b.value("V_tile", (TILE_N, HEAD_DIM), "fp16", residency="shared"),
        b.value("score_frag", (TILE_M, TILE_N), "fp32", residency="register"),
        b.value("softmax_max", (TILE_M,), "fp32", residency="register"),
        b.value("softmax_sum", (TILE_M,), "fp32", residency="register"),
        b.value("output_acc", (TILE_M, HEAD_DIM), "fp32", residency="register"),
        b.value("O_tile", (TILE_M, HEAD_DIM), "fp16"),
    ]
