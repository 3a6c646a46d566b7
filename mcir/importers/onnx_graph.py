"""From ordered, typed ONNX graphs to SemanticGraphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from onnx import AttributeProto, NodeProto

from mcir.graph import SemanticGraph
from mcir.importers.onnx_attrs import opaque_attribute, plain_attribute
from mcir.importers.onnx_data import Tensor, Tensors, constant_tensor
from mcir.importers.onnx_errors import node_label, refuse
from mcir.importers.onnx_order import OrderedGraph, OrderedNode
from mcir.importers.onnx_scope import Scope, known_array
from mcir.importers.onnx_table import find_row
from mcir.importers.onnx_view import KeepOpaque, NodeView, Step
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.ops.definition import TypeContext, TypeRuleError
from mcir.rewriter import fresh_name
from mcir.types import Dim, Symbol, TensorType
from mcir.values import MCValue

ONNX_PREFIX = "onnx"
"""How opaque operators of ONNX's own domain begin: "onnx.Conv"; others begin with their domain."""


def import_graphs(
    root: OrderedGraph, opsets: dict[str, int], tensors: Tensors, default_name: str, keep_attention: bool
) -> list[SemanticGraph]:
    """The main graph, then the bodies of its If, Loop and Scan nodes in order of appearance.

    A graph is called what ONNX calls it, or `default_name` where it has no name. keep_attention: fused
    attention stays opaque. Raises MCIRError.
    """
    importer = _Importer(opsets, tensors, set(_read_names(root)), keep_attention)
    return importer.run(root, root.proto.name or default_name)


def _read_names(root: OrderedGraph) -> Iterator[str]:
    """Every name that some node reads or some graph returns."""
    stack = [root]
    while stack:
        graph = stack.pop()
        yield from (value.name for value in graph.proto.output)
        for node in graph.nodes:
            yield from node.proto.input
            stack.extend(node.bodies.values())


@dataclass(slots=True)
class _Draft:
    """A graph being built: names that are taken, and nodes so far."""

    scope: Scope
    graph: SemanticGraph
    value_names: set[str]
    node_names: set[str]
    explicit: dict[int, str] = field(default_factory=dict)


