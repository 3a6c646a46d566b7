"""The canonical shadow of a graph: who makes and who really uses each value; the graph is only read.

A use counts when its node leads to an output of the graph and reads elements, not only the shape.
"""

from __future__ import annotations

from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.types import Dim
from mcir.values import MCValue

# These ops read the shape of their operand, never its elements.
SHAPE_READERS = frozenset({"shape"})


class Shadow:
    """Producer, live uses and outputs of one graph, built in one linear sweep.

    producer: the node that defines a value, by the value's name.
    uses: the live nodes that read a value's elements, each once, in graph order.
    outputs: names of the values that the graph returns.
    """

    def __init__(self, graph: SemanticGraph) -> None:
        self.graph = graph
        self.outputs: set[str] = {value.name for value in graph.outputs}
        self.producer: dict[str, MCNode] = {value.name: node for node in graph.nodes for value in node.outputs}
        self._uses: dict[str, list[MCNode]] = {}
        self._index_live_uses()

    def producer_of(self, value: MCValue) -> MCNode | None:
        """The node that defines `value`; None for an input of the graph."""
        return self.producer.get(value.name)

    def uses_of(self, value: MCValue) -> list[MCNode]:
        """The live nodes that read the elements of `value`."""
        return self._uses.get(value.name, [])

    def is_output(self, value: MCValue) -> bool:
        return value.name in self.outputs

    def _index_live_uses(self) -> None:
        wanted = set(self.outputs)
        uses = self._uses
        for node in reversed(self.graph.nodes):
            outputs = node.outputs
            if len(outputs) == 1 and outputs[0].name not in wanted:
                continue
            if len(outputs) != 1 and not any(value.name in wanted for value in outputs):
                continue
            reads_elements = node.op not in SHAPE_READERS
            for value in node.inputs:
                wanted.add(value.name)
                if reads_elements:
                    users = uses.setdefault(value.name, [])
                    if not users or users[-1] is not node:
                        users.append(node)
        for users in uses.values():
            users.reverse()


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
