"""What a contraction sums against what: matmul and two-operand einsum as labels per axis."""

from __future__ import annotations

from dataclasses import dataclass

from mcir.nodes import MCNode
from mcir.ops.contraction import parse_equation
from mcir.types import Dim, Shape

CONTRACTION_OPS = frozenset({"matmul", "einsum"})

# A label of one axis; None for an axis of size one that is broadcast against a larger one.
AxisLabel = str | None


@dataclass(frozen=True, slots=True)
class Contraction:
    """`out = sum over summed of left * right`; one label for each axis of each of the three.

    sizes: what is known of the size of each label. `summed` are the labels in both operands and not in out.
    """

    node: MCNode
    left: tuple[AxisLabel, ...]
    right: tuple[AxisLabel, ...]
    out: tuple[str, ...]
    sizes: dict[str, Dim]

    @property
    def summed(self) -> tuple[str, ...]:
        both = (label for label in self.left if label is not None and label in self.right)
        return tuple(label for label in both if label not in self.out)

    def operand(self, index: int) -> tuple[AxisLabel, ...]:
        """Labels of operand 0 or 1."""
        return self.right if index else self.left


def contraction_of(node: MCNode) -> Contraction | None:
    """The contraction that `node` is, or None: another op, other than two operands, a label that repeats
    in one operand, or one that is summed within one operand alone."""
    if node.op not in CONTRACTION_OPS or len(node.inputs) != 2 or len(node.outputs) != 1:
        return None
    terms = _matmul_terms(node) if node.op == "matmul" else _einsum_terms(node)
    if terms is None:
        return None
    (left, right), out = terms
    if len(set(left)) != len(left) or len(set(right)) != len(right) or len(out) != len(node.outputs[0].shape):
        return None
    if not set(left) ^ set(right) <= set(out):
        return None
    return _with_broadcasts(node, left, right, out)


def _matmul_terms(node: MCNode) -> tuple[list[list[str]], list[str]] | None:
    ranks = [len(value.shape) for value in node.inputs]
    if min(ranks) < 1:
        return None
    left = [*_batch(ranks[0]), "row", "sum"][-ranks[0] :] if ranks[0] > 1 else ["sum"]
    right = [*_batch(ranks[1]), "sum", "column"][-ranks[1] :] if ranks[1] > 1 else ["sum"]
    if node.attrs.get("transpose_a", False) and ranks[0] > 1:
        left[-2:] = left[:-3:-1]
    if node.attrs.get("transpose_b", False) and ranks[1] > 1:
        right[-2:] = right[:-3:-1]
    batch = _batch(max(ranks))
    return [left, right], [*batch, *["row"] * (ranks[0] > 1), *["column"] * (ranks[1] > 1)]


def _batch(rank: int) -> list[str]:
    """Batch labels counted from the last one, so that equal labels are aligned."""
    return [f"batch{axis}" for axis in range(rank - 2, 0, -1)]


def _einsum_terms(node: MCNode) -> tuple[list[list[str]], list[str]] | None:
    equation = node.attrs.get("equation")
    if not isinstance(equation, str):
        return None
    try:
        return parse_equation(equation, [len(value.shape) for value in node.inputs])
    except ValueError:
        return None


def _with_broadcasts(node: MCNode, left: list[str], right: list[str], out: list[str]) -> Contraction:
    """An operand's axis of size one against a larger one loses its label."""
    sizes: dict[str, Dim] = dict(zip(out, node.outputs[0].shape, strict=True))
    for term, value in zip((left, right), node.inputs, strict=True):
        for label, dim in zip(term, value.shape, strict=True):
            if sizes.get(label) is None or (isinstance(sizes[label], str) and isinstance(dim, int) and dim != 1):
                sizes[label] = dim
    shapes = [value.shape for value in node.inputs]
    return Contraction(node, _labels(left, shapes[0], sizes), _labels(right, shapes[1], sizes), tuple(out), sizes)


def _labels(term: list[str], shape: Shape, sizes: dict[str, Dim]) -> tuple[AxisLabel, ...]:
    return tuple(None if dim == 1 and sizes[label] != 1 else label for label, dim in zip(term, shape, strict=True))
