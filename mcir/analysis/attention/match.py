"""One softmax against the contract: both contractions, the labels of every axis, Q, K, V and the modifiers."""

from __future__ import annotations

from dataclasses import dataclass

from mcir.analysis.attention.modifiers import Modifier, ModifierReader
from mcir.analysis.attention.operands import Operand, Peeler
from mcir.analysis.attention.rules import Declined
from mcir.analysis.attention.walk import Leads, ScorePath, Tail, Walks, is_float, rounded_dtype
from mcir.analysis.constants import Constants
from mcir.analysis.contractions import AxisLabel, Contraction, contraction_of
from mcir.analysis.labels import Axis, Labels, Layout, atoms_of
from mcir.analysis.layout_maps import LAYOUT_OPS, LayoutMaps
from mcir.analysis.mask_forms import MaskForms
from mcir.analysis.shadow import Shadow
from mcir.analysis.softmax import MAX_WALK, Softmax
from mcir.nodes import MCNode
from mcir.values import MCValue


@dataclass(slots=True)
class Match:
    """A proved attention. Layouts hold atoms of `labels`; `query` is one of q, `head_dim` and `value_dim` are d and e.

    scores: layout of the softmax's input; key: its softmax axis.
    """

    labels: Labels
    q: Operand
    k: Operand
    v: Operand
    out: MCValue
    out_layout: Layout
    scores: Layout
    query: int
    key: Axis
    head_dim: int
    value_dim: int
    modifiers: list[Modifier]
    dead_rows: str
    score_dtype: str
    softmax_dtype: str
    nodes: list[MCNode]


class Matcher:
    """Matches the softmaxes of one graph. All it knows of the graph comes from these four."""

    def __init__(self, shadow: Shadow, constants: Constants, forms: MaskForms, leads: Leads) -> None:
        self._shadow = shadow
        self._constants = constants
        self._walks = Walks(shadow, constants, leads)
        self._forms = forms

    def match(self, softmax: Softmax) -> Match:
        """The attention around `softmax`. Raises Declined with the first rule that fails."""
        self._walks.check_scores(softmax)
        tail = self._walks.forward(softmax)
        self._walks.check_inside(softmax, tail)
        paths = self._walks.back(softmax, tail)
        failure: Declined | None = None
        for path in paths:
            try:
                return _Attempt(self._shadow, self._constants, self._forms, softmax, path, tail).run()
            except Declined as declined:
                failure = failure or declined
        assert failure is not None  # `back` gives a path or raises
        raise failure


