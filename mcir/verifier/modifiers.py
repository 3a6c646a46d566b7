"""Rules of scale, softcap and masks of an attention region; `masks.py` has those that hold for nodes, too."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mcir.analysis.axes import label_sizes
from mcir.ops.definition import is_int
from mcir.verifier.attention_view import attention_of, entries, entry_layout, is_number, known_sizes, shown
from mcir.verifier.masks import FILL_HINT, ROW_OFFSET_HINT, dim_text, surely_equal
from mcir.verifier.rules import Finding, Place, also, declare, rule


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


@also("modifier.offset", scope="region")
def mask_entry_offset(place: Place) -> Iterator[Finding]:
    for at, entry in entries(place, "mask"):
        sizes = known_sizes(place.region)
        where = f"@{place.region.name}: modifier {at}"
        if "offset" in entry:
            if not is_int(entry["offset"]):
                yield Finding(f"{where}: the offset must be an integer")
        elif not surely_equal(sizes.get("q"), sizes.get("k")):
            extent = f"{dim_text(sizes.get('q'))} queries and {dim_text(sizes.get('k'))} keys"
            yield Finding(f"{where}: a mask over {extent} needs its offset written", hint=ROW_OFFSET_HINT)


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


@also("modifier.fill", scope="region")
def mask_entry_fill(place: Place) -> Iterator[Finding]:
    for at, entry in entries(place, "mask", "where"):
        fill = entry.get("fill", -math.inf)
        if not is_number(fill) or math.isfinite(fill):
            yield Finding(f"@{place.region.name}: modifier {at} fills with the finite {shown(fill)}", hint=FILL_HINT)


declare("type.contraction", "The axes that an op sums over have one size.")
