"""From a softmax back to the contraction that makes its scores, and forward to the one that uses its result."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcir.analysis.attention.rules import Declined
from mcir.analysis.constants import Constants
from mcir.analysis.contractions import CONTRACTION_OPS, contraction_of
from mcir.analysis.layout_maps import LAYOUT_OPS, is_identity, neutral_operand
from mcir.analysis.row_guards import Guard, RowGuards
from mcir.analysis.scalars import is_widening
from mcir.analysis.shadow import Shadow, same_shape
from mcir.analysis.softmax import MAX_WALK, Softmax
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.types import DTYPES
from mcir.values import MCValue

# Where two operands of an add both come from contractions, so many ways back are tried.
MAX_PATHS = 4

# Ops that take scores in any of several operands; all other carriers take them in the first.
_SEVERAL = {
    **dict.fromkeys(("add", "sub", "mul", "div", "min", "max", "pow"), (0, 1)),
    "where": (1, 2),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One node between the scores and the softmax; `carried` is the operand that the scores come in by."""

    node: MCNode
    carried: int


@dataclass(slots=True)
class ScorePath:
    """The contraction that makes the scores and the steps from it to the softmax, in graph order."""

    contraction: MCNode
    steps: list[Step]


@dataclass(slots=True)
class Tail:
    """From the probabilities on: `steps` to the contraction that takes them as operand `index`.

    Where the division comes last, `after` leads from the contraction to it.
    """

    steps: list[MCNode]
    contraction: MCNode
    index: int
    guards: list[Guard] = field(default_factory=list)
    after: list[MCNode] = field(default_factory=list)

    @property
    def nodes(self) -> list[MCNode]:
        return [*self.steps, *self.guard_nodes, self.contraction, *self.after]

    @property
    def guard_nodes(self) -> list[MCNode]:
        return [node for guard in self.guards for node in guard.nodes]


def is_float(value: MCValue) -> bool:
    return value.dtype in DTYPES and DTYPES[value.dtype].kind == "float"


class Leads:
    """Which values of one graph lead back to a contraction; each is looked at once."""

    def __init__(self, shadow: Shadow) -> None:
        self._shadow = shadow
        self._memo: dict[str, bool] = {}

    def to_contraction(self, value: MCValue) -> bool:
        """Whether a contraction is reached from `value` through pointwise and layout ops."""
        memo = self._memo
        stack = [value]
        while stack:
            top = stack[-1]
            if top.name in memo:
                stack.pop()
                continue
            node = self._shadow.producer_of(top)
            if node is None or not is_float(top):
                memo[top.name] = False
            elif contraction_of(node) is not None:
                memo[top.name] = True
            else:
                operands = [node.inputs[at] for at in carriers(node)]
                missing = [operand for operand in operands if operand.name not in memo]
                if any(memo.get(operand.name) for operand in operands):
                    memo[top.name] = True
                elif missing:
                    stack.append(missing[0])
                else:
                    memo[top.name] = False
        return memo[value.name]


