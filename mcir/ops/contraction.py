"""Contractions: matmul and einsum. Floats are summed in the accumulation type and rounded once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mcir.ops.definition import Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.numeric import accumulated
from mcir.ops.rules import (
    broadcast_dim,
    broadcast_shapes,
    join_dim,
    operand_text,
    require_family,
    require_same_dtype,
    result,
    shown,
)
from mcir.types import Dim, Shape, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

# Matmul


def _matrix(ctx: TypeContext, index: int, flag: str) -> tuple[Shape, Dim, Dim]:
    """The operand read as matrices: (batch axes, rows, columns) after its transpose flag; a vector lies
    along the contraction."""
    shape = ctx.operands[index].shape
    if not shape or (len(shape) == 1 and ctx.attrs[flag]):
        wanted = "2 axes" if shape else "an axis"
        raise TypeRuleError(f"needs {wanted} to {'transpose' if shape else 'contract'} in "
                            f"{operand_text(ctx, index)}")  # fmt: skip
    if len(shape) == 1:
        return (), *((1, shape[0]) if index == 0 else (shape[0], 1))
    *batch, rows, columns = shape
    return (tuple(batch), columns, rows) if ctx.attrs[flag] else (tuple(batch), rows, columns)


def _infer_matmul(ctx: TypeContext) -> list[TensorType]:
    """Numbers of one element type; batch axes broadcast, the contracted sizes agree; out: batch axes, rows of lhs,
    columns of rhs (a vector has neither)."""
    require_family(ctx, 0, "number")
    require_same_dtype(ctx, 0, 1)
    left_batch, rows, left = _matrix(ctx, 0, "transpose_a")
    right_batch, right, columns = _matrix(ctx, 1, "transpose_b")
    both = f"{operand_text(ctx, 0)} and {operand_text(ctx, 1)}"
    try:
        join_dim(left, right)
    except ValueError:
        fits = left == columns and ctx.operands[1].rank > 1
        hint = f"transpose_b = {'false' if ctx.attrs['transpose_b'] else 'true'} would fit" if fits else ""
        raise TypeRuleError(f"contracts {shown(left)} with {shown(right)}: {both}", hint) from None
    try:
        batch = broadcast_shapes(left_batch, right_batch)
    except ValueError as error:
        raise TypeRuleError(f"cannot broadcast the batch axes of {both}: {error}") from None
    row_axis = (rows,) if ctx.operands[0].rank > 1 else ()
    column_axis = (columns,) if ctx.operands[1].rank > 1 else ()
    return [result(ctx, (*batch, *row_axis, *column_axis))]


def _matmul(ctx: EvalContext, lhs: Any, rhs: Any) -> Any:
    lhs = lhs.swapaxes(-1, -2) if ctx.attrs["transpose_a"] else lhs
    rhs = rhs.swapaxes(-1, -2) if ctx.attrs["transpose_b"] else rhs
    return ctx.np.matmul(lhs, rhs)


define(
    "matmul", "lhs, rhs", "out",
    doc="Matrix product over the last two axes as NumPy's matmul: batch axes broadcast, vectors are allowed.",
    example="%S = matmul %Q, %K {transpose_b = true} : tensor<2x5x7xfp16>  "
    "// %Q: tensor<2x5x4xfp16>, %K: tensor<1x7x4xfp16>",
    attrs=(
        Attr("transpose_a", "bool", False, "swap the last two axes of lhs first"),
        Attr("transpose_b", "bool", False, "swap the last two axes of rhs first"),
    ),
    infer=_infer_matmul,
    evaluate=accumulated(_matmul),
)  # fmt: skip

# Einsum

_TERM = re.compile(r"([A-Za-z]*)(\.\.\.)?([A-Za-z]*)")


def parse_equation(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """The labels of each operand's axes and of the result's, one string an axis.

    A label is a letter; the axes under an ellipsis are labelled "...1", "...2" from the last one on, so
    that equal labels are aligned (and broadcast). Without `->` the result has the ellipsis and, in
    alphabetical order, the letters that occur once. Raises ValueError for an equation that does not fit.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"it has {len(terms)} terms for {len(ranks)} operands")
    labels = [_term_labels(term, rank) for term, rank in zip(terms, ranks, strict=True)]
    covered = max((label for term in labels for label in term if label[0] == "."), key=_ellipsis_axis, default="")
    ellipsis = [f"...{axis}" for axis in range(_ellipsis_axis(covered), 0, -1)]
    if not arrow:
        counts = Counter(letter for letter in inputs if letter.isalpha())
        return labels, ellipsis + sorted(letter for letter, count in counts.items() if count == 1)
    match = _TERM.fullmatch(output)
    if match is None:
        raise ValueError(f"{shown(output)} is no list of letters with at most one '...'")
    result_labels = [*match[1], *(ellipsis if match[2] else []), *match[3]]
    if ellipsis and not match[2]:
        raise ValueError("its result drops the '...'")
    known = {label for term in labels for label in term}
    for label, count in Counter(result_labels).items():
        if count > 1 or label not in known:
            raise ValueError(f"label '{label}' of its result is {'repeated' if count > 1 else 'in no operand'}")
    return labels, result_labels


def _ellipsis_axis(label: str) -> int:
    return int(label[3:] or 0)


def _term_labels(term: str, rank: int) -> list[str]:
    match = _TERM.fullmatch(term)
    if match is None:
        raise ValueError(f"{shown(term)} is no list of letters with at most one '...'")
    covered = rank - len(match[1]) - len(match[3])
    if covered < 0 or (covered and not match[2]):
        raise ValueError(f"{shown(term)} does not label {rank} axes")
    return [*match[1], *(f"...{axis}" for axis in range(covered, 0, -1)), *match[3]]


def _infer_einsum(ctx: TypeContext) -> list[TensorType]:
    """Numbers of one element type; the equation has a term for each operand, a label has one size; out: its labels."""
    for index in range(len(ctx.operands)):
        require_family(ctx, index, "number")
        require_same_dtype(ctx, 0, index)
    try:
        terms, output = parse_equation(ctx.attrs["equation"], [operand.rank for operand in ctx.operands])
    except ValueError as error:
        raise TypeRuleError(f"equation {shown(ctx.attrs['equation'])}: {error}") from None
    sizes: dict[str, Dim] = {}
    for index, term in enumerate(terms):
        for label, dim in zip(term, ctx.operands[index].shape, strict=True):
            try:
                join = broadcast_dim if label[0] == "." else join_dim
                sizes[label] = join(sizes[label], dim) if label in sizes else dim
            except ValueError as error:
                all_of = ", ".join(operand_text(ctx, other) for other in range(index + 1))
                raise TypeRuleError(f"label '{label}' has two sizes ({error}): {all_of}") from None
    return [result(ctx, [sizes[label] for label in output])]


define(
    "einsum", "operands...", "out",
    doc="Einstein summation of any number of operands, as NumPy's einsum.",
    example='%S = einsum %Q, %K {equation = "bhqd,bhkd->bhqk"} : tensor<2x3x5x7xfp16>  '
    "// %Q: tensor<2x3x5x4xfp16>, %K: tensor<2x3x7x4xfp16>",
    attrs=(Attr("equation", "str", doc="labels of each operand and of the result, such as bhqd,bhkd->bhqk"),),
    infer=_infer_einsum,
    evaluate=accumulated(lambda ctx, *xs: ctx.np.einsum(ctx.attrs["equation"].replace(" ", ""), *xs, optimize=True)),
)  # fmt: skip
