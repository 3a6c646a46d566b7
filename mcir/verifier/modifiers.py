"""Rules of scale, softcap and masks: what is between the scores and the softmax.

The same rule holds for a node and for an entry of an attention region's `modifiers`; each has its check.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from mcir.analysis.axes import label_sizes
from mcir.ops.definition import is_int
from mcir.types import Dim, Shape
from mcir.verifier.attention_view import attention_of, entries, entry_layout, is_number, known_sizes, shown
from mcir.verifier.rules import Finding, Place, Signature, also, declare, rule

_ROW_OFFSET_HINT = "offset = 0 aligns row 0 with column 0; keys - queries aligns the last row with the last column"
_FILL_HINT = "-inf removes a score; a finite fill gives a row without any key left an average instead"


@rule("modifier.scale", "A scale is a finite number.", scope="region")
def finite_scale(place: Place) -> Iterator[Finding]:
    region = attention_of(place)
    if region is None:
        return
    scale = region.attrs.get("scale", 1.0)
    if not is_number(scale) or not math.isfinite(scale):
        yield Finding(f"@{region.name}: the scale must be a finite number, not {shown(scale)}")


@rule("modifier.softcap", "A softcap is a finite number above 0.", scope="region")
def positive_softcap(place: Place) -> Iterator[Finding]:
    for at, entry in entries(place, "softcap"):
        cap = entry.get("value")
        if not is_number(cap) or not math.isfinite(cap) or cap <= 0:
            yield Finding(f"@{place.region.name}: modifier {at}: a softcap must be above 0, not {shown(cap)}")


@rule("modifier.window", "The sides of a window are integers of at least -1.", scope="region")
def window_sides(place: Place) -> Iterator[Finding]:
    for at, entry in entries(place, "mask"):
        for side in ("left", "right"):
            size = entry.get(side, -1)
            if not is_int(size) or size < -1:
                message = f"@{place.region.name}: modifier {at}: {side} must be at least -1, not {shown(size)}"
                yield Finding(message, hint="-1 leaves the side open")


@rule("modifier.offset", "A causal or window mask over unequal query and key counts writes its offset.", scope="node")
def mask_node_offset(signature: Signature) -> Iterator[Finding]:
    kind = signature.attrs.get("kind", "boolean")
    if signature.op != "mask" or kind == "boolean" or "offset" in signature.attrs:
        return
    rows, columns = signature.operands[0].shape[-2:]
    if signature.holder != "graph":
        yield Finding(f"a {kind} mask on a tile needs its offset written", hint=_ROW_OFFSET_HINT)
    elif not _surely_equal(rows, columns):
        message = f"a {kind} mask over {_dim(rows)} rows and {_dim(columns)} columns needs its offset written"
        yield Finding(message, hint=_ROW_OFFSET_HINT)


@also("modifier.offset", scope="region")
def mask_entry_offset(place: Place) -> Iterator[Finding]:
    for at, entry in entries(place, "mask"):
        sizes = known_sizes(place.region)
        where = f"@{place.region.name}: modifier {at}"
        if "offset" in entry:
            if not is_int(entry["offset"]):
                yield Finding(f"{where}: the offset must be an integer")
        elif not _surely_equal(sizes.get("q"), sizes.get("k")):
            extent = f"{_dim(sizes.get('q'))} queries and {_dim(sizes.get('k'))} keys"
            yield Finding(f"{where}: a mask over {extent} needs its offset written", hint=_ROW_OFFSET_HINT)


@rule("modifier.mask_dims", "Each dimension of a mask or bias is 1 or that of the scores.", scope="node")
def mask_node_dims(signature: Signature) -> Iterator[Finding]:
    if signature.op != "mask" or len(signature.operands) != 2:
        return
    scores, keep = signature.operands[0].shape, signature.operands[1].shape
    if len(keep) > len(scores) or not all(map(_one_or_full, keep, scores[len(scores) - len(keep) :])):
        message = f"the mask {_shape(keep)} does not fit the scores {_shape(scores)}"
        yield Finding(message, hint="each size is 1 or full")


@also("modifier.mask_dims", scope="region")
def operand_dims(place: Place) -> Iterator[Finding]:
    region = place.region
    shapes = {value.name: value.shape for value in region.inputs}
    for at, entry in entries(place):
        layout, operand = entry_layout(entry), entry.get("operand")
        shape = shapes.get(operand) if isinstance(operand, str) else None
        if layout is None or shape is None or layout.rank != len(shape):
            continue
        sizes = {label: size for label, size in known_sizes(region).items() if isinstance(size, int)}
        try:
            label_sizes([(layout, shape)], sizes)
        except ValueError as error:
            yield Finding(f"@{region.name}: modifier {at}: operand '{operand}': {error}")


@rule("modifier.fill", "A mask fills with -inf: a finite constant is no mask where a row has no key left.",
      scope="node", severity="warning")  # fmt: skip
def mask_node_fill(signature: Signature) -> Iterator[Finding]:
    fill = signature.attrs.get("fill", -math.inf)
    if signature.op == "mask" and is_number(fill) and math.isfinite(fill):
        yield Finding(f"the mask fills with the finite {shown(fill)}", hint=_FILL_HINT)


@also("modifier.fill", scope="region")
def mask_entry_fill(place: Place) -> Iterator[Finding]:
    for at, entry in entries(place, "mask", "where"):
        fill = entry.get("fill", -math.inf)
        if not is_number(fill) or math.isfinite(fill):
            yield Finding(f"@{place.region.name}: modifier {at} fills with the finite {shown(fill)}", hint=_FILL_HINT)


declare("type.contraction", "The axes that an op sums over have one size.")


def _surely_equal(left: Dim, right: Dim) -> bool:
    return left is not None and left == right


def _one_or_full(dim: Dim, full: Dim) -> bool:
    return dim == 1 or dim == full or not (isinstance(dim, int) and isinstance(full, int))


def _dim(dim: Dim) -> str:
    return "an unknown number of" if dim is None else f"({dim})" if isinstance(dim, str) else str(dim)


def _shape(shape: Shape) -> str:
    return f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"
