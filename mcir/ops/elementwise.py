"""Pointwise ops: element by element with NumPy broadcasting. Most are rows of the tables below."""

from __future__ import annotations

import math
from collections.abc import Callable

from mcir.ops.definition import OPTIONAL, Attr, EvalContext, TypeContext, TypeRuleError, define
from mcir.ops.numeric import computed, is_float, rounded, widen
from mcir.ops.rules import (
    as_declared,
    broadcast_operands,
    broadcasting,
    operand_text,
    require_family,
    require_same_dtype,
    result,
    same_type,
)
from mcir.record import record
from mcir.types import DTYPES, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

POINTWISE = frozenset({"pointwise", "tile"})


@record(frozen=True, slots=True)
class Row:
    """One pointwise op: name, family of operand types it takes, one-line doc, meaning on widened arrays."""

    name: str
    family: str
    doc: str
    meaning: Callable[..., Any]
    attrs: tuple[Attr, ...] = ()
    commutative: bool = False


# Meanings that take more than a NumPy call


def _erf(np: Any, x: Any) -> Any:
    """The error function in double precision (NumPy has none)."""
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x)).astype(x.dtype)


def _sigmoid(np: Any, x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _gelu(ctx: EvalContext, x: Any) -> Any:
    if ctx.attrs["approximate"] == "tanh":
        return 0.5 * x * (1 + ctx.np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + _erf(ctx.np, x * math.sqrt(0.5)))


def _elu(ctx: EvalContext, x: Any) -> Any:
    # exp of the positive part would overflow for nothing
    return ctx.np.where(x > 0, x, ctx.attrs["alpha"] * ctx.np.expm1(ctx.np.minimum(x, 0)))


def _divide(ctx: EvalContext, lhs: Any, rhs: Any) -> Any:
    """True division of floats; integers are divided toward zero, as ONNX does."""
    if is_float(lhs):
        return lhs / rhs
    quotient = lhs // rhs
    floored = (quotient * rhs != lhs) & ((lhs < 0) != (rhs < 0))
    return quotient + floored


def _modulo(ctx: EvalContext, lhs: Any, rhs: Any) -> Any:
    return (ctx.np.fmod if ctx.attrs["fmod"] else ctx.np.mod)(lhs, rhs)


def _power(ctx: EvalContext, lhs: Any, rhs: Any) -> Any:
    # NumPy refuses integers to negative integer powers
    if not is_float(lhs) and not is_float(rhs) and (rhs < 0).any():
        lhs = lhs.astype(ctx.dtype("fp64"))
    return ctx.np.power(lhs, rhs)


UNARY = (
    Row("neg", "signed", "-x.", lambda ctx, x: -x),
    Row("abs", "number", "The absolute value of x.", lambda ctx, x: ctx.np.abs(x)),
    Row("sign", "number", "-1, 0 or 1 as x is negative, zero or positive.", lambda ctx, x: ctx.np.sign(x)),
    Row("sqrt", "float", "The square root of x; NaN below zero.", lambda ctx, x: ctx.np.sqrt(x)),
    Row("reciprocal", "float", "1 / x.", lambda ctx, x: 1 / x),
    Row("exp", "float", "e to the power x.", lambda ctx, x: ctx.exp(x)),
    Row("log", "float", "The natural logarithm of x.", lambda ctx, x: ctx.log(x)),
    Row("tanh", "float", "The hyperbolic tangent of x.", lambda ctx, x: ctx.np.tanh(x)),
    Row("erf", "float", "The Gauss error function of x.", lambda ctx, x: _erf(ctx.np, x)),
    Row("sigmoid", "float", "1 / (1 + exp(-x)).", lambda ctx, x: _sigmoid(ctx.np, x)),
    Row("sin", "float", "The sine of x (radians).", lambda ctx, x: ctx.np.sin(x)),
    Row("cos", "float", "The cosine of x (radians).", lambda ctx, x: ctx.np.cos(x)),
    Row("floor", "float", "The largest whole number not above x.", lambda ctx, x: ctx.np.floor(x)),
    Row("ceil", "float", "The smallest whole number not below x.", lambda ctx, x: ctx.np.ceil(x)),
    Row("round", "float", "The nearest whole number, halves to even.", lambda ctx, x: ctx.np.rint(x)),
    Row("relu", "number", "max(x, 0).", lambda ctx, x: ctx.np.maximum(x, 0)),
    Row(
        "gelu", "float", 'x * Phi(x) by erf, or by the tanh formula for approximate = "tanh".', _gelu,
        attrs=(Attr("approximate", "str", "none", "how Phi is computed", choices=("none", "tanh")),),
    ),
    Row("silu", "float", "x * sigmoid(x).", lambda ctx, x: x * _sigmoid(ctx.np, x)),
    Row("softplus", "float", "log(1 + exp(x)).", lambda ctx, x: ctx.np.logaddexp(x, 0)),
    Row(
        "elu", "float", "x above zero, alpha * (exp(x) - 1) elsewhere.", _elu,
        attrs=(Attr("alpha", "float", 1.0, "the limit far below zero, negated"),),
    ),
    Row("not", "bool", "The logical negation of x.", lambda ctx, x: ~x),
    Row(
        "dropout", "float", "Dropout at inference: x itself.", lambda ctx, x: x,
        attrs=(Attr("p", "float", 0.5, "the probability with which training drops an element"),),
    ),
)  # fmt: skip

TESTS = (
    Row("isnan", "float", "True where x is NaN.", lambda ctx, x: ctx.np.isnan(x)),
    Row("isinf", "float", "True where x is infinite, of either sign.", lambda ctx, x: ctx.np.isinf(x)),
)

BINARY = (
    Row("add", "number", "lhs + rhs.", lambda ctx, a, b: a + b, commutative=True),
    Row("sub", "number", "lhs - rhs.", lambda ctx, a, b: a - b),
    Row("mul", "number", "lhs * rhs.", lambda ctx, a, b: a * b, commutative=True),
    Row("div", "number", "lhs / rhs; integers are divided toward zero.", _divide),
    Row(
        "mod", "number", "The remainder of lhs / rhs, with the sign of rhs, or of lhs for fmod.", _modulo,
        attrs=(Attr("fmod", "bool", False, "C's fmod: the remainder takes the sign of lhs"),),
    ),
    Row("min", "number", "The smaller of both; NaN if either is.", lambda ctx, a, b: ctx.np.minimum(a, b), (), True),
    Row("max", "number", "The larger of both; NaN if either is.", lambda ctx, a, b: ctx.np.maximum(a, b), (), True),
    Row("and", "bool", "Logical and.", lambda ctx, a, b: a & b, commutative=True),
    Row("or", "bool", "Logical or.", lambda ctx, a, b: a | b, commutative=True),
    Row("xor", "bool", "True where exactly one operand is.", lambda ctx, a, b: a ^ b, commutative=True),
)  # fmt: skip

COMPARISONS = (
    Row("equal", "any", "True where lhs = rhs (never for NaN).", lambda ctx, a, b: a == b, commutative=True),
    Row("not_equal", "any", "True where lhs and rhs differ (always for NaN).", lambda ctx, a, b: a != b, (), True),
    Row("less", "number", "True where lhs < rhs.", lambda ctx, a, b: a < b),
    Row("less_equal", "number", "True where lhs <= rhs.", lambda ctx, a, b: a <= b),
    Row("greater", "number", "True where lhs > rhs.", lambda ctx, a, b: a > b),
    Row("greater_equal", "number", "True where lhs >= rhs.", lambda ctx, a, b: a >= b),
)


def _define_rows(rows: tuple[Row, ...], operands: str, dtype: str | None) -> None:
    """Declares each row; `dtype` is the result's element type, None for the operands' own."""
    binary = operands != "x"
    for row in rows:
        element = "i1" if row.family == "bool" else "fp16"
        given = f"%a: tensor<4x8x{element}>, %b: tensor<1x8x{element}>" if binary else f"%x: tensor<4x8x{element}>"
        define(
            row.name, operands, "out",
            doc=row.doc,
            example=f"%y = {row.name} {'%a, %b' if binary else '%x'} : tensor<4x8x{dtype or element}>  // {given}",
            attrs=row.attrs,
            infer=broadcasting(row.family, dtype) if binary else same_type(row.family, dtype),
            evaluate=computed(row.meaning),
            traits=POINTWISE | {"commutative"} if row.commutative else POINTWISE,
        )  # fmt: skip


_define_rows(UNARY, "x", None)
_define_rows(TESTS, "x", "i1")
_define_rows(BINARY, "lhs, rhs", None)
_define_rows(COMPARISONS, "lhs, rhs", "i1")

define(
    "pow", "lhs, rhs", "out",
    doc="lhs to the power rhs, in the element type of lhs.",
    example="%y = pow %a, %b : tensor<4x8xfp16>  // %a: tensor<4x8xfp16>, %b: tensor<fp32>",
    infer=broadcasting("number", same=False),
    evaluate=computed(_power),
    traits=POINTWISE,
)  # fmt: skip

define(
    "identity", "x", "out",
    doc="x itself.",
    example="%y = identity %x : tensor<4x8xfp16>  // %x: tensor<4x8xfp16>",
    infer=same_type(),
    evaluate=lambda ctx, x: rounded(ctx, x),
    traits=POINTWISE,
)  # fmt: skip


# Selection, bounds, conversion


def _infer_where(ctx: TypeContext) -> list[TensorType]:
    """cond of i1, x and y of one element type; out: the broadcast shape, element type of x."""
    require_family(ctx, 0, "bool")
    require_same_dtype(ctx, 1, 2)
    return [result(ctx, broadcast_operands(ctx, (0, 1, 2)), ctx.operands[1].dtype)]


define(
    "where", "cond, x, y", "out",
    doc="x where cond is true, y elsewhere.",
    example="%y = where %c, %a, %b : tensor<4x8xfp16>  // %c: tensor<4x8xi1>, %a: tensor<4x8xfp16>, %b: tensor<fp16>",
    infer=_infer_where,
    evaluate=lambda ctx, cond, x, y: rounded(ctx, ctx.np.where(cond, x, y)),
    traits=POINTWISE,
)  # fmt: skip


def _infer_clip(ctx: TypeContext) -> list[TensorType]:
    """Numbers; a bound has the element type of x and broadcasts to its shape; out: as x."""
    require_family(ctx, 0, "number")
    for index, attr in ((1, "min"), (2, "max")):
        if len(ctx.operands) <= index:
            continue
        require_same_dtype(ctx, 0, index)
        if attr in ctx.attrs:
            raise TypeRuleError(f"the bound '{attr}' is given both as operand and as attribute", "write one of them")
        if broadcast_operands(ctx, (0, index)) != ctx.operands[0].shape:
            raise TypeRuleError(f"cannot widen {operand_text(ctx, 0)} to its bound {operand_text(ctx, index)}")
    return [result(ctx, ctx.operands[0].shape)]


def _clip(ctx: EvalContext, x: Any, lower: Any, upper: Any) -> Any:
    low = ctx.attrs["min"] if lower is None else lower
    high = ctx.attrs["max"] if upper is None else upper
    if low is not None:
        x = ctx.np.maximum(x, ctx.np.asarray(low).astype(x.dtype))
    return x if high is None else ctx.np.minimum(x, ctx.np.asarray(high).astype(x.dtype))


define(
    "clip", "x, lower?, upper?", "out",
    doc="x limited to [lower, upper], bounds given as operands or attributes; the upper bound wins.",
    example="%y = clip %x {min = 0.0, max = 6.0} : tensor<4x8xfp16>  // %x: tensor<4x8xfp16>",
    attrs=(
        Attr("min", "float", OPTIONAL, "the lower bound, if no operand gives it"),
        Attr("max", "float", OPTIONAL, "the upper bound, if no operand gives it"),
    ),
    infer=_infer_clip,
    evaluate=computed(_clip),
    traits=POINTWISE,
)  # fmt: skip


def _infer_cast(ctx: TypeContext) -> list[TensorType]:
    """out: the shape of x, the element type that is written."""
    return [result(ctx, ctx.operands[0].shape, as_declared()(ctx)[0].dtype)]


def _cast(ctx: EvalContext, x: Any) -> Any:
    name = ctx.results[0].dtype
    if name == "i1":
        return rounded(ctx, widen(ctx, x) != 0)
    if ctx.attrs["saturate"] and name in FP8_LIMITS:
        x = ctx.np.clip(widen(ctx, x), -FP8_LIMITS[name], FP8_LIMITS[name])
    # ml_dtypes converts to integers by way of fp32 only
    return rounded(ctx, x if is_float(x) == (DTYPES[name].kind == "float") else widen(ctx, x))


# Largest finite values of the OCP 8-bit formats: casting beyond gives NaN (e4m3) or inf (e5m2).
FP8_LIMITS = {"fp8e4m3": 448.0, "fp8e5m2": 57344.0}

define(
    "cast", "x", "out",
    doc="x in the result's element type: to integers toward zero, to i1 as x != 0, to floats rounded to nearest even.",
    example="%y = cast %x : tensor<4x8xfp32>  // %x: tensor<4x8xfp16>",
    attrs=(Attr("saturate", "bool", False, "to fp8: values too large become the largest finite one"),),
    infer=_infer_cast,
    evaluate=_cast,
    traits=POINTWISE,
)  # fmt: skip


def _positive_cap(ctx: TypeContext) -> None:
    cap = ctx.attrs["cap"]
    if not 0 < cap < math.inf:
        raise TypeRuleError(f"the cap must be finite and above zero, got {cap}", rule="modifier.softcap")


define(
    "softcap", "x", "out",
    doc="cap * tanh(x / cap).",
    example="%y = softcap %x {cap = 50.0} : tensor<4x8xfp16>  // %x: tensor<4x8xfp16>",
    attrs=(Attr("cap", "float", doc="the bound of the result, above zero"),),
    infer=same_type("float"),
    verify=_positive_cap,
    evaluate=computed(lambda ctx, x: ctx.attrs["cap"] * ctx.np.tanh(x / ctx.attrs["cap"])),
    traits=POINTWISE,
)  # fmt: skip
