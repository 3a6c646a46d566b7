"""The tile ops: what a streaming attention consists of (design note, section 7; recurrence as FlashAttention-2's).

A tile is two-dimensional: rows and columns. Q_tile is [q, d], K_tile [k, d], V_tile [k, e], a tile of a mask or
bias [q or 1, k or 1]. In their NumPy meaning the arrays have the batch axes in front.

State per query row, in fp32 or wider: max m (init -inf), sum l (init 0), acc (init 0). For a score tile S

    m' = max(m, rowmax S);  ms = 0 if m' = -inf else m';  a = exp(m - ms);  p = exp(S - ms)
    l' = a*l + sum p;       acc' = a*acc + cast(p, V.dtype) @ V

and at the end O = acc / l, with what `dead_rows` says for rows where every score was -inf.

`EvalContext.extra` carries what the nest knows and the op does not: "tile" and "valid" (load_tile: the tile with
poisoned padding and where it is real), "tile_k", "keys" (extent of the key axis), "state" (this op's state),
"weights" (m before and after the step), "sum" (l, where store_tile finalises a carried acc).
"""

from __future__ import annotations

from mcir.ops.definition import OPTIONAL, Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.types import Dim, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

STATE_DTYPES = ("fp32", "fp64")
DEAD_ROWS = ("none", "nan", "zero", "zero_nan")

_SOURCE = Attr("source", "str", doc="name of the region's input that is read")
_LAYOUT = Attr("layout", "str", OPTIONAL, "its axes, as 'b h q d'; absent: the region says it")


def _on_chip(ctx: TypeContext) -> None:
    """A compute op reads shared memory and registers only."""
    for slot, operand in zip(ctx.op.operands, ctx.operands, strict=False):
        if operand.residency == "global":
            hint = "load it into shared memory or registers first"
            raise TypeRuleError(f"operand '{slot.name}' of {ctx.op.name} is in global memory", hint, "memory.compute")


def _in_registers(ctx: TypeContext) -> None:
    """Scores and states are too hot for shared memory, and would cost global traffic (FlashAttention-1)."""
    for slot, declared in zip(ctx.op.results, ctx.declared, strict=False):
        if declared.residency != "register":
            message = f"result '{slot.name}' of {ctx.op.name} must be in registers, not in {declared.residency} memory"
            raise TypeRuleError(message, rule="memory.compute")


def _rank(ctx: TypeContext, *ranks: int) -> None:
    for slot, operand, rank in zip(ctx.op.operands, ctx.operands, ranks, strict=False):
        if operand.rank != rank:
            raise TypeRuleError(f"operand '{slot.name}' of {ctx.op.name} has rank {operand.rank}, expected {rank}")


def _same_dim(left: Dim, right: Dim, what: str) -> None:
    """Two sizes that must agree; a dynamic one may be anything."""
    if left is not None and right is not None and left != right and type(left) is type(right):
        raise TypeRuleError(f"{what}: {left} and {right} differ", rule="type.contraction")


def _state_dtype(ctx: TypeContext, *operands: TensorType) -> str:
    """fp64 where an operand is, else what is declared of fp32 and fp64."""
    if any(operand.dtype == "fp64" for operand in operands):
        return "fp64"
    declared = ctx.declared[0].dtype if ctx.declared else "fp32"
    return declared if declared in STATE_DTYPES else "fp32"


def _wide(ctx: TypeContext, operand: TensorType, name: str) -> None:
    if operand.dtype not in STATE_DTYPES:
        raise TypeRuleError(
            f"{ctx.op.name} needs its {name} in fp32 or wider, got {operand.dtype}", "cast it to fp32", "state.dtype"
        )


def _moved(ctx: TypeContext, rank: int, residencies: tuple[str, ...]) -> list[TensorType]:
    """The declared type of a load or store: any shape of the rank, in one of the residencies."""
    if not ctx.declared:
        return [TensorType((None,) * rank, "fp32", residencies[0])]
    declared = ctx.declared[0]
    if declared.rank != rank:
        raise TypeRuleError(f"the result of {ctx.op.name} has rank {declared.rank}, expected {rank}")
    if declared.residency not in residencies:
        places = " or ".join(residencies)
        raise TypeRuleError(
            f"the result of {ctx.op.name} must be {places}, not {declared.residency}", rule="memory.movement"
        )
    return [declared]


def _load_type(ctx: TypeContext) -> list[TensorType]:
    """tile: rank 2, shared or register, any shape that the region's tile sizes give, as written."""
    return _moved(ctx, 2, ("shared", "register"))


