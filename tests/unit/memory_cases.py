"""Attention regions of given shapes, lowered, for the tests of the memory account."""

from __future__ import annotations

from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.streaming_lowering import StreamingOptions, lower_attention_to_streaming

CAUSAL = '{op = "mask", kind = "causal", offset = 0, fill = -inf}'

# Layouts of Q, K, V and O by rank.
_LAYOUTS = {
    2: ("q d", "k d", "k e", "q e"),
    3: ("h q d", "h k d", "h k e", "h q e"),
    4: ("b h q d", "b h k d", "b h k e", "b h q e"),
}


def causal(offset: int) -> str:
    """A causal mask as a modifier."""
    return f'{{op = "mask", kind = "causal", offset = {offset}, fill = -inf}}'


def window(left: int, right: int, offset: int = 0) -> str:
    """A window mask as a modifier."""
    return f'{{op = "mask", kind = "window", left = {left}, right = {right}, offset = {offset}, fill = -inf}}'


def attention_text(
    q: str, k: str, v: str, o: str, layouts: tuple[str, ...], modifiers: str = "", operands: str = "", name: str = "r"
) -> str:
    """An attention region as text; shapes as in types, with the element type: `8x64xfp16`."""
    names = ", ".join(f'{role}_layout = "{layout}"' for role, layout in zip("qkvo", layouts, strict=True))
    return f"""
execution @{name}(%Q: tensor<{q}>, %K: tensor<{k}>, %V: tensor<{v}>{operands}) -> (%O: tensor<{o}>)
    attributes {{pattern = "scaled_dot_product_attention", has_mask = false, q_name = "Q", k_name = "K", v_name = "V",
    o_name = "O", {names}, modifiers = [{modifiers}]}} {{
}}
"""


def lowered(text: str, tile_m: int = 128, tile_n: int = 64, *, lse: bool = False) -> MCModule:
    """The module of one attention region, lowered."""
    module = parse_module(text)
    lower_attention_to_streaming(module.regions[0], StreamingOptions(tile_m=tile_m, tile_n=tile_n, lse=lse))
    return module


def attention(
    batch: str, queries: object, keys: object, dim: int, modifiers: str = "", *,
    tile_m: int = 128, tile_n: int = 64, lse: bool = False, dtype: str = "fp16", operands: str = "",
) -> MCModule:  # fmt: skip
    """Attention with Q [batch, queries, dim] and K, V [batch, keys, dim]; `batch` is like "64x16x"."""
    q, k = (f"{batch}{rows}x{dim}x{dtype}" for rows in (queries, keys))
    text = attention_text(q, k, k, q, _LAYOUTS[batch.count("x") + 2], modifiers, operands)
    return lowered(text, tile_m, tile_n, lse=lse)
