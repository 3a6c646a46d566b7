"""The walk, the closed form and a count step by step agree over random shapes, tiles and masks; so do the bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcir.analysis.axes import tile_axes
from mcir.analysis.memory import account_region
from mcir.analysis.memory.account import RegionAccount
from mcir.analysis.memory.formulas import closed_form
from mcir.analysis.memory.symbolic import evaluate
from mcir.analysis.phases import Nest, Phase
from mcir.analysis.visibility import visible_tiles
from mcir.module import MCModule
from mcir.types import DTYPES
from tests.unit.memory_cases import attention, causal, window

SIZE = st.integers(1, 40)
TILE = st.integers(1, 17)
MASKS = st.lists(
    st.one_of(
        st.integers(-45, 45).map(causal),
        st.builds(window, st.integers(-1, 30), st.integers(-1, 30), st.integers(-20, 20)),
    ),
    max_size=2,
)
BIAS = st.sampled_from(["", "q k", "1 k", "q 1", "h q k", "1 1"])


def _module(
    queries: object, keys: object, masks: list[str], bias: str, tile_m: int, tile_n: int, heads: object = 3
) -> MCModule:  # fmt: skip
    sizes = {"q": queries, "k": keys, "h": heads, "1": 1}
    shape = "x".join(str(sizes[axis]) for axis in bias.split())
    steps = [f'{{op = "add", operand = "bias", layout = "{bias}"}}'] if bias else []
    operands = f", %bias: tensor<{shape}xfp32>" if bias else ""
    return attention(
        f"{heads}x", queries, keys, 8, ", ".join([*steps, *masks]), tile_m=tile_m, tile_n=tile_n, lse=True,
        operands=operands,
    )  # fmt: skip


def _account(module: MCModule, **dims: int) -> RegionAccount:
    return account_region(module, module.regions[0], dims)


def _step_by_step(nest: Nest, sizes: dict[str, int], tile_m: int, tile_n: int) -> tuple[dict[str, int], int, int]:
    """(bytes of each move, steps, positions visited) by running through every tile of every head."""
    tensors = {value.name: value for value in [*nest.region.inputs, *nest.region.outputs]}
    moved: dict[str, int] = dict.fromkeys(nest.layouts, 0)
    steps = positions = 0

    def move(phase: Phase, rows: range, cols: range) -> None:
        here = {**sizes, "q": len(rows), "k": len(cols)}
        for node in nest.nodes(phase):
            layout = nest.layouts.get(node.name)
            if layout is not None:
                dtype = tensors[str(node.attrs.get("source", node.attrs.get("target")))].dtype
                axes = ("q",) if node.op == "store_lse" else tile_axes(layout)
                elements = 1
                for label in axes:
                    elements *= here[label] if label in layout.labels else 1
                moved[node.name] += elements * DTYPES[dtype].bytes

    for _ in range(sizes["h"]):
        for start in range(0, sizes["q"], tile_m):
            rows = range(start, min(sizes["q"], start + tile_m))
            move(Phase.PROLOGUE, rows, range(0))
            for tile in visible_tiles(nest, rows, sizes["k"], tile_n):
                cols = range(tile * tile_n, min(sizes["k"], (tile + 1) * tile_n))
                move(Phase.BODY, rows, cols)
                steps += 1
                positions += len(rows) * len(cols)
            move(Phase.EPILOGUE, rows, range(0))
    return moved, steps, positions


@given(SIZE, SIZE, MASKS, BIAS, TILE, TILE)
def test_walk_equals_closed_form_and_a_count_step_by_step(
    queries: int, keys: int, masks: list[str], bias: str, tile_m: int, tile_n: int
) -> None:
    account = _account(_module(queries, keys, masks, bias, tile_m, tile_n))
    (nest,) = account.nests
    totals = nest.totals
    sizes = {"q": queries, "k": keys, "d": 8, "e": 8, "h": 3}
    moved, steps, positions = _step_by_step(nest.nest, sizes, nest.tile_m, nest.tile_n)
    assert (totals.moved, totals.steps, totals.flops) == (moved, steps, 2 * 16 * positions)
    assert closed_form(nest.nest, nest.moves, account.sizes, nest.spans[0], nest.tile_m, nest.tile_n) == totals


@given(SIZE, SIZE, MASKS, BIAS, TILE, TILE)
def test_streaming_never_moves_less_than_the_minimum(
    queries: int, keys: int, masks: list[str], bias: str, tile_m: int, tile_n: int
) -> None:
    account = _account(_module(queries, keys, masks, bias, tile_m, tile_n))
    assert account.streaming is not None
    assert account.streaming.read >= account.compulsory.read
    assert account.streaming.written >= account.compulsory.written


@given(SIZE, SIZE, MASKS, TILE, TILE)
def test_the_minimum_counts_what_some_row_may_see(
    queries: int, keys: int, masks: list[str], tile_m: int, tile_n: int
) -> None:
    account = _account(_module(queries, keys, masks, "q k", tile_m, tile_n))
    (span,) = account.nests[0].spans
    kept = {
        (row, col)
        for row in range(queries)
        for col in range(keys)
        if (span.low is None or col >= row + span.low) and (span.high is None or col < row + span.high)
    }
    seen = {col for _, col in kept}
    assert account.compulsory.read == 3 * queries * 8 * 2 + 2 * 3 * len(seen) * 8 * 2 + 4 * len(kept)


@given(SIZE, SIZE, st.integers(-45, 45), BIAS, TILE, TILE)
def test_a_causal_mask_never_adds_traffic(
    queries: int, keys: int, offset: int, bias: str, tile_m: int, tile_n: int
) -> None:
    masked = _account(_module(queries, keys, [causal(offset)], bias, tile_m, tile_n))
    full = _account(_module(queries, keys, [], bias, tile_m, tile_n))
    assert masked.streaming is not None and full.streaming is not None
    assert masked.streaming.total <= full.streaming.total
    assert masked.steps <= full.steps == full.all_steps == masked.all_steps
    assert masked.compulsory.total <= full.compulsory.total


@given(SIZE, SIZE, MASKS, BIAS, TILE, TILE)
def test_a_formula_gives_what_the_walk_gives(
    queries: int, keys: int, masks: list[str], bias: str, tile_m: int, tile_n: int
) -> None:
    """Named sizes make formulas; under numbers they come to the account of those numbers."""
    module = _module("(rows)", "(cols)", masks, bias, tile_m, tile_n, "(heads)")
    dims = {"rows": queries, "cols": keys, "heads": 3}
    formula, number = _account(module), _account(module, **dims)
    assert formula.unknown() and not number.unknown()
    assert formula.streaming is not None and number.streaming is not None
    for left, right in (
        (formula.streaming.read, number.streaming.read), (formula.streaming.written, number.streaming.written),
        (formula.compulsory.read, number.compulsory.read), (formula.steps, number.steps),
        (formula.all_steps, number.all_steps), (formula.flops, number.flops),
    ):  # fmt: skip
        assert evaluate(left, dims) == right