class _Attempt:
    """One way back from one softmax."""

    def __init__(
        self,
        shadow: Shadow,
        constants: Constants,
        forms: MaskForms,
        softmax: Softmax,
        path: ScorePath,
        tail: Tail,
    ) -> None:
        self.shadow = shadow
        self.constants = constants
        self.labels = Labels()
        self.maps = LayoutMaps(self.labels, constants)
        self.peeler = Peeler(shadow, constants, self.labels, self.maps)
        self.reader = ModifierReader(self.labels, self.maps, constants, forms)
        self.softmax = softmax
        self.path = path
        self.tail = tail

    def run(self) -> Match:
        left, right, head_dim = self._scores()
        scores = self.reader.layout
        key = self.labels.refined(scores[self.softmax.axis])
        q, k = self._query_and_key(left, right, key)
        v, out_layout, value_dim = self._values(key)
        q, k, v = self._peeled(q, k, v, head_dim)
        query = self._query(q, k, v)
        self._check_weights(q, k, v, query, key)
        out = (self.tail.after[-1] if self.tail.after else self.tail.contraction).outputs[0]
        return Match(
            self.labels, q, k, v, out, out_layout, scores, query, key, head_dim, value_dim, self.reader.modifiers,
            self._dead_rows(), self.path.contraction.outputs[0].dtype, self.softmax.scores.dtype,
            self._nodes(q, k, v),
        )  # fmt: skip

    def _dead_rows(self) -> str:
        """What guards make of dead rows; empty without a guard."""
        for guard in self.tail.guards:
            mask = guard.mask
            if mask is not None and not self.reader.is_only_mask(self._plain(mask), guard.kept, self._plain):
                message = f"the guard looks at %{mask.name}, which is not all that masks the scores"
                raise Declined("post-softmax", guard.nodes[-1], message)
        kinds = [guard.dead_rows for guard in self.tail.guards]
        return "zero_nan" if "zero_nan" in kinds else kinds[0] if kinds else ""

    def _plain(self, value: MCValue) -> MCValue:
        return self.peeler.identities(Operand(value, ())).value

    def _scores(self) -> tuple[Operand, Operand, int]:
        """The operands of the score contraction with fresh labels, and the summed one; reads the modifiers."""
        node = self.path.contraction
        contraction = contraction_of(node)
        assert contraction is not None
        if len(contraction.summed) != 1:
            message = f"{node.op} sums {len(contraction.summed)} axes of its operands against each other, not one"
            raise Declined("contraction-labels", node, message)
        if not all(map(is_float, node.inputs)):
            raise Declined("dtype", node, f"{node.op} is of {node.inputs[0].dtype}")
        atoms = {label: self.labels.fresh(size) for label, size in contraction.sizes.items()}
        left, right = (
            Operand(value, _layout(contraction.operand(at), atoms)) for at, value in enumerate(node.inputs)
        )  # fmt: skip
        self.reader.read(_layout(contraction.out, atoms), self.path.steps)
        return left, right, atoms[contraction.summed[0]]

    def _query_and_key(self, left: Operand, right: Operand, key: Axis) -> tuple[Operand, Operand]:
        """The operand that the softmax axis comes from is K."""
        in_left, in_right = (set(key) & set(self._atoms(side.layout)) for side in (left, right))
        if not key or (in_left and in_right) or not (in_left | in_right) >= set(key):
            message = "the softmax runs over an axis that both operands of the scores share, or none"
            raise Declined("softmax-axis", self.softmax.anchor, message)
        return (left, right) if in_right else (right, left)

    def _values(self, key: Axis) -> tuple[Operand, Layout, int]:
        """V, the layout of the output, and V's own axis."""
        node, index = self.tail.contraction, self.tail.index
        contraction = contraction_of(node)
        assert contraction is not None
        probs = self._probs_layout()
        axes: dict[AxisLabel, Axis] = dict(zip(contraction.operand(index), probs, strict=True))
        self._check_sum(contraction, axes, key)
        v_labels = contraction.operand(1 - index)
        own = [label for label in v_labels if label is not None and label not in axes]
        if len(own) != 1:
            raise Declined("value-labels", node, f"V has {len(own)} axes of its own, not one")
        value_dim = self.labels.fresh(contraction.sizes[own[0]])
        axes[own[0]] = (value_dim,)
        layout = tuple(() if label is None else axes[label] for label in v_labels)
        out = tuple(axes[label] for label in contraction.out)
        return Operand(node.inputs[1 - index], layout), self._after(node, out, value_dim), value_dim

    def _probs_layout(self) -> Layout:
        """The layout in which the probabilities enter the second contraction."""
        layout: Layout = self.reader.layout
        for node in self.tail.steps:
            if node.op in LAYOUT_OPS:
                moved = self.maps.forward(node, layout)
                if moved is None:
                    raise Declined("labels", node, f"the axes of the result are not determined through {node.op}")
                layout = moved
        self._check_rounding()
        return self.labels.refined_layout(layout)

    def _check_rounding(self) -> None:
        """The streaming form rounds the probabilities to the type of V, so the graph must do just that."""
        steps = self.tail.steps
        rounded = rounded_dtype(steps)
        dtype = self.tail.contraction.inputs[self.tail.index].dtype
        if rounded is not None and rounded != dtype:
            message = f"the probabilities are rounded to {rounded} and contracted in {dtype}"
            raise Declined("post-softmax", steps[-1], message)

    def _check_sum(self, contraction: Contraction, axes: dict[AxisLabel, Axis], key: Axis) -> None:
        key = self.labels.refined(key)
        summed = [axes[label] for label in contraction.summed]
        if summed != [key]:
            message = "the softmax runs over one axis, the second contraction sums another"
            raise Declined("softmax-axis", contraction.node, message)

    def _after(self, contraction: MCNode, layout: Layout, value_dim: int) -> Layout:
        """The layout of the output; where the division comes last it must divide each row by its own sum."""
        if not self.tail.after:
            return layout
        division = self.tail.after[-1]
        for node in self.tail.after[:-1]:
            moved = self.maps.forward(node, layout) if node.op in LAYOUT_OPS else layout
            if moved is None:
                raise Declined("labels", node, f"the axes of the output are not determined through {node.op}")
            layout = moved
        sums = self._sum_layout()
        layout = self.labels.refined_layout(layout)
        if sums is None or not self._divides(layout, self.labels.refined_layout(sums), value_dim):
            raise Declined("softmax-parts", division, "the output is not divided by the sum of its own row")
        return layout

    def _sum_layout(self) -> Layout | None:
        """The layout in which the sums of the exponentials come to the division."""
        reduction, axis = self.softmax.row_sum, self.softmax.axis
        assert reduction is not None
        scores = self.reader.layout
        keep: tuple[Axis, ...] = ((),) if reduction.attrs.get("keepdims", True) else ()
        layout: Layout | None = (*scores[:axis], *keep, *scores[axis + 1 :])
        for node in self.softmax.row_path:
            if node.op in LAYOUT_OPS and layout is not None:
                layout = self.maps.forward(node, layout)
        return layout

    def _divides(self, layout: Layout, sums: Layout, value_dim: int) -> bool:
        if len(sums) != len(layout):
            return False
        return all(
            self._sized(given) == (() if wanted == (value_dim,) else self._sized(wanted))
            for given, wanted in zip(sums, layout, strict=True)
        )

    def _sized(self, axis: Axis) -> Axis:
        return tuple(atom for atom in axis if self.labels.size(atom) != 1)

    def _peeled(self, q: Operand, k: Operand, v: Operand, head_dim: int) -> tuple[Operand, Operand, Operand]:
        """Q, K and V peeled as far as none of the region's inputs is computed from another."""
        operands = [step.operand for step in self.reader.modifiers if step.operand is not None]
        while True:
            found = self._peel(q, k, v, head_dim)
            peeled = {id(node) for side in found for node in side.nodes}
            inputs = [*(side.value for side in found), *operands]
            inner = {value.name for value in inputs if id(self.shadow.producer_of(value)) in peeled}
            if not inner:
                return found
            self.peeler.stops |= inner

    def _peel(self, q: Operand, k: Operand, v: Operand, head_dim: int) -> tuple[Operand, Operand, Operand]:
        """Q, K and V without scales, transposes of K, and the repetition of grouped heads where K and V agree."""
        q = self.peeler.scales(q)
        k = self._plain_key(k, head_dim)
        v = self.peeler.identities(v)
        few_keys, few_values = self.peeler.unexpanded(k), self.peeler.unexpanded(v)
        # What is repeated must be heads (or batches) of Q: keys that stand twice are twice in the softmax.
        heads = frozenset(self._atoms(q.layout))
        if few_keys is not None and few_values is not None and few_keys[1] == few_values[1] and few_keys[1] <= heads:
            k = self._plain_key(few_keys[0], head_dim)
            v = self.peeler.identities(few_values[0])
        return q, k, v

    def _plain_key(self, k: Operand, head_dim: int) -> Operand:
        """K without scales and transposes, and without the identities and scales in front of these."""
        return self.peeler.scales(self.peeler.head_dim_last(self.peeler.scales(k), head_dim))

    def _query(self, q: Operand, k: Operand, v: Operand) -> int:
        """The atom of the query axis: the last one of the scores that comes from Q alone."""
        ours, theirs, values = (set(self._atoms(side.layout)) for side in (q, k, v))
        own = [atom for atom in self._atoms(self.reader.layout) if atom in ours and atom not in theirs]
        if not own:
            raise Declined("query-axis", self.path.contraction, "no axis of the scores comes from Q alone")
        free = [atom for atom in own if atom not in values]
        if not free:
            raise Declined("value-labels", self.tail.contraction, "V varies along the query axis")
        return free[-1]

    def _check_weights(self, q: Operand, k: Operand, v: Operand, query: int, key: Axis) -> None:
        """A linear layer, a router or a pooling multiplies by a weight; it is no product of Q and K."""
        free = set(self._atoms(self.reader.layout)) - {query, *self.labels.refined(key)}
        batches = [free & set(self._atoms(side.layout)) for side in (q, k, v)]
        for role, side, own, other in (("Q", q, batches[0], batches[1]), ("K", k, batches[1], batches[0])):
            if self.constants.scalar(side.value) is not None:
                raise Declined("weight", self.path.contraction, f"{role} is %{side.value.name}, one number everywhere")
            leaf = self._leaf(side.value)
            if own or leaf is None:
                continue
            shared_memory = role == "K" and not batches[2]
            if leaf == "weight" or (other and not shared_memory):
                message = f"{role} is %{side.value.name}, a weight without batch axes"
                raise Declined("weight", self.path.contraction, message)

    def _leaf(self, value: MCValue) -> str | None:
        """ "weight" for a parameter or constant, "input" for an input of the graph, behind layout ops and casts."""
        for _ in range(MAX_WALK):
            node = self.shadow.producer_of(value)
            if node is None:
                return "input"
            if node.op in ("parameter", "constant"):
                return "weight"
            if node.op not in LAYOUT_OPS and node.op not in ("cast", "identity"):
                return None
            value = node.inputs[0]
        return None

    def _atoms(self, layout: Layout) -> list[int]:
        return atoms_of(self.labels.refined_layout(layout))

    def _nodes(self, q: Operand, k: Operand, v: Operand) -> list[MCNode]:
        """All nodes covered, each once."""
        nodes = [
            *q.nodes, *k.nodes, *v.nodes, self.path.contraction, *(step.node for step in self.path.steps),
            *self.softmax.nodes, *self.tail.nodes,
        ]  # fmt: skip
        return list({id(node): node for node in nodes}.values())


def _layout(labels: tuple[AxisLabel, ...] | tuple[str, ...], atoms: dict[str, int]) -> Layout:
    return tuple(() if label is None else (atoms[label],) for label in labels)
