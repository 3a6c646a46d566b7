"""What the attributes of an attention region say, read once and checked: the input of every lowering."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mcir.analysis.axes import Layout, label_sizes, parse_layout, stored_layout, tile_axes
from mcir.ops.definition import is_number
from mcir.ops.tile import DEAD_ROWS
from mcir.regions import Region
from mcir.types import DTYPES, Dim
from mcir.values import MCValue

PATTERN = "scaled_dot_product_attention"

# The design note's own example (section 11): what a region has that names no tensor at all.
NOTE_HEAD_DIM, NOTE_DTYPE = 64, "fp16"

_ROLE_AXES = {"q": ("q", "d"), "k": ("k", "d"), "v": ("k", "e"), "o": ("q", "e")}


class Refusal(Exception):
    """A region that cannot be lowered exactly: the rule that stands against it and why."""

    def __init__(self, rule: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.hint = hint


@dataclass(slots=True)
class Tensor:
    """A global tensor of the region and where its axes go."""

    value: MCValue
    layout: Layout


@dataclass(slots=True)
class Attention:
    """One attention: its tensors, sizes and the chain from scores to softmax.

    sizes: per label a size, a size's name or None. batch: batch labels in the order of the scores. modifiers: as in
    the region, without the leading factor, which is `scale`. state_dtype: fp32, or fp64 where the graph has fp64.
    dead_rows is "" where the region does not say.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    o: Tensor
    operands: dict[str, MCValue]
    sizes: dict[str, Dim]
    batch: tuple[str, ...]
    scale: float
    modifiers: list[dict[str, Any]]
    dead_rows: str
    state_dtype: str


def read_attention(region: Region) -> Attention:
    """The attention that `region` describes. Raises Refusal.

    A region made by hand may have `q_name`, `k_name` and `v_name` only; inputs and outputs that it lacks are
    entered: rank 2, head dim 64, fp16, as in the design note.
    """
    _complete(region)
    inputs = {value.name: value for value in region.inputs}
    q, k, v = (_tensor(region, role, inputs) for role in "qkv")
    o = _tensor(region, "o", {value.name: value for value in region.outputs})
    scale, modifiers = _scores(region)
    attention = Attention(
        q, k, v, o, inputs, {}, (), scale, modifiers, _dead_rows(region), _state_dtype(region, (q, k, v))
    )
    attention.batch = _batch(attention)
    attention.sizes = _sizes(region, (q, k, v, o))
    return attention


def _complete(region: Region) -> None:
    """Enters the inputs and the output that a region made by hand does not list."""
    if not region.inputs:
        names = dict.fromkeys(region.attrs.get(f"{role}_name", role.upper()) for role in "qkv")
        region.inputs = [MCValue(name, (None, NOTE_HEAD_DIM), NOTE_DTYPE) for name in names if isinstance(name, str)]
    if not region.outputs:
        name = region.attrs.get("o_name", "O")
        q = next((value for value in region.inputs if value.name == region.attrs.get("q_name", "Q")), None)
        v = next((value for value in region.inputs if value.name == region.attrs.get("v_name", "V")), None)
        if q is not None and v is not None and isinstance(name, str) and q.shape and v.shape:
            region.outputs = [MCValue(name, (*q.shape[:-1], v.shape[-1]), q.dtype)]


def _tensor(region: Region, role: str, values: dict[str, MCValue]) -> Tensor:
    name = region.attrs.get(f"{role}_name", role.upper())
    value = values.get(name) if isinstance(name, str) else None
    if value is None:
        side = "output" if role == "o" else "input"
        raise Refusal("lowering.operands", f"{role.upper()} is '{name}', which is no {side} of the region")
    if DTYPES.get(value.dtype) is None or DTYPES[value.dtype].kind != "float":
        raise Refusal("lowering.dtype", f"{role.upper()} is of {value.dtype}; attention takes floats")
    layout = layout_of(region, value, role)
    if _axes(layout) != _ROLE_AXES[role]:
        wanted = " and ".join(_ROLE_AXES[role])
        raise Refusal("lowering.layout", f"{role}_layout '{layout}' has not the labels {wanted}")
    return Tensor(value, layout)


