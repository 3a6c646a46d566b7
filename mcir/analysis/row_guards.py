"""Guards against fully masked rows: where(isnan(P), 0, P), and where(all of the row is -inf, 0, P).

A predicate over the scores, or over a mask that makes them, is followed through its ops by what it says: of each
element or of each row, dead (-inf, not kept) or alive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mcir.analysis.constants import Constants
from mcir.analysis.layout_maps import is_identity, widens
from mcir.analysis.shadow import Shadow, axes_of
from mcir.analysis.softmax import MAX_WALK, Softmax
from mcir.nodes import MCNode
from mcir.types import DTYPES
from mcir.values import MCValue

# What a predicate says of the scores, by the op that made it from what its operand says. `> -inf` is not among them:
# it takes NaN for dead.
_COMPARISONS = {
    ("scores", "equal"): "element dead", ("scores", "not_equal"): "element alive",
    ("scores", "less_equal"): "element dead",
    ("row max", "equal"): "row dead", ("row max", "not_equal"): "row alive", ("row max", "less_equal"): "row dead",
}  # fmt: skip
_REDUCTIONS = {
    ("scores", "reduce_max"): "row max",
    ("element dead", "reduce_min"): "row dead", ("element dead", "reduce_prod"): "row dead",
    ("element alive", "reduce_max"): "row alive", ("element alive", "reduce_sum"): "count alive",
}  # fmt: skip
# Comparing the number of live elements, or a 0/1 predicate, with zero.
_AGAINST_ZERO = {
    ("count alive", "greater"): "row alive", ("count alive", "not_equal"): "row alive",
    ("count alive", "equal"): "row dead", ("count alive", "less_equal"): "row dead",
    ("row dead", "equal"): "row alive", ("row alive", "equal"): "row dead",
    ("row dead", "not_equal"): "row dead", ("row alive", "not_equal"): "row alive",
    ("row dead", "greater"): "row dead", ("row alive", "greater"): "row alive",
}  # fmt: skip
_COMPARED = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
_PREDICATE_STEPS = frozenset({"not", "cast", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum"})
_NEGATIONS = {
    "element dead": "element alive", "element alive": "element dead", "row dead": "row alive", "row alive": "row dead",
}  # fmt: skip


@dataclass(slots=True)
class Guard:
    """A guard of the probabilities: `dead_rows` is what it makes of dead rows, `out` the guarded value.

    mask: the mask that it looks at instead of the scores; kept: the boolean value by which it keeps a score.
    """

    dead_rows: str  # "zero" or "zero_nan"
    nodes: list[MCNode]
    out: MCValue
    mask: MCValue | None = None
    kept: bool = True


class RowGuards:
    """Recognises guards in one graph."""

    def __init__(self, shadow: Shadow, constants: Constants) -> None:
        self._shadow = shadow
        self._constants = constants

    def at(self, probs: MCValue, softmax: Softmax) -> Guard | None:
        """The guard that `probs` goes through next, or None."""
        for select in self._shadow.uses_of(probs):
            if select.op != "where":
                continue
            guard = self._guard(select, probs, softmax)
            if guard is not None:
                return guard
        return None

    def _guard(self, select: MCNode, probs: MCValue, softmax: Softmax) -> Guard | None:
        test, when_true, when_false = select.inputs
        if when_false is probs and self._constants.scalar(when_true) == 0:
            zeroed = True
        elif when_true is probs and self._constants.scalar(when_false) == 0:
            zeroed = False
        else:
            return None
        nodes = self._nan_test(test, probs, zeroed)
        if nodes is not None:
            return Guard("zero_nan", [*nodes, select], select.outputs[0])
        return self._row_test(select, test, softmax, "row dead" if zeroed else "row alive")

    def _row_test(self, select: MCNode, test: MCValue, softmax: Softmax, wanted: str) -> Guard | None:
        """A guard by a predicate over the scores, over a mask that is added, or over a boolean mask."""
        source, nodes = self._source(test, softmax)
        starts = {"element alive": True, "element dead": False} if source.dtype == "i1" else {"scores": True}
        for says, kept in starts.items():
            if nodes and self._follow(says, nodes, softmax, len(source.shape)) == wanted:
                mask = None if source is softmax.scores else source
                return Guard("zero", [*nodes, select], select.outputs[0], mask, kept)
        return None

    def _nan_test(self, test: MCValue, probs: MCValue, zeroed: bool) -> list[MCNode] | None:
        """The nodes of isnan(probs), or of its negation where `zeroed` is False."""
        nodes: list[MCNode] = []
        for _ in range(MAX_WALK):
            node = self._shadow.producer_of(test)
            if node is None:
                return None
            nodes.insert(0, node)
            if node.op == "isnan" and node.inputs[0] is probs:
                return nodes if zeroed else None
            if node.op == "not":
                zeroed = not zeroed
            elif not is_identity(node, self._constants):
                return None
            test = node.inputs[0]
        return None

    def _source(self, test: MCValue, softmax: Softmax) -> tuple[MCValue, list[MCNode]]:
        """What `test` is computed from, and the nodes that do it."""
        nodes: list[MCNode] = []
        value = test
        while value is not softmax.scores and len(nodes) < MAX_WALK:
            node = self._shadow.producer_of(value)
            if node is None or not self._is_predicate_step(node):
                break
            nodes.insert(0, node)
            value = node.inputs[self._tested(node)]
        return value, nodes

    def _is_predicate_step(self, node: MCNode) -> bool:
        if len(node.inputs) == 2:
            return node.op in _COMPARED and any(self._constants.scalar(value) is not None for value in node.inputs)
        if node.op == "cast":
            return _is_flag(node) or widens(node)  # a mask that is rounded first is another mask
        return node.op in _PREDICATE_STEPS or is_identity(node, self._constants)

    def _tested(self, node: MCNode) -> int:
        """The operand of a comparison that is no constant."""
        return 1 if len(node.inputs) == 2 and self._constants.scalar(node.inputs[0]) is not None else 0

    def _follow(self, says: str, nodes: list[MCNode], softmax: Softmax, rank: int) -> str | None:
        """What is said in the end if `says` is said of the source."""
        from_end = len(softmax.scores.shape) - softmax.axis
        for node in nodes:
            answer = self._step(says, node, rank - from_end)
            if answer is None:
                return None
            says = answer
        return says

    def _step(self, says: str, node: MCNode, key_axis: int) -> str | None:
        if node.op == "not":
            return _NEGATIONS.get(says)
        if node.op == "cast":
            return says if widens(node) or says not in ("scores", "row max") else None
        if node.op.startswith("reduce_"):
            same_axis = axes_of(node, len(node.inputs[0].shape)) == [key_axis] and node.attrs.get("keepdims", True)
            if node.op == "reduce_sum" and not _counts(node.outputs[0].dtype):
                return None
            return _REDUCTIONS.get((says, node.op)) if same_axis else None
        if len(node.inputs) == 2:
            return self._comparison(says, node)
        return says if is_identity(node, self._constants) else None

    def _comparison(self, says: str, node: MCNode) -> str | None:
        mirrored = {"less_equal": "greater_equal", "greater": "less", "less": "greater", "greater_equal": "less_equal"}
        constant, op = self._constants.scalar(node.inputs[1]), node.op
        if constant is None:
            constant, op = self._constants.scalar(node.inputs[0]), mirrored.get(node.op, node.op)
        if constant == -math.inf:
            return _COMPARISONS.get((says, op))
        return _AGAINST_ZERO.get((says, op)) if constant == 0 else None


def _is_flag(node: MCNode) -> bool:
    """True for a cast from or to 0/1: of a predicate, or of a predicate in numbers."""
    return "i1" in (node.inputs[0].dtype, node.outputs[0].dtype)


def _counts(dtype: str) -> bool:
    """Whether a sum of flags in `dtype` is zero only if all are: narrow integers wrap, an fp8 sum may become NaN."""
    info = DTYPES.get(dtype)
    return info is not None and info.bits >= (32 if info.kind != "float" else 16)
