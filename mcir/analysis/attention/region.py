"""From a match to the execution region: every attribute is written, none has to be guessed by a reader."""

from __future__ import annotations

import math
from typing import Any

from mcir.analysis.attention.match import Match
from mcir.analysis.attention.modifiers import Modifier
from mcir.analysis.attention.naming import Names
from mcir.analysis.attention.rules import Declined
from mcir.analysis.attention_region import scale_of
from mcir.analysis.bands import Band, mask_attributes, may_empty_a_row
from mcir.analysis.shadow import Shadow
from mcir.regions import ExecutionRegion
from mcir.types import Symbol
from mcir.values import MCValue

PATTERN = "scaled_dot_product_attention"

# Modifiers that make has_mask true: they add to scores or take some away.
_MASKING = frozenset({"add", "sub", "where", "mask"})
# Steps after which scores are still scores times a factor plus something.
# Steps that map finite scores to finite scores; after any other a whole row may be -inf.
_FINITE = frozenset({"add", "sub", "mul", "div", "where", "mask", "softcap", "tanh", "min", "max", "cast"})

# A factor must be a normal number of fp32, in which scores are kept: 1e30 twice is inf there.
_LEAST, _BEYOND = 2.0**-126, 2.0**128


def attention_region(match: Match, name: str, graph: str, shadow: Shadow) -> ExecutionRegion:
    """The region of `match`, whose nodes stand in the graph of `shadow`. Raises Declined."""
    names = Names(match)
    entries, operands = _modifiers(match, names)
    scale = scale_of(entries)
    leading = entries[0]["value"] if entries and entries[0]["op"] == "mul" and "value" in entries[0] else 1.0
    for factor in (scale, leading):
        if not math.isfinite(factor) or not (factor == 0 or _LEAST <= abs(factor) < _BEYOND):
            raise Declined("scale", match.nodes[0], f"the constant factors of the scores make {factor}")
    region = ExecutionRegion(name)
    region.inputs = _fresh([match.q.value, match.k.value, match.v.value, *operands])
    region.outputs = _fresh([match.out])
    region.attrs.update(
        {
            "pattern": PATTERN,
            "has_mask": any(entry["op"] in _MASKING for entry in entries),
            "graph": Symbol(graph),
            "q_name": match.q.value.name,
            "k_name": match.k.value.name,
            "v_name": match.v.value.name,
            "o_name": match.out.name,
            "q_layout": names.layout(match.q.layout),
            "k_layout": names.layout(match.k.layout),
            "v_layout": names.layout(match.v.layout),
            "o_layout": names.layout(match.out_layout),
            "extents": names.extents(),
            "scale": scale,
            "modifiers": entries,
            "score_dtype": match.score_dtype,
            "softmax_dtype": match.softmax_dtype,
            "dead_rows": match.dead_rows or _dead_rows(match, names, entries),
            "nodes": [node.name for node in sorted(match.nodes, key=shadow.position)],
        }
    )
    return region


def _fresh(values: list[MCValue]) -> list[MCValue]:
    """New values of the same names and types, each once."""
    unique = {value.name: value for value in values}
    return [MCValue(value.name, value.shape, value.dtype) for value in unique.values()]


def _modifiers(match: Match, names: Names) -> tuple[list[dict[str, Any]], list[MCValue]]:
    """The entries of `modifiers`, and the tensors that they take."""
    steps = _with_softcaps(match.modifiers)
    scale, rest = _leading_factor(match.q.factor * match.k.factor, steps)
    entries: list[dict[str, Any]] = [] if scale == 1.0 else [{"op": "mul", "value": scale}]
    operands: list[MCValue] = []
    for step in rest:
        mask = _proved_mask(step, names)
        if mask is not None:
            entries.append(mask)
            continue
        entries.append(_entry(step, names))
        if step.operand is not None:
            operands.append(step.operand)
    return entries, operands


def _leading_factor(scale: float, steps: list[Modifier]) -> tuple[float, list[Modifier]]:
    """All constant factors in front of the first other step as one."""
    for at, step in enumerate(steps):
        if step.op == "mul" and step.value is not None:
            scale *= step.value
        elif step.op == "div" and step.value and not step.reversed:
            scale /= step.value
        else:
            return scale, steps[at:]
    return scale, []


def _with_softcaps(steps: list[Modifier]) -> list[Modifier]:
    """Each `/ cap`, tanh, `* cap` as one softcap."""
    found: list[Modifier] = []
    for step in steps:
        found.append(step)
        if len(found) < 3 or found[-2].op != "tanh":
            continue
        shrink, grow = found[-3], found[-1]
        cap = grow.value if grow.op == "mul" and grow.operand is None else None
        if cap is not None and cap > 0 and math.isfinite(cap) and _shrinks_by(shrink, cap):
            found[-3:] = [Modifier("softcap", grow.node, value=cap, scores=grow.scores)]
    return found


def _shrinks_by(step: Modifier, cap: float) -> bool:
    if step.operand is not None or step.value is None or step.reversed:
        return False
    if step.op == "div":
        return bool(step.value == cap)
    # A rounded 1/cap, as fp32 has of 30, is another factor; only that of a power of two is exact.
    return step.op == "mul" and step.value * cap == 1.0 and math.frexp(cap)[0] == 0.5


def _proved_mask(step: Modifier, names: Names) -> dict[str, Any] | None:
    """A causal or window mask where the kept places are a band over all of q and all of k."""
    band = _oriented(step, names)
    if band is None:
        return None
    extents = names.extents()
    rows, columns = extents["q"], extents["k"]
    difference = columns - rows if isinstance(rows, int) and isinstance(columns, int) else None
    attributes = mask_attributes(band, difference)
    fill = step.extra.get("fill", -math.inf)
    return None if attributes is None else {"op": "mask", **attributes, "fill": fill}


def _oriented(step: Modifier, names: Names) -> Band | None:
    """The band of `step` with q as rows and k as columns, if it is over just these two axes."""
    band = step.kept
    if band is None:
        return None
    over = (names.name_of(step.scores[band.row_axis]), names.name_of(step.scores[band.column_axis]))
    if over == ("k", "q"):
        return band.swapped()
    return band if over == ("q", "k") else None


def _entry(step: Modifier, names: Names) -> dict[str, Any]:
    """The entry of a step that is no mask by position."""
    entry: dict[str, Any] = {"op": step.op}
    if step.operand is not None:
        entry["operand"] = step.operand.name
        entry["layout"] = names.layout(step.layout)
    elif step.value is not None:
        entry["value"] = step.value
    if step.reversed:
        entry["reversed"] = True
    return {**entry, **step.extra}


def _dead_rows(match: Match, names: Names, entries: list[dict[str, Any]]) -> str:
    """ "none" where no row can be masked as a whole, else "nan": softmax of a row of -inf."""
    if any(entry["op"] not in _FINITE or entry.get("reversed") for entry in entries):
        return "nan"
    if any(entry.get("operand") and entry.get("fill", -math.inf) == -math.inf for entry in entries):
        return "nan"
    extents = names.extents()
    kept = Band(0, 1, -math.inf, math.inf)
    for step in match.modifiers:
        band = _oriented(step, names)
        if band is None or step.extra.get("fill", -math.inf) != -math.inf:
            continue
        both = kept.intersection(Band(0, 1, band.lo, band.hi))
        if both is None:
            return "nan"
        kept = both
    return "nan" if may_empty_a_row(kept, extents["q"], extents["k"]) else "none"