class _Importer:
    """`read`: names that anything reads; a further result of a node that nothing reads may be left out."""

    def __init__(self, opsets: dict[str, int], tensors: Tensors, read: set[str], keep_attention: bool) -> None:
        self.opsets = opsets
        self.keep_attention = keep_attention
        self.tensors = tensors
        self.read = read
        self.graph_names: set[str] = set()
        self.graphs: list[SemanticGraph] = []

    def run(self, root: OrderedGraph, name: str) -> list[SemanticGraph]:
        self._graph(root, name, None)
        return self.graphs

    # Graphs

    def _graph(self, source: OrderedGraph, name: str, outer: Scope | None) -> tuple[SemanticGraph, Scope]:
        opset = {domain or ONNX_PREFIX: version for domain, version in self.opsets.items()}
        graph = SemanticGraph(fresh_name(name, self.graph_names), attrs={"opset": opset})
        self.graphs.append(graph)
        scope = Scope(source, self.tensors, outer)
        draft = _Draft(scope, graph, _all_value_names(source), set())
        draft.explicit = _explicit_names(source, draft.node_names)
        for value in source.proto.input:
            if value.name not in scope.initializers:  # one with an initializer has it as its default
                graph.inputs.append(scope.define(value.name, scope.type_of(value.name)))
        for initializer in scope.initializers:
            scope.define(initializer, scope.type_of(initializer))
        for index, node in enumerate(source.nodes):
            self._node(draft, index, node)
        graph.outputs = [scope.lookup(value.name) for value in source.proto.output]
        graph.inputs += [scope.values[captured] for captured in scope.used_captures()]
        self._place_initializers(draft)
        return graph, scope

    def _place_initializers(self, draft: _Draft) -> None:
        """Nodes for the initializers, first in the graph; one that became attributes only needs none."""
        scope, graph = draft.scope, draft.graph
        returned = {value.name for value in graph.outputs}
        nodes = []
        for name, tensor in scope.initializers.items():
            value = scope.values[name]
            if value.consumers or name in returned or name not in self.read:
                op, attrs = self._tensor_node(draft, name, tensor)
                nodes.append(MCNode(fresh_name(name, draft.node_names), op, [], [value], attrs))
        graph.nodes[:0] = nodes

    def _tensor_node(self, draft: _Draft, name: str, tensor: Tensor) -> tuple[str, dict[str, Any]]:
        value = self.tensors.constant(name, tensor)
        if value is not None:
            return "constant", {"value": value}
        self.tensors.add_parameter(self._parameter_key(draft, name), tensor)
        return "parameter", {}

    def _parameter_key(self, draft: _Draft, name: str) -> str:
        """Parameters of the main graph are known by their value's name, those of bodies by graph and value."""
        return name if draft.graph is self.graphs[0] else f"{draft.graph.name}/{name}"

    # Nodes

    def _node(self, draft: _Draft, index: int, node: OrderedNode) -> None:
        proto = node.proto
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        if domain == "" and proto.op_type == "Constant" and (tensor := constant_tensor(proto)) is not None:
            op, attrs = self._tensor_node(draft, proto.output[0], tensor)
            self._emit(draft, index, node, [Step(op, [], attrs)], [0])
            return
        steps = self._mapped(draft, node, domain)
        if steps is not None:
            kept = range(len(proto.output)) if steps[-1].op == "split" else [0]
            self._emit(draft, index, node, steps, list(kept))
        else:
            self._opaque(draft, index, node, domain)

    def _mapped(self, draft: _Draft, node: OrderedNode, domain: str) -> list[Step] | None:
        """The node in MCIR operations, or None if there is no exact equivalent."""
        proto = node.proto
        row = find_row(domain, proto.op_type, self.opsets[domain])
        if row is None:
            return None
        view = self._view(draft, proto)
        if not row.understands(view.attrs):
            return None
        if row.attention and self.keep_attention:
            return None
        if row.results and any(name in self.read for name in proto.output[row.results :]):
            return None
        try:
            steps = row.rule(view)
            for step in steps:
                _check_types(step, view)
        except (KeepOpaque, TypeRuleError):
            return None
        return steps

    def _view(self, draft: _Draft, proto: NodeProto) -> NodeView:
        scope = draft.scope
        operands = [scope.lookup(name) if name else None for name in proto.input]
        attrs = {attribute.name: plain_attribute(attribute) for attribute in proto.attribute}
        results = [scope.type_of(name) if name else None for name in proto.output]
        return NodeView(operands, attrs, results, known_array(scope, list(proto.input)))

    def _emit(self, draft: _Draft, index: int, node: OrderedNode, steps: list[Step], kept: list[int]) -> None:
        """Makes the nodes of a rule. The last one has the ONNX node's name and results, `kept` of them."""
        proto = node.proto
        made: dict[int, MCValue] = {}
        for step in steps:
            operands = [made[id(item)] if isinstance(item, Step) else item for item in step.operands]
            if step is steps[-1]:
                outputs = self._results(draft, proto, kept)
                name = self._node_name(draft, index, step.op, outputs)
            elif step.result is not None:
                outputs = self._results(draft, proto, [step.result])
                name = fresh_name(outputs[0].name, draft.node_names)
            else:
                wanted = f"{proto.output[0] or proto.op_type}_{step.op}"
                outputs = [self._fresh_value(draft, wanted, type_) for type_ in step.types or ()]
                name = fresh_name(outputs[0].name, draft.node_names)
            result = MCNode(name, step.op, operands, outputs, step.attrs)
            draft.graph.nodes.append(result)
            _refine(result)
            made[id(step)] = outputs[0]

    def _opaque(self, draft: _Draft, index: int, node: OrderedNode, domain: str) -> None:
        """A node that keeps everything ONNX says of it.

        Left-out operands or results before the last one given are told by the attributes `input_positions`
        and `output_positions`: where in the ONNX lists those that are there stand. Values that a body
        reads from this graph are the last operands, `captured` of them.
        """
        proto, scope = node.proto, draft.scope
        attrs: dict[str, Any] = {}
        captured: dict[str, None] = {}
        label = proto.name or next(filter(None, proto.output), proto.op_type)
        for attribute in proto.attribute:
            if attribute.type == AttributeProto.GRAPH:
                body, inner = self._graph(node.bodies[attribute.name], f"{label}_{attribute.name}", scope)
                attrs[attribute.name] = Symbol(body.name)
                captured.update((name, None) for name in inner.used_captures())
            else:
                key = self._parameter_key(draft, f"{label}.{attribute.name}")
                attrs[attribute.name] = opaque_attribute(attribute, key, self.tensors)
        inputs = [at for at, name in enumerate(proto.input) if name]
        kept = [at for at, name in enumerate(proto.output) if name]
        taken = set(attrs)
        for name, positions in (("input_positions", inputs), ("output_positions", kept)):
            if positions != list(range(len(positions))):
                attrs[fresh_name(name, taken)] = positions
        if captured:
            attrs[fresh_name("captured", taken)] = len(captured)
        operands = [scope.lookup(proto.input[at]) for at in inputs] + [scope.lookup(name) for name in captured]
        outputs = self._results(draft, proto, kept)
        op = f"{domain or ONNX_PREFIX}.{proto.op_type}"
        name = self._node_name(draft, index, op, outputs)
        draft.graph.nodes.append(MCNode(name, op, operands, outputs, attrs))

    def _results(self, draft: _Draft, proto: NodeProto, kept: list[int]) -> list[MCValue]:
        scope = draft.scope
        outputs = []
        for at in kept:
            name = proto.output[at] if at < len(proto.output) else ""
            if name:
                outputs.append(scope.define(name, scope.type_of(name)))
            else:  # only Split has results that are left out and must still be there
                raise refuse(f"{node_label(proto)}: result {at} has no name", rule="onnx-names")
        return outputs

    def _fresh_value(self, draft: _Draft, wanted: str, type_: TensorType) -> MCValue:
        return MCValue(fresh_name(wanted, draft.value_names), type_.shape, type_.dtype)

    def _node_name(self, draft: _Draft, index: int, op: str, outputs: list[MCValue]) -> str:
        """The name ONNX gives; without one that of the first result, as the text has it by default."""
        if index in draft.explicit:
            return draft.explicit[index]
        return fresh_name(outputs[0].name if outputs else op, draft.node_names)


