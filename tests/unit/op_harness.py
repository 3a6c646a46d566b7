"""Calls one op's type rule or NumPy meaning from a test, without a module around it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from mcir.ops import lookup
from mcir.ops.definition import EvalContext, TypeContext
from mcir.ops.rules import type_text
from mcir.types import DTYPES, Dim, TensorType


def tensor(text: str) -> TensorType:
    """`"4x(seq)x?xfp16"`, the inside of `tensor<...>`, as a type; `"4xfp16@shared"` lives in shared memory."""
    text, _, residency = text.partition("@")
    *dims, dtype = text.split("x")
    return TensorType(tuple(map(_dim, dims)), dtype, residency or "global")


def _dim(text: str) -> Dim:
    return int(text) if text.isdigit() else None if text == "?" else text.strip("()")


def inferred(
    name: str, *operands: str, declared: tuple[str, ...] = (), constants: dict[int, Any] | None = None, **attrs: Any
) -> list[str]:
    """The result types, as `tensor` reads them, that the op's rules give; raises what they raise."""
    op = lookup(name)
    assert op is not None
    types, results = list(map(tensor, operands)), list(map(tensor, declared))
    ctx = TypeContext(op, types, op.attributes(attrs), results, constants or {})
    answer = list(op.infer(ctx))
    if op.verify is not None:
        op.verify(ctx)
    return [type_text(type_).removeprefix("tensor<").removesuffix(">") for type_ in answer]


def numpy_dtype(name: str) -> Any:
    """The NumPy or ml_dtypes type of an MCIR element type."""
    name = DTYPES[name].numpy
    return getattr(ml_dtypes, name, None) or np.dtype(name)


def proof_dtype(name: str) -> Any:
    """The same in a proof: every float is float64."""
    return np.dtype("float64") if DTYPES[name].kind == "float" else numpy_dtype(name)


def run(name: str, *arrays: Any, result: str | list[str], proof: bool = False, **attrs: Any) -> Any:
    """What the op's meaning gives; `rows` and `cols` are taken as positions, all else as attributes."""
    op = lookup(name)
    assert op is not None and op.evaluate is not None
    given = [None if array is None else np.asarray(array) for array in arrays]
    given += [None] * (sum(slot.optional for slot in op.operands) - max(0, len(given) - _required(op)))
    positions = {key: attrs.pop(key) for key in ("rows", "cols") if key in attrs}
    ctx = EvalContext(
        np, op.attributes(attrs), [tensor(text) for text in ([result] if isinstance(result, str) else result)],
        proof_dtype if proof else numpy_dtype, np.exp2 if proof else np.exp, np.log2 if proof else np.log,
        accumulate="fp64" if proof else "fp32", **positions,
    )  # fmt: skip
    with np.errstate(all="ignore"):
        return op.evaluate(ctx, *given)


def _required(op: Any) -> int:
    return sum(not slot.optional and not slot.variadic for slot in op.operands)


def sample(type_: TensorType, seed: int = 0, proof: bool = False) -> np.ndarray[Any, Any]:
    """Small numbers of a static type: floats around zero, integers from 0 (so that they index anything)."""
    rng = np.random.default_rng(seed)
    shape: Any = type_.shape
    kind = DTYPES[type_.dtype].kind
    values = rng.standard_normal(shape) if kind == "float" else rng.integers(0, 2, shape)
    return np.asarray(values).astype((proof_dtype if proof else numpy_dtype)(type_.dtype))
