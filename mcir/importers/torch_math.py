"""Mapping rules of pointwise operators, products, reductions and norms.

torch computes in a common element type that it finds by itself; here the casts are nodes.
"""

from __future__ import annotations

import math
from typing import Any

from mcir.importers.call import Answer, Call, Rule
from mcir.types import DTYPES
from mcir.values import MCValue

# Pointwise


def unary(op: str, **attrs: Any) -> Rule:
    """The op of that name, in the element type of the result."""

    def rule(call: Call) -> Answer:
        return call.emit(op, call.tensor("self", call.result.dtype), **attrs)

    return rule


def question(op: str) -> Rule:
    """One that floats only can be asked; a call on integers stays opaque."""
    return lambda call: call.emit(op, call.value("self"))


def same(call: Call) -> Answer:
    """The operand itself, or in the element type of the result."""
    x = call.value("self")
    return call.emit("identity", x) if x.dtype == call.result.dtype else call.cast(x, call.result.dtype)


# What arithmetic on booleans is.
_LOGICAL = {"add": "or", "mul": "and"}


def binary(op: str, **attrs: Any) -> Rule:
    """Both operands in the element type of the result."""

    def rule(call: Call) -> Answer:
        dtype = call.result.dtype
        lhs, rhs = call.tensor("self", dtype), call.tensor("other", dtype)
        return call.emit(_LOGICAL.get(op, op) if dtype == "i1" else op, lhs, rhs, **attrs)

    return rule


def scaled_sum(op: str) -> Rule:
    """self + alpha * other, or minus"""

    def rule(call: Call) -> Answer:
        dtype = call.result.dtype
        lhs, rhs = call.tensor("self", dtype), call.tensor("other", dtype)
        alpha = call.args.get("alpha", 1)
        rhs = rhs if alpha == 1 else call.emit("mul", rhs, call.constant(alpha, dtype))
        return call.emit(_LOGICAL.get(op, op) if dtype == "i1" else op, lhs, rhs)

    return rule


def reversed_sub(call: Call) -> Answer:
    """other - alpha * self"""
    dtype = call.result.dtype
    rhs, alpha = call.tensor("self", dtype), call.args.get("alpha", 1)
    rhs = rhs if alpha == 1 else call.emit("mul", rhs, call.constant(alpha, dtype))
    return call.emit("sub", call.tensor("other", dtype), rhs)


def divide(call: Call) -> Answer:
    """True division; of integers also with rounding_mode "trunc" and "floor"."""
    mode = call.args.get("rounding_mode")
    if mode == "floor":
        return floor_divide(call)
    dtype = call.result.dtype
    floats = DTYPES[dtype].kind == "float"
    call.require(floats == (mode is None), "a rounded quotient of floats")
    return call.emit("div", call.tensor("self", dtype), call.tensor("other", dtype))


def floor_divide(call: Call) -> Answer:
    """Of integers: (a - a mod b) / b."""
    dtype = call.result.dtype
    call.require(DTYPES[dtype].kind in ("int", "uint"), "a rounded quotient of floats")
    lhs, rhs = call.tensor("self", dtype), call.tensor("other", dtype)
    return call.emit("div", call.emit("sub", lhs, call.emit("mod", lhs, rhs)), rhs)


def power(call: Call) -> Answer:
    dtype = call.result.dtype
    return call.emit("pow", call.tensor("self", dtype), call.tensor("exponent", dtype))


def logical(op: str) -> Rule:
    """On anything, read as "not zero"."""

    def rule(call: Call) -> Answer:
        names = ("self", "other") if "other" in call.args else ("self",)
        return call.emit(op, *(call.tensor(name, "i1") for name in names))

    return rule


def bitwise(op: str) -> Rule:
    """Of booleans; MCIR has no bit operations on integers."""

    def rule(call: Call) -> Answer:
        call.require(call.result.dtype == "i1", "bits of integers")
        return logical(op)(call)

    return rule


def compare(op: str) -> Rule:
    """In the element type that torch promotes both operands to."""

    def rule(call: Call) -> Answer:
        dtype = promoted([call.args["self"], call.args["other"]])
        dtype = "u8" if dtype == "i1" and not op.endswith("equal") else dtype
        return call.emit(op, call.tensor("self", dtype), call.tensor("other", dtype))

    return rule


_KINDS = {"bool": 0, "uint": 1, "int": 1, "float": 2}


