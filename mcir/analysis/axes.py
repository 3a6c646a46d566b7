"""Layouts: which axis of a stored tensor is which label of the attention.

A layout is written as in einops, one group an axis: "b (h g) q d". Labels b, h, c, i, j, l, g, ... are batch
labels; q, k, d and e are the query row, the key column, the head dim that scores contract, and V's head dim.
"1" is an axis of size one: the tensor is the same for every value of the labels it does not name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from mcir.regions import Region
from mcir.types import Dim, Shape

RESERVED = ("q", "k", "d", "e")

# Canonical layouts by role; a tensor of a lower rank has the last axes, one of a higher rank more batch labels.
_BATCH = ("b", "h", "c", "i", "j", "l", "m", "n", "o", "p", "r", "s", "t")
_TAILS = {"q": ("q", "d"), "k": ("k", "d"), "v": ("k", "e"), "o": ("q", "e"), "lse": ("q",)}
ROLES = tuple(_TAILS)
_ROLE_NAMES = tuple((role, f"{role}_name", role.upper()) for role in ROLES)

# The two axes of a tile, by the labels that its tensor has.
_TILE_AXES = (
    (frozenset("qd"), ("q", "d")),
    (frozenset("kd"), ("k", "d")),
    (frozenset("ke"), ("k", "e")),
    (frozenset("qe"), ("q", "e")),
)

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(1)(?![0-9A-Za-z_])|([()]))")


@dataclass(frozen=True, slots=True)
class Layout:
    """One tuple of labels per axis, outermost first; an empty tuple is an axis of size one."""

    groups: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...] = field(init=False, repr=False, compare=False)  # all, in order of storage

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple([label for group in self.groups for label in group]))

    @property
    def rank(self) -> int:
        return len(self.groups)

    def __str__(self) -> str:
        return _layout_text(self.groups)


@lru_cache(maxsize=1024)
def parse_layout(text: str) -> Layout:
    """The layout that `text` writes. Raises ValueError that says what is wrong."""
    groups: list[tuple[str, ...]] = []
    open_group: list[str] | None = None
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"layout '{text}': unexpected '{text[at:].strip()[:1]}'")
        label, bracket = match.group(1, 3)
        at = match.end()
        if bracket == "(" and open_group is None:
            open_group = []
        elif bracket == ")" and open_group is not None:
            groups.append(tuple(open_group))
            open_group = None
        elif bracket:
            raise ValueError(f"layout '{text}': unbalanced '{bracket}'")
        elif open_group is not None:
            open_group += [label] if label else []
        else:
            groups.append((label,) if label else ())
    if open_group is not None:
        raise ValueError(f"layout '{text}': '(' is not closed")
    layout = Layout(tuple(groups))
    if len(set(layout.labels)) != len(layout.labels):
        raise ValueError(f"layout '{text}': a label stands twice")
    return layout


def canonical_layout(role: str, rank: int) -> Layout:
    """The layout of role "q", "k", "v", "o" or "lse" where none is written: "q d", "b q d", "b h q d", ..."""
    tail = _TAILS[role]
    batch = _BATCH[: max(0, rank - len(tail))]
    return Layout(tuple((label,) for label in (batch + tail)[-rank:] if rank))


def operand_layout(shape: Shape, score_rank: int) -> Layout:
    """The layout of a score operand where none is written: aligned to the last axes of the scores [..., q, k]."""
    labels = (*_BATCH[: max(0, score_rank - 2)], "q", "k")[-len(shape) :] if shape else ()
    return Layout(tuple(() if dim == 1 else (label,) for dim, label in zip(shape, labels, strict=False)))


@lru_cache(maxsize=1024)
def tile_axes(layout: Layout) -> tuple[str, str]:
    """The labels of a tile's rows and columns. Raises ValueError where the layout fits no tile."""
    reserved = frozenset(layout.labels) & frozenset(RESERVED)
    for labels, axes in _TILE_AXES:
        if reserved == labels:
            return axes
    if reserved <= frozenset("qk"):
        return ("q", "k")
    raise ValueError(f"layout '{layout}' is neither that of Q, K, V or O nor that of a score operand")


