"""How nodes become `linalg` operations: the table STANDARD, and the pointwise part of it.

Only static shapes of floats and signless integers are lowered, and only ops whose meaning is the same: floats
narrower than 32 bits are widened, computed in f32 and rounded once, contractions add up in f32 (f64 for fp64). A
lowering answers False for what it leaves to `"mcir.<op>"`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mcir.exporters.mlir_scalar import SCALARS, Body, element, lowers
from mcir.exporters.mlir_text import Writer, attribute, floating, integers, string, tensor_type
from mcir.nodes import MCNode
from mcir.passes.folding import element as rounded_element
from mcir.printer import type_text
from mcir.types import TensorType
from mcir.values import MCValue

Typed = tuple[str, str]  # the MLIR name and type of a value


class Lowering:
    """The values of one graph or region in MLIR, and the writer that they go to."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._names: dict[str, Typed] = {}

    def bind(self, value: MCValue) -> str:
        """A new MLIR name for `value`."""
        name = self.writer.fresh(value.name)
        self._names[value.name] = (name, tensor_type(value.type))
        return name

    def operand(self, value: MCValue) -> Typed:
        return self._names[value.name]

    def alias(self, value: MCValue, source: MCValue) -> None:
        """`value` is `source`, which has the same type."""
        self._names[value.name] = self._names[source.name]

    def names(self, node: MCNode) -> dict[str, str]:
        """The attributes that keep the names of a node, of its results and of their sizes."""
        attributes = {"mcir.node": string(node.name)}
        if [value.name for value in node.outputs] != [node.name]:
            attributes["mcir.results"] = attribute([value.name for value in node.outputs])
        if any(isinstance(dim, str) for value in node.outputs for dim in value.shape):
            attributes["mcir.types"] = attribute([type_text(value.type) for value in node.outputs])
        return attributes

    def empty(self, type_: TensorType, hint: str) -> Typed:
        """A tensor whose elements do not count."""
        made = (self.writer.fresh(f"{hint}_init"), tensor_type(type_))
        self.writer.op("tensor.empty", [], [made])
        return made

    def scalar(self, value: float | int, kind: str) -> Typed:
        """A constant of the MLIR element type `kind`."""
        made = (self.writer.fresh("c"), kind)
        text = floating(float(value), kind) if kind[0] in "fb" else str(value)
        self.writer.op("arith.constant", [], [made], {"value": f"{text} : {kind}"})
        return made


Lower = Callable[[Lowering, MCNode], bool]
STANDARD: dict[str, Lower] = {}


def lowering(*ops: str) -> Callable[[Lower], Lower]:
    """Enters a lowering for each of `ops`; it sees nodes of static shapes and types that arith knows only."""

    def enter(lower: Lower) -> Lower:
        def checked(scope: Lowering, node: MCNode) -> bool:
            types = [value.type for value in (*node.inputs, *node.outputs)]
            return all(type_.is_static() and lowers(type_.dtype) for type_ in types) and lower(scope, node)

        for op in ops:
            STANDARD[op] = checked
        return lower

    return enter


def structured(
    scope: Lowering, name: str, operands: Sequence[Typed], init: Typed, result: str, maps: Sequence[str],
    iterators: Sequence[str], body: Callable[[Body, list[Typed]], Typed], attributes: dict[str, str] | None,
) -> Typed:  # fmt: skip
    """A linalg operation with a body; `maps` are those of the operands and of the result."""
    writer = scope.writer
    everything = [*operands, init]
    made = (result, init[1])
    properties = {"operandSegmentSizes": integers([len(operands), 1], "i32")}
    properties["indexing_maps"] = f"[{', '.join(f'affine_map<{each}>' for each in maps)}]"
    if name == "linalg.generic":
        kinds = ", ".join(f"#linalg.iterator_type<{each}>" for each in iterators)
        properties["iterator_types"] = f"[{kinds}]"
    arguments = [(writer.fresh("e"), _element_of(type_)) for _, type_ in everything]
    writer.open(name, everything, [made], arguments, properties)
    writer.op("linalg.yield", [body(Body(writer), arguments)], [])
    writer.close(everything, [made], attributes)
    return made


def _element_of(type_: str) -> str:
    return type_.removeprefix("tensor<").removesuffix(">").rpartition("x")[2]


def index_map(rank: int, axes: Sequence[str]) -> str:
    return f"({', '.join(f'd{axis}' for axis in range(rank))}) -> ({', '.join(axes)})"


def _aligned(value: MCValue, result: MCValue) -> str:
    """The indexing map of an operand that NumPy broadcasting aligns with the result."""
    rank, missing = len(result.shape), len(result.shape) - len(value.shape)
    sizes = zip(value.shape, result.shape[missing:], strict=True)
    return index_map(rank, ["0" if own == 1 != full else f"d{at + missing}" for at, (own, full) in enumerate(sizes)])


def pointwise(scope: Lowering, node: MCNode, body: Callable[[Body, list[Typed]], Typed]) -> bool:
    """An element by element operation as `linalg.generic`."""
    result = node.outputs[0]
    operands = [scope.operand(value) for value in node.inputs]
    init = scope.empty(result.type, node.name)
    maps = [_aligned(value, result) for value in (*node.inputs, result)]
    iterators = ["parallel"] * len(result.shape)
    name = scope.bind(result)
    structured(scope, "linalg.generic", operands, init, name, maps, iterators, body, scope.names(node))
    return True


@lowering(*SCALARS)
def scalar_op(scope: Lowering, node: MCNode) -> bool:
    """Ops that have a scalar meaning: operands are widened, the result is rounded once."""
    meaning = SCALARS[node.op]
    if not meaning.fits(node):
        return False

    def body(inner: Body, arguments: list[Typed]) -> Typed:
        return meaning.emit(inner, node, arguments[:-1])

    return pointwise(scope, node, body)


@lowering("identity", "dropout")
def identity(scope: Lowering, node: MCNode) -> bool:
    if node.inputs[0].type != node.outputs[0].type:
        return False
    scope.alias(node.outputs[0], node.inputs[0])
    return True


@lowering("expand")
def expand(scope: Lowering, node: MCNode) -> bool:
    return len(node.inputs) == 1 and pointwise(scope, node, lambda inner, arguments: arguments[0])


@lowering("mask")
def mask(scope: Lowering, node: MCNode) -> bool:
    """A choice between score and fill, by an operand or by the positions of row and column."""
    rank, dtype = len(node.outputs[0].shape), node.outputs[0].dtype
    distances = [node.attrs.get(name, 0) for name in ("offset", "left", "right")]
    if dtype.startswith("fp8") or any(abs(distance) >= 2**62 for distance in distances):
        return False
    fill = rounded_element(dtype, node.attrs.get("fill", -math.inf))

    def body(inner: Body, arguments: list[Typed]) -> Typed:
        keep = arguments[1] if len(node.inputs) == 2 else inner.in_band(node, rank)
        return inner.op("arith.select", [keep, arguments[0], inner.constant(fill, element(dtype))], arguments[0][1])

    return pointwise(scope, node, body)
