"""Masks by position: causal or a window only where direction, axes, offset and constants are proved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mcir.interpreter.check import check_region
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.values import MCValue
from tests.unit.attention_graphs import INF, Writer, detected

DISTINCT = {"b": 2, "h": 2, "q": 5, "k": 7, "d": 4, "e": 3}
EQUAL = dict.fromkeys(DISTINCT, 4)

# The mask of a case: a boolean that is true where scores stay. Expected: attributes of the proved mask, or None.
Proof = dict[str, Any] | None
PROVED: dict[str, tuple[Callable[[Writer], MCValue], Callable[[int, int], Proof]]] = {}
UNPROVED: dict[str, Callable[[Writer], MCValue]] = {}


def proved(expect: Callable[[int, int], Proof]) -> Callable[[Any], Any]:
    def enter(build: Callable[[Writer], MCValue]) -> Callable[[Writer], MCValue]:
        PROVED[build.__name__] = (build, expect)
        return build

    return enter


def unproved(build: Callable[[Writer], MCValue]) -> Callable[[Writer], MCValue]:
    UNPROVED[build.__name__] = build
    return build


def causal(offset: int) -> Proof:
    return {"kind": "causal", "offset": offset}


def window(left: int, right: int, offset: int = 0) -> Proof:
    return {"kind": "window", "left": left, "right": right, "offset": offset}


@proved(lambda q, k: causal(0))
def rows_at_least_columns(w: Writer) -> MCValue:
    return w.op("greater_equal", *w.rows_and_columns())


@proved(lambda q, k: causal(0))
def columns_less_than_rows_plus_one(w: Writer) -> MCValue:
    rows, columns = w.rows_and_columns()
    return w.op("less", columns, w.op("add", rows, w.const(1, "i64")))


@proved(lambda q, k: causal(-1))
def strictly_below_the_diagonal(w: Writer) -> MCValue:
    return w.op("greater", *w.rows_and_columns())


@proved(lambda q, k: causal(0))
def not_above(w: Writer) -> MCValue:
    return w.op("not", w.op("less", *w.rows_and_columns()))


@proved(lambda q, k: window(0, -1))
def the_wrong_direction_is_no_causal_mask(w: Writer) -> MCValue:
    return w.op("less_equal", *w.rows_and_columns())


@proved(lambda q, k: causal(k - q))
def last_row_sees_the_last_column(w: Writer) -> MCValue:
    rows, columns = w.rows_and_columns()
    q, k = w.sizes["q"], w.sizes["k"]
    return w.op("less_equal", columns, w.op("add", rows, w.const(k - q, "i64")))  # type: ignore[operator]


@proved(lambda q, k: causal(0))
def lower_triangle_of_ones(w: Writer) -> MCValue:
    ones = w.op("full", to=(w.dims("q k"), "fp32"), value=1.0)
    return w.cast(w.op("trilu", ones, upper=False), "i1")


@proved(lambda q, k: causal(2))
def complement_of_an_upper_triangle(w: Writer) -> MCValue:
    ones = w.const(True, "i1", w.dims("1 1 q k"))
    return w.op("not", w.op("trilu", ones, w.const(3, "i64"), upper=True))


@proved(lambda q, k: causal(0))
def running_sums_of_ones(w: Writer) -> MCValue:
    ones = w.const(1, "i64", w.dims("q k"))
    return w.op("greater_equal", w.op("cumsum", ones, axis=0), w.op("cumsum", ones, axis=1))


@proved(lambda q, k: causal(1))
def exclusive_against_inclusive_sums(w: Writer) -> MCValue:
    ones = w.const(1, "i64", w.dims("q k"))
    return w.op("less_equal", w.op("cumsum", ones, axis=-1, exclusive=True), w.op("cumsum", ones, axis=0))


@proved(lambda q, k: causal(0))
def iota_over_four_axes(w: Writer) -> MCValue:
    dims = w.dims("1 1 q k")
    return w.op("greater_equal", w.op("iota", to=(dims, "i32"), axis=2), w.op("iota", to=(dims, "i32"), axis=3))


@proved(lambda q, k: causal(0))
def positions_in_floats_and_transposed(w: Writer) -> MCValue:
    columns, rows = w.positions(w.sizes["k"], 0), w.positions(w.sizes["q"], 1)
    return w.transposed(w.op("less_equal", w.cast(columns, "fp32"), w.cast(rows, "fp32")))


@proved(lambda q, k: causal(0))
def corner_of_a_large_triangle(w: Writer) -> MCValue:
    ones = w.op("full", to=((1, 1, 32, 32), "i1"), value=True)
    corner = w.op("slice", w.op("trilu", ones), starts=[0, 0], ends=list(w.dims("q k")), axes=[2, 3])
    return w.reshaped(corner, *w.dims("q k"))


@proved(lambda q, k: causal(3))
def rows_from_the_fourth_on(w: Writer) -> MCValue:
    ones = w.op("full", to=((32, 32), "i1"), value=True)
    q, k = w.dims("q k")
    return w.op("slice", w.op("trilu", ones), starts=[3, 0], ends=[3 + q, k])  # type: ignore[operator]


@proved(lambda q, k: causal(0))
def triangle_as_data(w: Writer) -> MCValue:
    q, k = w.dims("q k")
    data = [column <= row for row in range(q) for column in range(k)]  # type: ignore[arg-type]
    return w.const(data, "i1", (1, 1, q, k))


@proved(lambda q, k: causal(0))
def zeros_and_minus_infinity_compared(w: Writer) -> MCValue:
    bias = w.op("where", rows_at_least_columns(w), w.const(0.0), w.const(-INF))
    return w.op("equal", bias, w.const(0.0))


@proved(lambda q, k: window(2, 0))
def and_of_causal_and_reach(w: Writer) -> MCValue:
    rows, columns = w.rows_and_columns()
    recent = w.op("greater", columns, w.op("sub", rows, w.const(3, "i64")))
    return w.op("and", recent, w.op("less_equal", columns, rows))


@proved(lambda q, k: window(2, 2))
def distance_on_both_sides(w: Writer) -> MCValue:
    return w.op("less", w.op("abs", w.op("sub", *w.rows_and_columns())), w.const(3, "i64"))


@proved(lambda q, k: window(1, 0))
def product_of_two_triangles(w: Writer) -> MCValue:
    ones = w.const(1.0, "fp32", w.dims("q k"))
    lower, upper = w.op("trilu", ones), w.op("trilu", ones, k=-1, upper=True)
    return w.cast(w.op("mul", lower, upper), "i1")


@proved(lambda q, k: window(1, 0))
def neither_too_new_nor_too_old(w: Writer) -> MCValue:
    rows, columns = w.rows_and_columns()
    old = w.op("less", columns, w.op("sub", rows, w.const(1, "i64")))
    return w.op("not", w.op("or", w.op("greater", columns, rows), old))


@proved(lambda q, k: window(0, 0))
def the_diagonal(w: Writer) -> MCValue:
    return w.op("equal", *w.rows_and_columns())


@unproved
def only_columns_count(w: Writer) -> MCValue:
    return w.op("less", w.positions(w.sizes["k"], 1), w.const(3, "i64"))


@unproved
def every_second_column(w: Writer) -> MCValue:
    rows, columns = w.rows_and_columns()
    return w.op("less_equal", w.op("mul", columns, w.const(2, "i64")), rows)


@unproved
def an_input_is_and_ed_in(w: Writer) -> MCValue:
    return w.op("and", rows_at_least_columns(w), w.input("pad", "b 1 1 k", "i1"))


@unproved
def positions_are_an_input(w: Writer) -> MCValue:
    return w.op("greater_equal", w.input("positions", "q 1", "i64"), w.positions(w.sizes["k"], 1))


@unproved
def data_with_one_hole(w: Writer) -> MCValue:
    q, k = w.dims("q k")
    data = [column <= row for row in range(q) for column in range(k)]  # type: ignore[arg-type]
    data[2 * k] = False  # type: ignore[operator]
    return w.const(data, "i1", (q, k))


@unproved
def blocks(w: Writer) -> MCValue:
    rows, columns = w.rows_and_columns()
    two = w.const(2, "i64")
    return w.op("equal", w.op("div", rows, two), w.op("div", columns, two))


@unproved
def positions_that_a_type_would_round(w: Writer) -> MCValue:
    rows, columns = (w.cast(positions, "bf16") for positions in w.rows_and_columns())
    return w.op("greater_equal", rows, columns)


def attention(sizes: dict[str, int], build: Callable[[Writer], MCValue], spelling: str) -> Any:
    """The modifiers of an attention that masks by `build`, and the proof of its region."""
    w = Writer(sizes)
    q, k, v = w.qkv()
    keep = build(w)
    scores = w.scores(q, k)
    if spelling == "keep":
        masked = w.op("where", keep, scores, w.const(-INF))
    elif spelling == "drop":
        masked = w.op("where", w.op("not", keep), w.const(-1e9), scores)
    else:
        masked = w.op("add", scores, w.op("where", keep, w.const(0.0), w.const(-INF)))
    module, remarks = detected(w.module(w.attend(masked, v)))
    assert [remark.status for remark in remarks] == ["formed"]
    module = StreamingLowering(tile_m=3, tile_n=4)(module)
    return module.regions[0].attrs, check_region(module, module.regions[0], ("exact", "algebraic"))


@pytest.mark.parametrize("sizes", [DISTINCT, EQUAL], ids=["distinct", "equal"])
@pytest.mark.parametrize("spelling", ["keep", "drop"])
@pytest.mark.parametrize("name", PROVED)
def test_proved(name: str, spelling: str, sizes: dict[str, int]) -> None:
    build, expect = PROVED[name]
    attrs, result = attention(sizes, build, spelling)
    fill = -INF if spelling == "keep" else -1e9
    assert attrs["modifiers"] == [{"op": "mask", **(expect(sizes["q"], sizes["k"]) or {}), "fill": fill}]
    assert result.status == "proved", str(result)


@pytest.mark.parametrize("name", UNPROVED)
def test_not_proved(name: str) -> None:
    attrs, result = attention(EQUAL, UNPROVED[name], "keep")
    (entry,) = attrs["modifiers"]
    assert (entry["op"], entry["keep"], attrs["has_mask"]) == ("where", True, True)
    assert entry["operand"] in [*_names(UNPROVED[name])]
    assert result.status == "proved", str(result)


def _names(build: Callable[[Writer], MCValue]) -> list[str]:
    """The name of the mask that `build` gives in the graph of `attention`."""
    w = Writer(EQUAL)
    w.qkv()
    return [build(w).name]


def test_an_added_triangle_stays_an_operand() -> None:
    attrs, result = attention(DISTINCT, rows_at_least_columns, "add")
    (entry,) = attrs["modifiers"]
    assert (entry["op"], entry["layout"]) == ("add", "q k")
    assert result.status == "proved", str(result)


@pytest.mark.parametrize(
    ("offset", "dead_rows"), [(0, "none"), (-1, "nan"), (2, "none")], ids=["diagonal", "below", "above"]
)
def test_dead_rows_of_a_causal_mask(offset: int, dead_rows: str) -> None:
    w = Writer(DISTINCT)
    q, k, v = w.qkv()
    module, _ = detected(w.module(w.attend(w.op("mask", w.scores(q, k), kind="causal", offset=offset), v)))
    assert module.regions[0].attrs["dead_rows"] == dead_rows


def test_rows_beyond_a_window_are_dead() -> None:
    """Seven queries, four keys, one key each: rows five to seven see none."""
    w = Writer({**DISTINCT, "q": 7, "k": 4})
    q, k, v = w.qkv()
    masked = w.op("mask", w.scores(q, k), kind="window", left=0, right=0, offset=0)
    module, _ = detected(w.module(w.attend(masked, v)))
    assert module.regions[0].attrs["dead_rows"] == "nan"


def test_a_triangle_over_other_axes_is_no_mask_by_position() -> None:
    """Heads against keys: a band, but not one of query and key."""
    w = Writer(EQUAL)
    q, k, v = w.qkv()
    keep = w.op("greater_equal", w.positions(4, 0, rank=3), w.positions(4, 2, rank=3))
    module, _ = detected(w.module(w.attend(w.op("where", keep, w.scores(q, k), w.const(-INF)), v)))
    (entry,) = module.regions[0].attrs["modifiers"]
    assert (entry["op"], entry["layout"]) == ("where", "h 1 k")
