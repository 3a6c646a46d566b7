"""One pass over a graph that vouches for its form, and finds the distinct signatures of its nodes.

Nearly every graph breaks no rule. So before the rules look at it one by one, the sweep asks the ones marked
`swept` all at once, with what is cheap in Python: identities instead of names, counts instead of lists. Where it is
not sure it gives up, and those rules look for the fault and tell it.
"""

from __future__ import annotations

from collections.abc import Collection

from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.record import record
from mcir.values import MCValue
from mcir.verifier.keys import TypeKeys, attributes_key, constants_key, node_key

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_FEW = 8  # consumers that are looked through one by one


@record(slots=True)
class Swept:
    """The first node of each distinct signature of a graph, and a value of each of its types."""

    nodes: dict[Any, MCNode]
    values: list[MCValue]


def sweep(graph: SemanticGraph, types: TypeKeys, constants: dict[str, Any], read: bool = False) -> Swept | None:
    """What stands for the nodes and values of a graph, or None where a rule marked `swept` may be broken.

    read: the graph is as the parser made it, which defines values once and above their uses, and enters the uses.
    """
    try:
        form_holds = _names_differ(graph.nodes) if read else _Form().holds(graph)
        return _summary(graph, types, constants) if form_holds else None
    except (AttributeError, KeyError, TypeError):  # unhashable, or no model object
        return None


def _names_differ(nodes: list[MCNode]) -> bool:
    return len({node.name for node in nodes}) == len(nodes)


class _Form:
    """Whether names, definitions and uses of a graph are in order.

    A value is known by its identity: it must be defined above its uses. The consumers of values are right if
    each user is named by what it uses, and there are as many names in all as there are uses.
    """

    def __init__(self) -> None:
        self.many: dict[int, set[str]] = {}  # id of a value -> its consumers, where they are many

    def holds(self, graph: SemanticGraph) -> bool:
        visible: dict[str, MCValue] = {}
        named_apart: list[str] = []  # nodes that have not the name of their first result
        recorded = used = 0  # names in all lists of consumers, and the uses there are
        for value in graph.inputs:
            if value.producer is not None:
                return False
            visible[value.name] = value
            recorded += len(value.consumers)
        defined = len(graph.inputs)
        for node in graph.nodes:
            name, inputs, outputs = node.name, node.inputs, node.outputs
            for value in inputs:
                consumers = value.consumers
                if visible.get(value.name) is not value:
                    return False
                if name not in (consumers if len(consumers) <= _FEW else self.many_consumers(value)):
                    return False
            used += len(inputs) if len(inputs) < 2 else len({*map(id, inputs)})
            for value in outputs:
                if value.producer != name:
                    return False
                visible[value.name] = value
                recorded += len(value.consumers)
            defined += len(outputs)
            if not outputs or outputs[0].name != name:
                named_apart.append(name)
        return (
            recorded == used and defined == len(visible)
            and _are_names(visible) and _are_names({*named_apart})
            and len({*named_apart}) == len(named_apart) and visible.keys().isdisjoint(named_apart)
            and all(visible.get(value.name) is value for value in graph.outputs)
        )  # fmt: skip

    def many_consumers(self, value: MCValue) -> set[str]:
        found = self.many.get(id(value))
        if found is None:
            found = self.many[id(value)] = {*value.consumers}
        return found


def _are_names(names: Collection[Any]) -> bool:
    return "" not in names and {*map(type, names)} <= {str}


def _summary(graph: SemanticGraph, types: TypeKeys, constants: dict[str, Any]) -> Swept | None:
    if any(value.residency != "global" for value in graph.inputs):
        return None
    alike: dict[Any, MCNode] = {}  # a node for each op, identity of shapes, and so on
    for node in graph.nodes:
        attrs = node.attrs
        key: list[Any] = [node.op]
        for value in node.inputs:
            key.append((id(value.shape), value.dtype))
        key.append(None)
        for value in node.outputs:
            key.append((id(value.shape), value.dtype, value.residency))
        if attrs:
            key.append(attributes_key(attrs, node))
        if constants:
            key.append(constants_key(node, constants))
        alike.setdefault(tuple(key), node)
    nodes: dict[Any, MCNode] = {}
    for node in alike.values():
        nodes.setdefault(node_key("graph", node, types, constants), node)
    values = [value for node in alike.values() for value in node.outputs]
    if any(value.residency != "global" for value in values):
        return None
    return Swept(nodes, list({types.key(value): value for value in [*graph.inputs, *values]}.values()))
