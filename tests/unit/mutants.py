"""Wrong lowerings: each computes something else than its graph on some data, and the proof must say so.

A mutant changes either the text of the lowered region (as a wrong pass would) or the meaning of a tile op (as wrong
generated code would). `kills` names the input family that showed it first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcir.nodes import MCNode
from mcir.ops.definition import EvalContext, lookup
from mcir.regions import Region

Meaning = Callable[..., Any]


@dataclass(frozen=True)
class Mutant:
    """A wrong lowering of one sample.

    edit: changes the lowered region. meanings: other meanings of ops. lse: the region stores the log-sum-exp too.
    kills: the input family that shows the difference.
    """

    name: str
    sample: str
    kills: str
    edit: Callable[[Region], None] | None = None
    meanings: dict[str, Meaning] | None = None
    lse: bool = False


def right(op: str) -> Meaning:
    """The meaning that the op's definition gives."""
    definition = lookup(op)
    assert definition is not None and definition.evaluate is not None
    return definition.evaluate


def nodes(region: Region) -> list[MCNode]:
    """The nodes of the region's tile, for an edit."""
    return region.subregions[0].subregions[0].nodes


def node(region: Region, name: str) -> MCNode:
    return next(found for found in nodes(region) if found.name == name)


def attr(name: str, **attrs: Any) -> Callable[[Region], None]:
    """An edit that sets attributes of the node `name`."""
    return lambda region: node(region, name).attrs.update(attrs)


def bypass(name: str) -> Callable[[Region], None]:
    """An edit that drops a step of the score chain: what read its result reads its score."""

    def edit(region: Region) -> None:
        gone = node(region, name)
        (result,) = gone.outputs
        kept = next(value for value in gone.inputs if value.shape == result.shape and value.dtype == result.dtype)
        _replace(region, gone, kept)

    return edit


def _replace(region: Region, gone: MCNode, kept: Any) -> None:
    nodes(region).remove(gone)
    for value in gone.inputs:
        value.consumers[:] = [name for name in value.consumers if name != gone.name]
    for reader in nodes(region):
        if any(value is gone.outputs[0] for value in reader.inputs):
            reader.inputs[:] = [kept if value is gone.outputs[0] else value for value in reader.inputs]
            kept.consumers.append(reader.name)


def move_last(*names: str) -> Callable[[Region], None]:
    """An edit that makes the named steps of the score chain the last ones before softmax, in this order."""

    def edit(region: Region) -> None:
        for name in names:
            moved = node(region, name)
            last = node(region, "softmax").inputs[0]
            source = next(value for value in moved.inputs if value.shape == last.shape and value.dtype == last.dtype)
            if moved.outputs[0] is last:
                continue
            for reader in nodes(region):
                reader.inputs[:] = [source if value is moved.outputs[0] else value for value in reader.inputs]
            moved.inputs[:] = [last if value is source else value for value in moved.inputs]
            for reader in (node(region, "softmax"), node(region, "accumulate")):
                reader.inputs[:] = [moved.outputs[0] if value is last else value for value in reader.inputs]
            held = nodes(region)
            held.remove(moved)
            held.insert(held.index(node(region, "softmax")), moved)

    return edit


def swap_sources(first: str, second: str) -> Callable[[Region], None]:
    def edit(region: Region) -> None:
        left, right_ = node(region, first), node(region, second)
        left.attrs["source"], right_.attrs["source"] = right_.attrs["source"], left.attrs["source"]

    return edit


def causal_lost(region: Region) -> None:
    del node(region, "score").attrs["mask"]
    region.attrs["has_mask"] = False


# Wrong meanings. Each restates the recurrence with one thing wrong.


def _step(ctx: EvalContext, score: Any) -> tuple[Any, Any, Any, Any, Any]:
    """(score with its tail masked, m, l, m', ms)."""
    score = np.where(ctx.cols < ctx.extra["keys"], score, -np.inf)
    before, total = ctx.extra["state"]
    after = np.maximum(before, score.max(axis=-1))
    return score, before, total, after, np.where(after == -np.inf, 0, after)


