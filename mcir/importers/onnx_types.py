"""Types of ONNX values: what the file says, onnx's shape inference, and ranks it leaves open.

MCIR values have a rank; sizes may be open. So every value must get at least an element type and a rank:

1. onnx infers over the whole graph, with its values of shape tensors (data_prop). Where annotations in
   the file contradict the operators, the operators win: inference runs again without the annotations.
2. Values that are still open are done node by node (`onnx_ranks`), and the whole graph is inferred once
   more from what this gave.
"""

from __future__ import annotations

import onnx.shape_inference
from onnx import GraphProto, ModelProto, TensorProto, TypeProto, ValueInfoProto

from mcir.importers.onnx_data import Tensors
from mcir.importers.onnx_errors import INFERENCE_FAULTS, first_line, refuse
from mcir.importers.onnx_order import OrderedGraph
from mcir.importers.onnx_ranks import Completion, has_rank, make_type, shape_of
from mcir.types import TensorType

MCIR_DTYPES: dict[int, str] = {
    TensorProto.FLOAT: "fp32", TensorProto.FLOAT16: "fp16", TensorProto.BFLOAT16: "bf16", TensorProto.DOUBLE: "fp64",
    TensorProto.FLOAT8E4M3FN: "fp8e4m3", TensorProto.FLOAT8E5M2: "fp8e5m2", TensorProto.BOOL: "i1",
    TensorProto.INT8: "i8", TensorProto.INT16: "i16", TensorProto.INT32: "i32", TensorProto.INT64: "i64",
    TensorProto.UINT8: "u8", TensorProto.UINT16: "u16", TensorProto.UINT32: "u32", TensorProto.UINT64: "u64",
}  # fmt: skip
"""ONNX element types that MCIR has; a model with a value of another one is refused."""


def tensor_type(name: str, proto: TypeProto | None) -> TensorType:
    """The MCIR type of the value `name`. Raises MCIRError where MCIR has none."""
    kind = proto.WhichOneof("value") if proto is not None else None
    if proto is None or kind is None:
        raise refuse(f"value '{name}' has no type", "annotate it with a value_info entry", "onnx-type")
    if kind != "tensor_type":
        raise refuse(f"value '{name}' is a {kind.removesuffix('_type')}; MCIR has tensors only", rule="onnx-type")
    dtype = element_type(name, proto.tensor_type.elem_type)
    if not has_rank(proto):
        hint = "annotate its shape with a value_info entry (dimensions may stay open)"
        raise refuse(f"value '{name}' has no known rank", hint, "onnx-type")
    return TensorType(shape_of(proto), dtype)


def element_type(name: str, code: int) -> str:
    """The MCIR spelling of an ONNX element type. Raises MCIRError naming the value `name`."""
    if code not in MCIR_DTYPES:
        spelled = TensorProto.DataType.Name(code) if code in TensorProto.DataType.values() else str(code)
        raise refuse(f"value '{name}' has element type {spelled}, which MCIR does not have", rule="onnx-type")
    return MCIR_DTYPES[code]


def infer_types(root: OrderedGraph, model: ModelProto) -> None:
    """Fills `types` of the graph and of all bodies. Values that stay unknown are left out.

    Raises MCIRError where the operators contradict each other (a matrix product of 2x3 and 5x4, say).
    """
    try:
        inferred = _infer(root, model, annotated=True, strict=True)
    except INFERENCE_FAULTS:
        inferred = _infer(root, model, annotated=False, strict=False)
    _collect(root, inferred)
    completion = Completion(model)
    if completion.run(root):
        _collect(root, _infer(root, model, annotated=True, strict=False))


def _infer(root: OrderedGraph, model: ModelProto, annotated: bool, strict: bool) -> GraphProto:
    """onnx's inference over a copy of the ordered graph that carries no large tensors.

    annotated: with the types that the file states and those found before. Raises MCIRError, or one of
    INFERENCE_FAULTS if `strict`.
    """
    copy = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    _light_graph(root, copy.graph, annotated)
    try:
        return onnx.shape_inference.infer_shapes(copy, strict_mode=strict, data_prop=True).graph
    except INFERENCE_FAULTS as error:
        if strict:
            raise
        raise refuse(f"the model's shapes cannot be inferred: {first_line(error)}", rule="onnx-type") from None


def _light_graph(graph: OrderedGraph, into: GraphProto, annotated: bool) -> None:
    proto = graph.proto
    into.name = proto.name or "graph"
    into.input.extend(proto.input)
    _add_types(graph, into, annotated)
    into.initializer.extend(Tensors.without_data(tensor) for tensor in proto.initializer)
    for node in graph.nodes:
        light = into.node.add()
        light.CopyFrom(node.proto)
        for attribute in light.attribute:
            if attribute.name in node.bodies:
                attribute.g.Clear()
                _light_graph(node.bodies[attribute.name], attribute.g, annotated)
            elif attribute.HasField("t"):
                attribute.t.CopyFrom(Tensors.without_data(attribute.t))


def _add_types(graph: OrderedGraph, into: GraphProto, annotated: bool) -> None:
    if not annotated:
        into.output.extend(ValueInfoProto(name=value.name) for value in graph.proto.output)
        return
    into.output.extend(
        ValueInfoProto(name=value.name, type=graph.types.get(value.name, value.type)) for value in graph.proto.output
    )
    stated = {value.name for value in (*graph.proto.input, *graph.proto.output, *graph.proto.initializer)}
    types = {value.name: value.type for value in graph.proto.value_info} | graph.types
    into.value_info.extend(ValueInfoProto(name=name, type=type_) for name, type_ in types.items() if name not in stated)


def _collect(graph: OrderedGraph, inferred: GraphProto) -> None:
    for value in (*inferred.value_info, *inferred.input, *inferred.output):
        if has_rank(value.type) or value.name not in graph.types:
            graph.types[value.name] = value.type
    for tensor in graph.proto.initializer:
        graph.types[tensor.name] = make_type(tensor.data_type, tensor.dims)
    for sparse in graph.proto.sparse_initializer:
        graph.types[sparse.values.name] = make_type(sparse.values.data_type, sparse.dims)
    for node, light in zip(graph.nodes, inferred.node, strict=True):
        for attribute in light.attribute:
            if attribute.name in node.bodies:
                _collect(node.bodies[attribute.name], attribute.g)
