"""Which value is Q, K or V: operands of the contractions, seen through scales, identities and some layout ops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mcir.analysis.constants import Constants
from mcir.analysis.labels import Axis, Labels, Layout, atoms_of
from mcir.analysis.layout_maps import LAYOUT_OPS, REPEATING_OPS, LayoutMaps, is_identity, neutral_operand, widens
from mcir.analysis.shadow import Shadow, same_shape
from mcir.nodes import MCNode
from mcir.values import MCValue

# No walk on an operand's side is longer; many attentions may share it, and all must cost linear time.
MAX_PEEL = 32


@dataclass(slots=True)
class Operand:
    """A value with its layout, the constant factor that was peeled off it, and the nodes peeled."""

    value: MCValue
    layout: Layout
    factor: float = 1.0
    nodes: list[MCNode] = field(default_factory=list)


class Peeler:
    """Peels the operands of one attention.

    stops: names of values that are inputs of the region as they are; no walk goes on behind them, since a region must
    not compute one of its inputs from another.
    """

    def __init__(self, shadow: Shadow, constants: Constants, labels: Labels, maps: LayoutMaps) -> None:
        self.stops: set[str] = set()
        self._shadow = shadow
        self._constants = constants
        self._labels = labels
        self._maps = maps

    def _producer(self, value: MCValue) -> MCNode | None:
        return None if value.name in self.stops else self._shadow.producer_of(value)

    def scales(self, operand: Operand) -> Operand:
        """Takes off constant factors, also in front of layout ops, with the identities and exact casts around them.

        Layout ops stay unless a factor stands in front of them; ops that repeat elements stay always.
        """
        best = operand
        value, layout, waiting = operand.value, operand.layout, list[MCNode]()
        for _ in range(MAX_PEEL):
            node = self._producer(value)
            if node is None:
                break
            carried = self._factored(node)
            if carried is not None:
                value = node.inputs[carried]
                best = Operand(value, layout, self._times(node, carried, best.factor), [*best.nodes, *waiting, node])
                waiting = []
                continue
            passed = self._passed(node)
            if passed is not None:
                value = node.inputs[passed]
                waiting.append(node)
                if all(self._passed(other) is not None for other in waiting):
                    best = Operand(value, layout, best.factor, [*best.nodes, *waiting])
                    waiting = []
                continue
            moved = self._maps.backward(node, layout) if node.op in LAYOUT_OPS - REPEATING_OPS else None
            if moved is None:
                break
            value, layout = node.inputs[0], moved
            waiting.append(node)
        return best

    def identities(self, operand: Operand) -> Operand:
        """Takes off ops that change nothing; casts stay, so that the product with V is rounded as in the graph."""
        value, nodes = operand.value, list(operand.nodes)
        for _ in range(MAX_PEEL):
            node = self._producer(value)
            if node is None:
                break
            passed = 0 if is_identity(node, self._constants) else neutral_operand(node, self._constants)
            if passed is None:
                break
            value = node.inputs[passed]
            nodes.append(node)
        return replace(operand, value=value, nodes=nodes)

    def head_dim_last(self, operand: Operand, head_dim: int) -> Operand:
        """K before the layout ops that bring its head dim away from the last axis.

        The nearest value with the same axes and the head dim last; else the nearest with the head dim last, however its
        axes are merged; else the value before all transposes.
        """
        wanted = sorted(self._labels.refined_layout(operand.layout))
        nearest: Operand | None = None
        current = before_transposes = operand
        only_transposes = True
        for _ in range(MAX_PEEL):
            if self._ends_in(current.layout, head_dim):
                if sorted(self._labels.refined_layout(current.layout)) == wanted:
                    return current
                nearest = nearest or current
            node = self._producer(current.value)
            moved = None if node is None else self._before(node, current)
            if node is None or moved is None:
                break
            current = moved
            only_transposes = only_transposes and (node.op == "transpose" or self._passed(node) is not None)
            if only_transposes:
                before_transposes = current
        return nearest or before_transposes

    def _ends_in(self, layout: Layout, head_dim: int) -> bool:
        return bool(layout) and self._labels.refined(layout[-1]) == self._labels.refined((head_dim,))

    def _before(self, node: MCNode, operand: Operand) -> Operand | None:
        """The operand of an identity, exact cast or layout op that makes `operand`; None for any other op."""
        passed = self._passed(node)
        nodes = [*operand.nodes, node]
        if passed is not None:
            return replace(operand, value=node.inputs[passed], nodes=nodes)
        moved = self._maps.backward(node, operand.layout) if node.op in LAYOUT_OPS - REPEATING_OPS else None
        return None if moved is None else replace(operand, value=node.inputs[0], layout=moved, nodes=nodes)

    def unexpanded(self, operand: Operand) -> tuple[Operand, frozenset[int]] | None:
        """The operand before an op that repeats it, and the atoms that it is repeated along; None if there is none."""
        current = operand
        for _ in range(MAX_PEEL):
            node = self._producer(current.value)
            if node is None:
                return None
            passed = self._passed(node)
            moved: Layout | None = current.layout
            if passed is None:
                moved = self._maps.backward(node, current.layout) if node.op in LAYOUT_OPS else None
            if moved is None:
                return None
            current = Operand(node.inputs[passed or 0], moved, current.factor, [*current.nodes, node])
            dropped = self._atoms(operand.layout) - self._atoms(current.layout)
            if dropped:
                return (self._without_units(current), dropped) if self._interleaved(operand.layout, dropped) else None
        return None

    def _without_units(self, operand: Operand) -> Operand:
        """Takes off the ops that entered axes of size one for the repetition."""
        for _ in range(MAX_PEEL):
            node = self._producer(operand.value)
            if node is None or node.op not in ("unsqueeze", "reshape"):
                break
            moved = self._maps.backward(node, operand.layout)
            kept = [axis for axis in operand.layout if axis]
            if moved is None or [axis for axis in moved if axis] != kept or len(moved) >= len(operand.layout):
                break
            operand = Operand(node.inputs[0], moved, operand.factor, [*operand.nodes, node])
        return operand

    def _atoms(self, layout: Layout) -> frozenset[int]:
        atoms = atoms_of(self._labels.refined_layout(layout))
        return frozenset(atom for atom in atoms if self._labels.size(atom) != 1)

    def _interleaved(self, layout: Layout, dropped: frozenset[int]) -> bool:
        """Whether each repeated axis repeats innermost: heads a a b b, not a b a b."""
        return all(_ends_with(axis, dropped) for axis in self._labels.refined_layout(layout))

    def _factored(self, node: MCNode) -> int | None:
        """The operand that `node` multiplies or divides by a constant number, or negates; None for other ops."""
        if node.op == "neg":
            return 0
        for other, carried in ((1, 0), (0, 1)):
            if node.op == "mul" or (node.op == "div" and carried == 0):
                number = self._constants.scalar(node.inputs[other])
                usable = number is not None and not isinstance(number, bool) and (node.op == "mul" or number != 0)
                if usable and _keeps_shape(node, other, carried):
                    return carried
        return None

    def _times(self, node: MCNode, carried: int, factor: float) -> float:
        """`factor` times what `node` multiplies by."""
        if node.op == "neg":
            return -factor
        number = float(self._constants.scalar(node.inputs[1 - carried]) or 0)
        return factor * number if node.op == "mul" else factor / number

    def _passed(self, node: MCNode) -> int | None:
        """The operand that an identity or an exact cast passes on."""
        if is_identity(node, self._constants) or widens(node):
            return 0
        return neutral_operand(node, self._constants)


def _keeps_shape(node: MCNode, constant: int, carried: int) -> bool:
    """Whether the constant operand of `node` leaves the shape of the other one as it is."""
    number, value = node.inputs[constant], node.inputs[carried]
    single = all(dim == 1 for dim in number.shape) and len(number.shape) <= len(value.shape)
    return single or same_shape(value, node.outputs[0])


def _ends_with(axis: Axis, dropped: frozenset[int]) -> bool:
    """Whether all atoms of `axis` that are in `dropped` come after all others."""
    flags = [atom in dropped for atom in axis]
    return flags == sorted(flags)