def layout_of(region: Region, value: MCValue, role: str = "", written: Any = None) -> Layout:
    """The layout of a tensor of the region: as `written`, or as the region says. Raises Refusal."""
    try:
        layout = parse_layout(written) if isinstance(written, str) else stored_layout(
            region, value.name, value.shape, role
        )  # fmt: skip
        if layout.rank != len(value.shape):
            raise ValueError(f"layout '{layout}' has {layout.rank} axes, '{value.name}' has {len(value.shape)}")
    except ValueError as error:
        raise Refusal("lowering.layout", str(error)) from None
    return layout


def _axes(layout: Layout) -> tuple[str, ...]:
    try:
        return tile_axes(layout)
    except ValueError:
        return ()


def _batch(attention: Attention) -> tuple[str, ...]:
    """The batch labels in the order of O, which has every label of Q, K and V."""
    stored = tuple(label for label in attention.o.layout.labels if label not in ("q", "e"))
    for tensor in (attention.q, attention.k, attention.v):
        for label in tensor.layout.labels:
            if label not in stored and label not in ("q", "k", "d", "e"):
                message = f"batch label {label} of {tensor.value.name} is not in O"
                raise Refusal("lowering.layout", message, "a sum over a batch axis is not part of attention")
    return stored


def _sizes(region: Region, tensors: tuple[Tensor, ...]) -> dict[str, Dim]:
    """The size of each label: what `extents` says, else what the shapes say."""
    sizes: dict[str, Dim] = {}
    try:
        sizes.update(label_sizes((tensor.layout, tensor.value.shape) for tensor in tensors))
    except ValueError as error:
        raise Refusal("lowering.extents", str(error)) from None
    for tensor in tensors:
        for group, dim in zip(tensor.layout.groups, tensor.value.shape, strict=True):
            if len(group) == 1 and isinstance(dim, str):
                sizes.setdefault(group[0], dim)
    extents = region.attrs.get("extents")
    for label, size in extents.items() if isinstance(extents, dict) else ():
        if isinstance(size, (int, str)) and size != "?":
            sizes.setdefault(label, size)
    return sizes


def _scores(region: Region) -> tuple[float, list[dict[str, Any]]]:
    """(scale, the other modifiers). The leading constant factor of the chain is the scale of compute_score."""
    chain = region.attrs.get("modifiers")
    if chain is None:
        return _finite(region.attrs.get("scale", 1.0)), []
    if not isinstance(chain, list) or not all(isinstance(entry, dict) for entry in chain):
        raise Refusal("lowering.modifiers", "modifiers must be a list of dictionaries")
    if chain and chain[0].get("op") == "mul" and "operand" not in chain[0]:
        return _finite(chain[0].get("value")), chain[1:]
    return 1.0, list(chain)


def _finite(scale: Any) -> float:
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not math.isfinite(scale):
        raise Refusal("lowering.scale", f"the scale must be a finite number, got {scale}")
    return float(scale)


def _dead_rows(region: Region) -> str:
    dead_rows = region.attrs.get("dead_rows", "")
    if dead_rows not in ("", *DEAD_ROWS):
        raise Refusal("lowering.dead_rows", f"dead_rows is '{dead_rows}', not one of {', '.join(DEAD_ROWS)}")
    return str(dead_rows)


def _state_dtype(region: Region, tensors: tuple[Tensor, ...]) -> str:
    written = [region.attrs.get(key) for key in ("score_dtype", "softmax_dtype")]
    names = [*written, *(tensor.value.dtype for tensor in tensors)]
    return "fp64" if "fp64" in names else "fp32"


# Beside mul and div: a score that one of these keeps keeps its factor.
_LINEAR = frozenset({"add", "sub", "where", "mask"})


def scale_of(modifiers: list[dict[str, Any]]) -> float:
    """The product of the constant factors among modifiers, up to the first that is not linear in the scores."""
    product = 1.0
    for entry in modifiers:
        op, turned = entry.get("op"), entry.get("reversed", False)
        value: Any = entry.get("value")
        if op == "mul" and is_number(value):
            product *= value
        elif op == "div" and is_number(value) and not turned and value != 0:
            product /= value
        elif op not in _LINEAR or turned:
            break
    return product