def _score_type(ctx: TypeContext) -> list[TensorType]:
    """q, k of rank 2 on chip with one head dim; score: rows of q by rows of k, in registers, fp32 (fp64 if an operand
    is)."""
    _on_chip(ctx)
    _in_registers(ctx)
    _rank(ctx, 2, 2)
    q, k = ctx.operands
    _same_dim(q.shape[1], k.shape[1], "the head dims that compute_score contracts")
    return [TensorType((q.shape[0], k.shape[0]), _state_dtype(ctx, q, k), "register")]


def _softmax_type(ctx: TypeContext) -> list[TensorType]:
    """score of rank 2, fp32 or wider, on chip; max, sum: one element a row, its element type, in registers."""
    _on_chip(ctx)
    _in_registers(ctx)
    _rank(ctx, 2)
    (score,) = ctx.operands
    _wide(ctx, score, "score")
    return [TensorType((score.shape[0],), score.dtype, "register")] * 2


def _accumulate_type(ctx: TypeContext) -> list[TensorType]:
    """score as for update_softmax; v of rank 2 on chip has as many rows as score has columns; acc: rows of score by
    columns of v, in registers, fp32 or wider."""
    _on_chip(ctx)
    _in_registers(ctx)
    _rank(ctx, 2, 2)
    score, v = ctx.operands
    _wide(ctx, score, "score")
    _same_dim(score.shape[1], v.shape[0], "the keys that accumulate_output contracts")
    return [TensorType((score.shape[0], v.shape[1]), _state_dtype(ctx, score, v), "register")]


def _store_type(ctx: TypeContext) -> list[TensorType]:
    """x of rank 2 on chip; tile: its shape in global memory, of the element type that is written."""
    _on_chip(ctx)
    _rank(ctx, 2)
    (declared,) = _moved(ctx, 2, ("global",))
    return [TensorType(ctx.operands[0].shape, declared.dtype, "global")]


def _store_lse_type(ctx: TypeContext) -> list[TensorType]:
    """max and sum of rank 1, one size, on chip; tile: that size in global memory, fp32 or wider."""
    _on_chip(ctx)
    _rank(ctx, 1, 1)
    top, total = ctx.operands
    _same_dim(top.shape[0], total.shape[0], "the rows of max and sum")
    _moved(ctx, 1, ("global",))
    return [TensorType(top.shape, _state_dtype(ctx, top), "global")]


def _finite_scale(ctx: TypeContext) -> None:
    scale = float(ctx.attrs["scale"])
    if scale != scale or scale in (float("inf"), float("-inf")):
        raise TypeRuleError(f"scale must be finite, got {scale}", rule="modifier.scale")
    if ctx.attrs["mask"] and "offset" not in ctx.attrs:
        hint = "offset = 0 aligns row 0 with column 0; keys - queries aligns the last row with the last column"
        raise TypeRuleError("a causal mask needs its offset written", hint, "modifier.offset")


def _load(ctx: EvalContext) -> Any:
    tile = ctx.extra["tile"]
    return ctx.np.where(ctx.extra["valid"], tile, ctx.np.zeros((), tile.dtype))


def _score(ctx: EvalContext, q: Any, k: Any) -> Any:
    dtype = ctx.dtype(ctx.results[0].dtype)
    step = ctx.extra["tile_k"]
    total = None
    for at in range(0, max(1, q.shape[-1]), step):  # a head dim of 0 still gives a score of 0
        left, right = q[..., at : at + step].astype(dtype), k[..., at : at + step].astype(dtype)
        part = ctx.np.matmul(left, ctx.np.swapaxes(right, -1, -2))
        total = part if total is None else total + part
    score = total * dtype.type(ctx.attrs["scale"])
    if ctx.attrs["mask"] == "causal":
        visible = ctx.cols[None, :] <= ctx.rows[:, None] + ctx.attrs["offset"]
        score = ctx.np.where(visible, score, dtype.type("-inf"))
    return score


def _real_columns(ctx: EvalContext, score: Any) -> Any:
    """The score with -inf in the columns beyond the last key, after all modifiers."""
    return ctx.np.where(ctx.cols < ctx.extra["keys"], score, score.dtype.type("-inf"))


def _guarded(ctx: EvalContext, top: Any) -> Any:
    """ms: the maximum, or 0 where every score so far was -inf."""
    return ctx.np.where(top == -ctx.np.inf, top.dtype.type(0), top)


def _update_softmax(ctx: EvalContext, score: Any) -> tuple[Any, Any]:
    score = _real_columns(ctx, score)
    before, total = ctx.extra["state"]
    after = ctx.np.maximum(before, score.max(axis=-1))
    shift = _guarded(ctx, after)
    weights = ctx.exp(score - shift[..., None])
    return after, ctx.exp(before - shift) * total + weights.sum(axis=-1)


