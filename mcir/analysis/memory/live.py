"""Bytes of tiles that live at the same time, per residency.

A value lives from the node that makes it to its last use. Carried states live through the whole stream, and so does
what the prologue made for the body. A pointwise op may write its result over an operand of the same size that dies
there, as any generated kernel does: a chain of modifiers needs one score tile, not one for each step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mcir.analysis.memory.sizes import Sizes, dim_size, value_bytes
from mcir.analysis.memory.symbolic import Number, evaluate, names_of, product
from mcir.analysis.phases import Nest, Phase
from mcir.nodes import MCNode
from mcir.ops.definition import lookup
from mcir.values import MCValue

ON_CHIP = ("shared", "register")
_STATES = ("update_softmax", "accumulate_output")


@dataclass(slots=True)
class LiveBytes:
    """bytes: of every on-chip value. peak: the most that lives at once, and which values do, by residency."""

    values: dict[str, MCValue] = field(default_factory=dict)
    bytes: dict[str, Number] = field(default_factory=dict)
    peak: dict[str, Number] = field(default_factory=dict)
    at_peak: dict[str, list[str]] = field(default_factory=dict)


def live_bytes(nest: Nest, sizes: Sizes, tile_m: int, tile_n: int) -> LiveBytes:
    """What the nest holds on chip with tiles of `tile_m` rows and `tile_n` keys, which may differ from its own."""
    tiles = {"q": tile_m, "k": tile_n}
    live = LiveBytes()
    for node in nest.tile.nodes:
        for value in node.outputs:
            if value.residency in ON_CHIP:
                live.values[value.name] = value
                live.bytes[value.name] = _size(nest, value, sizes, tiles)
    for residency in ON_CHIP:
        _find_peak(nest, live, residency)
    return live


def _size(nest: Nest, value: MCValue, sizes: Sizes, tiles: dict[str, int]) -> Number:
    """Bytes of a value. Its own rows and keys of the declared tile give way to those of `tiles`."""
    axes = nest.axes.get(value.name, ())
    dims: list[Number] = []
    for at, dim in enumerate(value.shape):
        label = axes[at] if at < len(axes) else ""
        if label in tiles and dim == nest.tile.attrs.get("tile_m" if label == "q" else "tile_n"):
            dims.append(tiles[label])
        elif dim is None and label:
            dims.append(sizes.label(label))
        else:
            dims.append(dim_size(dim, sizes.dims, value.name))
    return product(dims) * value_bytes(value)


def _find_peak(nest: Nest, live: LiveBytes, residency: str) -> None:
    """The largest sum over the moments at which a node runs. Names of sizes compare as if each were a large size."""
    order = [node for phase in Phase for node in nest.nodes(phase)]
    dies = _last_uses(nest, order)
    held: dict[str, None] = dict.fromkeys(
        value.name for node in order if node.op in _STATES for value in node.outputs if value.residency == residency
    )
    best: Number = 0
    names: list[str] = []
    for at, node in enumerate(order):
        held.update((value.name, None) for value in node.outputs if value.residency == residency)
        replaced = _overwritten(node, at, dies, live, residency)
        now = [name for name in held if name != replaced and name in live.bytes]
        total = sum((live.bytes[name] for name in now), start=0)
        if not names or _rank(total) > _rank(best):
            best, names = total, now
        for name in [name for name in held if dies.get(name, at) <= at]:
            del held[name]
    live.peak[residency], live.at_peak[residency] = best, names


def _last_uses(nest: Nest, order: list[MCNode]) -> dict[str, int]:
    """The position in `order` after which each value is dead."""
    last_body = max((at for at, node in enumerate(order) if nest.phases[node.name] is Phase.BODY), default=0)
    made_in: dict[str, Phase] = {}
    dies: dict[str, int] = {}
    for at, node in enumerate(order):
        for value in node.inputs:
            outlives = nest.phases[node.name] is Phase.BODY and made_in.get(value.name) is Phase.PROLOGUE
            dies[value.name] = max(dies.get(value.name, 0), last_body if outlives else at)
        for value in node.outputs:
            made_in[value.name] = nest.phases[node.name]
            dies[value.name] = last_body if node.op in _STATES else at
    return dies


def _overwritten(node: MCNode, at: int, dies: dict[str, int], live: LiveBytes, residency: str) -> str | None:
    """The operand whose place the result takes."""
    definition = lookup(node.op)
    if definition is None or not definition.traits & {"pointwise", "tile"} or len(node.outputs) != 1:
        return None
    result = node.outputs[0]
    for value in node.inputs:
        fits = live.bytes.get(value.name) == live.bytes.get(result.name)
        if value.residency == result.residency == residency and fits and dies[value.name] == at:
            return value.name
    return None


def _rank(number: Number) -> int:
    return evaluate(number, dict.fromkeys(names_of(number), 4096))