class Walks:
    """The walks of one graph. Each value belongs to the walk of at most one softmax, so all cost linear time."""

    def __init__(self, shadow: Shadow, constants: Constants, leads: Leads) -> None:
        self._shadow = shadow
        self._constants = constants
        self._guards = RowGuards(shadow, constants)
        self._leads = leads

    def check_scores(self, softmax: Softmax) -> None:
        """Raises Declined when no contraction stands behind the scores."""
        if not self._leads.to_contraction(softmax.scores):
            raise self._blocked(softmax)

    def back(self, softmax: Softmax, tail: Tail) -> list[ScorePath]:
        """The ways back to a contraction, the likeliest first. Raises Declined when there is none."""
        scores = softmax.scores
        self._check_use(scores, [*softmax.nodes, *tail.guard_nodes])
        found: list[ScorePath] = []
        pending: list[tuple[MCValue, list[Step]]] = [(scores, [])]
        failure: Declined | None = None
        while pending and len(found) < MAX_PATHS:
            value, steps = pending.pop()
            try:
                found.append(self._one_way(value, steps, pending))
            except Declined as declined:
                failure = failure or declined
        if not found and failure is not None:
            raise failure
        return found

    def check_inside(self, softmax: Softmax, tail: Tail) -> None:
        """Raises Declined when anything else needs a value from the inside of the softmax."""
        users = [*softmax.nodes, *tail.nodes]
        for node in softmax.nodes:
            value = node.outputs[0]
            if value is not softmax.probs and node is not softmax.division:
                self._check_use(value, users)

    def forward(self, softmax: Softmax) -> Tail:
        """The way from the probabilities to the second contraction. Raises Declined."""
        steps: list[MCNode] = []
        guards: list[Guard] = []
        own = softmax.nodes if softmax.division is not None else []
        value = softmax.probs
        while True:
            guard = self._guards.at(value, softmax)
            if guard is not None:
                self._check_use(value, [*own, *guard.nodes])
                guards.append(guard)
                value = guard.out
                continue
            node = self._next(value, own, softmax)
            if node.op in CONTRACTION_OPS and contraction_of(node) is not None:
                break
            self._check_kept(node, value)
            steps.append(node)
            value = node.outputs[0]
        places = [at for at, operand in enumerate(node.inputs) if operand is value]
        if len(places) != 1:
            raise Declined("value-labels", node, "the probabilities are contracted with themselves")
        tail = Tail(steps, node, places[0], guards)
        if softmax.division is not None:
            tail.after = self._to_division(node, softmax.division)
        return tail

    def _one_way(self, value: MCValue, steps: list[Step], pending: list[tuple[MCValue, list[Step]]]) -> ScorePath:
        """Follows the likeliest operand back; the others go to `pending`."""
        if steps:
            self._check_step(steps[-1])
        while True:
            node = self._shadow.producer_of(value)
            assert node is not None  # `leads` said so
            if contraction_of(node) is not None:
                return ScorePath(node, steps[::-1])
            ways = [at for at in carriers(node) if self._leads.to_contraction(node.inputs[at])]
            ways.sort(key=lambda at: not same_shape(node.inputs[at], node.outputs[0]))
            if len(ways) > 1 and len(pending) < MAX_PATHS:
                pending.append((node.inputs[ways[1]], [*steps, Step(node, ways[1])]))
            steps.append(Step(node, ways[0]))
            value = node.inputs[ways[0]]
            self._check_step(steps[-1])

    def _check_step(self, step: Step) -> None:
        """Raises Declined if the scores that come into `step` are needed besides, by the same node or others."""
        node, value = step.node, step.node.inputs[step.carried]
        self._check_use(value, [node])
        if sum(operand is value for operand in node.inputs) > 1:
            raise Declined("single-use", node, f"{node.op} takes %{value.name} more than once")

    def _next(self, value: MCValue, own: list[MCNode], softmax: Softmax) -> MCNode:
        """The one node that uses `value`, besides the softmax's own."""
        uses = [use for use in self._shadow.uses_of(value) if not _among(use, own)]
        if not uses:
            raise Declined("no-value", softmax.anchor, f"%{value.name} is used by no contraction with V")
        if self._shadow.is_output(value):
            raise Declined("single-use", softmax.anchor, f"%{value.name} is an output of the graph as well")
        if len(uses) > 1:
            others = ", ".join(f"{use.op} @{use.name}" for use in uses[:3])
            other = next((use for use in uses if use.op not in CONTRACTION_OPS), uses[-1])
            raise Declined("single-use", other, f"%{value.name} has {len(uses)} uses: {others}")
        return uses[0]

    def _check_use(self, value: MCValue, users: list[MCNode]) -> None:
        """Raises Declined if anything but `users` needs `value`."""
        if self._shadow.is_output(value):
            producer = self._shadow.producer_of(value)
            raise Declined("single-use", producer, f"%{value.name} is an output of the graph as well")
        for use in self._shadow.uses_of(value):
            if not _among(use, users):
                raise Declined("single-use", use, f"%{value.name} is used by {use.op} @{use.name} as well")

    def _check_kept(self, node: MCNode, value: MCValue) -> None:
        """Raises Declined for a node that may not stand between softmax and V."""
        if node.op == "cast":
            if not is_float(node.outputs[0]):
                raise Declined("post-softmax", node, f"the probabilities become {node.outputs[0].dtype}")
        elif node.op in LAYOUT_OPS:
            if node.inputs[0] is not value or (node.op == "slice" and not is_identity(node, self._constants)):
                raise Declined("post-softmax", node, f"{node.op} stands between softmax and V")
        elif not is_identity(node, self._constants):
            carried = neutral_operand(node, self._constants)
            if carried is None or node.inputs[carried] is not value:
                rule = "post-softmax" if lookup(node.op) and "pointwise" in _traits(node) else "no-value"
                raise Declined(rule, node, f"the probabilities go to {node.op}, not to a contraction with V")

    def _to_division(self, contraction: MCNode, division: MCNode) -> list[MCNode]:
        """The nodes from the contraction of bare exponentials to their division, the division included."""
        after: list[MCNode] = []
        value = contraction.outputs[0]
        for _ in range(MAX_WALK):
            node = self._next(value, [], Softmax(contraction, value, value, 0, []))
            after.append(node)
            if node is division:
                return after
            if node.op not in LAYOUT_OPS and not is_identity(node, self._constants):
                break
            value = node.outputs[0]
        raise Declined("softmax-parts", division, "the product with V does not go straight to the division by the sum")

    def _blocked(self, softmax: Softmax) -> Declined:
        """Why no contraction is reached: the first op that is neither pointwise nor layout."""
        value = softmax.scores
        for _ in range(MAX_WALK):
            node = self._shadow.producer_of(value)
            if node is None:
                return Declined("no-contraction", softmax.anchor, f"the scores come from %{value.name}, an input")
            if not carriers(node):
                break
            value = node.inputs[carriers(node)[0]]
        else:
            return Declined("no-contraction", softmax.anchor, "no contraction is near")
        if any(self._leads.to_contraction(operand) for operand in node.inputs):
            rule = "sink" if node.op == "concat" else "score-chain"
            return Declined(rule, node, f"{node.op} stands between the scores and the softmax")
        return Declined("no-contraction", node, f"the scores come from {node.op}, not from a contraction of Q and K")


