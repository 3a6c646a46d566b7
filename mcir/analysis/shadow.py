"""The canonical shadow of a graph: who makes and who really uses each value; the graph is only read.

A use counts when its node leads to an output of the graph and reads elements, not only the shape.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.types import Dim
from mcir.values import MCValue

# These ops read the shape of their operand, never its elements.
SHAPE_READERS = frozenset({"shape"})


class Shadow:
    """Producer, live uses and outputs of the values of one graph.

    Only what is asked for is looked up, by the names that a value has of its producer and consumers. Each answer is
    checked against the nodes, whose operands are counted once: names that do not tell the truth raise MCIRError.
    """

    def __init__(self, graph: SemanticGraph) -> None:
        self.graph = graph
        self._at = {node.name: at for at, node in enumerate(graph.nodes)}
        # How often a value is an operand, by its id.
        self._count = Counter(map(id, chain.from_iterable([node.inputs for node in graph.nodes])))
        self._uses: dict[int, list[MCNode]] = {}
        self._inputs = {value.name for value in graph.inputs}
        self._outputs = {value.name for value in graph.outputs}
        self._dead: set[str] = set()
        self._find_dead()

    def producer_of(self, value: MCValue) -> MCNode | None:
        """The node that defines `value`; None for an input of the graph."""
        name = value.producer
        if name is None and value.name in self._inputs:
            return None
        node = self._node(value, name)
        if node.outputs[0] is not value and not any(value is result for result in node.outputs):
            raise self._untrue(value)
        return node

    def uses_of(self, value: MCValue) -> list[MCNode]:
        """The live nodes that read the elements of `value`, each once, in graph order."""
        found = self._uses.get(id(value))
        if found is None:
            found = self._uses[id(value)] = self._live_uses(value)
        return found

    def is_output(self, value: MCValue) -> bool:
        return value.name in self._outputs

    def position(self, node: MCNode) -> int:
        """The place of `node` among the nodes of the graph."""
        return self._at[node.name]

    def _live_uses(self, value: MCValue) -> list[MCNode]:
        users = [self._node(value, name) for name in dict.fromkeys(value.consumers)]
        if sum(operand is value for node in users for operand in node.inputs) != self._count.get(id(value), 0):
            raise self._untrue(value)
        live = [node for node in users if node.op not in SHAPE_READERS and node.name not in self._dead]
        return sorted(live, key=self.position) if len(live) > 1 else live

    def _node(self, value: MCValue, name: str | None) -> MCNode:
        at = self._at.get(name) if name is not None else None
        if at is None:
            raise self._untrue(value)
        return self.graph.nodes[at]

    def _find_dead(self) -> None:
        """Enters the nodes that lead to no output: those whose results nothing takes, then those that only they use."""
        kept = {*map(id, self.graph.outputs)}
        unused: list[MCNode] = []
        for node in self.graph.nodes:
            for value in node.outputs:
                if value.consumers or id(value) in kept:
                    break
            else:
                unused.append(node)
        left: dict[int, int] = {}
        while unused:
            node = unused.pop()
            self._dead.add(node.name)
            if any(id(value) in self._count for value in node.outputs if not value.consumers):
                raise self._untrue(node.outputs[0])
            for value in node.inputs:
                left[id(value)] = left.get(id(value), self._count[id(value)]) - 1
                producer = self.producer_of(value) if not left[id(value)] and id(value) not in kept else None
                if producer is not None and not any(self._is_left(result, left, kept) for result in producer.outputs):
                    unused.append(producer)

    def _is_left(self, value: MCValue, left: dict[int, int], kept: set[int]) -> bool:
        return id(value) in kept or left.get(id(value), self._count[id(value)]) > 0

    def _untrue(self, value: MCValue) -> MCIRError:
        message = f"%{value.name} names other nodes as its producer and consumers than there are in @{self.graph.name}"
        return MCIRError(Diagnostic(message, value.loc, rule="value.uses"))


def normal_axis(axis: int, rank: int) -> int | None:
    """`axis` counted from the front, or None when it is out of range."""
    position = axis + rank if axis < 0 else axis
    return position if 0 <= position < rank else None


def axes_of(node: MCNode, rank: int) -> list[int] | None:
    """The attribute `axes` of a reduction or (un)squeeze, counted from the front; None if absent or bad."""
    given = node.attrs.get("axes")
    if not isinstance(given, list):
        return None
    axes = [normal_axis(axis, rank) for axis in given]
    return None if None in axes else [axis for axis in axes if axis is not None]


def same_dim(left: Dim, right: Dim) -> bool:
    """True when both dimensions are known to be the same size: equal numbers or equal names."""
    return left is not None and left == right


def same_shape(left: MCValue, right: MCValue) -> bool:
    """True when both shapes are known to be equal."""
    return len(left.shape) == len(right.shape) and all(map(same_dim, left.shape, right.shape))
