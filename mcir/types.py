"""Element types, residencies, tensor types and attribute values.

Spelling follows the design note: `fp16`, `fp32`, residency `global`, `shared`, `register`.
"""

from __future__ import annotations

from enum import Enum

from mcir.record import record

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

# A dimension is a size, the name of a size (equal names mean equal sizes), or None when unknown.
Dim = int | str | None
Shape = tuple[Dim, ...]

LARGEST_SIZE = 10**18 - 1
"""Of a dimension or a tile: 18 digits, so that no product of a few sizes is out of anybody's reach."""

# Deeper attribute values are refused: nothing in MCIR may recurse as deep as its input.
MAX_ATTRIBUTE_DEPTH = 64


class Residency(str, Enum):
    """Which memory a value lives in (design note, section 7)."""

    GLOBAL = "global"
    SHARED = "shared"
    REGISTER = "register"

    def __str__(self) -> str:
        return self.value


class MCNodeOp(str, Enum):
    """The five tile operations every streaming attention has (design note, section 7)."""

    LOAD_TILE = "load_tile"
    COMPUTE_SCORE = "compute_score"
    UPDATE_SOFTMAX = "update_softmax"
    ACCUMULATE_OUTPUT = "accumulate_output"
    STORE_TILE = "store_tile"

    def __str__(self) -> str:
        return self.value


@record(frozen=True, slots=True)
class DType:
    """An element type: its MCIR spelling, width in bits, kind and NumPy / ml_dtypes name."""

    name: str
    bits: int
    kind: str  # "float", "int", "uint" or "bool"
    numpy: str

    @property
    def bytes(self) -> int:
        """Bytes one element takes in memory; booleans take a whole byte."""
        return max(1, self.bits // 8)


DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        DType("fp16", 16, "float", "float16"),
        DType("bf16", 16, "float", "bfloat16"),
        DType("fp32", 32, "float", "float32"),
        DType("fp64", 64, "float", "float64"),
        DType("fp8e4m3", 8, "float", "float8_e4m3fn"),
        DType("fp8e5m2", 8, "float", "float8_e5m2"),
        DType("i1", 1, "bool", "bool"),
        DType("i8", 8, "int", "int8"),
        DType("i16", 16, "int", "int16"),
        DType("i32", 32, "int", "int32"),
        DType("i64", 64, "int", "int64"),
        DType("u8", 8, "uint", "uint8"),
        DType("u16", 16, "uint", "uint16"),
        DType("u32", 32, "uint", "uint32"),
        DType("u64", 64, "uint", "uint64"),
    )
}

# How other tools spell the same types; a diagnostic answers with ours.
DTYPE_ALIASES: dict[str, str] = {
    "f16": "fp16", "half": "fp16", "float16": "fp16", "f32": "fp32", "float": "fp32",
    "float32": "fp32", "f64": "fp64", "double": "fp64", "float64": "fp64", "bfloat16": "bf16",
    "f8E4M3FN": "fp8e4m3", "f8E5M2": "fp8e5m2", "f8e4m3": "fp8e4m3", "f8e5m2": "fp8e5m2",
    "bool": "i1", "int8": "i8", "int16": "i16", "int": "i32", "int32": "i32", "int64": "i64",
    "index": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip

RESIDENCIES: tuple[str, ...] = tuple(residency.value for residency in Residency)
REGION_KINDS: tuple[str, ...] = ("execution", "streaming", "tile")


@record(frozen=True, slots=True)
class TensorType:
    """`tensor<128x64xfp16, shared>`: shape, element type and residency of a value."""

    shape: Shape
    dtype: str
    residency: str = "global"

    def __init__(self, shape: Shape, dtype: str, residency: str = "global") -> None:
        put = object.__setattr__
        put(self, "shape", shape)
        put(self, "dtype", dtype)
        put(self, "residency", residency)

    @property
    def rank(self) -> int:
        return len(self.shape)

    def is_static(self) -> bool:
        """True when every dimension is a known size."""
        return all(type(dim) is int for dim in self.shape)


@record(frozen=True, slots=True)
class Symbol:
    """The attribute value `@name`: a reference to a graph or a region."""

    name: str


def attribute_key(value: Any, depth: int = 0) -> Any:
    """A hashable key that is equal for structurally equal attribute values and for no others.

    Unlike Python's `==` it tells `1`, `1.0` and `true` apart, `-0.0` from `0.0`, and takes equal
    NaNs as equal. Dictionaries compare without regard to order.

    Raises ValueError below MAX_ATTRIBUTE_DEPTH levels and TypeError for a value that is no attribute.
    """
    if depth > MAX_ATTRIBUTE_DEPTH:
        raise ValueError(f"attribute nested deeper than {MAX_ATTRIBUTE_DEPTH} levels")
    if isinstance(value, float):
        import struct

        return ("float", struct.pack("<d", value) if value == value else b"nan")
    if isinstance(value, (bool, int, str)):
        return (type(value).__name__ if not isinstance(value, Enum) else "str", value)
    if isinstance(value, (list, tuple)):
        return ("list", tuple(attribute_key(item, depth + 1) for item in value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, attribute_key(item, depth + 1)) for key, item in value.items()))
    if isinstance(value, (Symbol, TensorType)):
        return (type(value).__name__, value)
    raise TypeError(f"{type(value).__name__} is no attribute value")


def same_attributes(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Structural equality of two attribute dictionaries (see `attribute_key`)."""
    if not left and not right:
        return True
    return len(left) == len(right) and attribute_key(left) == attribute_key(right)
