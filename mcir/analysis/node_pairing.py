"""Which node of one graph or region belongs to which of another: three ways to pair them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mcir.analysis.pairing import Pairing, aligned
from mcir.nodes import MCNode
from mcir.types import attribute_key
from mcir.values import MCValue

WAYS = NAMES, COMPUTATION, ORDER = "names", "computation", "order"
Place = tuple[Any, int, MCNode]  # the graph or region that holds the node, the node's number in it, the node


def pair_nodes(
    left: Sequence[Place], right: Sequence[Place], holder_of: dict[int, int], partner: dict[int, MCValue], way: str
) -> Pairing:
    """The pairs of nodes. The values of paired nodes enter `partner`: id of a left value -> the right one.

    holder_of: id of a left graph or region -> that of its partner. way: one of WAYS; names count for the first only.
    """
    return _NodePairing(Pairing(left, right), holder_of, partner).run(way)


@dataclass
class _NodePairing:
    pairing: Pairing
    holder_of: dict[int, int]
    partner: dict[int, MCValue]

    def run(self, way: str) -> Pairing:
        pairing = self.pairing
        if way == NAMES:
            pairing.by(
                lambda place: (self.holder_of.get(id(place[0])), place[2].name, place[2].op),
                lambda place: (id(place[0]), place[2].name, place[2].op),
            )
            self._follow()
        elif way == ORDER:
            self._by_order()
        self._by_computation(loosely=way != COMPUTATION)
        if way == COMPUTATION:
            self._by_order()
            self._by_computation(loosely=True)
        if way == NAMES:
            pairing.by(lambda place: (place[2].name, place[2].op))
            pairing.by(lambda place: place[2].name)
        pairing.by(lambda place: (place[2].op, len(place[2].inputs), types_of(place[2].outputs)))
        self._follow()
        return pairing

    def _follow(self) -> None:
        """The results of paired nodes are paired in order."""
        for left, right in self.pairing.pairs:
            ours, theirs = self.pairing.ours[left][2].outputs, self.pairing.theirs[right][2].outputs
            for value, other in zip(ours, theirs, strict=False):
                self.partner[id(value)] = other

    def _by_order(self) -> None:
        """Pairs what is left by the longest sequence of nodes that are equal but for their operands and names.

        Between two such pairs as many nodes on either side are pairs in their order: each stands in place of the other.
        """
        pairing = self.pairing
        left, right = pairing.left, pairing.right
        ours = [(self.holder_of.get(id(pairing.ours[at][0])), _form(pairing.ours[at][2])) for at in left]
        theirs = [(id(pairing.theirs[at][0]), _form(pairing.theirs[at][2])) for at in right]
        pairs = aligned(ours, theirs)
        for (at, other), (next_at, next_other) in pairwise([(-1, -1), *pairs, (len(left), len(right))]):
            if next_at - at == next_other - other:
                pairs += zip(range(at + 1, next_at), range(other + 1, next_other), strict=True)
        pairing.take([(left[at], right[other]) for at, other in pairs])
        self._follow()

    def _by_computation(self, *, loosely: bool) -> None:
        """Pairs nodes of paired operands in text order, so that a chain of renamed nodes is followed from its start.

        loosely: a node with no partner of equal attributes and types takes one that has the same op on the same
        operands.
        """
        pairing, kinds = self.pairing, 2 if loosely else 1
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for at in pairing.right:
            node = pairing.theirs[at][2]
            for key in _computations(node, [id(value) for value in node.inputs])[:kinds]:
                waiting[key].append(at)
        taken: set[int] = set()
        rest = []
        for at in pairing.left:
            node = pairing.ours[at][2]
            keys = _computations(node, [id(self.partner.get(id(value))) for value in node.inputs])[:kinds]
            other = next((found for key in keys if (found := _next_free(waiting.get(key), taken)) is not None), None)
            if other is None:
                rest.append(at)
                continue
            taken.add(other)
            pairing.pairs.append((at, other))
            for value, theirs in zip(node.outputs, pairing.theirs[other][2].outputs, strict=False):
                self.partner[id(value)] = theirs
        pairing.left, pairing.right = rest, [at for at in pairing.right if at not in taken]


def types_of(values: Sequence[MCValue]) -> Hashable:
    """The types of values, to compare."""
    return tuple(value.type for value in values)


def _form(node: MCNode) -> Hashable:
    """Equal for nodes that differ in names and operands only."""
    return node.op, attribute_key(node.attrs), types_of(node.outputs), len(node.inputs)


def _computations(node: MCNode, operands: list[int]) -> tuple[Hashable, ...]:
    """What a node computes on these operands: to the letter, and but for attributes and result types."""
    exact = attribute_key(node.attrs), types_of(node.outputs)
    return (node.op, tuple(operands), exact), (node.op, tuple(operands), len(node.outputs))


def _next_free(waiting: deque[int] | None, taken: set[int]) -> int | None:
    """The first of `waiting` that is not taken; it stays there."""
    while waiting and waiting[0] in taken:
        waiting.popleft()
    return waiting[0] if waiting else None