def _accumulate(ctx: EvalContext, score: Any, v: Any) -> Any:
    before, after = ctx.extra["weights"]
    shift = _guarded(ctx, after)
    weights = ctx.exp(_real_columns(ctx, score) - shift[..., None])
    dtype = ctx.dtype(ctx.results[0].dtype)
    product = ctx.np.matmul(weights.astype(v.dtype).astype(dtype), v.astype(dtype))
    return ctx.exp(before - shift)[..., None].astype(dtype) * ctx.extra["state"] + product


def _store(ctx: EvalContext, x: Any) -> Any:
    total = ctx.extra.get("sum")
    if total is not None:
        x = _finalised(ctx, x, total[..., None])
    return x.astype(ctx.dtype(ctx.results[0].dtype))


def _finalised(ctx: EvalContext, acc: Any, total: Any) -> Any:
    """acc / l. A sum over no key at all is 0 in every framework, whatever a dead row gives."""
    np, rule = ctx.np, ctx.attrs["dead_rows"]
    if ctx.extra["keys"] == 0:
        return np.zeros_like(acc)
    dead = np.zeros_like(total, dtype=bool)
    if rule in ("zero", "zero_nan"):
        dead = total == 0
    if rule == "zero_nan":
        dead = dead | np.isnan(total)
    return np.where(dead, acc.dtype.type(0), acc / np.where(dead, total.dtype.type(1), total))


def _store_lse(ctx: EvalContext, top: Any, total: Any) -> Any:
    value = ctx.np.where(total == 0, total.dtype.type("-inf"), top + ctx.log(total))
    return value.astype(ctx.dtype(ctx.results[0].dtype))


define(
    "load_tile", "", "tile",
    doc="A tile of a global tensor, brought on chip; padding beyond the tensor is zero.",
    example='%Q_tile = load_tile @load_q {source = "Q", layout = "b h q d"} : tensor<128x64xfp16, shared>',
    attrs=[_SOURCE, _LAYOUT], infer=_load_type, evaluate=_load, level="tile",
)  # fmt: skip
define(
    "compute_score", "q, k", "score",
    doc="scale * Q K^T for one tile, summed over the head dim in steps of tile_k; causal keeps col <= row + offset.",
    example="%score_frag = compute_score @score %Q_tile, %K_tile {scale = 0.125} : tensor<128x64xfp32, register>",
    attrs=[
        Attr("scale", "float", 1.0, "factor on the scores"),
        Attr("mask", "str", OPTIONAL, "the mask applied after the scale", ("causal",)),
        Attr("offset", "int", OPTIONAL, "0 aligns first row and column; keys - queries the last ones"),
    ],
    infer=_score_type, evaluate=_score, verify=_finite_scale, level="tile",
)  # fmt: skip
define(
    "update_softmax", "score", "max, sum",
    doc="Carries the running row maximum and the running sum of exponentials over the key tiles.",
    example="%softmax_max, %softmax_sum = update_softmax @softmax %score_frag "
    ": tensor<128xfp32, register>, tensor<128xfp32, register>",
    infer=_softmax_type, evaluate=_update_softmax, level="tile",
)  # fmt: skip
define(
    "accumulate_output", "score, v", "acc",
    doc="Carries the output: rescales it by the new maximum and adds exp(score - max) V.",
    example="%output_acc = accumulate_output @accumulate %score_frag, %V_tile : tensor<128x64xfp32, register>",
    infer=_accumulate_type, evaluate=_accumulate, level="tile",
)  # fmt: skip
define(
    "store_tile", "x", "tile",
    doc="Writes a tile to a global tensor; a carried output is divided by its softmax sum first.",
    example='%O_tile = store_tile @store_o %output_acc {target = "O", layout = "b h q e"} : tensor<128x64xfp16>',
    attrs=[
        Attr("target", "str", doc="name of the region's output that is written"), _LAYOUT,
        Attr("dead_rows", "str", "zero", "result of a row with every score -inf (zero_nan: or NaN)", DEAD_ROWS),
    ],
    infer=_store_type, evaluate=_store, level="tile",
)  # fmt: skip
define(
    "store_lse", "max, sum", "tile",
    doc="Writes max + log(sum), the log of the sum of exp of each row's scores; -inf for a row without any.",
    example="%LSE_tile = store_lse @store_lse %softmax_max, %softmax_sum "
    '{target = "LSE", layout = "b h q"} : tensor<128xfp32>',
    attrs=[Attr("target", "str", doc="name of the region's output that is written"), _LAYOUT],
    infer=_store_lse_type, evaluate=_store_lse, level="tile",
)  # fmt: skip