def no_rescale_of_sum(ctx: EvalContext, score: Any) -> Any:
    score, _, total, after, shift = _step(ctx, score)
    return after, total + ctx.exp(score - shift[..., None]).sum(axis=-1)


def no_rescale_of_output(ctx: EvalContext, score: Any, v: Any) -> Any:
    _, after = ctx.extra["weights"]
    ctx.extra["weights"] = (after, after)
    return right("accumulate_output")(ctx, score, v)


def rescale_twice(ctx: EvalContext, score: Any, v: Any) -> Any:
    before, after = ctx.extra["weights"]
    shift = np.where(after == -np.inf, 0, after)
    ctx.extra["state"] = ctx.extra["state"] * ctx.exp(before - shift)[..., None]
    return right("accumulate_output")(ctx, score, v)


def starts_at(lowest: float) -> Meaning:
    """m begins at a finite number instead of -inf."""

    def meaning(ctx: EvalContext, score: Any) -> Any:
        before, total = ctx.extra["state"]
        ctx.extra["state"] = (np.maximum(before, lowest), total)
        return right("update_softmax")(ctx, score)

    return meaning


def finite_for_infinite(op: str, sentinel: float) -> Meaning:
    """Masked scores become a finite number."""

    def meaning(ctx: EvalContext, score: Any, *rest: Any) -> Any:
        score = np.where(ctx.cols < ctx.extra["keys"], score, -np.inf)
        return right(op)(ctx, np.maximum(score, sentinel), *rest)

    return meaning


def maximum_of_tile(ctx: EvalContext, score: Any) -> Any:
    """m is the maximum of this tile alone."""
    score, before, total, _, _ = _step(ctx, score)
    after = score.max(axis=-1)
    shift = np.where(after == -np.inf, 0, after)
    return after, ctx.exp(before - shift) * total + ctx.exp(score - shift[..., None]).sum(axis=-1)


def unguarded_maximum(ctx: EvalContext, score: Any) -> Any:
    """-inf minus -inf is not looked after."""
    score, before, total, after, _ = _step(ctx, score)
    return after, ctx.exp(before - after) * total + ctx.exp(score - after[..., None]).sum(axis=-1)


def no_maximum(ctx: EvalContext, score: Any) -> Any:
    score, before, total, _, _ = _step(ctx, score)
    return np.zeros_like(np.broadcast_to(before, score.shape[:-1])), total + np.exp2(score).sum(axis=-1)


def sum_in_fp16(ctx: EvalContext, score: Any) -> Any:
    after, total = right("update_softmax")(ctx, score)
    return after, total.astype(np.float16).astype(total.dtype)


def sum_misses_first(ctx: EvalContext, score: Any) -> Any:
    """The first key tile is not counted in l."""
    after, total = right("update_softmax")(ctx, score)
    return after, total * 0 if int(ctx.cols[0]) == 0 else total


def weights_of_old_maximum(ctx: EvalContext, score: Any, v: Any) -> Any:
    before, _ = ctx.extra["weights"]
    ctx.extra["weights"] = (before, before)
    return right("accumulate_output")(ctx, score, v)


def base_two(op: str) -> Meaning:
    """exp2 without the factor log2(e) on the scores."""

    def meaning(ctx: EvalContext, *operands: Any) -> Any:
        ctx.exp = np.exp2
        return right(op)(ctx, *operands)

    return meaning


def unmasked_tail(op: str) -> Meaning:
    def meaning(ctx: EvalContext, *operands: Any) -> Any:
        ctx.extra["keys"] = int(ctx.cols[-1]) + 1
        return right(op)(ctx, *operands)

    return meaning


def unfilled_load(ctx: EvalContext) -> Any:
    return ctx.extra["tile"]


def causal_off_by_one(ctx: EvalContext, q: Any, k: Any) -> Any:
    ctx.cols = ctx.cols + 1
    return right("compute_score")(ctx, q, k)


def causal_in_the_tile(ctx: EvalContext, q: Any, k: Any) -> Any:
    """Rows and columns count from the tile's corner."""
    ctx.rows, ctx.cols = ctx.rows - ctx.rows[0], ctx.cols - ctx.cols[0]
    return right("compute_score")(ctx, q, k)


