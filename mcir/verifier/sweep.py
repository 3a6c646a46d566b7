"""One pass over a graph that vouches for its form, and finds the distinct signatures of its nodes.

Nearly every graph breaks no rule. So before the rules look at it one by one, the sweep asks the ones marked
`swept` all at once, with what is cheap in Python: identities instead of names, counts instead of lists. Where it is
not sure it gives up, and those rules look for the fault and tell it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.values import MCValue
from mcir.verifier.keys import TypeKeys, attributes_key, constants_key, node_key

_FEW = 8  # consumers that are looked through one by one


class Swept(NamedTuple):
    """The first node of each distinct signature of a graph, and a value of each of its types."""

    nodes: dict[Any, MCNode]
    values: list[MCValue]


def sweep(graph: SemanticGraph, types: TypeKeys, constants: dict[str, Any]) -> Swept | None:
    """What stands for the nodes and values of a graph, or None where a rule marked `swept` may be broken.

    A value is known by its identity: it must be defined above its uses. The consumers of values are right if
    each user is named by what it uses, and there are as many names in all as there are uses.
    """
    try:
        return _Sweep(types).run(graph, constants)
    except (AttributeError, KeyError, TypeError):  # not defined above, unhashable, or no model object
        return None


class _Sweep:
    def __init__(self, types: TypeKeys) -> None:
        self.types = types
        self.many: dict[int, set[str]] = {}  # id of a value -> its consumers, where they are many

    def run(self, graph: SemanticGraph, constants: dict[str, Any]) -> Swept | None:
        visible: dict[str, MCValue] = {}
        alike: dict[Any, MCNode] = {}  # a node for each op, identity of shapes, and so on
        named_apart: list[str] = []  # nodes that have not the name of their first result
        recorded = used = 0  # names in all lists of consumers, and the uses there are
        for value in graph.inputs:
            if value.producer is not None or value.residency != "global":
                return None
            visible[value.name] = value
            recorded += len(value.consumers)
        defined = len(visible)
        if defined != len(graph.inputs):
            return None
        for node in graph.nodes:
            name, inputs, outputs, attrs = node.name, node.inputs, node.outputs, node.attrs
            key: list[Any] = [node.op]
            for value in inputs:
                consumers = value.consumers
                if visible.get(value.name) is not value:
                    return None
                if name not in (consumers if len(consumers) <= _FEW else self.many_consumers(value)):
                    return None
                key.append((id(value.shape), value.dtype))
            used += len(inputs) if len(inputs) < 2 else len({*map(id, inputs)})
            key.append(None)
            for value in outputs:
                if value.producer != name or value.residency != "global":
                    return None
                visible[value.name] = value
                recorded += len(value.consumers)
                key.append((id(value.shape), value.dtype))
            defined += len(outputs)
            if not outputs or outputs[0].name != name:
                named_apart.append(name)
            if attrs:
                key.append(attributes_key(attrs, node))
            if constants:
                key.append(constants_key(node, constants))
            alike.setdefault(tuple(key), node)
        if recorded != used or defined != len(visible) or not _are_names(visible) or not _are_names({*named_apart}):
            return None
        if len({*named_apart}) != len(named_apart) or not visible.keys().isdisjoint(named_apart):
            return None
        if any(visible.get(value.name) is not value for value in graph.outputs):
            return None
        return self.summary(graph, alike, constants)

    def summary(self, graph: SemanticGraph, alike: dict[Any, MCNode], constants: dict[str, Any]) -> Swept:
        nodes: dict[Any, MCNode] = {}
        for node in alike.values():
            nodes.setdefault(node_key("graph", node, self.types, constants), node)
        values = [*graph.inputs, *(value for node in alike.values() for value in node.outputs)]
        return Swept(nodes, list({self.types.key(value): value for value in values}.values()))

    def many_consumers(self, value: MCValue) -> set[str]:
        found = self.many.get(id(value))
        if found is None:
            found = self.many[id(value)] = {*value.consumers}
        return found


def _are_names(names: Collection[Any]) -> bool:
    return "" not in names and {*map(type, names)} <= {str}
