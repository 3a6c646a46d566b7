"""A subject at smaller sizes, where the graph is too large to run as it is.

Batch labels go down to two. Queries and keys lose whole multiples of both tile sizes, so that every remainder stays;
under a mask by position both lose the same number of rows, so that `offset` means the same, and enough is left for the
mask's edge to cross tiles. The region's tensors are mapped by label, and the graph's types follow by the ops' own type
rules. Only sizes that a graph spells out (shapes of reshape and expand, tensors out of nothing) are mapped by value,
and a value that belongs to two labels of which one changes forbids it. What a mapping gets wrong contradicts the
declared types, and the graph does not run: that is "not provable", never a wrong proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from mcir.analysis.attention_region import Tensor
from mcir.analysis.axes import Layout, axis_size
from mcir.interpreter.subject import Operand, Subject
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.ops.definition import TypeContext, TypeRuleError
from mcir.regions import Region
from mcir.types import Dim, Shape, TensorType
from mcir.values import MCValue

_BATCH = 2
_TILES = 2  # whole steps of both tile sizes that stay, beside the remainder

# Attributes that hold sizes, and the operand that does, by op.
_SIZE_ATTRS = {"reshape": "shape", "expand": "shape", "split": "sizes"}
_SIZE_OPERAND = {"reshape": 1, "expand": 1, "full": 0}


class _Ambiguous(Exception):
    """A size that the graph spells out belongs to two labels, or the graph does not type-check at the new sizes."""


def reduced(subject: Subject, sizes: dict[str, int]) -> Subject | None:
    """`subject` with smaller label sizes; None where none can be made smaller. `sizes`: the full ones."""
    smaller = _smaller(subject, sizes)
    try:
        return _Mapping(subject, sizes, smaller).subject() if smaller != sizes else None
    except _Ambiguous:
        return None


def reduced_text(full: dict[str, int], smaller: dict[str, int]) -> str:
    """`at reduced sizes b 64 -> 2, q 4096 -> 256`."""
    pairs = ((label, size, smaller.get(label, size)) for label, size in full.items())
    changed = [f"{label} {size} -> {new}" for label, size, new in pairs if new != size]
    return f"at reduced sizes {', '.join(changed)}"


def _smaller(subject: Subject, sizes: dict[str, int]) -> dict[str, int]:
    """The label sizes to prove at. The group label stays: graphs spell it out as the count of a repeat."""
    batch = {label: min(size, _BATCH) for label, size in sizes.items() if label not in ("q", "k", "d", "e", "g")}
    return sizes | batch | _shorter(subject, sizes)


def _shorter(subject: Subject, sizes: dict[str, int]) -> dict[str, int]:
    """Queries and keys without whole multiples of both tile sizes."""
    tile = subject.region.subregions[0].subregions[0]
    step = math.lcm(tile.attrs["tile_m"], tile.attrs["tile_n"])
    masks = [node for node in tile.nodes if node.op == "mask" or "mask" in node.attrs]
    offsets = [node.attrs.get("offset", 0) for node in masks]
    width = max((node.attrs.get("left", 0) + node.attrs.get("right", 0) for node in masks), default=0)
    least = _TILES * step + max(0, width)
    reach = {"q": max([0, *(-offset for offset in offsets)]), "k": max([0, *offsets])}
    loss = {
        label: max(0, sizes[label] - least - reach[label]) // step * step for label in ("q", "k") if label in sizes
    }
    if masks or sizes.get("q") == sizes.get("k"):
        loss = dict.fromkeys(loss, min(loss.values(), default=0))
    return {label: sizes[label] - lost for label, lost in loss.items()}


@dataclass(slots=True)
class _Mapping:
    """From full to smaller sizes; values are mapped once each, in order of definition."""

    full: Subject
    sizes: dict[str, int]
    smaller: dict[str, int]
    values: dict[str, MCValue] = field(default_factory=dict)

    def subject(self) -> Subject:
        """The smaller subject. Raises _Ambiguous."""
        full, at = self.full, self.full.attention
        for value, layout in full.tensors:
            self._enter(value, self._by_label(value.shape, layout))
        for value in (*full.region.inputs, *full.leaves):
            if value.name not in self.values:
                self._enter(value, self._by_value(value.shape))
        shapes = {node.inputs[at_].name for node in full.nodes for at_ in _size_operand(node)}
        nodes = [self._node(node, shapes) for node in full.nodes]
        q, k, v = (Tensor(self._value(tensor.value), tensor.layout) for tensor in (at.q, at.k, at.v))
        o = MCValue(at.o.value.name, self._by_label(at.o.value.shape, at.o.layout), at.o.value.dtype)
        known: dict[str, Dim] = {label: self.smaller.get(label, size) for label, size in at.sizes.items()}
        operands = {name: self._value(value) for name, value in at.operands.items()}
        return replace(
            full,
            region=self._region(o),
            attention=replace(at, q=q, k=k, v=v, o=Tensor(o, at.o.layout), operands=operands, sizes=known),
            nodes=nodes,
            leaves=[self._value(leaf) for leaf in full.leaves],
            operands=[_of_value(step, self._value(step.value)) for step in full.operands],
        )

    def _value(self, value: MCValue) -> MCValue:
        return self.values[value.name]

    def _enter(self, value: MCValue, shape: Shape) -> MCValue:
        made = self.values[value.name] = MCValue(value.name, shape, value.dtype, value.residency, loc=value.loc)
        return made

    def _by_label(self, shape: Shape, layout: Layout) -> Shape:
        pairs = zip(shape, layout.groups, strict=True)
        return tuple(axis_size(group, self.smaller) if isinstance(dim, int) else dim for dim, group in pairs)

    def _by_value(self, shape: Any) -> tuple[Any, ...]:
        return tuple(self._size(dim) if isinstance(dim, int) and dim > 1 else dim for dim in shape)

    def _size(self, size: int) -> int:
        """The new size for one that the graph spells out: what labels and products of labels of that size become."""
        batch = tuple(label for label in self.sizes if label not in ("q", "k", "d", "e"))
        runs = [batch[first:last] for first in range(len(batch)) for last in range(first + 1, len(batch) + 1)]
        groups = [(label,) for label in self.sizes] + runs
        found = {axis_size(group, self.smaller) for group in groups if axis_size(group, self.sizes) == size} or {size}
        if len(found) > 1:
            raise _Ambiguous
        return found.pop()

    def _node(self, node: MCNode, shapes: set[str]) -> MCNode:
        attrs = dict(node.attrs)
        name = _SIZE_ATTRS.get(node.op, "")
        if node.op == "constant" and node.outputs[0].name in shapes:
            name = "value"
        if isinstance(attrs.get(name), list):
            attrs[name] = list(self._by_value(attrs[name]))
        inputs = [self._value(value) for value in node.inputs]
        made = zip(node.outputs, self._shapes(node, inputs, attrs), strict=True)
        outputs = [self._enter(value, shape) for value, shape in made]
        return MCNode(node.name, node.op, inputs, outputs, attrs, loc=node.loc)

    def _shapes(self, node: MCNode, inputs: list[MCValue], attrs: dict[str, Any]) -> list[Shape]:
        """The shapes of the results: by the op's type rule, or by value for a tensor out of nothing."""
        if not inputs:
            return [self._by_value(value.shape) for value in node.outputs]
        op = lookup(node.op)
        assert op is not None  # opaque ops on the path were refused before
        declared = [TensorType((None,) * len(value.shape), value.dtype, value.residency) for value in node.outputs]
        try:
            types = op.infer(TypeContext(op, [value.type for value in inputs], op.attributes(attrs), declared))
        except TypeRuleError:
            raise _Ambiguous from None
        return [type_.shape for type_ in types]

    def _region(self, o: MCValue) -> Region:
        """The region with smaller inputs and outputs; its nodes are the same objects."""
        region = self.full.region
        made = Region(region.name, region.kind, subregions=region.subregions, attrs=dict(region.attrs), loc=region.loc)
        made.inputs = [self._value(value) for value in region.inputs]
        made.outputs = [o if value.name == o.name else self._other_output(value) for value in region.outputs]
        extents = region.attrs.get("extents")
        if isinstance(extents, dict):
            made.attrs["extents"] = {label: self.smaller.get(label, size) for label, size in extents.items()}
        return made

    def _other_output(self, value: MCValue) -> MCValue:
        lse = self.full.lse()
        if lse is None or lse.output != value.name:
            raise _Ambiguous
        return MCValue(value.name, self._by_label(value.shape, lse.layout), value.dtype)


def _of_value(step: Operand, value: MCValue) -> Operand:
    return Operand(value, step.layout, step.role, step.gain, step.keep)


def _size_operand(node: MCNode) -> list[int]:
    at = _SIZE_OPERAND.get(node.op)
    return [at] if at is not None and len(node.inputs) > at else []