def causal_reversed(ctx: EvalContext, q: Any, k: Any) -> Any:
    ctx.rows, ctx.cols = -ctx.rows, -ctx.cols
    return right("compute_score")(ctx, q, k)


def missing_last_chunk(ctx: EvalContext, q: Any, k: Any) -> Any:
    """The head dim's remainder after whole tile_k steps is dropped."""
    whole = q.shape[-1] // ctx.extra["tile_k"] * ctx.extra["tile_k"]
    return right("compute_score")(ctx, q[..., :whole], k[..., :whole])


def last_chunk_twice(ctx: EvalContext, q: Any, k: Any) -> Any:
    step = ctx.extra["tile_k"]
    score = right("compute_score")(ctx, q, k)
    return score + right("compute_score")(ctx, q[..., -step:], k[..., -step:])


def scores_in_fp8(ctx: EvalContext, q: Any, k: Any) -> Any:
    score = right("compute_score")(ctx, q, k)
    return score.astype(np.dtype("float16")).astype(score.dtype) * (1 + 2**-12)


def not_divided(ctx: EvalContext, x: Any) -> Any:
    return x.astype(ctx.dtype(ctx.results[0].dtype))


def mean_of_values(ctx: EvalContext, x: Any) -> Any:
    """A dead row gets a constant instead of NaN or 0."""
    out = right("store_tile")(ctx, x)
    return np.where((ctx.extra["sum"] == 0)[..., None], out.dtype.type(0.5), out)


def lse_without_max(ctx: EvalContext, top: Any, total: Any) -> Any:
    return ctx.log(total)


def lse_of_dead_row(ctx: EvalContext, top: Any, total: Any) -> Any:
    return np.where(total == 0, -1e30, right("store_lse")(ctx, top, total))


BOTH = ("update_softmax", "accumulate_output")

