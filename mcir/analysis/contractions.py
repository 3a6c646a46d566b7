"""What a contraction sums against what: matmul and two-operand einsum as labels per axis."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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
    written: Hashable
    if node.op == "matmul":
        written = (bool(node.attrs.get("transpose_a", False)), bool(node.attrs.get("transpose_b", False)))
    else:
        equation = node.attrs.get("equation")
        written = equation if isinstance(equation, str) else None
    shapes = tuple([tuple(value.shape) for value in (*node.inputs, *node.outputs)])
    labels = _labelled(node.op, written, shapes)
    return Contraction(node, *labels) if labels is not None else None


_Labelled = tuple[tuple[AxisLabel, ...], tuple[AxisLabel, ...], tuple[str, ...], dict[str, Dim]]


@lru_cache(maxsize=1024)
def _labelled(op: str, written: Any, shapes: tuple[Shape, ...]) -> _Labelled | None:
    """The labels and sizes of a contraction; `written` is what its attributes say."""
    ranks = [len(shape) for shape in shapes[:2]]
    terms = _matmul_terms(ranks, *written) if op == "matmul" else _einsum_terms(ranks, written)
    if terms is None:
        return None
    (left, right), out = terms
    if len(set(left)) != len(left) or len(set(right)) != len(right) or len(out) != len(shapes[2]):
        return None
    if not set(left) ^ set(right) <= set(out):
        return None
    return _with_broadcasts(shapes, left, right, out)


def _matmul_terms(ranks: list[int], turned_a: bool, turned_b: bool) -> tuple[list[list[str]], list[str]] | None:
    if min(ranks) < 1:
        return None
    left = [*_batch(ranks[0]), "row", "sum"][-ranks[0] :] if ranks[0] > 1 else ["sum"]
    right = [*_batch(ranks[1]), "sum", "column"][-ranks[1] :] if ranks[1] > 1 else ["sum"]
    if turned_a and ranks[0] > 1:
        left[-2:] = left[:-3:-1]
    if turned_b and ranks[1] > 1:
        right[-2:] = right[:-3:-1]
    batch = _batch(max(ranks))
    return [left, right], [*batch, *["row"] * (ranks[0] > 1), *["column"] * (ranks[1] > 1)]


def _batch(rank: int) -> list[str]:
    """Batch labels counted from the last one, so that equal labels are aligned."""
    return [f"batch{axis}" for axis in range(rank - 2, 0, -1)]


def _einsum_terms(ranks: list[int], equation: str | None) -> tuple[list[list[str]], list[str]] | None:
    if equation is None:
        return None
    try:
        return parse_equation(equation, ranks)
    except ValueError:
        return None


def _with_broadcasts(shapes: tuple[Shape, ...], left: list[str], right: list[str], out: list[str]) -> _Labelled:
    """An operand's axis of size one against a larger one loses its label."""
    sizes: dict[str, Dim] = dict(zip(out, shapes[2], strict=True))
    for term, shape in zip((left, right), shapes, strict=False):
        for label, dim in zip(term, shape, strict=True):
            if sizes.get(label) is None or (isinstance(sizes[label], str) and isinstance(dim, int) and dim != 1):
                sizes[label] = dim
    return _labels(left, shapes[0], sizes), _labels(right, shapes[1], sizes), tuple(out), sizes


def _labels(term: list[str], shape: Shape, sizes: dict[str, Dim]) -> tuple[AxisLabel, ...]:
    return tuple(None if dim == 1 and sizes[label] != 1 else label for label, dim in zip(term, shape, strict=True))
