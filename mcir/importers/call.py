"""What a mapping rule sees of a call of an operator, and how it makes MCIR nodes.

Nothing here needs onnx or torch: a call holds values, numbers, texts and lists of them, so that rules are
plain functions that any test can call. Types of the nodes are inferred by the rules of the ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcir.importers.onnx_view import KeepOpaque
from mcir.ops import lookup
from mcir.ops.definition import TypeContext
from mcir.types import DTYPES, Dim, Shape, TensorType
from mcir.values import MCValue

END = 2**63 - 1
"""How torch writes "to the end of the axis"."""


@dataclass(slots=True, eq=False)
class Draft:
    """A node to be. Names are given once the call it belongs to is known to be exact.

    optional: left out if nothing reads it (a weight, or what computes sizes).
    """

    op: str
    operands: list[MCValue]
    attrs: dict[str, Any]
    outputs: list[MCValue]
    name: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """A size that is known at run time: a tensor<1xi64> that holds it, and how dimensions call it."""

    value: MCValue
    dim: Dim


Answer = MCValue | list[MCValue]


@dataclass(slots=True)
class Call:
    """One call of an operator with the arguments that its schema names.

    args: by name, defaults filled in. Tensors are MCValues, sizes known at run time are Size, element
        types are MCIR's names.
    results: None for a result that is no tensor or that nothing reads (the first is always there).
    bound: names of dimensions that the sizes of the graph's inputs give a value.
    """

    args: dict[str, Any]
    results: list[TensorType | None]
    bound: frozenset[str] = frozenset()
    drafts: list[Draft] = field(default_factory=list)

    # What is given

    def has(self, name: str) -> bool:
        """True if the argument is there and not None."""
        return self.args.get(name) is not None

    def value(self, name: str) -> MCValue:
        """The tensor `name`. Raises KeepOpaque if it is no tensor."""
        given = self.args.get(name)
        if not isinstance(given, MCValue):
            raise KeepOpaque(f"'{name}' is no tensor")
        return given

    def number(self, name: str) -> Any:
        """A number known at import. Raises KeepOpaque if it is not."""
        given = self.args.get(name)
        if not isinstance(given, (bool, int, float)):
            raise KeepOpaque(f"'{name}' is not known")
        return given

    def ints(self, name: str) -> list[int]:
        """A list of integers known at import; a lone integer is a list of one. Raises KeepOpaque."""
        given = self.args.get(name)
        items = [given] if isinstance(given, int) else given
        if not isinstance(items, list) or not all(isinstance(item, int) for item in items):
            raise KeepOpaque(f"'{name}' is not known")
        return items

    @property
    def result(self) -> TensorType:
        """The type of the first result. Raises KeepOpaque if that is no tensor."""
        first = self.results[0] if self.results else None
        if first is None:
            raise KeepOpaque("the result is no tensor")
        return first

    def require(self, holds: bool, reason: str) -> None:
        """Raises KeepOpaque with the reason unless it holds."""
        if not holds:
            raise KeepOpaque(reason)

    # Nodes

    def emit(self, op: str, *operands: MCValue, declared: TensorType | None = None, **attrs: Any) -> MCValue:
        """A node of one result; its type is what the op's rule infers, from `declared` where it needs one.

        Raises TypeRuleError where the op does not take the operands.
        """
        return self._emit(op, list(operands), attrs, [] if declared is None else [declared])[0]

    def emit_split(self, x: MCValue, axis: int, sizes: list[int]) -> list[MCValue]:
        """The parts of `x` along an axis."""
        parts = [TensorType((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype) for size in sizes]
        return self._emit("split", [x], {"axis": axis, "sizes": sizes}, parts)

    def _emit(
        self, op: str, operands: list[MCValue], attrs: dict[str, Any], declared: list[TensorType]
    ) -> list[MCValue]:
        definition = lookup(op)
        if definition is None:
            raise KeepOpaque(f"no op '{op}'")
        self.require(not definition.miscount(len(operands)), f"'{op}' takes another number of operands")
        context = TypeContext(definition, [item.type for item in operands], definition.attributes(attrs), declared)
        types = definition.infer(context)
        if definition.verify is not None:
            definition.verify(context)
        outputs = [MCValue("", type_.shape, type_.dtype) for type_ in types]
        self.drafts.append(Draft(op, operands, attrs, outputs))
        return outputs

    def constant(self, value: bool | int | float, dtype: str, shape: Shape = ()) -> MCValue:
        """A constant of the element type; the number is brought into its kind."""
        return self.emit("constant", declared=TensorType(shape, dtype), value=element(value, dtype))

    def cast(self, x: MCValue, dtype: str) -> MCValue:
        """`x` in an element type: itself if it has that."""
        return x if x.dtype == dtype else self.emit("cast", x, declared=TensorType(x.shape, dtype))

    def tensor(self, name: str, dtype: str) -> MCValue:
        """The argument as a tensor of the element type: a number becomes a constant of rank 0."""
        given = self.args.get(name)
        if isinstance(given, Size):
            return self.cast(self.emit("squeeze", given.value, axes=[0]), dtype)
        if isinstance(given, (bool, int, float)):
            return self.constant(given, dtype)
        return self.cast(self.value(name), dtype)

    # Sizes

    def known_sizes(self, shape: Shape) -> bool:
        """True if a run knows the sizes before it comes to this node: numbers, and names of input sizes."""
        return all(isinstance(dim, int) or dim in self.bound for dim in shape)

    def size_vector(self, sizes: Sequence[Any]) -> MCValue:
        """A list of numbers and Size as a tensor<nxi64>. Raises KeepOpaque for anything else in it."""
        parts = [self.size_part(size) for size in sizes]
        if not parts:
            return self.emit("constant", declared=TensorType((0,), "i64"), value=[])
        return parts[0] if len(parts) == 1 else self.emit("concat", *parts, axis=0)

    def size_part(self, size: Any) -> MCValue:
        """A number or Size as a tensor<1xi64>. Raises KeepOpaque for anything else."""
        if isinstance(size, Size):
            return size.value
        if isinstance(size, int):
            return self.constant(int(size), "i64", (1,))
        raise KeepOpaque("a size is not known")

    def axis(self, name: str, rank: int) -> int:
        """The axis `name` counted from the front."""
        return int(self.number(name)) % max(rank, 1)

    def axes(self, name: str, rank: int) -> list[int]:
        """The axes `name` counted from the front; all of them if they are left out or an empty list."""
        given = self.ints(name) if self.has(name) else []
        return [axis % max(rank, 1) for axis in given] or list(range(rank))


Rule = Callable[[Call], Answer]


def element(value: bool | int | float, dtype: str) -> bool | int | float:
    """The number as an element of the type is written: 1 is 1.0 among floats and true among booleans."""
    kinds: dict[str, Callable[[Any], bool | int | float]] = {"float": float, "bool": bool}
    return kinds.get(DTYPES[dtype].kind, int)(value)