def carriers(node: MCNode) -> tuple[int, ...]:
    """The operands by which scores can come through `node`; none if it is neither pointwise nor layout."""
    if not node.inputs or len(node.outputs) != 1 or not is_float(node.outputs[0]):
        return ()
    if node.op in _SEVERAL:
        return _SEVERAL[node.op]
    if node.op == "concat":
        return (0,) if len(node.inputs) == 1 else ()
    if node.op == "slice":
        return (0,) if same_shape(node.inputs[0], node.outputs[0]) else ()
    if node.op in LAYOUT_OPS or node.op in ("mask", "dropout", "clip"):
        return (0,)
    definition = lookup(node.op)
    single = definition is not None and "pointwise" in definition.traits and len(definition.operands) == 1
    return (0,) if single else ()


def rounded_dtype(steps: list[MCNode]) -> str | None:
    """The type that the last rounding cast among `steps` rounds to, or None."""
    for node in reversed(steps):
        if node.op == "cast" and not is_widening(node.inputs[0].dtype, node.outputs[0].dtype):
            return node.outputs[0].dtype
    return None


def _traits(node: MCNode) -> frozenset[str]:
    definition = lookup(node.op)
    return definition.traits if definition is not None else frozenset()


def _among(node: MCNode, nodes: list[MCNode]) -> bool:
    return any(node is other for other in nodes)
