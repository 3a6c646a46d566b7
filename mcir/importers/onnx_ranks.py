"""Types for the values that inference over the whole graph leaves open, node by node."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import onnx.defs
import onnx.shape_inference
from onnx import ModelProto, NodeProto, TensorProto, TypeProto

from mcir.importers.onnx_data import Tensors, constant_tensor
from mcir.importers.onnx_errors import INFERENCE_FAULTS, first_line, node_label, refuse
from mcir.importers.onnx_order import OrderedGraph, OrderedNode
from mcir.types import Dim, Shape

Types = dict[str, TypeProto]

UNNAMED = {"", "?", "-1", "None"}
"""How exporters write "no name" for a dimension: equal ones are not equal sizes."""

MOST_AXES = 64
"""Of a tensor whose rank is worked out: a few bytes of a file can name any number."""


def has_rank(type_: TypeProto | None) -> bool:
    """True for a tensor of known rank, and for what is no tensor: there is nothing to find out about it."""
    if type_ is None or type_.WhichOneof("value") is None:
        return False
    return type_.WhichOneof("value") != "tensor_type" or (
        type_.tensor_type.HasField("shape") and type_.tensor_type.elem_type != TensorProto.UNDEFINED
    )


def make_type(code: int, dims: Iterable[Dim]) -> TypeProto:
    """The ONNX type of a tensor of element type `code`."""
    type_ = TypeProto()
    type_.tensor_type.elem_type = code
    type_.tensor_type.shape.SetInParent()
    for dim in dims:
        entry = type_.tensor_type.shape.dim.add()
        if isinstance(dim, str):
            entry.dim_param = dim
        elif dim is not None:
            entry.dim_value = dim
    return type_


def shape_of(type_: TypeProto) -> Shape:
    """The shape of a tensor type of known rank. Exporters also write -1 for an open size."""
    return tuple(_dim(dim) for dim in type_.tensor_type.shape.dim)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return None if dim.dim_param in UNNAMED else str(dim.dim_param)


class Completion:
    """Finds ranks and sizes in one pass over a graph and its bodies, in order.

    A node is looked at if a result of it has no rank, or if an operand's type got better. Its results
    then get the type that the file states, that `RANK_RULES` give, or that onnx infers for this one node.
    """

    def __init__(self, model: ModelProto) -> None:
        self.model = model
        self.opsets = {entry.domain: entry.version for entry in model.opset_import} or {"": 1}
        self._better: set[str] = set()

    def run(self, graph: OrderedGraph, outer: tuple[Types, ...] = ()) -> bool:
        """True when a value got a type, or a better one. `outer`: the types of the graphs around, inner first.

        Raises MCIRError where an operator does not fit its operands.
        """
        scope = ChainMap(graph.types, *outer)
        stated = {value.name: value.type for value in (*graph.proto.value_info, *graph.proto.output)}
        constants = _small_constants(graph)
        found = False
        for node in graph.nodes:
            for body in node.bodies.values():
                found |= self.run(body, (graph.types, *outer))
            open_ = {name for name in node.proto.output if name and not has_rank(scope.get(name))}
            if not open_ and self._better.isdisjoint(node.proto.input):
                continue
            types = self._guess(node, scope, constants)
            types |= {name: stated[name] for name in open_ if has_rank(stated.get(name))}
            for name in filter(None, node.proto.output):
                better = _merged(scope.get(name), types.get(name))
                if better is not None:
                    graph.types[name] = better
                    self._better.add(name)
                    found = True
        return found

    def _guess(self, node: OrderedNode, scope: Mapping[str, TypeProto], constants: dict[str, TensorProto]) -> Types:
        proto = node.proto
        if node.bodies:
            return _of_bodies(node, scope)
        types = self._infer(proto, scope, constants)
        rule = RANK_RULES.get((proto.domain, proto.op_type))
        if rule is not None and not has_rank(types.get(proto.output[0])):
            guess = rule(proto, [_known(scope.get(name)) for name in proto.input])
            if guess is not None:
                alike = proto.output if proto.op_type == "Split" else proto.output[:1]
                types |= {name: make_type(*guess) for name in alike}
        return types

    def _infer(self, proto: NodeProto, scope: Mapping[str, TypeProto], constants: dict[str, TensorProto]) -> Types:
        """What onnx infers for the one node, from what is known of its operands."""
        if any(name and name not in scope for name in proto.input):
            return {}
        try:
            schema = onnx.defs.get_schema(proto.op_type, self.opsets.get(proto.domain, 1), proto.domain)
        except onnx.defs.SchemaError:
            return {}
        types = {name: scope[name] for name in proto.input if name}
        data = {name: constants[name] for name in types if name in constants}
        opsets = list(self.model.opset_import)
        try:
            return onnx.shape_inference.infer_node_outputs(
                schema, proto, types, data, opset_imports=opsets, ir_version=self.model.ir_version
            )
        except INFERENCE_FAULTS as error:
            message = f"{node_label(proto)} does not fit its operands: {first_line(error)}"
            raise refuse(message, rule="onnx-type") from None


def _of_bodies(node: OrderedNode, scope: Mapping[str, TypeProto]) -> Types:
    """Results of If and Loop from those of their bodies: what holds on all ways to them."""
    proto = node.proto
    returned = {name: [body.types.get(value.name) for value in body.proto.output] for name, body in node.bodies.items()}
    if proto.op_type == "If" and len(returned) == 2:
        ways = zip(*returned.values(), strict=False)
    elif proto.op_type == "Loop" and "body" in returned:
        before = [scope.get(name) for name in proto.input[2:]]
        ways = zip(before, returned["body"][1:], strict=False)  # without the condition; scan results have no way
    else:
        return {}
    found = {name: _common(*way) for name, way in zip(proto.output, ways, strict=False)}
    return {name: type_ for name, type_ in found.items() if type_ is not None}


def _common(left: TypeProto | None, right: TypeProto | None) -> TypeProto | None:
    if left is None or right is None or not has_rank(left) or not has_rank(right):
        return None
    tensors = left.WhichOneof("value") == right.WhichOneof("value") == "tensor_type"
    if not tensors or len(shape_of(left)) != len(shape_of(right)):
        return None
    dims = [a if a == b else None for a, b in zip(shape_of(left), shape_of(right), strict=True)]
    return make_type(left.tensor_type.elem_type, dims)


def _small_constants(graph: OrderedGraph) -> dict[str, TensorProto]:
    """The small tensors that the graph itself holds, by name."""
    found = {tensor.name: tensor for tensor in graph.proto.initializer}
    for node in graph.nodes:
        if node.proto.op_type == "Constant" and node.proto.output:
            tensor = constant_tensor(node.proto)
            if isinstance(tensor, TensorProto):
                found[node.proto.output[0]] = tensor
    return {name: tensor for name, tensor in found.items() if Tensors.without_data(tensor) is tensor}


def _merged(old: TypeProto | None, new: TypeProto | None) -> TypeProto | None:
    """`new` where `old` has no rank, `old` with those of its open sizes that `new` knows, or None: nothing is new."""
    if new is None or not has_rank(new):
        return None
    if old is None or not has_rank(old):
        return new
    before, after = shape_of(old), shape_of(new)
    if old.WhichOneof("value") != "tensor_type" or len(before) != len(after):
        return None
    dims = tuple(b if isinstance(b, int) and not isinstance(a, int) else a for a, b in zip(before, after, strict=True))
    return make_type(old.tensor_type.elem_type, dims) if dims != before else None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an operand: element type and shape (None: not even the rank)."""

    code: int
    shape: Shape | None


