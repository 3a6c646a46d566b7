"""Rules of attention regions: design note, section 15.4, and what the attributes say of each other.

An attention region is an execution region with pattern = "scaled_dot_product_attention". One made by hand may
leave out everything but its tensors: q_name, k_name, v_name and o_name default to Q, K, V and O, layouts to
"q d", "b q d", "b h q d" by rank. What is written must be true.

A region without a body is the result of attention-pattern alone, and valid; one with a body streams.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from mcir.analysis.attention_region import scale_of
from mcir.analysis.axes import RESERVED, label_sizes, stored_layout
from mcir.diagnostics import did_you_mean
from mcir.ops import lookup
from mcir.ops.definition import is_int
from mcir.ops.tile import DEAD_ROWS
from mcir.regions import Region
from mcir.types import DTYPES, Symbol
from mcir.values import MCValue
from mcir.verifier.attention_view import (
    ROLES,
    attention_of,
    entries,
    entry_layout,
    is_number,
    role_layouts,
    role_name,
    role_tensor,
    shown,
)
from mcir.verifier.rules import Finding, Place, rule

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_BINARY = ("mul", "add", "sub", "div", "min", "max", "pow")
_SPECIAL = ("where", "mask", "softcap", "cast")
_MASKING = ("add", "sub", "where", "mask")
_SCALE_TOLERANCE = 1e-12  # relative: the product may have been taken in another order


@rule("attention.inputs", "Q, K and V of an attention region are inputs of it.", scope="region")
def inputs_exist(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    for role in "qkv" if region is not None else "":
        yield from _missing(place.region, role, place.region.inputs, "input")


@rule("attention.output", "The output of an attention region exists.", scope="region")
def output_exists(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is not None:
        yield from _missing(region, "o", region.outputs, "output")


@rule("attention.streaming", "An attention region with a body consists of streaming regions that hold filled tiles.",
      scope="region")  # fmt: skip
def body_streams(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    for stream in region.subregions if region is not None else ():
        if not any(tile.nodes for tile in stream.subregions):
            message = f"streaming region @{stream.name} of @{place.region.name} has no tile region with nodes"
            yield Finding(message, stream)


@rule("attention.dtype", "Q, K, V and O are floats, and the recorded compute types are float types.", scope="region")
def float_types(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is None:
        return
    for value in filter(None, (role_tensor(region, role) for role in ROLES)):
        if DTYPES[value.dtype].kind != "float":
            yield Finding(f"%{value.name} of @{region.name} is {value.dtype}: attention takes floats", value)
    for name in ("score_dtype", "softmax_dtype"):
        written = region.attrs.get(name, "fp32")
        if not isinstance(written, str) or written not in DTYPES or DTYPES[written].kind != "float":
            hint = did_you_mean(shown(written), DTYPES)
            yield Finding(f"@{region.name}: {name} must be a float type, not {shown(written)}", hint=hint)


@rule("attention.layout", "A layout has one group an axis; Q has q and d, K k and d, V k and e, O q and e.",
      scope="region")  # fmt: skip
def layouts(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    for role in ROLES if region is not None else ():
        value = role_tensor(place.region, role)
        if value is not None and (problem := _layout_problem(place.region, role, value)):
            yield Finding(f"@{place.region.name}: {role}_layout: {problem}")


@rule("attention.batch", "Every batch label of Q, K and V is one of O: attention sums over keys only.", scope="region")
def batch_labels(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    known = role_layouts(region) if region is not None else {}
    if "o" not in known:
        return
    output = known["o"][1].labels
    for value, layout in known.values():
        for label in layout.labels:
            if label not in RESERVED and label not in output:
                yield Finding(f"@{place.region.name}: label {label} of %{value.name} is no label of the output")


@rule("attention.extents", "One label has one size: in the shapes of Q, K, V and O, and in extents.", scope="region")
def extents_agree(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is None:
        return
    extents = region.attrs.get("extents", {})
    if not isinstance(extents, dict) or not all(_is_extent(size) for size in extents.values()):
        yield Finding(f"@{region.name}: extents gives each label a size, the name of a size, or \"?\"")
        return
    sizes = {label: size for label, size in extents.items() if is_int(size)}
    bindings = [(layout, value.shape) for value, layout in role_layouts(region).values()]
    try:
        label_sizes(bindings, sizes)
    except ValueError as error:
        hint = "" if "q_layout" in region.attrs else "without layouts the axes are b, h, q, d from the left"
        yield Finding(f"@{region.name}: {error}", hint=hint)


@rule("attention.modifiers", "Each modifier is a known step whose operand is an input with a layout over the scores.",
      scope="region")  # fmt: skip
def modifiers_known(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is None:
        return
    modifiers = region.attrs.get("modifiers", [])
    if not isinstance(modifiers, list) or not all(isinstance(entry, dict) for entry in modifiers):
        yield Finding(f"@{region.name}: modifiers must be a list of dictionaries")
    for at, entry in entries(place):
        if problem := _entry_problem(region, entry):
            yield Finding(f"@{region.name}: modifier {at} {problem}")


@rule("attention.scale", "scale is the product of the constant factors among modifiers, up to the first nonlinear one.",
      scope="region")  # fmt: skip
def scale_is_product(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is None or not isinstance(region.attrs.get("modifiers"), list) or "scale" not in region.attrs:
        return
    product = scale_of([entry for _, entry in entries(place)])
    scale = region.attrs["scale"]
    if not is_number(scale) or not math.isclose(scale, product, rel_tol=_SCALE_TOLERANCE):
        yield Finding(f"@{region.name}: scale is {shown(scale)}, modifiers make it {product!r}")


@rule("attention.has_mask", "has_mask is true exactly if some modifier adds, selects or masks.", scope="region")
def has_mask_is_true(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is None or "has_mask" not in region.attrs:
        return
    has_mask = region.attrs["has_mask"]
    if not isinstance(has_mask, bool):
        yield Finding(f"@{region.name}: has_mask must be true or false")
    elif isinstance(region.attrs.get("modifiers"), list):
        real = any(entry.get("op") in _MASKING for _, entry in entries(place))
        if has_mask != real:
            yield Finding(f"@{region.name}: has_mask is {shown(has_mask)}, by its modifiers it is {shown(real)}")


@rule("attention.dead_rows", "dead_rows is none, nan, zero or zero_nan.", scope="region")
def dead_rows_known(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    written = region.attrs.get("dead_rows", "none") if region is not None else "none"
    if written not in DEAD_ROWS:
        hint = did_you_mean(shown(written), DEAD_ROWS) or f"one of {', '.join(DEAD_ROWS)}"
        yield Finding(f"@{place.region.name}: unknown dead_rows {shown(written)}", hint=hint)


@rule("attention.graph", "The graph and nodes that a region names exist in the module.", scope="region", outside=True)
def graph_exists(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is None or "graph" not in region.attrs:
        return
    symbol = region.attrs["graph"]
    graph = place.unit.module.graph(symbol.name) if isinstance(symbol, Symbol) else None
    if graph is None:
        name = f"@{symbol.name}" if isinstance(symbol, Symbol) else shown(symbol)
        hint = did_you_mean(name, (f"@{other.name}" for other in place.unit.module.graphs))
        yield Finding(f"@{region.name} comes from the graph {name}, which is not in the module", hint=hint)
        return
    nodes = region.attrs.get("nodes", [])
    known = place.unit.node_names(graph)
    for name in nodes if isinstance(nodes, list) else [nodes]:
        if not isinstance(name, str) or name not in known:
            yield Finding(f"@{region.name} covers the node {shown(name)}, which @{graph.name} does not have")


def _missing(region: Region, role: str, values: list[MCValue], side: str) -> Iterator[Finding]:
    names = [value.name for value in values]
    name = role_name(region, role)
    if name not in names:
        hint = did_you_mean(shown(name), names) or f"write {role}_name"
        yield Finding(f"@{region.name}: {role.upper()} is {shown(name)}, which is no {side} of the region", hint=hint)


def _layout_problem(region: Region, role: str, value: MCValue) -> str:
    written = region.attrs.get(f"{role}_layout", "")
    if not isinstance(written, str):
        return "must be a string"
    try:
        layout = stored_layout(region, value.name, value.shape, role)
    except ValueError as error:
        return str(error)
    if layout.rank != len(value.shape):
        return f"'{layout}' has {layout.rank} axes, %{value.name} has {len(value.shape)}"
    if set(layout.labels) & set(RESERVED) != set(ROLES[role]):
        return f"'{layout}' must have the labels {' and '.join(ROLES[role])}, and of q, k, d and e no other"
    return ""


def _is_extent(size: Any) -> bool:
    return (is_int(size) and size >= 0) or (isinstance(size, str) and size != "")


def _entry_problem(region: Region, entry: dict[str, Any]) -> str:
    """What is wrong with one modifier, or an empty string."""
    op = entry.get("op")
    definition = lookup(op) if isinstance(op, str) else None
    if not isinstance(op, str) or (op not in _SPECIAL and (definition is None or "pointwise" not in definition.traits)):
        return f"is no step on scores: {shown(op)}"
    if op in _BINARY and is_number(entry.get("value")) == ("operand" in entry):
        return f"'{op}' takes either a number as value or an operand"
    if op == "where" and ("operand" not in entry or not isinstance(entry.get("keep", True), bool)):
        return "'where' takes an operand, and keep = true or false"
    if op == "mask" and entry.get("kind") not in ("causal", "window"):
        return 'is a mask of neither kind: write kind = "causal" or "window"'
    if op == "cast" and entry.get("dtype") not in tuple(DTYPES):
        return f"casts to the unknown type {shown(entry.get('dtype'))}"
    return _operand_problem(region, entry) if "operand" in entry else ""


def _operand_problem(region: Region, entry: dict[str, Any]) -> str:
    name = entry["operand"]
    value = next((value for value in region.inputs if value.name == name), None)
    if value is None:
        near = did_you_mean(shown(name), (value.name for value in region.inputs))
        return f"has the operand {shown(name)}, which is no input of the region" + (f": {near}" if near else "")
    if entry.get("op") == "where" and value.dtype != "i1":
        return f"selects by '{name}', which is {value.dtype}, not i1"
    if "layout" not in entry:
        return ""
    layout = entry_layout(entry)
    if layout is None:
        return f"has the layout {shown(entry['layout'])}, which cannot be read"
    if layout.rank != len(value.shape):
        return f"has a layout of {layout.rank} axes for '{name}', which has {len(value.shape)}"
    output = role_layouts(region).get("o")
    scores = {*output[1].labels, "k"} - {"e"} if output is not None else set(layout.labels)
    foreign = [label for label in layout.labels if label not in scores]
    return f"has the label {foreign[0]}, which the scores have not" if foreign else ""
