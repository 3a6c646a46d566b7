"""Modules for the tests of pictures: a small decoder of any number of layers, with the regions of its attentions."""

from __future__ import annotations

from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.streaming_lowering import run_streaming_lowering_pass

_HEAD = "graph @decoder(%x: tensor<1x16x256x64xfp16>, %w: tensor<64x64xfp16>) {"
_STATE, _SCORE = "tensor<1x16x256x64xfp16>", "tensor<1x16x256x256xfp16>"
_COVERED = ("Kt", "S", "scaled", "masked", "P", "O")


def decoder(layers: int) -> MCModule:
    """A decoder of `layers` layers of 15 nodes, each with a lowered causal attention region."""
    nodes, regions, last = [], [], "x"
    for at in range(layers):
        nodes += _layer(f"l{at}", last)
        regions.append(_region(f"l{at}"))
        last = f"l{at}.out"
    text = "\n".join([_HEAD, *nodes, f"  return %{last}", "}", *regions])
    return run_streaming_lowering_pass(parse_module(text))


def _layer(name: str, x: str) -> list[str]:
    n = f"%{name}."
    lines = [f"{n}norm = layer_norm %{x} : {_STATE}"]
    lines += [f"{n}{role} = matmul {n}norm, %w : {_STATE}" for role in "QKV"]
    lines += [
        f"{n}Kt = transpose {n}K {{perm = [0, 1, 3, 2]}} : tensor<1x16x64x256xfp16>",
        f"{n}S = matmul {n}Q, {n}Kt : {_SCORE}",
        f"{n}c = constant {{value = 0.125}} : tensor<fp16>",
        f"{n}scaled = mul {n}S, {n}c : {_SCORE}",
        f'{n}masked = mask {n}scaled {{kind = "causal", offset = 0}} : {_SCORE}',
        f"{n}P = softmax {n}masked : {_SCORE}",
        f"{n}O = matmul {n}P, {n}V : {_STATE}",
        f"{n}projected = matmul {n}O, %w : {_STATE}",
        f"{n}sum = add {n}projected, %{x} : {_STATE}",
        f"{n}up = matmul {n}sum, %w : {_STATE}",
        f'{n}act = gelu {n}up {{approximate = "tanh"}} : {_STATE}',
        f"{n}out = add {n}act, {n}sum : {_STATE}",
    ]
    return [f"  {line}" for line in lines]


def _region(name: str) -> str:
    names = ", ".join(f'"{name}.{node}"' for node in _COVERED)
    inputs = ", ".join(f"%{name}.{role}: {_STATE}" for role in "QKV")
    return f"""
execution @{name}.attention({inputs}) -> (%{name}.O: {_STATE})
    attributes {{pattern = "scaled_dot_product_attention", has_mask = true, graph = @decoder, q_name = "{name}.Q",
    k_name = "{name}.K", v_name = "{name}.V", o_name = "{name}.O", q_layout = "b h q d", k_layout = "b h k d",
    v_layout = "b h k e", o_layout = "b h q e", modifiers = [{{op = "mul", value = 0.125}},
    {{op = "mask", kind = "causal", offset = 0, fill = -inf}}], nodes = [{names}]}} {{
}}"""