def promoted(items: list[Any]) -> str:
    """torch's common element type of tensors and numbers (torch.result_type).

    The highest kind among them decides (boolean, integer, float). Within it tensors with axes come before
    those of rank 0, and these before numbers, which are i64 and fp32 by default.
    """
    found = [_ranked(item) for item in items]
    kind = max(_KINDS[DTYPES[dtype].kind] for dtype, _ in found)
    of_kind = [entry for entry in found if _KINDS[DTYPES[entry[0]].kind] == kind]
    priority = max(rank for _, rank in of_kind)
    dtypes = [dtype for dtype, rank in of_kind if rank == priority]
    common = dtypes[0]
    for dtype in dtypes[1:]:
        common = _joined(common, dtype)
    return common


def _ranked(item: Any) -> tuple[str, int]:
    if isinstance(item, MCValue):
        return item.dtype, 2 if item.shape else 1
    return ("i1" if isinstance(item, bool) else "fp32" if isinstance(item, float) else "i64"), 0


def _joined(left: str, right: str) -> str:
    """The smallest element type of the same kind that holds both, as torch's table has it."""
    if left == right:
        return left
    a, b = DTYPES[left], DTYPES[right]
    if a.kind == b.kind:
        return (left if a.bits > b.bits else right) if a.bits != b.bits else "fp32"
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    bits = max(signed.bits, 2 * unsigned.bits)
    return f"i{min(bits, 64)}"


def where(call: Call) -> Answer:
    dtype = call.result.dtype
    return call.emit("where", call.value("condition"), call.tensor("self", dtype), call.tensor("other", dtype))


def masked_fill(call: Call) -> Answer:
    x = call.value("self")
    return call.emit("where", call.value("mask"), call.tensor("value", x.dtype), x)


def rsqrt(call: Call) -> Answer:
    return call.emit("reciprocal", call.emit("sqrt", call.tensor("self", call.result.dtype)))


def square(call: Call) -> Answer:
    x = call.value("self")
    return call.emit("mul", x, x)


def gelu(call: Call) -> Answer:
    return call.emit("gelu", call.value("self"), approximate=call.args.get("approximate", "none"))


def elu(call: Call) -> Answer:
    call.require(call.args.get("scale", 1) == 1 and call.args.get("input_scale", 1) == 1, "it has scales")
    return call.emit("elu", call.value("self"), alpha=float(call.args.get("alpha", 1)))


def softplus(call: Call) -> Answer:
    """Beyond the threshold of 20 torch takes x for log(1 + e^x): equal in fp32, not in fp64."""
    default = call.args.get("beta", 1) == 1 and call.args.get("threshold", 20) == 20
    call.require(default and call.result.dtype != "fp64", "beta or threshold is not the default")
    return call.emit("softplus", call.value("self"))


def clamp(low: str, high: str) -> Rule:
    """Limited by two arguments of these names, numbers or tensors, either of which may be None."""

    def rule(call: Call) -> Answer:
        dtype = call.result.dtype
        x = call.tensor("self", dtype)
        for name, op in ((low, "max"), (high, "min")):
            if call.has(name):
                x = call.emit(op, x, call.tensor(name, dtype))
        return x

    return rule


def dropout(call: Call) -> Answer:
    """Of inference only: p = 0 and train = False are the same."""
    p = call.args.get("p", 0.5)
    call.require(not call.args.get("train") or p == 0, "training")
    return call.emit("dropout", call.value("input"), p=float(p))


# Products


def matmul(left: str, right: str) -> Rule:
    return lambda call: call.emit("matmul", call.value(left), call.value(right))


def linear(call: Call) -> Answer:
    product = call.emit("matmul", call.value("input"), call.value("weight"), transpose_b=True)
    return call.emit("add", product, call.value("bias")) if call.has("bias") else product


def added_product(left: str, right: str) -> Rule:
    """beta * self + alpha * (left @ right)"""

    def rule(call: Call) -> Answer:
        product = call.emit("matmul", call.value(left), call.value(right))
        alpha, beta = call.args.get("alpha", 1), call.args.get("beta", 1)
        if alpha != 1:
            product = call.emit("mul", product, call.constant(alpha, product.dtype))
        if beta == 0:  # then torch does not look at self, whatever it holds
            return product
        bias = call.value("self")
        bias = bias if beta == 1 else call.emit("mul", bias, call.constant(beta, bias.dtype))
        return call.emit("add", bias, product)

    return rule


