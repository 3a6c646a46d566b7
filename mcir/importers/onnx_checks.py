"""Nodes held against what onnx knows of their operators, before anything is inferred from them."""

from __future__ import annotations

from typing import Any

import onnx.defs
from onnx import AttributeProto, NodeProto

from mcir.importers.onnx_errors import node_label, refuse
from mcir.importers.onnx_order import OrderedGraph

# onnx has two enumerations of attribute kinds, with the same names.
_KINDS: dict[Any, Any] = {
    getattr(onnx.defs.OpSchema.AttrType, name): kind for name, kind in AttributeProto.AttributeType.items() if kind
}


def check_nodes(root: OrderedGraph, opsets: dict[str, int]) -> None:
    """Raises MCIRError for a node of a domain without version, with a wrong number of operands or results,
    or with an attribute that is missing or of the wrong kind. Operators that onnx does not know pass.
    """
    stack = [root]
    while stack:
        graph = stack.pop()
        for node in graph.nodes:
            _check_node(node.proto, opsets)
            stack.extend(node.bodies.values())


def _check_node(proto: NodeProto, opsets: dict[str, int]) -> None:
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    if domain not in opsets:
        message = f"{node_label(proto)}: the model states no version of domain '{domain}'"
        raise refuse(message, rule="onnx-version")
    try:
        schema = onnx.defs.get_schema(proto.op_type, opsets[domain], domain)
    except onnx.defs.SchemaError:
        return
    _check_count(proto, "operands", len(proto.input), schema.min_input, schema.max_input)
    _check_count(proto, "results", len(proto.output), schema.min_output, schema.max_output)
    _check_attributes(proto, schema)


def _check_count(proto: NodeProto, what: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise refuse(f"{node_label(proto)} has {count} {what}, not {wanted}", rule="onnx-node")


def _check_attributes(proto: NodeProto, schema: onnx.defs.OpSchema) -> None:
    given = set()
    for attribute in proto.attribute:
        given.add(attribute.name)
        declared = schema.attributes.get(attribute.name)
        if declared is not None and attribute.type != _KINDS.get(declared.type):
            kind = AttributeProto.AttributeType.Name(_KINDS[declared.type])
            message = f"{node_label(proto)}: attribute '{attribute.name}' is not of kind {kind}"
            raise refuse(message, rule="onnx-node")
    for name, declared in schema.attributes.items():
        if declared.required and name not in given:
            raise refuse(f"{node_label(proto)} needs the attribute '{name}'", rule="onnx-node")
