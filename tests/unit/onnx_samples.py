"""Small ONNX models for the tests of the importer, made by onnx.helper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from mcir.graph import SemanticGraph
from mcir.importers.onnx import OnnxImport, read_onnx
from mcir.interpreter.graph import run_graph
from mcir.nodes import MCNode
from mcir.verifier import check_module

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64


def value(name: str, shape: Sequence[int | str | None] | None, code: int = FLOAT) -> ValueInfoProto:
    """A typed name; no shape: of unknown rank."""
    return helper.make_tensor_value_info(name, code, shape)


def tensor(name: str, data: Any, dtype: Any = np.float32) -> TensorProto:
    return numpy_helper.from_array(np.asarray(data, dtype), name)


def graph(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[str | ValueInfoProto],
    tensors: Sequence[TensorProto] = (),
    stated: Sequence[ValueInfoProto] = (),
    name: str = "g",
) -> GraphProto:
    """A graph; an output given by name alone has no stated type."""
    typed = [ValueInfoProto(name=output) if isinstance(output, str) else output for output in outputs]
    return helper.make_graph(nodes, name, list(inputs), typed, list(tensors), value_info=list(stated))


def model(body: GraphProto, opset: int = 17, functions: Sequence[FunctionProto] = (), **domains: int) -> ModelProto:
    """A model; further domains as keywords, with `_` for the dot."""
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain.replace("_", "."), version) for domain, version in domains.items()]
    return helper.make_model(body, opset_imports=imports, ir_version=8, functions=list(functions))


def one_node(
    op: str,
    inputs: Sequence[ValueInfoProto | TensorProto | None],
    opset: int = 17,
    domain: str = "",
    results: Sequence[str | ValueInfoProto] = ("y",),
    **attrs: Any,
) -> ModelProto:
    """A model of one node called "the_node"; a TensorProto is an initializer, None a left-out operand.

    results: names, or typed where onnx cannot infer the type; "" for one that is left out.
    """
    names = ["" if item is None else item.name for item in inputs]
    results_named = [item if isinstance(item, str) else item.name for item in results]
    node = helper.make_node(op, names, results_named, name="the_node", domain=domain, **attrs)
    values = list({item.name: item for item in inputs if isinstance(item, ValueInfoProto)}.values())
    tensors = [item for item in inputs if isinstance(item, TensorProto)]
    domains = {domain.replace(".", "_"): 1} if domain else {}
    return model(graph([node], values, [item for item in results if item], tensors), opset, **domains)


def imported(source: ModelProto, **options: Any) -> SemanticGraph:
    """The main graph of a model, which is valid MCIR."""
    return read(source, **options).module.graphs[0]


def read(source: ModelProto, **options: Any) -> OnnxImport:
    """Everything a model gives; the module is valid MCIR."""
    result = read_onnx(source, **options)
    check_module(result.module)
    return result


def node_of(graph: SemanticGraph, name: str) -> MCNode:
    """The node of a graph by name."""
    return next(node for node in graph.nodes if node.name == name)


def ops(graph: SemanticGraph) -> list[str]:
    """The operations of a graph but constants and parameters, in order."""
    return [node.op for node in graph.nodes if node.op not in ("constant", "parameter")]


def run(source: ModelProto, *arrays: Any) -> list[Any]:
    """The outputs of a model's main graph on arrays for its inputs, in order; weights are its own."""
    result = read(source)
    main = result.module.graphs[0]
    given = {value.name: np.asarray(array) for value, array in zip(main.inputs, arrays, strict=True)}
    return list(run_graph(main, given | dict(result.weights)).values())