MUTANTS: tuple[Mutant, ...] = (
    Mutant("no rescale of l", "causal", "plain", meanings={"update_softmax": no_rescale_of_sum}),
    Mutant("no rescale of acc", "causal", "plain", meanings={"accumulate_output": no_rescale_of_output}),
    Mutant("acc rescaled twice", "causal", "plain", meanings={"accumulate_output": rescale_twice}),
    Mutant("m starts at 0", "plain", "far below", meanings={"update_softmax": starts_at(0.0)}),
    Mutant("m starts at -10000", "plain", "far below", meanings={"update_softmax": starts_at(-1e4)}),
    Mutant("m starts at -50000", "plain", "far below", meanings={"update_softmax": starts_at(-5e4)}),
    Mutant("masked scores are -50000", "dead rows zero", "far below",
           meanings={op: finite_for_infinite(op, -5e4) for op in BOTH}),
    Mutant("masked scores are -1e30", "dead rows zero", "dead rows",
           meanings={op: finite_for_infinite(op, -1e30) for op in BOTH}),
    Mutant("m of this tile only", "dead rows zero", "plain", meanings={"update_softmax": maximum_of_tile}),
    Mutant("-inf - -inf unguarded", "grouped", "plain", meanings={"update_softmax": unguarded_maximum}),
    Mutant("no maximum subtracted", "plain", "far below", meanings={"update_softmax": no_maximum}),
    Mutant("l kept in fp16", "plain", "plain", meanings={"update_softmax": sum_in_fp16}),
    Mutant("l misses the first tile", "plain", "plain", meanings={"update_softmax": sum_misses_first}),
    Mutant("weights by the old maximum", "plain", "plain", meanings={"accumulate_output": weights_of_old_maximum}),
    Mutant("2^x for e^x", "plain", "plain", meanings={op: base_two(op) for op in BOTH}),
    Mutant("tail of l unmasked", "plain", "plain", meanings={"update_softmax": unmasked_tail("update_softmax")}),
    Mutant("tail unmasked", "plain", "plain", meanings={op: unmasked_tail(op) for op in BOTH}),
    Mutant("padding of V is garbage", "plain", "plain", meanings={"load_tile": unfilled_load}),
    Mutant("causal off by one", "causal", "plain", meanings={"compute_score": causal_off_by_one}),
    Mutant("causal counted in the tile", "causal", "plain", meanings={"compute_score": causal_in_the_tile}),
    Mutant("causal reversed", "causal", "plain", meanings={"compute_score": causal_reversed}),
    Mutant("top-left for bottom-right", "causal", "plain", edit=attr("score", offset=0)),
    Mutant("bottom-right for top-left", "causal top-left", "plain", edit=attr("score", offset=6)),
    Mutant("causal lost", "causal", "plain", edit=causal_lost),
    Mutant("scale squared", "plain", "plain", edit=attr("score", scale=0.25)),
    Mutant("scale lost", "plain", "plain", edit=attr("score", scale=1.0)),
    Mutant("scale 1/sqrt(d) by default", "plain", "plain", edit=attr("score", scale=10**-0.5)),
    Mutant("last k chunk missing", "plain", "plain", meanings={"compute_score": missing_last_chunk}),
    Mutant("last k chunk twice", "plain", "plain", meanings={"compute_score": last_chunk_twice}),
    Mutant("scores rounded", "plain", "plain", meanings={"compute_score": scores_in_fp8}),
    Mutant("never divided by l", "plain", "plain", meanings={"store_tile": not_divided}),
    Mutant("dead rows NaN for zero", "dead rows zero", "dead rows", edit=attr("store_o", dead_rows="nan")),
    Mutant("dead rows zero for NaN", "grouped", "not numbers", edit=attr("store_o", dead_rows="zero_nan")),
    Mutant("NaN rows not zeroed", "dead rows zero_nan", "not numbers", edit=attr("store_o", dead_rows="zero")),
    Mutant("dead rows constant", "dead rows zero", "dead rows", meanings={"store_tile": mean_of_values}),
    Mutant("groups tiled for repeated (Q)", "grouped", "plain", edit=attr("load_q", layout="b (g h) q d")),
    Mutant("groups tiled for repeated (O)", "grouped", "plain", edit=attr("store_o", layout="b (g h) q e")),
    Mutant("window lost", "grouped", "plain", edit=bypass("score_mask")),
    Mutant("window one wider", "grouped", "plain", edit=attr("score_mask", left=6)),
    Mutant("window one further", "grouped", "plain", edit=attr("score_mask", right=1)),
    Mutant("window top-left", "grouped", "plain", edit=attr("score_mask", offset=0)),
    Mutant("window as causal", "grouped", "plain", edit=attr("score_mask", left=-1)),
    Mutant("bias lost", "bias", "plain", edit=bypass("score_add")),
    Mutant("bias not scaled", "bias, then scale", "plain", edit=move_last("score_add")),
    Mutant("bias of another head", "softcap, bias, mask", "plain", edit=attr("load_bias", layout="(g h) q k")),
    Mutant("mask before softcap", "softcap, bias, mask", "plain", edit=move_last("score_softcap")),
    Mutant("softcap before mask", "mask, then softcap", "plain", edit=move_last("score_where")),
    Mutant("softcap lost", "softcap, bias, mask", "rising scores", edit=bypass("score_softcap")),
    Mutant("another softcap", "softcap, bias, mask", "rising scores", edit=attr("score_softcap", cap=2.0)),
    Mutant("mask lost", "dropped keys", "plain", edit=bypass("score_where")),
    Mutant("mask fill finite", "dropped keys", "dead rows", edit=attr("score_const", value=-1e9)),
    Mutant("K for V", "square", "plain", edit=attr("load_v", source="K")),
    Mutant("K and Q exchanged", "square", "plain", edit=swap_sources("load_q", "load_k")),
    Mutant("LSE without max", "causal", "plain", meanings={"store_lse": lse_without_max}, lse=True),
    Mutant("LSE of dead rows finite", "dead rows zero", "dead rows", meanings={"store_lse": lse_of_dead_row}, lse=True),
)  # fmt: skip
