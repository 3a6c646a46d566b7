"""An ONNX graph checked and put in order: unique names, everything defined, no cycles."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnx import AttributeProto, GraphProto, NodeProto, TypeProto

from mcir.importers.onnx_errors import node_label, refuse

MAX_GRAPH_DEPTH = 100
"""Bodies nest no deeper than protobuf itself can read."""


@dataclass(slots=True)
class OrderedNode:
    """A node and the bodies it holds, by attribute name; `captured` are the outer values the bodies read."""

    proto: NodeProto
    bodies: dict[str, OrderedGraph] = field(default_factory=dict)
    captured: list[str] = field(default_factory=list)


@dataclass(slots=True)
class OrderedGraph:
    """A graph whose nodes stand after those they read from.

    types: what is known of every value's type (filled by `infer_types`).
    """

    proto: GraphProto
    nodes: list[OrderedNode]
    free: list[str]  # names that it reads and does not define
    types: dict[str, TypeProto] = field(default_factory=dict)


def ordered_graph(graph: GraphProto) -> OrderedGraph:
    """The main graph in order. A graph that is in order keeps its order; otherwise a node moves to the
    front of its first reader. The GraphProto itself is not changed.

    Raises MCIRError for a name defined twice, one that nothing defines, and a cycle.
    """
    result = _ordered(graph, 0)
    if result.free:
        reader = _first_reader(result, result.free[0])
        raise refuse(f"{reader} reads '{result.free[0]}', which nothing defines", rule="onnx-names")
    return result


def _ordered(graph: GraphProto, depth: int) -> OrderedGraph:
    if depth > MAX_GRAPH_DEPTH:
        raise refuse(f"bodies nest deeper than {MAX_GRAPH_DEPTH} levels", rule="onnx-names")
    nodes = [_with_bodies(node, depth) for node in graph.node]
    producer = _definitions(graph)
    outside = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    outside |= {tensor.values.name for tensor in graph.sparse_initializer}
    free: dict[str, None] = {}
    reads: list[list[int]] = []
    for node in nodes:
        names = [name for name in (*node.proto.input, *node.captured) if name]
        reads.append([producer[name] for name in names if name in producer])
        free.update((name, None) for name in names if name not in producer and name not in outside)
    results = [value.name for value in graph.output]
    free.update((name, None) for name in results if name not in producer and name not in outside)
    return OrderedGraph(graph, _sorted(nodes, reads), list(free))


def _with_bodies(node: NodeProto, depth: int) -> OrderedNode:
    if not node.op_type:
        raise refuse(f"{node_label(node)} has no operator", rule="onnx-node")
    result = OrderedNode(node)
    captured: dict[str, None] = {}
    given: set[str] = set()
    for attribute in node.attribute:
        if not attribute.name or attribute.name in given:
            message = f"{node_label(node)}: attribute '{attribute.name}' is there twice or has no name"
            raise refuse(message, rule="onnx-node")
        given.add(attribute.name)
        if attribute.type == AttributeProto.GRAPH:
            body = _ordered(attribute.g, depth + 1)
            result.bodies[attribute.name] = body
            captured.update((name, None) for name in body.free)
        elif attribute.type == AttributeProto.GRAPHS:
            raise refuse(f"{node_label(node)}: a list of graphs is not supported", rule="onnx-node")
    result.captured = list(captured)
    return result


def _definitions(graph: GraphProto) -> dict[str, int]:
    """The index of the node that defines each name; checks that every name is defined once."""
    inputs: set[str] = set()
    for value in graph.input:
        if not value.name or value.name in inputs:
            raise refuse(f"graph input '{value.name}' is there twice or has no name", rule="onnx-names")
        inputs.add(value.name)
    if not all(value.name for value in graph.output):
        raise refuse(f"an output of graph '{graph.name}' has no name", rule="onnx-names")
    initializers: set[str] = set()
    for tensor in (*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)):
        if not tensor.name or tensor.name in initializers:
            raise refuse(f"initializer '{tensor.name}' is there twice or has no name", rule="onnx-names")
        initializers.add(tensor.name)
    producer: dict[str, int] = {}
    for index, node in enumerate(graph.node):
        for name in filter(None, node.output):
            if name in producer or name in inputs or name in initializers:
                raise refuse(f"'{name}' is defined twice, the second time by {node_label(node)}", rule="onnx-names")
            producer[name] = index
    return producer


def _sorted(nodes: list[OrderedNode], reads: list[list[int]]) -> list[OrderedNode]:
    """Depth first from each node in turn, with an explicit stack: linear, and stable if in order."""
    unseen, open_, done = 0, 1, 2
    state = [unseen] * len(nodes)
    order: list[OrderedNode] = []
    for start in range(len(nodes)):
        stack = [] if state[start] else [(start, iter(reads[start]))]
        while stack:
            index, rest = stack[-1]
            state[index] = open_
            before = next((other for other in rest if state[other] != done), None)
            if before is None:
                state[index] = done
                order.append(nodes[index])
                stack.pop()
            elif state[before] == open_:
                raise refuse(f"the graph has a cycle through {node_label(nodes[before].proto)}", rule="onnx-cycle")
            else:
                stack.append((before, iter(reads[before])))
    return order


def _first_reader(graph: OrderedGraph, name: str) -> str:
    for node in graph.nodes:
        if name in node.proto.input or name in node.captured:
            return node_label(node.proto)
    return "the graph's output list"
