"""Layout ops as maps between label layouts, in both directions.

Forward: the layout of the operand gives that of the result. Backward: that of the result gives that of
the operand; where an op repeats elements (expand, repeat, tile), the repeating atoms are gone in it.
A map that the sizes do not determine is None.
"""

from __future__ import annotations

from collections.abc import Callable

from mcir.analysis.constants import Constants
from mcir.analysis.labels import Labels, Layout
from mcir.analysis.scalars import is_widening
from mcir.analysis.shadow import axes_of, normal_axis, same_dim, same_shape
from mcir.nodes import MCNode
from mcir.types import Dim
from mcir.values import MCValue

# Ops that only relabel, by which operand holds the elements (always the first).
LAYOUT_OPS = frozenset(
    {"transpose", "reshape", "flatten", "squeeze", "unsqueeze", "expand", "repeat", "tile", "slice", "concat"}
)
# Layout ops that may hold one element several times in their result.
REPEATING_OPS = frozenset({"expand", "repeat", "tile"})

_IDENTITIES = frozenset({"identity", "dropout"})


class LayoutMaps:
    """Layout maps of the ops of one graph over the labels of one attention."""

    def __init__(self, labels: Labels, constants: Constants) -> None:
        self._labels = labels
        self._constants = constants

    def forward(self, node: MCNode, layout: Layout) -> Layout | None:
        """The layout of the result of `node`, whose first operand has `layout`."""
        rule = _FORWARD.get(node.op)
        return rule(self, node, self._labels.refined_layout(layout)) if rule else None

    def backward(self, node: MCNode, layout: Layout) -> Layout | None:
        """The layout of the first operand of `node`, whose result has `layout`."""
        rule = _BACKWARD.get(node.op)
        return rule(self, node, self._labels.refined_layout(layout)) if rule else None

    def _transpose_forward(self, node: MCNode, layout: Layout) -> Layout | None:
        perm = _permutation(node)
        return tuple(layout[axis] for axis in perm) if perm else None

    def _transpose_backward(self, node: MCNode, layout: Layout) -> Layout | None:
        perm = _permutation(node)
        return tuple(layout[perm.index(axis)] for axis in range(len(perm))) if perm else None

    def _reshape_forward(self, node: MCNode, layout: Layout) -> Layout | None:
        kept = self._copied(node)
        rest = self._labels.regroup(layout[kept:], self._result_dims(node)[kept:])
        return None if rest is None else (*layout[:kept], *rest)

    def _reshape_backward(self, node: MCNode, layout: Layout) -> Layout | None:
        kept = self._copied(node)
        rest = self._labels.regroup(layout[kept:], node.inputs[0].shape[kept:])
        return None if rest is None else (*layout[:kept], *rest)

    def _copied(self, node: MCNode) -> int:
        """How many leading axes a reshape copies because its shape says 0 for them."""
        if node.op != "reshape" or node.attrs.get("allow_zero", False):
            return 0
        wanted = self._constants.argument(node, 1, "shape") or []
        return next((at for at, size in enumerate(wanted) if size != 0), len(wanted))

    def _result_dims(self, node: MCNode) -> list[Dim]:
        """The declared dims; an unknown one that the wanted shape names is taken from there."""
        declared = list(node.outputs[0].shape)
        wanted = self._constants.argument(node, 1, "shape") if None in declared else None
        if wanted is None or len(wanted) != len(declared):
            return declared
        return [
            size if dim is None and isinstance(size, (int, str)) and size not in (0, -1) else dim
            for dim, size in zip(declared, wanted, strict=True)
        ]

    def _insert(self, node: MCNode, layout: Layout) -> Layout | None:
        axes = axes_of(node, len(node.outputs[0].shape))
        if axes is None:
            return None
        kept = iter(layout)
        return tuple(() if axis in axes else next(kept) for axis in range(len(layout) + len(axes)))

    def _remove_from_result(self, node: MCNode, layout: Layout) -> Layout | None:
        axes = axes_of(node, len(node.outputs[0].shape))
        return None if axes is None else tuple(axis for at, axis in enumerate(layout) if at not in axes)

    def _squeeze_forward(self, node: MCNode, layout: Layout) -> Layout | None:
        axes = axes_of(node, len(node.inputs[0].shape))
        return None if axes is None else tuple(axis for at, axis in enumerate(layout) if at not in axes)

    def _squeeze_backward(self, node: MCNode, layout: Layout) -> Layout | None:
        axes = axes_of(node, len(node.inputs[0].shape))
        if axes is None:
            return None
        kept = iter(layout)
        return tuple(() if axis in axes else next(kept) for axis in range(len(layout) + len(axes)))

    def _same_forward(self, node: MCNode, layout: Layout) -> Layout | None:
        return layout if _keeps_shape(node, self._constants) else None

    def _same_backward(self, node: MCNode, layout: Layout) -> Layout | None:
        return layout if _keeps_shape(node, self._constants) else None

    def _expand_backward(self, node: MCNode, layout: Layout) -> Layout | None:
        source, result = node.inputs[0].shape, node.outputs[0].shape
        layout = layout[len(result) - len(source) :]
        pairs = list(zip(source, result[len(result) - len(source) :], strict=True))
        if any(before != 1 and not same_dim(before, after) for before, after in pairs):
            return None
        return tuple(
            () if before == 1 and after != 1 else axis for (before, after), axis in zip(pairs, layout, strict=True)
        )

    def _repeat_backward(self, node: MCNode, layout: Layout) -> Layout | None:
        axis = normal_axis(node.attrs.get("axis", 0), len(layout))
        count = node.attrs.get("count")
        if axis is None or not isinstance(count, int):
            return None
        parts = self._labels.regroup((layout[axis],), (node.inputs[0].shape[axis], count))
        return None if parts is None else (*layout[:axis], parts[0], *layout[axis + 1 :])

    def _tile_backward(self, node: MCNode, layout: Layout) -> Layout | None:
        counts = self._constants.argument(node, 1, "repeats")
        if counts is None or len(counts) != len(layout) or not all(isinstance(count, int) for count in counts):
            return None
        axes = []
        for axis, count, size in zip(layout, counts, node.inputs[0].shape, strict=True):
            parts = (axis, axis) if count == 1 else self._labels.regroup((axis,), (count, size))
            if parts is None:
                return None
            axes.append(parts[1])
        return tuple(axes)


