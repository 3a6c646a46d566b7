"""What the NumPy meanings of semantic ops share: in which type they compute, and one rounding at the end.

Floats narrower than 32 bits (fp16, bf16, fp8) are computed in fp32 and rounded once to the declared
result type. Contractions and reductions of floats add up in `ctx.accumulate`. NumPy dtypes come from
`ctx.dtype` only: in a proof every float name maps to float64.
"""

from __future__ import annotations

from collections.abc import Callable

from mcir.ops.definition import EvalContext

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from mcir.ops.definition import Evaluate


def is_float(array: Any) -> bool:
    """True for NumPy and ml_dtypes floats (the latter have no kind of their own)."""
    return array.dtype.kind not in "biu"


def widen(ctx: EvalContext, array: Any) -> Any:
    """Floats below 32 bits as fp32, everything else as it is."""
    if is_float(array) and array.dtype.itemsize < 4:
        return array.astype(ctx.dtype("fp32"))
    return array


def accumulator(ctx: EvalContext, array: Any) -> Any:
    """Floats in the type that sums are kept in: `ctx.accumulate`, or fp64 where they already are."""
    if not is_float(array) or array.dtype == ctx.dtype("fp64"):
        return array
    return array.astype(ctx.dtype(ctx.accumulate), copy=False)


def rounded(ctx: EvalContext, value: Any, index: int = 0) -> Any:
    """`value` as an array of the declared element type of result `index`; a NumPy scalar becomes a 0-d array."""
    return ctx.np.asarray(value).astype(ctx.dtype(ctx.results[index].dtype), copy=False)


def computed(meaning: Callable[..., Any]) -> Evaluate:
    """The meaning of a pointwise op: operands widened, result rounded."""

    def evaluate(ctx: EvalContext, *arrays: Any) -> Any:
        wide = [None if array is None else widen(ctx, array) for array in arrays]
        return rounded(ctx, meaning(ctx, *wide))

    return evaluate


def accumulated(meaning: Callable[..., Any]) -> Evaluate:
    """The meaning of a contraction or reduction: operands in the accumulation type, result rounded once."""

    def evaluate(ctx: EvalContext, *arrays: Any) -> Any:
        wide = [None if array is None else accumulator(ctx, array) for array in arrays]
        return rounded(ctx, meaning(ctx, *wide))

    return evaluate
