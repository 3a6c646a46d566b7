"""Formulas: how they print, and that their value is that of the arithmetic they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcir.analysis.memory.symbolic import (
    Number,
    ceil_div,
    clip,
    evaluate,
    floor_div,
    maximum,
    minimum,
    names_of,
    quotient,
    summation,
    symbol,
)  # fmt: skip

SEQ, HEADS = symbol("seq"), symbol("heads")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (SEQ * 2 + 3 * SEQ, "5*seq"),
        (SEQ * HEADS * SEQ - SEQ, "heads*seq^2 - seq"),
        (1 - SEQ, "1 - seq"),
        (-SEQ * 3, "-3*seq"),
        (SEQ - SEQ, "0"),
        (SEQ * 0 + 7, "7"),
        (ceil_div(SEQ, 128) * 128, "128*ceil(seq/128)"),
        (ceil_div(SEQ + 1, 4), "ceil((seq + 1)/4)"),
        (floor_div(2 * SEQ, 4), "floor((2*seq)/4)"),
        (minimum(SEQ, 64), "min(seq, 64)"),
        (maximum(0, SEQ - 5), "max(0, seq - 5)"),
        (clip(SEQ - 1, 0, HEADS), "clip(seq - 1, 0, heads)"),
        (clip(SEQ, 0, SEQ), "seq"),
        (summation(SEQ, lambda i: minimum(i, 4)), "sum(min(i, 4) for i < seq)"),
        (summation(SEQ, lambda i: 3), "3*seq"),
        (summation(4, lambda i: i * i), "14"),
        (symbol("past + 1") * 2, '2*"past + 1"'),
        (symbol("?q"), "?q"),
    ],
)
def test_text(number: Number, text: str) -> None:
    assert str(number) == text


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 9))
def test_value(seq: int, heads: int, tile: int) -> None:
    sizes = {"seq": seq, "heads": heads}
    assert evaluate((SEQ + 2) * (HEADS - 3) * SEQ, sizes) == (seq + 2) * (heads - 3) * seq
    assert evaluate(ceil_div(SEQ - 7, tile), sizes) == -(-(seq - 7) // tile)
    assert evaluate(floor_div(SEQ - 7, tile), sizes) == (seq - 7) // tile
    assert evaluate(minimum(SEQ, HEADS) + maximum(SEQ, HEADS), sizes) == seq + heads
    assert evaluate(clip(SEQ - 9, 0, HEADS), sizes) == max(0, min(seq - 9, heads))
    assert evaluate(summation(SEQ, lambda i: i * HEADS), sizes) == sum(i * heads for i in range(seq))


def test_a_dimension_may_be_called_i() -> None:
    """The index of a sum is no dimension."""
    number = summation(SEQ, lambda i: i + symbol("i"))
    assert evaluate(number, {"seq": 3, "i": 10}) == (0 + 10) + (1 + 10) + (2 + 10)
    assert names_of(number) == {"seq", "i"}


def test_a_size_without_value() -> None:
    with pytest.raises(KeyError):
        evaluate(SEQ, {})


@pytest.mark.parametrize(
    ("number", "by", "text"),
    [
        (64 * SEQ * HEADS, 16 * SEQ, "4*heads"),
        (SEQ * SEQ + 3 * SEQ, SEQ, "seq + 3"),
        (12, 4, "3"),
        (0, SEQ, "0"),
        (12, 5, "None"),
        (SEQ, HEADS, "None"),
        (SEQ, SEQ + 1, "None"),
        (SEQ, 0, "None"),
    ],
)
def test_quotient(number: Number, by: Number, text: str) -> None:
    assert str(quotient(number, by)) == text
