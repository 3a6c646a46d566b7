"""What the values of an exported program are in MCIR: element types, dimensions, data."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.types import Dim, TensorType

MCIR_DTYPES: dict[torch.dtype, str] = {
    torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float64: "fp64",
    torch.float8_e4m3fn: "fp8e4m3", torch.float8_e5m2: "fp8e5m2", torch.bool: "i1",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
}  # fmt: skip
"""torch's element types that MCIR has; a program with a tensor of another one is refused."""

# A number that the run computes (a size, mostly) is a vector of one element.
_NUMBERS: tuple[tuple[Any, str], ...] = ((torch.SymBool, "i1"), (torch.SymInt, "i64"), (torch.SymFloat, "fp64"))

# Types that NumPy has no word for: their bits are read as integers.
_BITS = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    torch.float8_e4m3fn: (torch.uint8, ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: (torch.uint8, ml_dtypes.float8_e5m2),
}


def refuse(message: str, rule: str = "torch-program", hint: str = "") -> MCIRError:
    """The error for a program that cannot be imported; there is no text to point at."""
    return MCIRError(Diagnostic(message, hint=hint, rule=rule))


def is_number(value: Any) -> bool:
    """True for what a run computes and is no tensor: a size, a truth, a float."""
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def value_type(name: str, value: Any) -> TensorType | None:
    """The type of what a node of the program gives; None for what has none. Raises MCIRError.

    value: the stand-in that export noted for it.
    """
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.is_quantized:
            raise refuse(f"'{name}' is not stored densely", rule="torch-type")
        return TensorType(tuple(dim_of(size) for size in value.shape), dtype_of(name, value.dtype))
    return next((TensorType((1,), dtype) for kind, dtype in _NUMBERS if isinstance(value, kind)), None)


def dtype_of(name: str, dtype: torch.dtype) -> str:
    """MCIR's name of an element type. Raises MCIRError if it has none."""
    if dtype not in MCIR_DTYPES:
        raise refuse(f"'{name}' has element type {str(dtype)[6:]}, which MCIR does not have", rule="torch-type")
    return MCIR_DTYPES[dtype]


def dim_of(size: Any) -> Dim:
    """A size as a dimension: a number, or the text of export's expression (`s0`, `2*s0 + 1`)."""
    if isinstance(size, int):
        return size
    text = str(size.node.expr)
    return int(text) if text.isdecimal() else text


def array_of(tensor: Any) -> Any | None:
    """The data as a NumPy array (ml_dtypes' types where NumPy has none); None if the tensor has no data."""
    if not isinstance(tensor, torch.Tensor) or type(tensor).__name__ == "FakeTensor" or tensor.is_meta:
        return None
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    if plain.dtype not in _BITS:
        return plain.numpy()
    integers, dtype = _BITS[plain.dtype]
    return np.asarray(plain.view(integers).numpy()).view(dtype)
