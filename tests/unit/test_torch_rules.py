"""The table and the rules of the torch import; nothing here needs torch."""

from __future__ import annotations

import math
from typing import Any

import pytest

from mcir.importers.call import Call, Size
from mcir.importers.onnx_view import KeepOpaque
from mcir.importers.torch_attention import attention
from mcir.importers.torch_layout import reshaped
from mcir.importers.torch_math import promoted
from mcir.importers.torch_table import ROWS, find_row
from mcir.types import TensorType
from mcir.values import MCValue


def value(*shape: Any, dtype: str = "fp32") -> MCValue:
    return MCValue("x", shape, dtype)


def ops(call: Call) -> list[str]:
    return [draft.op for draft in call.drafts if draft.op != "constant"]


def attend(**more: Any) -> Call:
    operands = {"query": value(2, 6, 5, 4), "key": value(2, 3, 7, 4), "value": value(2, 3, 7, 9)}
    return Call({**operands, **more}, [TensorType((2, 6, 5, 9), "fp32")])


@pytest.mark.parametrize(
    ("options", "chain"),
    [
        ({}, ["mul", "softmax"]),
        ({"is_causal": True}, ["mul", "mask", "softmax"]),
        ({"attn_mask": value(5, 7, dtype="i1")}, ["mul", "mask", "reduce_max", "equal", "softmax", "where"]),
        ({"attn_mask": value(5, 7)}, ["mul", "add", "reduce_max", "equal", "softmax", "where"]),
        ({"attn_mask": value(5, 7, dtype="fp16")}, ["mul", "cast", "add", "reduce_max", "equal", "softmax", "where"]),
    ],
)
def test_attention_is_written_out(options: dict[str, Any], chain: list[str]) -> None:
    call = attend(enable_gqa=True, **options)
    result = attention(call)
    assert isinstance(result, MCValue)
    assert (result.shape, result.dtype) == ((2, 6, 5, 9), "fp32")
    assert ops(call) == ["repeat", "repeat", "matmul", *chain, "matmul"]
    assert [draft.attrs for draft in call.drafts if draft.op == "repeat"] == [{"axis": 1, "count": 2}] * 2
    assert next(draft for draft in call.drafts if draft.op == "matmul").attrs == {"transpose_b": True}
    for mask in (draft for draft in call.drafts if draft.op == "mask"):
        kind = {"kind": "causal", "offset": 0} if "is_causal" in options else {"kind": "boolean"}
        assert mask.attrs == {**kind, "fill": -math.inf}


@pytest.mark.parametrize(("given", "scale"), [(None, 0.5), (0.3, 0.3), (1.0, 1.0)])
def test_the_scale_is_always_written(given: float | None, scale: float) -> None:
    call = attend(enable_gqa=True, scale=given)
    attention(call)
    assert [draft.attrs["value"] for draft in call.drafts if draft.op == "constant"] == [scale]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"dropout_p": 0.1}, "dropout is random"),
        ({"attn_mask": value(5, 7), "is_causal": True, "enable_gqa": True}, "both is_causal and a mask"),
        ({"query": value(2, 6, 5, "d")}, "the head size is known at run time only"),
        ({"query": value(2, "h", 5, 4), "enable_gqa": True}, "the numbers of heads are known at run time only"),
    ],
)
def test_attention_that_is_not_determined_stays_opaque(options: dict[str, Any], reason: str) -> None:
    heads = {"key": value(2, 6, 7, 4), "value": value(2, 6, 7, 9)} if "enable_gqa" not in options else {}
    with pytest.raises(KeepOpaque, match=reason):
        attention(attend(**{**heads, **options}))


@pytest.mark.parametrize(
    ("items", "dtype"),
    [
        ([value(2, dtype="fp16"), value(2)], "fp32"),
        ([value(2, dtype="fp16"), value()], "fp16"),
        ([value(2, dtype="fp16"), value(2, dtype="bf16")], "fp32"),
        ([value(2, dtype="i64"), value()], "fp32"),
        ([value(2, dtype="i32"), value(dtype="i64")], "i32"),
        ([value(2, dtype="u8"), value(2, dtype="i8")], "i16"),
        ([value(2, dtype="i1"), 3], "i64"),
        ([value(2, dtype="i64"), 0.5], "fp32"),
        ([value(2, dtype="fp64"), 0.5], "fp64"),
        ([value(2, dtype="i8"), True], "i8"),
        ([value(2, dtype="i1"), True], "i1"),
    ],
)
def test_common_element_type(items: list[Any], dtype: str) -> None:
    assert promoted(items) == promoted(items[::-1]) == dtype


@pytest.mark.parametrize(
    ("before", "after", "attrs"),
    [
        ((6, 4), (2, 3, 4), {"shape": [2, 3, 4]}),
        (("n", 4), ("n", 2, 2), {"shape": [0, 2, 2]}),
        (("n", "m", 4), ("m*n", 4), {"shape": [-1, 4]}),
        ((0, 4), (0, 2, 2), {"shape": [0, 2, 2], "allow_zero": True}),
    ],
)
def test_sizes_of_a_reshape_are_attributes_where_they_can_be(before: Any, after: Any, attrs: dict[str, Any]) -> None:
    call = Call({}, [])
    reshaped(call, value(*before), after)
    assert [draft.attrs for draft in call.drafts] == [attrs]


def test_other_sizes_of_a_reshape_are_an_operand() -> None:
    call = Call({}, [])
    sizes = [Size(value(1, dtype="i64"), name) for name in ("a", "b")]
    made = reshaped(call, value("b", "a", 4), ("a", "b", 4), [*sizes, 4])
    assert ops(call) == ["concat", "reshape"]
    assert call.drafts[-1].operands[1].shape == (3,)
    assert len(made.shape) == 3
    with pytest.raises(KeepOpaque, match="known at run time only"):
        reshaped(Call({}, []), value("b", "a", 4), ("a", "b", 4))


def test_each_operator_has_one_row() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)


def test_rows_are_found_by_overload_first() -> None:
    assert find_row("aten.add.Scalar") is find_row("aten.add.Tensor") is find_row("aten.add")
    assert find_row("aten.view.default") is not None
    assert find_row("aten.view.dtype") is None
    assert find_row("aten.convolution.default") is None
