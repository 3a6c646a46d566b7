"""What a mapping rule sees of an ONNX node, and the steps it answers with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcir.types import TensorType
from mcir.values import MCValue


class KeepOpaque(Exception):
    """MCIR has no exact equivalent of this node: it stays opaque. The message says why."""


@dataclass(slots=True)
class Step:
    """One MCIR node to be. Operands are values, or earlier steps for their (first) result.

    types: of its results; None for the last step of a rule, whose results are those of the ONNX node.
    result: the further result of the ONNX node that it gives, if it is not the last step.
    """

    op: str
    operands: list[MCValue | Step]
    attrs: dict[str, Any] = field(default_factory=dict)
    types: list[TensorType] | None = None
    result: int | None = None


@dataclass(slots=True)
class NodeView:
    """An ONNX node with its operands looked up.

    operands: None for one that is left out.
    results: None for a result that is left out, or that nothing reads and is not the first.
    constant: the array of operand i if it is known (small, and defined by an initializer or Constant).
    """

    operands: list[MCValue | None]
    attrs: dict[str, Any]
    results: list[TensorType | None]
    constant: Callable[[int], Any | None]

    def given(self, index: int) -> bool:
        """True if operand `index` is there."""
        return index < len(self.operands) and self.operands[index] is not None

    def operand(self, index: int) -> MCValue:
        """Operand `index`. Raises KeepOpaque if it is left out."""
        value = self.operands[index] if index < len(self.operands) else None
        if value is None:
            raise KeepOpaque(f"operand {index} is missing")
        return value

    def present(self) -> list[MCValue | Step]:
        """The operands up to the last one given. Raises KeepOpaque if one before it is left out."""
        last = max((index for index in range(len(self.operands)) if self.given(index)), default=-1)
        return [self.operand(index) for index in range(last + 1)]

    def ints(self, index: int) -> list[int] | None:
        """The integers that operand `index` holds, None if it is left out. Raises KeepOpaque if not constant."""
        if not self.given(index):
            return None
        array = self.constant(index)
        if array is None:
            raise KeepOpaque(f"operand {index} is not constant")
        return [int(item) for item in array.reshape(-1)]

    def known_ints(self, index: int) -> list[int] | None:
        """Like `ints`, but None also if the operand is not constant."""
        array = self.constant(index) if self.given(index) else None
        return None if array is None else [int(item) for item in array.reshape(-1)]

    def result(self) -> TensorType:
        """The type of the first result. Raises KeepOpaque if it is left out."""
        first = self.results[0] if self.results else None
        if first is None:
            raise KeepOpaque("the first result is left out")
        return first


Rule = Callable[[NodeView], list[Step]]


def scalar(value: bool | int | float, dtype: str) -> Step:
    """A constant of rank 0."""
    return Step("constant", [], {"value": value}, [TensorType((), dtype)])
