"""Softmax in all its spellings: one op, exp of log_softmax, max/sub/exp/sum/div, or with the division last.

Every part is proved to be the same value over the same axis; what looks like a softmax and is none is a
`Problem` with the rule that failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mcir.analysis.constants import Constants
from mcir.analysis.contractions import CONTRACTION_OPS
from mcir.analysis.layout_maps import LAYOUT_OPS, is_identity, neutral_operand, widens
from mcir.analysis.shadow import Shadow, axes_of, normal_axis, same_dim
from mcir.nodes import MCNode
from mcir.types import Shape
from mcir.values import MCValue

# A walk along casts and layout ops looks at no more nodes than this: it keeps the whole search linear.
MAX_WALK = 32


@dataclass(slots=True)
class Softmax:
    """One softmax. `scores` goes in, `probs` comes out, over `axis` (counted from the front).

    nodes: all nodes it consists of; anchor: the one a remark names. Where the division comes after the
    product with V (`division`), `probs` are the bare exponentials, `row_sum` their sum and `row_path` the nodes
    that bring it to the division.
    """

    anchor: MCNode
    scores: MCValue
    probs: MCValue
    axis: int
    nodes: list[MCNode]
    division: MCNode | None = None
    row_sum: MCNode | None = None
    row_path: list[MCNode] = field(default_factory=list)


@dataclass(slots=True)
class Problem:
    """What looked like a softmax at `anchor` and broke `rule`."""

    anchor: MCNode
    rule: str
    message: str


class SoftmaxFinder:
    """Finds every softmax of one graph, in graph order."""

    def __init__(self, shadow: Shadow, constants: Constants) -> None:
        self._shadow = shadow
        self._constants = constants

    def find(self) -> Iterator[Softmax | Problem]:
        """Each softmax or near miss once."""
        starts = {"softmax": self._fused, "log_softmax": self._logarithmic, "reduce_sum": self._decomposed}
        for node in self._shadow.graph.nodes:
            start = starts.get(node.op)
            found = start(node) if start is not None else None
            if found is not None:
                yield found

    def stripped(self, value: MCValue) -> MCValue:
        """The value that `value` equals, seen through identities and exact casts."""
        for _ in range(MAX_WALK):
            node = self._shadow.producer_of(value)
            if node is None:
                break
            passes_on = is_identity(node, self._constants) or widens(node)
            carried = 0 if passes_on else neutral_operand(node, self._constants)
            if carried is None:
                break
            value = node.inputs[carried]
        return value

    def _fused(self, node: MCNode) -> Softmax | Problem:
        axis = normal_axis(node.attrs.get("axis", -1), len(node.inputs[0].shape))
        if axis is None:
            return Problem(node, "softmax-axis", "its axis is out of range")
        return Softmax(node, node.inputs[0], node.outputs[0], axis, [node])

    def _logarithmic(self, node: MCNode) -> Softmax | Problem:
        uses = self._shadow.uses_of(node.outputs[0])
        axis = normal_axis(node.attrs.get("axis", -1), len(node.inputs[0].shape))
        if len(uses) == 1 and uses[0].op == "exp" and axis is not None and not self._shadow.is_output(node.outputs[0]):
            return Softmax(node, node.inputs[0], uses[0].outputs[0], axis, [node, uses[0]])
        return Problem(node, "log-softmax", "log_softmax is used without exp: these are log probabilities")

    def _decomposed(self, node: MCNode) -> Softmax | Problem | None:
        """A sum over exponentials that something is divided by."""
        powers = self.stripped(node.inputs[0])
        exp = self._shadow.producer_of(powers)
        axes = axes_of(node, len(node.inputs[0].shape))
        if exp is None or exp.op != "exp" or axes is None or len(axes) != 1:
            return None
        use = self._division_by(node)
        if use is None:
            return None
        division, numerator, path = use
        if not self._spans_rows(path, node, axes[0]):
            return Problem(node, "softmax-parts", "the sum of the exponentials is not broadcast along its own axis")
        shifted = self._shifted_scores(exp, axes[0])
        if isinstance(shifted, Problem):
            return shifted
        scores, shift_nodes = shifted
        nodes = [*shift_nodes, exp, node, *path, division]
        if self.stripped(numerator) is powers:
            return Softmax(node, scores, division.outputs[0], axes[0], nodes)
        if self._is_product_with(numerator, powers):
            return Softmax(node, scores, powers, axes[0], nodes, division, node, path)
        return Problem(node, "softmax-parts", "the numerator is not the exponential that is summed")

    def _division_by(self, node: MCNode) -> tuple[MCNode, MCValue, list[MCNode]] | None:
        """(division, numerator, nodes in between): what is divided by the result of `node`, or None."""
        value, path, inverted = node.outputs[0], list[MCNode](), False
        for _ in range(MAX_WALK):
            uses = self._shadow.uses_of(value)
            if len(uses) != 1:
                return None
            use = uses[0]
            if use.op == "div" and not inverted and use.inputs[1] is value:
                return use, use.inputs[0], path
            if use.op == "mul" and inverted:
                return use, use.inputs[1 if use.inputs[0] is value else 0], path
            inverted = inverted or use.op == "reciprocal"
            if not (use.op in ("reciprocal", "cast") or use.op in LAYOUT_OPS or is_identity(use, self._constants)):
                return None
            path.append(use)
            value = use.outputs[0]
        return None

    def _spans_rows(self, path: list[MCNode], reduction: MCNode, axis: int) -> bool:
        """Whether the reduced value is brought back with its axis where it was: one, or repeated along it."""
        whole = reduction.inputs[0].shape
        restored = reduction.attrs.get("keepdims", True)
        for node in path:
            if node.op in ("reciprocal", "cast") or is_identity(node, self._constants):
                continue
            if node.op == "unsqueeze" and not restored:
                restored = axes_of(node, len(whole)) == [axis]
                if not restored:
                    return False
            elif node.op == "reshape" and not restored:
                restored = _is_row_shape(node.outputs[0].shape, whole, axis)
                if not restored:
                    return False
            elif node.op == "expand" and restored:
                if not all(map(same_dim, node.outputs[0].shape, whole)):
                    return False
            else:
                return False
        return bool(restored)

    def _shifted_scores(self, exp: MCNode, axis: int) -> tuple[MCValue, list[MCNode]] | Problem:
        """The scores under `exp(scores - max(scores))`, with the nodes of the shift."""
        shifted = self.stripped(exp.inputs[0])
        sub = self._shadow.producer_of(shifted)
        if sub is None or sub.op != "sub":
            return Problem(exp, "softmax-max", "the exponentials are taken without subtracting the row maximum")
        path: list[MCNode] = []
        value = sub.inputs[1]
        for _ in range(MAX_WALK):
            node = self._shadow.producer_of(value)
            if node is None or not node.inputs:
                break
            if node.op == "reduce_max":
                return self._checked_shift(sub, node, path, axis)
            if not (node.op == "cast" or node.op in LAYOUT_OPS or is_identity(node, self._constants)):
                break
            path.insert(0, node)
            value = node.inputs[0]
        return Problem(sub, "softmax-max", "what is subtracted under the exponential is not the maximum of the scores")

    def _checked_shift(
        self, sub: MCNode, reduction: MCNode, path: list[MCNode], axis: int
    ) -> tuple[MCValue, list[MCNode]] | Problem:
        if self.stripped(reduction.inputs[0]) is not self.stripped(sub.inputs[0]):
            return Problem(reduction, "softmax-parts", "the maximum is not that of the scores it is subtracted from")
        if axes_of(reduction, len(reduction.inputs[0].shape)) != [axis]:
            return Problem(reduction, "softmax-parts", "the maximum runs over another axis than the sum")
        if not self._spans_rows(path, reduction, axis):
            return Problem(reduction, "softmax-parts", "the maximum is not broadcast along its own axis")
        return sub.inputs[0], [reduction, *path, sub]

    def _is_product_with(self, value: MCValue, powers: MCValue) -> bool:
        """Whether `value` is a contraction of the exponentials, seen through layout ops."""
        for _ in range(MAX_WALK):
            node = self._shadow.producer_of(value)
            if node is None:
                return False
            if node.op in CONTRACTION_OPS:
                return any(self._source(operand) is powers for operand in node.inputs)
            if node.op not in LAYOUT_OPS and not is_identity(node, self._constants):
                return False
            value = node.inputs[0]
        return False

    def _source(self, value: MCValue) -> MCValue:
        for _ in range(MAX_WALK):
            node = self._shadow.producer_of(value)
            if node is None or not (
                node.op == "cast" or node.op in LAYOUT_OPS or is_identity(node, self._constants)
            ):  # fmt: skip
                break
            value = node.inputs[0]
        return value


def _is_row_shape(shape: Shape, whole: Shape, axis: int) -> bool:
    """`whole` with size one at `axis`."""
    return len(shape) == len(whole) and all(
        dim == 1 if at == axis else same_dim(dim, full) for at, (dim, full) in enumerate(zip(shape, whole, strict=True))
    )
