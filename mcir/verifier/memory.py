"""Rules of where values live and how they move: loads bring tiles on chip, stores bring results back."""

from __future__ import annotations

from collections.abc import Iterator

from mcir.analysis.axes import label_sizes, parse_layout, stored_layout, tile_axes
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.regions import Region
from mcir.types import Dim, MCNodeOp, Shape
from mcir.verifier.rules import Finding, Place, Signature, Unit, declare, rule

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

LOAD, STORE, SCORE = str(MCNodeOp.LOAD_TILE), str(MCNodeOp.STORE_TILE), str(MCNodeOp.COMPUTE_SCORE)

declare("memory.movement", "A load brings a tile from global memory on chip; a store brings one back.")


@rule("memory.compute", "Computations neither read nor write global memory.", scope="node")
def computes_on_chip(signature: Signature) -> Iterator[Finding]:
    op = signature.definition
    if signature.holder != "tile" or op is None or (op.level == "tile" and not op.operands):
        return
    moves = op.level == "tile" and any(attr.name in ("source", "target") for attr in op.attrs)
    values = signature.operands if moves else [*signature.operands, *signature.results]
    if any(value.residency == "global" for value in values):
        yield Finding(f"'{op.name}' computes on global memory", hint="tiles are loaded first, results stay on chip")


@rule("memory.score", "Scores and weights never go to global memory.", scope="region")
def scores_stay_on_chip(place: Place) -> Iterator[Finding]:
    scores: set[str] = set()
    for node in place.region.nodes:
        if node.op == STORE and (stored := next((value for value in node.inputs if value.name in scores), None)):
            yield Finding(f"node '{node.name}' stores the scores %{stored.name}", node)
        if node.op == SCORE or (_is_semantic(node.op) and any(value.name in scores for value in node.inputs)):
            scores.update(value.name for value in node.outputs)


@rule("memory.dead_load", "A loaded tile is used.", scope="region", severity="warning")
def loads_are_used(place: Place) -> Iterator[Finding]:
    for node in place.region.nodes:
        if node.op == LOAD and not any(value.consumers for value in node.outputs):
            yield Finding(f"node '{node.name}' loads a tile that nothing uses", node)


@rule("region.stored", "Each output of an execution region with a body is stored exactly once.", scope="unit",
      stage="meaning")  # fmt: skip
def outputs_stored_once(unit: Unit) -> Iterator[Finding]:
    if unit.is_graph or len(unit.places) == 1:
        return  # a region without a body is not lowered yet
    stores: dict[object, list[object]] = {}
    for node in unit.nodes():
        if "target" in node.attrs:
            stores.setdefault(node.attrs["target"], []).append(node)
    for output in unit.top.outputs:
        found = stores.get(output.name, [])
        if not found:
            yield Finding(f"output %{output.name} of @{unit.top.name} is never stored", unit.top)
        for again in found[1:]:
            yield Finding(f"output %{output.name} of @{unit.top.name} is stored {len(found)} times", again)


@rule("tile.shape", "A loaded tile has tile_m queries, tile_n keys and the whole head dim; a mask or bias may have 1.",
      scope="unit")  # fmt: skip
def loaded_shapes(unit: Unit) -> Iterator[Finding]:
    shapes = {value.name: value.shape for value in unit.top.inputs}
    for place in unit.places:
        for node in place.region.nodes:
            if node.op == LOAD and node.attrs["source"] in shapes:
                wanted = _tile_shape(unit.top, place.region, node, shapes[node.attrs["source"]])
                pairs = zip(wanted, node.outputs[0].shape, strict=False)
                if any(isinstance(size, int) and isinstance(dim, int) and size != dim for size, dim in pairs):
                    message = f"node '{node.name}' loads a tile {_shape_text(node.outputs[0].shape)}"
                    hint = "sizes are those of the tile region, and 1 for an axis that the tensor has not"
                    yield Finding(f"{message}, it must be {_shape_text(wanted)}", node, hint=hint)


def _tile_shape(top: Any, tile: Region, node: MCNode, shape: Shape) -> Shape:
    """What a load must give; empty where its layout cannot be read, which another rule reports."""
    written = node.attrs.get("layout")
    try:
        layout = parse_layout(written) if written else stored_layout(top, node.attrs["source"], shape)
        axes = tile_axes(layout)
        known: dict[str, Dim] = {**label_sizes([(layout, shape)])}
    except ValueError:
        return ()
    known.update(q=tile.attrs["tile_m"], k=tile.attrs["tile_n"])
    return tuple(known.get(axis) if axis in layout.labels else 1 for axis in axes)


def _shape_text(shape: Shape) -> str:
    return f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"


def _is_semantic(op: str) -> bool:
    definition = lookup(op)
    return definition is not None and definition.level != "tile"
