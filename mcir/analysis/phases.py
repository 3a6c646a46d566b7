"""Phases and states of a tile region: what runs once a query tile, what once a key tile, what is carried.

    for each batch index, for each query tile:     # TileRegion
        prologue; state := init
        for each visible key tile:                 # StreamingRegion
            body
        epilogue

The phase of a node is inferred, never guessed from its position: a node that updates a state is body; else one that
depends on the streamed axis is body; else one that reads a final state is epilogue; else it is prologue. States are
declared by their ops: update_softmax carries max and sum, accumulate_output carries acc under the max of the one
update_softmax that reads the same score, store_tile of a carried acc finalises it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from mcir.analysis.axes import Layout, parse_layout, stored_layout, tile_axes
from mcir.nodes import MCNode
from mcir.regions import Region
from mcir.values import MCValue

# The labels that a stream axis runs along.
STREAM_LABELS = {"sequence": "k"}

Axes = tuple[str, ...]


class Phase(StrEnum):
    """When a node of a tile region runs."""

    PROLOGUE = "prologue"
    BODY = "body"
    EPILOGUE = "epilogue"


@dataclass(slots=True)
class Problem:
    """A node that makes the nest ill-formed, under the id of the rule that it breaks."""

    rule: str
    node: MCNode
    message: str
    hint: str = ""


@dataclass(slots=True)
class Nest:
    """One tile region with its phases, states and the axes of its values.

    layouts: of each load and store, by node name. axes: the labels of each value's axes ("q", "k"), by value name;
    empty for a scalar. softmax_of: for each accumulate_output and for each node that reads a carried acc, the
    update_softmax it goes with, by node name. problems: empty for a nest that can run.
    """

    region: Region
    stream: Region
    tile: Region
    phases: dict[str, Phase] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)
    axes: dict[str, Axes] = field(default_factory=dict)
    softmax_of: dict[str, MCNode] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def nodes(self, phase: Phase) -> list[MCNode]:
        """The nodes of one phase in text order."""
        return [node for node in self.tile.nodes if self.phases[node.name] is phase]

    def report(self, rule: str, node: MCNode, message: str, hint: str = "") -> None:
        self.problems.append(Problem(rule, node, message, hint))


def infer_nests(region: Region) -> list[Nest]:
    """The nest of every tile region under the execution region `region`, in text order. Linear time."""
    nests = []
    for stream in region.subregions:
        for tile in stream.subregions:
            nest = Nest(region, stream, tile)
            _Inference(nest).run()
            nests.append(nest)
    return nests


class _Inference:
    """One pass over the nodes in text order, then the rules that need all uses."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.shapes = {value.name: value.shape for value in [*nest.region.inputs, *nest.region.outputs]}
        self.stream_label = STREAM_LABELS.get(str(nest.stream.attrs.get("stream_axis", "sequence")), "")
        self.streamed: set[str] = set()  # values that differ from key tile to key tile
        self.final: set[str] = set()  # states, and what is computed from them
        self.carried: dict[str, MCNode] = {}  # state value -> the op that carries it
        self.readers: dict[str, list[MCNode]] = {}

    def run(self) -> None:
        for node in self.nest.tile.nodes:
            for value in node.inputs:
                self.readers.setdefault(value.name, []).append(node)
        for node in self.nest.tile.nodes:
            self._layout(node)
            self.nest.phases[node.name] = self._phase(node)
            axes = self._axes(node)
            self.nest.axes.update((value.name, axes[: len(value.shape)]) for value in node.outputs)
        for node in self.nest.tile.nodes:
            check = _STATE_RULES.get(node.op)
            if check is not None:
                check(self, node)
        self._finalised_once()

    def _layout(self, node: MCNode) -> None:
        """Enters the layout of a load or store: its own, or the region's."""
        name = node.attrs.get("source", node.attrs.get("target"))
        if node.op not in ("load_tile", "store_tile", "store_lse") or not isinstance(name, str):
            return
        if name not in self.shapes:
            what = "an input" if node.op == "load_tile" else "an output"
            self.nest.report("region.binding", node, f"'{name}' is not {what} of @{self.nest.region.name}")
            return
        shape, written = self.shapes[name], node.attrs.get("layout")
        try:
            layout = parse_layout(written) if written else stored_layout(self.nest.region, name, shape)
            if layout.rank != len(shape):
                raise ValueError(f"layout '{layout}' has {layout.rank} axes, '{name}' has {len(shape)}")
            tile_axes(layout)
        except ValueError as error:
            self.nest.report("region.layout", node, str(error))
            return
        self.nest.layouts[node.name] = layout

    def _phase(self, node: MCNode) -> Phase:
        results = [value.name for value in node.outputs]
        if node.op in ("update_softmax", "accumulate_output"):
            self.final.update(results)
            self.carried.update(dict.fromkeys(results, node))
            return Phase.BODY
        operands = {value.name for value in node.inputs}
        streamed = bool(operands & self.streamed) or self._streams_itself(node)
        final = bool(operands & self.final)
        if streamed and final:
            hint = "a state is final only after the last key tile"
            self.nest.report("state.streamed", node, f"{node.op} reads a state together with a streamed value", hint)
        if streamed:
            self.streamed.update(results)
            return Phase.BODY
        if final:
            self.final.update(results)
            return Phase.EPILOGUE
        return Phase.PROLOGUE

    def _streams_itself(self, node: MCNode) -> bool:
        """Loads along the streamed axis, and masks by position, differ from key tile to key tile."""
        layout = self.nest.layouts.get(node.name)
        if node.op == "load_tile":
            return layout is not None and self.stream_label in layout.labels
        return node.op == "mask" and node.attrs.get("kind", "boolean") != "boolean"

    def _axes(self, node: MCNode) -> Axes:
        """The labels of the result's axes; reports a node whose operands do not fit together."""
        operands = [self.nest.axes.get(value.name, ()) for value in node.inputs]
        rule = _AXES.get(node.op)
        if rule is not None:
            wanted, result = rule
            if operands != wanted and not self.nest.problems:
                got = ", ".join(f"[{' '.join(axes)}]" for axes in operands)
                expected = ", ".join(f"[{' '.join(axes)}]" for axes in wanted)
                self.nest.report("axes.operands", node, f"{node.op} takes tiles {expected}, got {got}")
            return result
        if node.op == "load_tile":
            layout = self.nest.layouts.get(node.name)
            return tile_axes(layout) if layout is not None else ()
        shaped = [axes for axes in operands if axes]
        if len(set(shaped)) > 1:
            got = ", ".join(f"[{' '.join(axes)}]" for axes in operands)
            self.nest.report("axes.operands", node, f"{node.op} mixes tiles of different axes: {got}")
        return shaped[0] if shaped else ()

    def _softmax_state(self, node: MCNode) -> None:
        if not self._is_streamed(node.inputs[0]):
            self.nest.report("state.stream", node, "the score of update_softmax does not depend on the streamed axis")
        updates = [reader for reader in self.readers[node.inputs[0].name] if reader.op == "update_softmax"]
        if len(updates) > 1 and updates[0] is not node:
            message = f"score %{node.inputs[0].name} has a second update_softmax"
            self.nest.report("state.single", node, message, f"@{updates[0].name} already carries its max and sum")

    def _output_state(self, node: MCNode) -> None:
        score, v = node.inputs
        updates = [reader for reader in self.readers[score.name] if reader.op == "update_softmax"]
        if not updates:
            message = f"accumulate_output reads %{score.name}, which no update_softmax reads"
            self.nest.report("state.shared", node, message, "max, sum and acc belong to one score")
        else:
            self.nest.softmax_of[node.name] = updates[0]
        if not self._is_streamed(v):
            self.nest.report("state.stream", node, f"%{v.name} does not depend on the streamed axis")

    def _store(self, node: MCNode) -> None:
        stored = node.inputs[0]
        if self._is_streamed(stored):
            message = f"%{stored.name} differs from key tile to key tile and leaves the body without a state"
            self.nest.report("state.escape", node, message, "only a carried state may be stored after the stream")
        elif self.nest.axes.get(stored.name) != ("q", "e"):
            axes = " ".join(self.nest.axes.get(stored.name, ()))
            self.nest.report("axes.operands", node, f"store_tile takes a tile [q e], got [{axes}]")
        producer = self.carried.get(stored.name)
        if producer is not None and producer.op == "accumulate_output":
            softmax = self.nest.softmax_of.get(producer.name)
            if softmax is not None:
                self.nest.softmax_of[node.name] = softmax

    def _store_lse(self, node: MCNode) -> None:
        top, total = (self.carried.get(value.name) for value in node.inputs)
        ordered = top is not None and [value.name for value in top.outputs] == [value.name for value in node.inputs]
        if top is None or top is not total or not ordered:
            self.nest.report("state.shared", node, "store_lse takes the max and the sum of one update_softmax")

    def _finalised_once(self) -> None:
        """Each carried acc is read by one store_tile, each max and sum by stores of the LSE at most."""
        for node in self.nest.tile.nodes:
            if node.op == "accumulate_output":
                stores = self._only_read_by(node.outputs[0], "store_tile")
                if stores != 1:
                    message = f"the carried output %{node.outputs[0].name} is finalised {stores} times, expected once"
                    self.nest.report("state.finalise", node, message, "store_tile divides it by the softmax sum")
            elif node.op == "update_softmax":
                for value in node.outputs:
                    self._only_read_by(value, "store_lse")

    def _only_read_by(self, value: MCValue, op: str) -> int:
        readers = self.readers.get(value.name, [])
        for reader in readers:
            if reader.op != op:
                message = f"{reader.op} reads the state %{value.name}, which only {op} may read"
                self.nest.report("state.finalise", reader, message)
        return sum(reader.op == op for reader in readers)

    def _is_streamed(self, value: MCValue) -> bool:
        return value.name in self.streamed


# Ops that demand certain axes: those of the operands, and of the result.
_AXES: dict[str, tuple[list[Axes], Axes]] = {
    "compute_score": ([("q", "d"), ("k", "d")], ("q", "k")),
    "update_softmax": ([("q", "k")], ("q",)),
    "accumulate_output": ([("q", "k"), ("k", "e")], ("q", "e")),
    "store_lse": ([("q",), ("q",)], ("q",)),
}

_STATE_RULES: dict[str, Callable[[_Inference, MCNode], None]] = {
    "update_softmax": _Inference._softmax_state,
    "accumulate_output": _Inference._output_state,
    "store_tile": _Inference._store,
    "store_lse": _Inference._store_lse,
}
