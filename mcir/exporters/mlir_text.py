"""MLIR's spelling of MCIR's types, attribute values, strings and names, and a writer of operations in generic form."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcir.diagnostics import MCIRError
from mcir.types import Dim, Symbol, TensorType

ELEMENT_TYPES: dict[str, str] = {
    "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64", "fp8e4m3": "f8E4M3FN", "fp8e5m2": "f8E5M2",
    "i1": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
    "u8": "ui8", "u16": "ui16", "u32": "ui32", "u64": "ui64",
}  # fmt: skip

LARGEST_DIM = 2**63 - 1
WIDEST_INTEGER = 4096  # bits of an integer attribute; wider ones are written as text

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_SSA = re.compile(r"[A-Za-z_$.-][A-Za-z0-9_$.-]*")


def tensor_type(type_: TensorType) -> str:
    """`tensor<4x?xf16>`; a residency other than global is the encoding: `tensor<4xf16, "shared">`.

    A named size is `?`. Raises MCIRError for a size that MLIR cannot hold.
    """
    dims = "".join(f"{_dim(dim)}x" for dim in type_.shape)
    encoding = "" if type_.residency == "global" else f", {string(str(type_.residency))}"
    return f"tensor<{dims}{ELEMENT_TYPES[type_.dtype]}{encoding}>"


def _dim(dim: Dim) -> str:
    if not isinstance(dim, int):
        return "?"
    if dim >= LARGEST_DIM:
        raise MCIRError(f"MLIR cannot hold a size of {dim:#x}"[:80])
    return str(dim)


def string(text: str) -> str:
    """A string literal: bytes of UTF-8, those that are not printable ASCII in hexadecimal."""
    return '"' + "".join(_byte(code) for code in text.encode("utf-8", errors="surrogatepass")) + '"'


def _byte(code: int) -> str:
    return chr(code) if 0x20 <= code < 0x7F and code not in (0x22, 0x5C) else f"\\{code:02X}"


def floating(value: float, element: str = "f64") -> str:
    """A float literal that reads back to `value`, which is a value of the element type; special ones by their bits."""
    if math.isfinite(value):
        mantissa, _, exponent = repr(float(value)).partition("e")
        return (mantissa if "." in mantissa else f"{mantissa}.0") + (f"e{exponent}" if exponent else "")
    return _special(value, element)


def _special(value: float, element: str) -> str:
    name = "nan" if value != value else "inf" if value > 0 else "-inf"
    bits: dict[str, dict[str, int]] = {
        "f64": {"nan": 0x7FF8 << 48, "inf": 0x7FF0 << 48, "-inf": 0xFFF0 << 48},
        "f32": {"nan": 0x7FC00000, "inf": 0x7F800000, "-inf": 0xFF800000},
        "f16": {"nan": 0x7E00, "inf": 0x7C00, "-inf": 0xFC00},
        "bf16": {"nan": 0x7FC0, "inf": 0x7F80, "-inf": 0xFF80},
    }
    width = {"f64": 16, "f32": 8, "f16": 4, "bf16": 4}[element]
    return f"0x{bits[element][name]:0{width}X}"


def integer(value: int) -> str:
    """`5 : i64`, or of the next width of whole 64 bits; beyond WIDEST_INTEGER a text in a dictionary."""
    width = -(-((value if value >= 0 else ~value).bit_length() + 1) // 64) * 64
    if width > WIDEST_INTEGER:
        return f"{{integer = {string(hex(value))}}}"
    return f"{value} : i{width}"


def attribute(value: Any) -> str:
    """An MCIR attribute value as an MLIR attribute. The depth is limited where values are made."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return integer(int(value))
    if isinstance(value, float):
        return f"{floating(value)} : f64"
    if isinstance(value, str):
        return string(str(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(attribute, value))}]"
    if isinstance(value, dict):
        return dictionary({key: attribute(item) for key, item in value.items()})
    if isinstance(value, Symbol):
        return f"@{string(value.name)}"
    assert isinstance(value, TensorType)
    return tensor_type(value)


def dictionary(entries: dict[str, str]) -> str:
    """A dictionary attribute of values that are MLIR text. MLIR has no empty key: it becomes a free one of NULs."""
    if "" in entries:
        free = next(key for count in range(1, len(entries) + 1) if (key := "\0" * count) not in entries)
        entries = {key or free: value for key, value in entries.items()}
    return f"{{{', '.join(f'{_key(key)} = {value}' for key, value in entries.items())}}}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else string(key)


def integers(values: Iterable[int], element: str = "i64") -> str:
    """`array<i64: 1, 2>`."""
    items = ", ".join(map(str, values))
    return f"array<{element}: {items}>" if items else f"array<{element}>"


@dataclass(slots=True)
class Writer:
    """Lines of MLIR in generic form, and the names of values in use."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0
    _taken: dict[str, int] = field(default_factory=dict)

    def fresh(self, wanted: str) -> str:
        """A name for a value, with its `%`: `wanted` if MLIR can spell it, with a number if it is taken."""
        name = wanted if _SSA.fullmatch(wanted) else "v"
        while True:
            count = self._taken.get(name, 0)
            self._taken[name] = count + 1
            if not count:
                return f"%{name}"
            name = f"{name}_{count}"

    def line(self, text: str) -> None:
        self.lines.append(f"{'  ' * min(self.depth, 40)}{text}")

    def comment(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(f"//{text}")

    def op(
        self, name: str, operands: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]],
        properties: dict[str, str] | None = None, attributes: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        """One operation without regions; operands and results are (name, type)."""
        self.line(self._head(name, operands, results, properties) + self._tail(operands, results, attributes))

    def open(
        self, name: str, operands: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]],
        arguments: Sequence[tuple[str, str]], properties: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        """The beginning of an operation with one region, whose block has these arguments."""
        self.line(self._head(name, operands, results, properties) + " ({")
        if arguments:
            self.line(f"^bb0({', '.join(f'{arg}: {type_}' for arg, type_ in arguments)}):")
        self.depth += 1

    def close(
        self, operands: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]],
        attributes: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.depth -= 1
        self.line("})" + self._tail(operands, results, attributes))

    def _head(
        self, name: str, operands: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]],
        properties: dict[str, str] | None,
    ) -> str:  # fmt: skip
        defined = f"{', '.join(result for result, _ in results)} = " if results else ""
        kept = f" <{dictionary(properties)}>" if properties else ""
        return f"{defined}{string(name)}({', '.join(operand for operand, _ in operands)}){kept}"

    @staticmethod
    def _tail(
        operands: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]], attributes: dict[str, str] | None
    ) -> str:
        shown = f" {dictionary(attributes)}" if attributes else ""
        return f"{shown} : {signature([t for _, t in operands], [t for _, t in results])}"


def signature(operands: Sequence[str], results: Sequence[str]) -> str:
    """`(a, b) -> c`: a function type."""
    out = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(operands)}) -> {out}"


