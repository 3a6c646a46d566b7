"""Spellings that broke the detector once: scores used twice by one node, counts that wrap, scales after masks."""

from __future__ import annotations

import pytest

from mcir.interpreter.check import check_region
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.attention_pattern import AttentionPattern
from mcir.passes.base import Remark
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.verifier import check_module

_HEAD = """graph @g(%Q: tensor<5x4xfp32>, %K: tensor<{k}x4xfp32>, %V: tensor<{k}x3xfp32>, %M: tensor<5x{k}xi1>) {{
  %S = matmul %Q, %K {{transpose_b = true}} : tensor<5x{k}xfp32>
"""
_TAIL = "  %O = matmul %P, %V : tensor<5x3xfp32>\n  return %O\n}\n"


def _detected(body: str, keys: int = 7) -> tuple[MCModule, list[Remark]]:
    text = _HEAD.format(k=keys) + body.replace("5xK", f"5x{keys}") + _TAIL
    detection = AttentionPattern()
    return detection(parse_module(text)), detection.remarks


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "min", "max", "pow"])
def test_scores_against_themselves_are_no_modifier(op: str) -> None:
    """The region would take the scores, which it never stores, as an operand."""
    body = f"  %T = {op} %S, %S : tensor<5xKxfp32>\n  %P = softmax %T {{axis = -1}} : tensor<5xKxfp32>\n"
    module, (remark,) = _detected(body)
    assert module.regions == []
    assert (remark.status, remark.rule, remark.node) == ("declined", "single-use", "T")


def test_neither_of_two_products_may_be_an_output() -> None:
    """Whichever is taken as the scores, it is needed outside."""
    body = (
        "  %S2 = matmul %Q, %K {transpose_b = true} : tensor<5xKxfp32>\n  %T = add %S, %S2 : tensor<5xKxfp32>\n"
        "  %P = softmax %T {axis = -1} : tensor<5xKxfp32>\n"
    )
    text = (_HEAD.format(k=7) + body.replace("5xK", "5x7") + _TAIL).replace("return %O", "return %O, %S, %S2")
    detection = AttentionPattern()
    assert detection(parse_module(text)).regions == []
    assert [remark.rule for remark in detection.remarks] == ["single-use"]


@pytest.mark.parametrize(("step", "scale"), [("mask", 0.5), ("where", 0.5)])
def test_a_factor_after_a_mask_counts_into_the_scale(step: str, scale: float) -> None:
    masks = {
        "mask": '  %T = mask %S {kind = "causal", offset = 0, fill = -10000.0} : tensor<5xKxfp32>\n',
        "where": "  %f = constant {value = -10000.0} : tensor<fp32>\n  %T = where %M, %S, %f : tensor<5xKxfp32>\n",
    }
    body = (
        masks[step] + "  %c = constant {value = 0.5} : tensor<fp32>\n  %U = mul %T, %c : tensor<5xKxfp32>\n"
        "  %P = softmax %U {axis = -1} : tensor<5xKxfp32>\n"
    )
    module, _ = _detected(body)
    (region,) = module.regions
    assert region.attrs["scale"] == scale
    check_module(module)
    lowered = StreamingLowering()(module)
    result = check_region(lowered, lowered.regions[0])
    assert result.status == "proved", str(result)


@pytest.mark.parametrize(("dtype", "compare", "keys", "formed"), [
    ("i8", "greater", 200, False), ("u8", "not_equal", 256, False), ("i32", "greater", 200, True),
    ("fp16", "greater", 200, True),
])  # fmt: skip
def test_a_count_of_live_keys_that_wraps_is_no_guard(dtype: str, compare: str, keys: int, formed: bool) -> None:
    body = (
        "  %f = constant {value = -inf} : tensor<fp32>\n  %z = constant {value = 0.0} : tensor<fp32>\n"
        f"  %n = constant {{value = {'0.0' if dtype.startswith('fp') else 0}}} : tensor<{dtype}>\n"
        "  %T = where %M, %S, %f : tensor<5xKxfp32>\n  %R = softmax %T {axis = -1} : tensor<5xKxfp32>\n"
        f"  %C = cast %M : tensor<5xKx{dtype}>\n  %N = reduce_sum %C {{axes = [-1]}} : tensor<5x1x{dtype}>\n"
        f"  %A = {compare} %N, %n : tensor<5x1xi1>\n  %P = where %A, %R, %z : tensor<5xKxfp32>\n"
    )
    module, remarks = _detected(body, keys)
    assert [remark.status for remark in remarks] == ["formed" if formed else "declined"]
    assert [region.attrs["dead_rows"] for region in module.regions] == (["zero"] if formed else [])


@pytest.mark.parametrize("factor", ["inf", "-inf", "nan"])
def test_a_scale_that_is_not_finite_is_declined(factor: str) -> None:
    """The verifier refuses such a region."""
    body = (
        f"  %c = constant {{value = {factor}}} : tensor<fp32>\n  %T = mul %S, %c : tensor<5xKxfp32>\n"
        "  %P = softmax %T {axis = -1} : tensor<5xKxfp32>\n"
    )
    module, (remark,) = _detected(body)
    assert module.regions == []
    assert (remark.rule, remark.node) == ("score-chain", "T")


@pytest.mark.parametrize("factor", ["1e30", "1e-30"])
def test_factors_that_fp32_cannot_hold_as_one_are_declined(factor: str) -> None:
    body = (
        f"  %c = constant {{value = {factor}}} : tensor<fp32>\n  %T = mul %S, %c : tensor<5xKxfp32>\n"
        "  %U = mul %T, %c : tensor<5xKxfp32>\n  %P = softmax %U {axis = -1} : tensor<5xKxfp32>\n"
    )
    module, (remark,) = _detected(body)
    assert module.regions == []
    assert remark.rule == "scale"


@pytest.mark.parametrize("op", ["repeat", "tile"])
def test_keys_that_stand_twice_are_kept_as_they_are(op: str) -> None:
    attrs = "{axis = 1, count = 2}" if op == "repeat" else "{repeats = [1, 2, 1]}"
    text = f"""graph @g(%Q: tensor<3x5x4xfp32>, %K: tensor<3x4x4xfp32>, %V: tensor<3x4x2xfp32>) {{
  %k = {op} %K {attrs} : tensor<3x8x4xfp32>
  %v = {op} %V {attrs} : tensor<3x8x2xfp32>
  %S = matmul %Q, %k {{transpose_b = true}} : tensor<3x5x8xfp32>
  %P = softmax %S {{axis = -1}} : tensor<3x5x8xfp32>
  %O = matmul %P, %v : tensor<3x5x2xfp32>
  return %O
}}"""
    module = StreamingLowering()(AttentionPattern()(parse_module(text)))
    (region,) = module.regions
    assert (region.attrs["k_name"], region.attrs["v_name"]) == ("k", "v")
    assert check_region(module, region).status == "proved"