def _known(type_: TypeProto | None) -> Known | None:
    if type_ is None or type_.WhichOneof("value") != "tensor_type":
        return None
    return Known(type_.tensor_type.elem_type, shape_of(type_) if has_rank(type_) else None)


# What onnx's inference does not say: (node, operands) -> (element type, shape) of the first result, or None.
RankRule = Callable[[NodeProto, list[Known | None]], tuple[int, Iterable[Dim]] | None]


def _like_first(node: NodeProto, operands: list[Known | None]) -> tuple[int, Iterable[Dim]] | None:
    first = operands[0] if operands else None
    return (first.code, first.shape) if first is not None and first.shape is not None else None


def _open_last_size(node: NodeProto, operands: list[Known | None]) -> tuple[int, Iterable[Dim]] | None:
    """batch x sequence x (heads of V), as the fused attentions of ONNX Runtime give."""
    first = operands[0] if operands else None
    if first is None or first.shape is None or len(first.shape) != 3:
        return None
    return first.code, [*first.shape[:2], None]


def _rank_of_first(node: NodeProto, operands: list[Known | None]) -> tuple[int, Iterable[Dim]] | None:
    first = operands[0] if operands else None
    return (first.code, [None] * len(first.shape)) if first is not None and first.shape is not None else None


def _as_long_as_shape(node: NodeProto, operands: list[Known | None]) -> tuple[int, Iterable[Dim]] | None:
    """As many open dimensions as operand 1 has elements; Expand gives at least the rank of its data."""
    data, shape = (*operands, None, None)[:2]
    stated = next((attribute.ints for attribute in node.attribute if attribute.name == "shape"), None)
    if data is not None and stated is not None:  # Reshape before operator set 5
        return data.code, [None] * len(stated)
    if data is None or shape is None or shape.shape is None or len(shape.shape) != 1:
        return None
    length = shape.shape[0]
    if not isinstance(length, int) or length > MOST_AXES or (node.op_type == "Expand" and data.shape is None):
        return None
    least = len(data.shape) if node.op_type == "Expand" and data.shape is not None else 0
    return data.code, [None] * max(length, least)