def einsum(call: Call) -> Answer:
    return call.emit("einsum", *call.args["tensors"], equation=call.args["equation"])


# Reductions


def reduce(op: str, dtype: str | None = None) -> Rule:
    """Over the axes `dim`, all if they are left out; the operand first takes the result's element type, or `dtype`."""

    def rule(call: Call) -> Answer:
        x = call.tensor("self", dtype or call.result.dtype)
        axes = call.axes("dim", len(x.shape))
        return call.emit(op, x, axes=axes, keepdims=bool(call.args.get("keepdim", False)))

    return rule


def variance(call: Call) -> Answer:
    """Mean square of what is left after the mean, over n - correction."""
    x = call.value("self")
    axes, keepdims = call.axes("dim", len(x.shape)), bool(call.args.get("keepdim", False))
    sizes = [dim for axis in axes if isinstance(dim := x.shape[axis], int)]
    call.require(len(sizes) == len(axes), "how many elements there are is known at run time only")
    correction = call.args.get("correction", 1 if call.args.get("unbiased", True) else 0)
    centred = call.emit("sub", x, call.emit("reduce_mean", x, axes=axes, keepdims=True))
    total = call.emit("reduce_sum", call.emit("mul", centred, centred), axes=axes, keepdims=keepdims)
    return call.emit("div", total, call.constant(max(0, math.prod(sizes) - (correction or 0)), x.dtype))


def log_sum_exp(call: Call) -> Answer:
    """log of the sum of exp(x - max), plus the maximum; an infinite maximum counts as 0."""
    x = call.value("self")
    axes, keepdims = call.axes("dim", len(x.shape)), bool(call.args.get("keepdim", False))
    top = call.emit("reduce_max", x, axes=axes, keepdims=True)
    top = call.emit("where", call.emit("isinf", top), call.constant(0, x.dtype), top)
    total = call.emit("reduce_sum", call.emit("exp", call.emit("sub", x, top)), axes=axes, keepdims=keepdims)
    top = top if keepdims else call.emit("squeeze", top, axes=axes)
    return call.emit("add", call.emit("log", total), top)


def cumsum(call: Call) -> Answer:
    x = call.tensor("self", call.result.dtype)
    return call.emit("cumsum", x, axis=call.axis("dim", len(x.shape)))


# Softmax and norms


def softmax(op: str) -> Rule:
    """In the element type `dtype` if it is given; half_to_float computes fp16 in fp32."""

    def rule(call: Call) -> Answer:
        x = call.tensor("self", call.result.dtype)
        return call.emit(op, x, axis=int(call.number("dim")))

    return rule


def safe_softmax(call: Call) -> Answer:
    """Softmax that is 0 over rows of nothing but -inf."""
    x = call.tensor("self", call.result.dtype)
    return guarded_softmax(call, x, int(call.number("dim")))


def guarded_softmax(call: Call, x: MCValue, axis: int) -> MCValue:
    """The softmax of `x`, 0 where the whole row is -inf (torch's _safe_softmax)."""
    top = call.emit("reduce_max", x, axes=[axis], keepdims=True)
    dead = call.emit("equal", top, call.constant(-math.inf, x.dtype))
    return call.emit("where", dead, call.constant(0, x.dtype), call.emit("softmax", x, axis=axis))


def layer_norm(call: Call) -> Answer:
    x, axis = call.value("input"), -len(call.ints("normalized_shape"))
    scale = [call.value("weight")] if call.has("weight") else []
    bias = [call.value("bias")] if call.has("bias") else []
    inside = [*scale, *bias] if scale else []  # a bias alone cannot be an operand
    out = call.emit("layer_norm", x, *inside, axis=axis, epsilon=float(call.number("eps")))
    return call.emit("add", out, bias[0]) if bias and not scale else out


# Machine epsilon of the element type that torch computes the norm in.
_EPSILON = {"fp64": 2.0**-52}


def rms_norm(call: Call) -> Answer:
    x, axis = call.value("input"), -len(call.ints("normalized_shape"))
    scale = [call.value("weight")] if call.has("weight") else []
    epsilon = call.number("eps") if call.has("eps") else _EPSILON.get(x.dtype, 2.0**-23)
    return call.emit("rms_norm", x, *scale, axis=axis, epsilon=float(epsilon))
