"""MCIR as MLIR text, all in generic form: what `mlir-opt --allow-unregistered-dialect` verifies and prints again.

A semantic graph is a `func.func`. Nodes with a standard meaning on static shapes become `linalg`, `tensor`, `arith` and
`math` operations (see the table STANDARD in `mlir_linalg.py`), every other one `"mcir.<op>"`, an opaque one
`"mcir.opaque"` with its name in `op`. A node that gives back its operand (identity) leaves nothing. Execution,
streaming and tile regions are nested `"mcir.<kind>"` operations with one region each.

Names stand in attributes: `mcir.node` on what makes a node's results, `mcir.results` where these are named
otherwise, `mcir.name` on arguments. The attributes of MCIR are in `attributes`, types with named sizes in `mcir.types`.
"""

from __future__ import annotations

from mcir.exporters import mlir_contraction, mlir_layout  # noqa: F401 (they fill STANDARD)
from mcir.exporters.mlir_linalg import STANDARD, Lowering
from mcir.exporters.mlir_text import Writer, attribute, dictionary, signature, string, tensor_type
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.ops import lookup
from mcir.printer import type_text
from mcir.regions import Region
from mcir.values import MCValue


def export_mlir(module: MCModule, *, standard: bool = True) -> str:
    """The MLIR text of a valid module.

    standard: nodes with a standard meaning become operations of linalg, tensor, arith and math; without it every node
    is one operation of the dialect mcir. Raises MCIRError for a size that MLIR cannot hold.
    """
    writer = Writer()
    writer.open("builtin.module", [], [], [])
    for graph in module.graphs:
        _graph(writer, graph, standard)
    for region in module.regions:
        _region(writer, region)
    writer.close([], [])
    return "\n".join(writer.lines) + "\n"


def _graph(writer: Writer, graph: SemanticGraph, standard: bool) -> None:
    scope = Lowering(writer)
    _comments(writer, graph.comments)
    arguments = [(scope.bind(value), tensor_type(value.type)) for value in graph.inputs]
    types = [[type_ for _, type_ in arguments], [tensor_type(value.type) for value in graph.outputs]]
    properties = {"function_type": signature(*types), "sym_name": string(graph.name)}
    for key, values in (("arg_attrs", graph.inputs), ("res_attrs", graph.outputs)):
        if values:
            properties[key] = f"[{', '.join(map(_value_attributes, values))}]"
    writer.open("func.func", [], [], arguments, properties)
    for node in graph.nodes:
        _comments(writer, node.comments)
        lower = STANDARD.get(node.op) if standard else None
        if lower is None or not lower(scope, node):
            _plain(scope, node)
    writer.op("func.return", [scope.operand(value) for value in graph.outputs], [])
    writer.close([], [], {"mcir.attributes": attribute(graph.attrs)} if graph.attrs else None)


def _region(writer: Writer, root: Region) -> None:
    scope = Lowering(writer)
    stack: list[tuple[Region, bool]] = [(root, False)]
    while stack:
        region, done = stack.pop()
        if done:
            writer.close([], [], _region_attributes(region))
            continue
        _comments(writer, region.comments)
        arguments = [(scope.bind(value), tensor_type(value.type)) for value in region.inputs]
        writer.open(f"mcir.{region.kind}", [], [], arguments)
        for node in region.nodes:
            _comments(writer, node.comments)
            _plain(scope, node)
        stack.append((region, True))
        stack += [(child, False) for child in reversed(region.subregions)]


def _region_attributes(region: Region) -> dict[str, str]:
    attributes = {"sym_name": string(region.name)}
    for key, values in (("inputs", region.inputs), ("outputs", region.outputs)):
        if values:
            entries = [f"{{name = {string(value.name)}, type = {tensor_type(value.type)}}}" for value in values]
            attributes[key] = f"[{', '.join(entries)}]"
    if any(_has_names(value) for value in (*region.inputs, *region.outputs)):
        attributes["mcir.types"] = _types([*region.inputs, *region.outputs])
    if region.attrs:
        attributes["attributes"] = attribute(region.attrs)
    return attributes


def _plain(scope: Lowering, node: MCNode) -> None:
    """A node as one operation of the dialect mcir."""
    opaque = lookup(node.op) is None
    attributes = {"op": string(node.op)} if opaque else {}
    if node.attrs:
        attributes["attributes"] = attribute(node.attrs)
    operands = [scope.operand(value) for value in node.inputs]
    results = [(scope.bind(value), tensor_type(value.type)) for value in node.outputs]
    name = "mcir.opaque" if opaque else f"mcir.{node.op}"
    scope.writer.op(name, operands, results, attributes=attributes | scope.names(node))


def _value_attributes(value: MCValue) -> str:
    entries = {"mcir.name": string(value.name)}
    if _has_names(value):
        entries["mcir.type"] = string(type_text(value.type))
    return dictionary(entries)


def _types(values: list[MCValue]) -> str:
    return attribute([type_text(value.type) for value in values])


def _has_names(value: MCValue) -> bool:
    return any(isinstance(dim, str) for dim in value.shape)


def _comments(writer: Writer, comments: Comments | None) -> None:
    if comments is not None:
        writer.comment([*comments.before, *([comments.after] if comments.after is not None else [])])