def is_identity(node: MCNode, constants: Constants) -> bool:
    """True for an op whose result equals its first operand, element by element and in shape.

    Identity, inference dropout, a layout op that changes nothing, +0, *1, /1 and a cast to the same type.
    """
    if not node.inputs or not node.outputs:
        return False
    if node.op in _IDENTITIES:
        return True
    if node.op == "cast":
        return node.inputs[0].dtype == node.outputs[0].dtype
    if node.op == "transpose":
        return node.attrs.get("perm") == list(range(len(node.inputs[0].shape)))
    if node.op in LAYOUT_OPS:
        return _keeps_shape(node, constants)
    return False


def neutral_operand(node: MCNode, constants: Constants) -> int | None:
    """The operand that `x + 0`, `x - 0`, `x * 1`, `x / 1` or where(constant, x, y) passes on; None for any other op."""
    if node.op == "where":
        test = constants.scalar(node.inputs[0])
        chosen = 1 if test else 2
        return chosen if test is not None and same_shape(node.inputs[chosen], node.outputs[0]) else None
    neutral = {"add": 0, "mul": 1, "sub": 0, "div": 1}.get(node.op)
    if neutral is None or len(node.inputs) != 2:
        return None
    for other, carried in ((1, 0), (0, 1)):
        if carried == 1 and node.op in ("sub", "div"):
            continue
        constant, passed = node.inputs[other], node.inputs[carried]
        if constants.scalar(constant) == neutral and (
            same_shape(passed, node.outputs[0]) or (_is_single(constant) and len(constant.shape) <= len(passed.shape))
        ):
            return carried
    return None


def _is_single(value: MCValue) -> bool:
    return all(dim == 1 for dim in value.shape)


def widens(node: MCNode) -> bool:
    """True for a cast between floats that changes no value."""
    return node.op == "cast" and is_widening(node.inputs[0].dtype, node.outputs[0].dtype)


def _permutation(node: MCNode) -> list[int] | None:
    perm = node.attrs.get("perm")
    rank = len(node.inputs[0].shape)
    return perm if isinstance(perm, list) and sorted(perm) == list(range(rank)) else None


def _keeps_shape(node: MCNode, constants: Constants) -> bool:
    """Equal shapes mean equal elements for all layout ops but a transpose, and for a slice with step 1."""
    if not same_shape(node.inputs[0], node.outputs[0]):
        return False
    if node.op == "slice":
        steps = constants.argument(node, 4, "steps") if len(node.inputs) > 4 or "steps" in node.attrs else [1]
        return steps is not None and all(step == 1 for step in steps)
    return node.op != "transpose"


_Map = Callable[[LayoutMaps, MCNode, Layout], Layout | None]

_FORWARD: dict[str, _Map] = {
    "transpose": LayoutMaps._transpose_forward,
    "reshape": LayoutMaps._reshape_forward,
    "flatten": LayoutMaps._reshape_forward,
    "unsqueeze": LayoutMaps._insert,
    "squeeze": LayoutMaps._squeeze_forward,
    **dict.fromkeys(("expand", "repeat", "tile", "slice", "concat"), LayoutMaps._same_forward),
}
_BACKWARD: dict[str, _Map] = {
    "transpose": LayoutMaps._transpose_backward,
    "reshape": LayoutMaps._reshape_backward,
    "flatten": LayoutMaps._reshape_backward,
    "unsqueeze": LayoutMaps._remove_from_result,
    "squeeze": LayoutMaps._squeeze_backward,
    "expand": LayoutMaps._expand_backward,
    "repeat": LayoutMaps._repeat_backward,
    "tile": LayoutMaps._tile_backward,
    **dict.fromkeys(("slice", "concat"), LayoutMaps._same_backward),
}