def _without_axes(node: NodeProto, operands: list[Known | None]) -> tuple[int, Iterable[Dim]] | None:
    """A reduction or Squeeze over axes that are not constant, but whose number is known."""
    data, axes = (*operands, None, None)[:2]
    if data is None or data.shape is None or axes is None:
        return None
    keepdims = next((attribute.i for attribute in node.attribute if attribute.name == "keepdims"), 1)
    if node.op_type != "Squeeze" and keepdims:
        return data.code, [None] * len(data.shape)
    count = axes.shape[0] if axes.shape is not None and len(axes.shape) == 1 else None
    if not isinstance(count, int) or not 0 < count <= len(data.shape):  # none can mean all
        return None
    return data.code, [None] * (len(data.shape) - count)


def _with_axes(node: NodeProto, operands: list[Known | None]) -> tuple[int, Iterable[Dim]] | None:
    """Unsqueeze at places that are not constant, but whose number is known."""
    data, axes = (*operands, None, None)[:2]
    if data is None or data.shape is None or axes is None or axes.shape is None or len(axes.shape) != 1:
        return None
    count = axes.shape[0]
    return (data.code, [None] * (len(data.shape) + count)) if isinstance(count, int) else None


def _fused_matmul(node: NodeProto, operands: list[Known | None]) -> tuple[int, Iterable[Dim]] | None:
    left, right = (*operands, None, None)[:2]
    flags = {attribute.name: attribute.i for attribute in node.attribute}
    if left is None or right is None or flags.get("transBatchA") or flags.get("transBatchB"):
        return None
    a, b = left.shape, right.shape
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return None
    rows = a[-1] if flags.get("transA") else a[-2]
    columns = b[-2] if flags.get("transB") else b[-1]
    return left.code, [*_broadcast(a[:-2], b[:-2]), rows, columns]


def _broadcast(left: Shape, right: Shape) -> list[Dim]:
    size = max(len(left), len(right))
    pairs = zip((1,) * (size - len(left)) + left, (1,) * (size - len(right)) + right, strict=True)
    return [b if a == 1 else a if b == 1 or a == b else None for a, b in pairs]


_RUNTIME = "com.microsoft"

RANK_RULES: dict[tuple[str, str], RankRule] = {
    ("", "Reshape"): _as_long_as_shape,
    ("", "Expand"): _as_long_as_shape,
    ("", "Split"): _rank_of_first,
    ("", "SimplifiedLayerNormalization"): _like_first,
    ("", "Squeeze"): _without_axes,
    ("", "Unsqueeze"): _with_axes,
    **{
        ("", f"Reduce{name}"): _without_axes
        for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    },
    (_RUNTIME, "FusedMatMul"): _fused_matmul,
    (_RUNTIME, "TransposeMatMul"): _fused_matmul,
    **dict.fromkeys(
        (
            (_RUNTIME, name)
            for name in (
                "BiasGelu", "BiasSoftmax", "FastGelu", "Gelu", "GroupNorm", "QuickGelu", "RotaryEmbedding",
                "SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
            )
        ),
        _like_first,
    ),
    **dict.fromkeys(
        ((_RUNTIME, name) for name in ("Attention", "GroupQueryAttention", "MultiHeadAttention")), _open_last_size
    ),
}  # fmt: skip
