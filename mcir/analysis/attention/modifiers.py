"""The pointwise chain from scores to softmax, as an ordered list of modifiers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcir.analysis.attention.rules import Declined
from mcir.analysis.attention.walk import Step, is_float
from mcir.analysis.bands import Band
from mcir.analysis.constants import Constants
from mcir.analysis.labels import Labels, Layout
from mcir.analysis.layout_maps import LAYOUT_OPS, LayoutMaps, is_identity, neutral_operand, widens
from mcir.analysis.mask_algebra import Form, Select, Uniform
from mcir.analysis.mask_forms import MaskForms
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.values import MCValue

_ARITHMETIC = frozenset({"add", "sub", "mul", "div", "min", "max", "pow"})
_COMMUTATIVE = frozenset({"add", "mul", "min", "max"})
# Steps by a constant, or by nothing, that make no -inf of a finite score.
_FINITE = frozenset({"add", "sub", "mul", "div", "softcap", "tanh", "cast"})


@dataclass(slots=True)
class Modifier:
    """One step on the scores: `op` with a constant `value`, or with a tensor `operand` in `layout`, or alone.

    layout: atoms per axis of the operand. kept: where a `where` or `mask` is proved to keep the scores, with axes
    numbered as in `scores`, the layout of the scores then.
    """

    op: str
    node: MCNode
    value: Any = None
    operand: MCValue | None = None
    layout: Layout = ()
    reversed: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
    kept: Band | None = None
    scores: Layout = ()


class ModifierReader:
    """Reads the steps of one attention from S0 to the softmax; `layout` follows the scores."""

    def __init__(self, labels: Labels, maps: LayoutMaps, constants: Constants, forms: MaskForms) -> None:
        self._labels = labels
        self._maps = maps
        self._constants = constants
        self._forms = forms
        self.layout: Layout = ()
        self.modifiers: list[Modifier] = []

    def read(self, layout: Layout, steps: list[Step]) -> None:
        """Follows `steps` from scores of `layout`. Raises Declined."""
        self.layout = layout
        for step in steps:
            self._step(step)

    def is_only_mask(self, mask: MCValue, kept: bool, plain: Callable[[MCValue], MCValue]) -> bool:
        """Whether a row of scores is -inf exactly where `mask` says so: it comes last and no other step makes -inf.

        kept: the value of a boolean mask that keeps a score. plain: takes identities off a value.
        """
        if not self.modifiers:
            return False
        *others, last = self.modifiers
        if any(step.operand is not None or step.op not in _FINITE for step in others):
            return False
        if last.operand is None or plain(last.operand) is not mask:
            return False
        if last.op == "where":
            return bool(last.extra["keep"] == kept) and last.extra["fill"] == -math.inf
        return last.op == "add"

    def _step(self, step: Step) -> None:
        node = step.node
        if is_identity(node, self._constants) or neutral_operand(node, self._constants) == step.carried:
            return
        if node.op in LAYOUT_OPS:
            moved = self._maps.forward(node, self.layout)
            if moved is None:
                raise Declined("labels", node, f"the axes of the scores are not determined through {node.op}")
            self.layout = moved
            return
        self._fit(node, node.inputs[step.carried])
        if node.op in _ARITHMETIC:
            self._arithmetic(node, step.carried)
        elif node.op == "where":
            self._select(node, step.carried)
        elif node.op == "mask":
            self._mask(node)
        elif node.op == "clip":
            self._clip(node)
        else:
            self._alone(node)

    def _fit(self, node: MCNode, scores: MCValue) -> None:
        """The other operands must not repeat the scores along further axes."""
        shape, result = self._constants.shape(scores), self._constants.shape(node.outputs[0])
        added = result[: len(result) - len(shape)]
        widened = [
            before == 1 and after != 1
            for before, after in zip(shape, result[len(result) - len(shape) :], strict=True)
        ]  # fmt: skip
        if any(dim != 1 for dim in added) or any(widened):
            raise Declined("broadcast", node, f"{node.op} repeats the scores along further axes")
        self.layout = (*((),) * len(added), *self.layout)

    def _arithmetic(self, node: MCNode, carried: int) -> None:
        other = node.inputs[1 - carried]
        turned = carried == 1 and node.op not in _COMMUTATIVE
        number = self._constants.scalar(other)
        if number is not None and not isinstance(number, bool):
            if node.op in ("mul", "div") and not math.isfinite(number):
                raise Declined("score-chain", node, f"the scores are scaled by {float(number)}, not a finite number")
            self._add(node, value=float(number), reversed=turned)
            return
        # A triangle of 0 and -inf that is added stays an operand: NaN + -inf is NaN where a mask would hide the NaN.
        self._add(node, operand=other, layout=self._aligned(other), reversed=turned)

    def _select(self, node: MCNode, carried: int) -> None:
        test, other = node.inputs[0], node.inputs[3 - carried]
        fill = self._constants.scalar(other)
        if fill is None or isinstance(fill, bool):
            raise Declined("select-fill", node, f"%{other.name}, which replaces scores, is no constant number")
        keep = carried == 1
        form = self._forms.of(test)
        if isinstance(form, Uniform) and bool(form.value) == keep:
            return
        extra = {"keep": keep, "fill": float(fill)}
        modifier = self._add(node, operand=test, layout=self._aligned(test), extra=extra)
        modifier.kept = _true_band(form, keep)
        self._place(modifier, test)

    def _mask(self, node: MCNode) -> None:
        """The op `mask`: by an operand, or by position over the last two axes."""
        definition = lookup(node.op)
        assert definition is not None
        attrs = definition.attributes(node.attrs)
        fill = float(attrs["fill"])
        if attrs["kind"] == "boolean":
            keep = node.inputs[1]
            modifier = self._add(
                node, "where", operand=keep, layout=self._aligned(keep), extra={"keep": True, "fill": fill}
            )
            modifier.kept = _true_band(self._forms.of(keep), True)
            self._place(modifier, keep)
            return
        rank, offset, left, right = len(self.layout), attrs["offset"], attrs["left"], attrs["right"]
        if attrs["kind"] == "causal":
            left, right = -1, 0
        lo = -math.inf if left == -1 else offset - left
        hi = math.inf if right == -1 else offset + right
        if (lo, hi) != (-math.inf, math.inf):
            band = Band(rank - 2, rank - 1, lo, hi)
            self._add(node, extra={"fill": fill}).kept = band

    def _clip(self, node: MCNode) -> None:
        """clip as max with the lower bound, then min with the upper one."""
        bounds = [self._bound(node, index, name) for index, name in ((1, "min"), (2, "max"))]
        for op, bound in zip(("max", "min"), bounds, strict=True):
            if bound is not None and math.isfinite(bound):
                self._add(node, op, value=bound)

    def _bound(self, node: MCNode, index: int, name: str) -> float | None:
        given = node.attrs.get(name)
        if index < len(node.inputs):
            given = self._constants.scalar(node.inputs[index])
            if given is None:
                raise Declined("score-chain", node, "a bound of clip is no constant")
        return None if given is None else float(given)

    def _alone(self, node: MCNode) -> None:
        if node.op == "neg":
            self._add(node, "mul", value=-1.0)
        elif node.op == "softcap":
            self._add(node, value=float(node.attrs["cap"]))
        elif node.op == "cast":
            if not is_float(node.outputs[0]):
                raise Declined("dtype", node, f"the scores become {node.outputs[0].dtype}")
            if not widens(node):
                self._add(node, extra={"dtype": node.outputs[0].dtype})
        elif len(node.inputs) == 1:
            self._add(node, extra=dict(node.attrs))
        else:
            raise Declined("score-chain", node, f"{node.op} cannot be kept between scores and softmax")

    def _add(self, node: MCNode, op: str = "", **fields: Any) -> Modifier:
        modifier = Modifier(op or node.op, node, scores=self.layout, **fields)
        self.modifiers.append(modifier)
        return modifier

    def _aligned(self, operand: MCValue) -> Layout:
        """The layout of an operand that is broadcast against the scores; axes of size one have no label."""
        tail = self.layout[len(self.layout) - len(operand.shape) :]
        return tuple(() if dim == 1 else axis for dim, axis in zip(operand.shape, tail, strict=True))

    def _place(self, modifier: Modifier, operand: MCValue) -> None:
        """Renumbers the band's axes from those of the operand to those of the scores."""
        if modifier.kept is not None:
            shift = len(self.layout) - len(operand.shape)
            modifier.kept = modifier.kept.moved({axis: axis + shift for axis in range(len(operand.shape))})


def _true_band(form: Form | None, keep: bool) -> Band | None:
    """Where a boolean of `form` equals `keep`, if that is a band."""
    if not isinstance(form, Select):
        return None
    return form.band if bool(form.inside) == keep else form.band.complement()
