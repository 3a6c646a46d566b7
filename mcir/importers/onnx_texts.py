"""Names and other texts of a model, before anything reads them."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from mcir.importers.onnx_errors import refuse


def check_texts(model: ModelProto) -> None:
    """Raises MCIRError for a name that is no UTF-8: protobuf gives it as bytes, which nothing after this expects."""
    bad = next((text for text in _texts(model) if not isinstance(text, str)), None)
    if bad is not None:
        raise refuse(f"a name of the model is no UTF-8: {bad!r}", rule="onnx-names")


def _texts(model: ModelProto) -> Iterator[object]:
    """The texts that stand for something: of the model, of its functions and of all bodies."""
    for entry in model.opset_import:
        yield entry.domain
    stack: list[GraphProto] = [model.graph]
    for function in model.functions:
        yield from _of_function(function)
        for node in function.node:
            yield from _of_node(node, stack)
    while stack:
        graph = stack.pop()
        yield graph.name
        for value in (*graph.input, *graph.output, *graph.value_info):
            yield value.name
            yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
        yield from (tensor.name for tensor in graph.initializer)
        yield from (sparse.values.name for sparse in graph.sparse_initializer)
        for node in graph.node:
            yield from _of_node(node, stack)


def _of_function(function: FunctionProto) -> Iterator[object]:
    yield from (function.name, function.domain, *function.input, *function.output, *function.attribute)
    yield from (entry.domain for entry in function.opset_import)
    yield from (attribute.name for attribute in function.attribute_proto)


def _of_node(node: NodeProto, bodies: list[GraphProto]) -> Iterator[object]:
    """The texts of a node; the bodies that it holds are put down in `bodies`."""
    yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
    for attribute in node.attribute:
        yield from (attribute.name, attribute.ref_attr_name)
        if attribute.HasField("g"):
            bodies.append(attribute.g)
        bodies += attribute.graphs
