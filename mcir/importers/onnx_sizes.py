"""Sizes below zero, before onnx's own inference meets them: its C++ ends the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto, TensorShapeProto, TypeProto

from mcir.importers.onnx_errors import refuse


def with_open_sizes(model: ModelProto) -> ModelProto:
    """The model with sizes below zero left open (exporters write -1 for that); `model` itself stays as it is.

    Raises MCIRError for a tensor of such a size.
    """
    _check_tensors(model)
    if not any(map(_is_negative, _dimensions(model))):
        return model
    copy = ModelProto()
    copy.CopyFrom(model)
    for dimension in _dimensions(copy):
        if _is_negative(dimension):
            dimension.ClearField("value")
    return copy


def _is_negative(dimension: TensorShapeProto.Dimension) -> bool:
    return dimension.dim_value < 0


def _graphs(model: ModelProto) -> Iterator[GraphProto]:
    """The main graph and all bodies, those in functions too."""
    stack = [model.graph, *_bodies(node for function in model.functions for node in function.node)]
    while stack:
        graph = stack.pop()
        yield graph
        stack += _bodies(graph.node)


def _bodies(nodes: Iterable[NodeProto]) -> Iterator[GraphProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g
            yield from attribute.graphs


def _dimensions(model: ModelProto) -> Iterator[TensorShapeProto.Dimension]:
    for graph in _graphs(model):
        for value in (*graph.input, *graph.output, *graph.value_info):
            yield from _of_type(value.type)
    for function in model.functions:
        for value in function.value_info:
            yield from _of_type(value.type)


def _of_type(type_: TypeProto) -> Iterator[TensorShapeProto.Dimension]:
    """The dimensions of a tensor, or of the tensors that a sequence, an optional or a map holds."""
    while (kind := type_.WhichOneof("value")) in ("sequence_type", "optional_type"):
        type_ = getattr(type_, str(kind)).elem_type
    if kind == "map_type":
        yield from _of_type(type_.map_type.value_type)
    elif kind in ("tensor_type", "sparse_tensor_type"):
        yield from getattr(type_, str(kind)).shape.dim


def _check_tensors(model: ModelProto) -> None:
    nodes = [node for graph in _graphs(model) for node in graph.node]
    nodes += [node for function in model.functions for node in function.node]
    for name, dims in (*_stored(model), *_in_attributes(nodes)):
        if any(dim < 0 for dim in dims):
            raise refuse(f"the tensor '{name}' has a negative size", rule="onnx-data")


def _stored(model: ModelProto) -> Iterator[tuple[str, Iterable[int]]]:
    for graph in _graphs(model):
        for tensor in graph.initializer:
            yield tensor.name, tensor.dims
        for sparse in graph.sparse_initializer:
            yield from _of_sparse(sparse.values.name, sparse)


def _in_attributes(nodes: Iterable[NodeProto]) -> Iterator[tuple[str, Iterable[int]]]:
    for node in nodes:
        for attribute in node.attribute:
            held: list[TensorProto] = [attribute.t, *attribute.tensors]
            yield from ((node.name, tensor.dims) for tensor in held)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from _of_sparse(node.name, sparse)


def _of_sparse(name: str, sparse: SparseTensorProto) -> Iterator[tuple[str, Iterable[int]]]:
    yield from ((name, dims) for dims in (sparse.dims, sparse.values.dims, sparse.indices.dims))
