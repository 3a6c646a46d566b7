"""What the type rules of semantic ops share: dims, shapes, axes, element types, and compatibility.

A dim is a size, a name (equal names are equal sizes) or None. A rule refuses only what cannot hold at
run time: a name or None against a size is accepted, and the more precise of the two goes on. It may rely
on what the verifier checks before it: the number of operands and results, and the attributes' kinds.

Residency: an inferred type takes the first operand residency that is not global, and `compatible`
does not look at it: where a value may live is decided by the memory rules, not by an op's type rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from mcir.ops.definition import OpDef, TypeContext, TypeRuleError, is_int
from mcir.types import DTYPES, Dim, Shape, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from mcir.ops.definition import InferRule

LONGEST_LIST = 12  # items of a list that messages show
_OPERAND_TEXT = r"'(\w+)(?:\[(\d+)\])?' tensor<"
MAX_LIST = 4096  # elements of a list operand whose value is unknown: no rule builds longer shapes

# Families of element types that ops ask for: name -> (words for messages, the kinds in it).
FAMILIES: dict[str, tuple[str, frozenset[str]]] = {
    "any": ("of any element type", frozenset({"float", "int", "uint", "bool"})),
    "number": ("of numbers", frozenset({"float", "int", "uint"})),
    "signed": ("of signed numbers", frozenset({"float", "int"})),
    "float": ("of floats", frozenset({"float"})),
    "integer": ("of integers", frozenset({"int", "uint"})),
    "bool": ("of booleans (i1)", frozenset({"bool"})),
}


def shown(value: Any) -> str:
    """An attribute value or size for messages, cut short where it is long."""
    if isinstance(value, list):
        items = [shown(item) for item in value[:LONGEST_LIST]]
        return f"[{', '.join(items + ['...'] * (len(value) > LONGEST_LIST))}]"
    if is_int(value):
        # Python refuses to write very long integers in decimal
        return str(value) if abs(value) < 10**20 else f"{value:#x}"[:20] + "..."
    if isinstance(value, str):
        return f'"{value[:60]}"'
    if isinstance(value, dict):
        return "{...}" if value else "{}"
    return str(value).lower() if isinstance(value, bool) else str(value)[:60]


def shape_text(shape: Shape) -> str:
    """`4x(seq)x?` for messages; a scalar is `()`."""
    names = ["?" if dim is None else f"({dim})" if isinstance(dim, str) else shown(dim) for dim in shape]
    return "x".join(names) or "()"


def type_text(type_: TensorType) -> str:
    """`tensor<4x8xfp16>` for messages."""
    return f"tensor<{shape_text(type_.shape)}x{type_.dtype}>" if type_.shape else f"tensor<{type_.dtype}>"


def dtype_kind(dtype: str) -> str:
    """"float", "int", "uint" or "bool"."""
    return DTYPES[dtype].kind


# Dims and shapes


def join_dim(left: Dim, right: Dim) -> Dim:
    """The dim that both are: a size before a name before None. Raises ValueError if the sizes differ."""
    if left == right or right is None:
        return left
    if left is None:
        return right
    if isinstance(left, str):
        return left if isinstance(right, str) else right
    if isinstance(right, str):
        return left
    raise ValueError(f"{shown(left)} is not {shown(right)}")


def broadcast_dim(left: Dim, right: Dim) -> Dim:
    """The dim NumPy broadcasting gives; None if it depends on the run. Raises ValueError if it cannot be."""
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    sizes = [dim for dim in (left, right) if isinstance(dim, int)]
    if len(sizes) == 2:
        raise ValueError(f"{shown(left)} against {shown(right)}")
    return sizes[0] if sizes else None


def broadcast_shapes(left: Shape, right: Shape) -> Shape:
    """NumPy broadcasting of two shapes, aligned at the last axis. Raises ValueError."""
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (left, right)]
    return tuple(map(broadcast_dim, *padded))


def elements(dims: Iterable[Dim]) -> tuple[int, Counter[str]]:
    """The number of elements as (product of the sizes, the names that multiply it); unknown dims are left out."""
    size, names = 1, Counter[str]()
    for dim in dims:
        if isinstance(dim, str):
            names[dim] += 1
        elif dim is not None:
            size *= dim
    return size, names


def compatible(inferred: TensorType, declared: TensorType) -> bool:
    """True if a value of the inferred type can have the declared type: same element type and rank, no two
    different sizes on one axis. Residency is not compared."""
    if inferred.dtype != declared.dtype or inferred.rank != declared.rank:
        return False
    pairs = zip(inferred.shape, declared.shape, strict=True)
    return all(a == b or type(a) is not int or type(b) is not int for a, b in pairs)


# Operands, axes and results of a rule


def operand_text(ctx: TypeContext, index: int) -> str:
    """`'lhs' tensor<4x8xfp16>`: an operand of the rule for messages."""
    slots = ctx.op.operands
    name = slots[min(index, len(slots) - 1)].name
    number = f"[{index - len(slots) + 1}]" if slots[-1].variadic and index >= len(slots) - 1 else ""
    return f"'{name}{number}' {type_text(ctx.operands[index])}"


def named_operand(op: OpDef, message: str) -> int | None:
    """The position of the last operand that a message shows by `operand_text`."""
    import re

    found = re.findall(_OPERAND_TEXT, message)
    slots = [slot.name for slot in op.operands]
    if not found or found[-1][0] not in slots:
        return None
    name, number = found[-1]
    return slots.index(name) + int(number or 0)


def require_family(ctx: TypeContext, index: int, family: str) -> None:
    """Refuses operand `index` unless its element type belongs to `family` (a key of FAMILIES)."""
    words, kinds = FAMILIES[family]
    if dtype_kind(ctx.operands[index].dtype) not in kinds:
        hint = "cast it first" if family != "any" else ""
        raise TypeRuleError(f"takes tensors {words}, got {operand_text(ctx, index)}", hint)


def require_rank(ctx: TypeContext, index: int, *ranks: int) -> None:
    """Refuses operand `index` unless it has one of the ranks."""
    if ctx.operands[index].rank not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise TypeRuleError(f"takes an operand of rank {wanted}, got {operand_text(ctx, index)}")


def require_same_dtype(ctx: TypeContext, left: int, right: int) -> None:
    """Refuses two operands of different element types: casts are explicit."""
    if ctx.operands[left].dtype != ctx.operands[right].dtype:
        both = f"{operand_text(ctx, left)} and {operand_text(ctx, right)}"
        raise TypeRuleError(f"takes one element type, got {both}", "casts are explicit: cast one")


def broadcast_operands(ctx: TypeContext, indices: Sequence[int]) -> Shape:
    """The shape the operands broadcast to; the error names the two that do not fit."""
    shape = ctx.operands[indices[0]].shape
    for index in indices[1:]:
        try:
            shape = broadcast_shapes(shape, ctx.operands[index].shape)
        except ValueError as error:
            others = " and ".join(operand_text(ctx, other) for other in indices[: indices.index(index) + 1])
            message = f"cannot broadcast {others}: {error}"
            raise TypeRuleError(message, "axes are aligned at the last one; sizes must be equal or 1") from None
    return shape


def normal_axis(ctx: TypeContext, axis: int, rank: int) -> int:
    """`axis` counted from the front. Raises TypeRuleError unless -rank <= axis < rank."""
    if not -rank <= axis < rank:
        hint = f"axes are {-rank} to {rank - 1}" if rank else "a scalar has no axes"
        raise TypeRuleError(f"axis {shown(axis)} is out of range for rank {rank}", hint)
    return axis % rank


def normal_axes(ctx: TypeContext, axes: Sequence[int], rank: int) -> list[int]:
    """All `axes` counted from the front, in the given order. Raises TypeRuleError also if one is named twice."""
    normal = [normal_axis(ctx, axis, rank) for axis in axes]
    if len(set(normal)) != len(normal):
        raise TypeRuleError(f"an axis is named twice: {shown(list(axes))}")
    return normal


def one_of(ctx: TypeContext, index: int, attr: str, *, optional: bool = False, hint: str = "") -> bool:
    """True if operand `index` is given, False if attribute `attr` is. Refuses both, and neither unless optional.

    hint: what to write where there is neither.
    """
    operand, attribute = len(ctx.operands) > index, attr in ctx.attrs
    if operand and attribute:
        raise TypeRuleError(f"'{attr}' is given both as operand and as attribute", "write one of them")
    if not operand and not attribute and not optional:
        raise TypeRuleError(f"needs '{attr}' as operand or as attribute", hint)
    return operand


def list_operand(ctx: TypeContext, index: int) -> tuple[list[int] | None, int | None]:
    """An operand that is a 1-D list of integers: (its value if constant, its length if known)."""
    require_family(ctx, index, "integer")
    require_rank(ctx, index, 1)
    value = ctx.constants.get(index)
    # the constant node itself may be invalid
    if isinstance(value, list) and all(map(is_int, value)):
        return value, len(value)
    length = ctx.operands[index].shape[0]
    if isinstance(length, int) and length > MAX_LIST:
        raise TypeRuleError(f"{operand_text(ctx, index)} has more than {MAX_LIST} elements")
    return None, length if isinstance(length, int) else None


def declared_type(ctx: TypeContext, index: int = 0) -> TensorType:
    """The result type as written, for rules that cannot know it."""
    if index >= len(ctx.declared):
        raise TypeRuleError("the result type cannot be inferred", "write it")
    return ctx.declared[index]


def result(ctx: TypeContext, shape: Sequence[Dim], dtype: str | None = None) -> TensorType:
    """A result of this shape, with the first operand's element type unless given, and the operands' residency."""
    residencies = (operand.residency for operand in ctx.operands if operand.residency != "global")
    return TensorType(tuple(shape), dtype or ctx.operands[0].dtype, next(residencies, "global"))


# Whole rules


def same_type(family: str = "any", dtype: str | None = None) -> InferRule:
    """The rule of a one-operand op that keeps the shape; `dtype` is the result's, the operand's by default."""

    def infer(ctx: TypeContext) -> list[TensorType]:
        require_family(ctx, 0, family)
        return [result(ctx, ctx.operands[0].shape, dtype)]

    infer.__doc__ = f"x {FAMILIES[family][0]}; out: its shape, {dtype or 'its element type'}."
    return infer


def broadcasting(family: str = "any", dtype: str | None = None, *, same: bool = True) -> InferRule:
    """The rule of a pointwise op: operands of one family, broadcast; `same` asks for one element type."""

    def infer(ctx: TypeContext) -> list[TensorType]:
        for index in range(len(ctx.operands)):
            require_family(ctx, index, family)
            if same:
                require_same_dtype(ctx, 0, index)
        return [result(ctx, broadcast_operands(ctx, range(len(ctx.operands))), dtype)]

    one = ", of one element type" if same else ""
    infer.__doc__ = f"Operands {FAMILIES[family][0]}{one}; out: the broadcast shape, {dtype or 'element type of lhs'}."
    return infer


def as_declared(*, family: str = "any", check: Callable[[TypeContext, TensorType], None] | None = None) -> InferRule:
    """The rule of an op whose result type is what is written."""

    def infer(ctx: TypeContext) -> list[TensorType]:
        declared = declared_type(ctx)
        words, kinds = FAMILIES[family]
        if dtype_kind(declared.dtype) not in kinds:
            raise TypeRuleError(f"gives a tensor {words}, not {type_text(declared)}")
        if check is not None:
            check(ctx, declared)
        return [declared]

    infer.__doc__ = f"out: as written, {FAMILIES[family][0]}."
    return infer
