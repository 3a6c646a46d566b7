"""Layout ops and constants in MLIR: transpose, reshape by collapsing and expanding, concat, dense constants."""

from __future__ import annotations

import itertools
import math

from mcir.exporters.mlir_linalg import Lowering, Typed, lowering
from mcir.exporters.mlir_scalar import element
from mcir.exporters.mlir_text import floating, integers, tensor_type
from mcir.nodes import MCNode
from mcir.passes.folding import read_constant
from mcir.types import Shape, TensorType


@lowering("transpose")
def transpose(scope: Lowering, node: MCNode) -> bool:
    operands = [scope.operand(node.inputs[0]), scope.empty(node.outputs[0].type, node.name)]
    result = (scope.bind(node.outputs[0]), operands[1][1])
    arguments = [(scope.writer.fresh("e"), element(node.outputs[0].dtype)) for _ in range(2)]
    properties = {"permutation": integers(node.attrs["perm"])}
    scope.writer.open("linalg.transpose", operands, [result], arguments, properties)
    scope.writer.op("linalg.yield", arguments[:1], [])
    scope.writer.close(operands, [result], scope.names(node))
    return True


@lowering("reshape", "flatten", "squeeze", "unsqueeze")
def reshape(scope: Lowering, node: MCNode) -> bool:
    """One collapse or expansion where axes only merge or only split, else a collapse to one axis and an expansion."""
    source, target = node.inputs[0].type, node.outputs[0].type
    if len(node.inputs) != 1 or 0 in source.shape or 0 in target.shape:
        return False
    if source.shape == target.shape:
        scope.alias(node.outputs[0], node.inputs[0])
        return True
    value = scope.operand(node.inputs[0])
    groups = reassociation(source.shape, target.shape)
    if groups is None:
        flat = TensorType((math.prod(_sizes(source)),), source.dtype)
        value = _shaped(scope, value, (scope.writer.fresh(f"{node.name}_flat"), flat), [source.rank], False, None)
        groups, source = [target.rank], flat
    _shaped(scope, value, (scope.bind(node.outputs[0]), target), groups, target.rank > source.rank, scope.names(node))
    return True


def _sizes(type_: TensorType) -> list[int]:
    return [dim for dim in type_.shape if isinstance(dim, int)]


def reassociation(source: Shape, target: Shape) -> list[int] | None:
    """How many axes of the longer shape make each axis of the shorter one; None where some merge and some split."""
    if len(source) == len(target):
        return None
    long, short = (source, target) if len(source) > len(target) else (target, source)
    groups: list[int] = []
    at = 0
    for size in short:
        begin, product = at, 1
        while at < len(long) and (at == begin or product != size):
            product *= long[at]  # type: ignore[operator,assignment]  # static shapes only
            at += 1
        if product != size:
            return None
        groups.append(at - begin)
    if any(dim != 1 for dim in long[at:]):
        return None
    if groups:
        groups[-1] += len(long) - at  # axes of size one at the end
    return groups


def _shaped(
    scope: Lowering, value: Typed, result: tuple[str, TensorType], groups: list[int], grows: bool,
    attributes: dict[str, str] | None,
) -> Typed:  # fmt: skip
    ends = itertools.accumulate(groups)
    spans = [range(end - size, end) for size, end in zip(groups, ends, strict=True)]
    lists = [f"[{', '.join(f'{axis} : i64' for axis in span)}]" for span in spans]
    properties = {"reassociation": f"[{', '.join(lists)}]"}
    if grows:
        properties["static_output_shape"] = integers(_sizes(result[1]))
    made = (result[0], tensor_type(result[1]))
    name = "tensor.expand_shape" if grows else "tensor.collapse_shape"
    scope.writer.op(name, [value], [made], properties, attributes)
    return made


@lowering("constant", "full")
def constant(scope: Lowering, node: MCNode) -> bool:
    """`arith.constant` of a dense attribute; fp8 stays, whose rounding is not done here."""
    result = node.outputs[0]
    known = read_constant(node, limit=1 << 24)
    if known is None or 0 in result.shape:
        return False
    items = [_literal(item, result.dtype) for item in known.items]
    text = items[0] if known.splat else _nested(items, _sizes(result.type))
    type_ = tensor_type(result.type)
    made = (scope.bind(result), type_)
    scope.writer.op("arith.constant", [], [made], {"value": f"dense<{text}> : {type_}"}, scope.names(node))
    return True


def _literal(item: object, dtype: str) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    return floating(item, element(dtype)) if isinstance(item, float) else str(item)


def _nested(items: list[str], shape: list[int]) -> str:
    """Row-major elements as nested lists."""
    for size in reversed(shape):
        items = [f"[{', '.join(items[at : at + size])}]" for at in range(0, len(items), size)]
    return items[0]


@lowering("concat")
def concat(scope: Lowering, node: MCNode) -> bool:
    result = node.outputs[0]
    axis = node.attrs["axis"] % len(result.shape)
    operands = [scope.operand(value) for value in node.inputs]
    made = (scope.bind(result), tensor_type(result.type))
    scope.writer.op("tensor.concat", operands, [made], {"dim": f"{axis} : i64"}, scope.names(node))
    return True