def _all_value_names(source: OrderedGraph) -> set[str]:
    names = {value.name for value in source.proto.input} | {tensor.name for tensor in source.proto.initializer}
    names |= {tensor.values.name for tensor in source.proto.sparse_initializer} | set(source.free)
    return names.union(*(node.proto.output for node in source.nodes)) if source.nodes else names


def _explicit_names(source: OrderedGraph, taken: set[str]) -> dict[int, str]:
    """Names that the file gives, by position. ONNX allows one name for several nodes: later ones get a number."""
    named = [(index, node.proto.name) for index, node in enumerate(source.nodes) if node.proto.name]
    first: dict[str, int] = {}
    for index, name in named:
        first.setdefault(name, index)
    taken.update(first)
    return {index: name if first[name] == index else fresh_name(name, taken) for index, name in named}


def _check_types(step: Step, view: NodeView) -> None:
    """Raises TypeRuleError if the MCIR operation does not take these operands or gives another type.

    ONNX has accepted the node by then, so this is a difference between the two: the node stays opaque.
    """
    op = lookup(step.op)
    assert op is not None, step.op
    operands = [_type_of(item) for item in step.operands]
    if op.miscount(len(operands)):
        raise TypeRuleError("another number of operands")  # ONNX counts those that are left out
    declared = step.types if step.types is not None else [type_ for type_ in view.results if type_ is not None]
    context = TypeContext(op, operands, op.attributes(step.attrs), declared)
    for wanted, inferred in zip(declared, op.infer(context), strict=False):
        if wanted.dtype != inferred.dtype or wanted.rank != inferred.rank or not _fits(wanted, inferred):
            raise TypeRuleError("another result type")
    if op.verify is not None:
        op.verify(context)


def _type_of(item: MCValue | Step) -> TensorType:
    if isinstance(item, MCValue):
        return item.type
    assert item.types is not None
    return item.types[0]


def _fits(left: TensorType, right: TensorType) -> bool:
    return all(a == b or type(a) is not int or type(b) is not int for a, b in zip(left.shape, right.shape, strict=True))


def _refine(node: MCNode) -> None:
    """Sizes that onnx left open and the operation's type rule knows."""
    if not any(_is_open(dim) for value in node.outputs for dim in value.shape):
        return
    op = lookup(node.op)
    assert op is not None
    types = [value.type for value in node.outputs]
    context = TypeContext(op, [value.type for value in node.inputs], op.attributes(node.attrs), types)
    for value, inferred in zip(node.outputs, op.infer(context), strict=False):
        value.shape = tuple(_known(*pair) for pair in zip(value.shape, inferred.shape, strict=True))


def _known(declared: Dim, inferred: Dim) -> Dim:
    if declared is None or (_is_open(declared) and isinstance(inferred, int)):
        return inferred
    return declared


def _is_open(dim: Dim) -> bool:
    """True for an unknown size, and for one that onnx's inference has given a name of its own."""
    return dim is None or (isinstance(dim, str) and dim.startswith("unk__"))