def region_roles(region: Region) -> dict[str, str]:
    """The tensor name of each role of an execution region: q, k, v, o (and lse where `lse_name` is given)."""
    named = region.attrs.get
    return {role: name for role, key, default in _ROLE_NAMES if isinstance(name := named(key, default), str)}


def stored_layout(region: Region, name: str, shape: Shape, role: str = "") -> Layout:
    """The layout of the tensor `name` of an execution region, for a node that does not write one.

    The region's own `q_layout`, ... or `modifiers` say it; else it is canonical by rank. Raises ValueError.
    """
    for candidate, known in region_roles(region).items():
        if known == name and role in ("", candidate):
            written = region.attrs.get(f"{candidate}_layout")
            return parse_layout(written) if isinstance(written, str) else canonical_layout(candidate, len(shape))
    modifiers = region.attrs.get("modifiers")
    for modifier in modifiers if isinstance(modifiers, list) else ():
        if isinstance(modifier, dict) and modifier.get("operand") == name and isinstance(modifier.get("layout"), str):
            return parse_layout(modifier["layout"])
    return operand_layout(shape, max((len(value.shape) for value in region.outputs), default=len(shape)))


def batch_labels(layouts: Iterable[Layout]) -> tuple[str, ...]:
    """The batch labels in the order in which the layouts first name them (give the scores' fullest one first)."""
    found = dict.fromkeys(label for layout in layouts for label in layout.labels if label not in RESERVED)
    return tuple(found)


def label_sizes(bindings: Iterable[tuple[Layout, Shape]], known: dict[str, int] | None = None) -> dict[str, int]:
    """The size of every label from the integer dimensions of tensors that have it.

    bindings: (layout, shape) pairs; dimensions that are no integers say nothing. `known` gives sizes that are
    already fixed. Labels that nothing fixes are absent. Raises ValueError where sizes disagree.
    """
    sizes = dict(known or {})
    waiting = [
        (group, dim)
        for layout, shape in bindings
        for group, dim in zip(layout.groups, _checked(layout, shape), strict=True)
        if isinstance(dim, int)
    ]
    while True:
        unsolved = [(group, dim) for group, dim in waiting if not _solve(group, dim, sizes)]
        if not unsolved or len(unsolved) == len(waiting):
            return sizes
        waiting = unsolved


def _checked(layout: Layout, shape: Shape) -> Shape:
    if layout.rank != len(shape):
        raise ValueError(f"layout '{layout}' has {layout.rank} axes, the tensor {len(shape)}")
    return shape


def _solve(group: tuple[str, ...], dim: int, sizes: dict[str, int]) -> bool:
    """Enters the size that one axis fixes; False while two of its labels are unknown."""
    if len(group) == 1 and sizes.setdefault(group[0], dim) == dim:
        return True
    unknown = [label for label in group if label not in sizes]
    product = 1
    for label in group:
        product *= sizes.get(label, 1)
    if not unknown:
        if product != dim:
            raise ValueError(f"axis '{_group_text(group)}' has size {dim}, its labels make {product}")
        return True
    if len(unknown) > 1:
        return False
    if product == 0 or dim % product:
        raise ValueError(f"axis '{_group_text(group)}' has size {dim}, no multiple of {product}")
    sizes[unknown[0]] = dim // product
    return True


def axis_size(group: tuple[str, ...], sizes: dict[str, int]) -> int:
    """The size of one axis: the product of its labels. Raises KeyError for a label without size."""
    product = 1
    for label in group:
        product *= sizes[label]
    return product


def clip(tile: int, extent: Dim) -> int:
    """A tile size clipped to a known extent, at least 1."""
    return max(1, min(tile, extent)) if isinstance(extent, int) else tile


@lru_cache(maxsize=1024)
def _layout_text(groups: tuple[tuple[str, ...], ...]) -> str:
    return " ".join(map(_group_text, groups))


def _group_text(group: tuple[str, ...]) -> str:
    return group[0] if len(group) == 1 else f"({' '.join(group)})" if group else "1"
