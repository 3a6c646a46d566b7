"""Runs a lowered region by its inferred phases: the loop nest that `analysis/phases.py` describes.

All batch indices run at once: arrays have the batch axes in front of the tile's rows and columns, of size one where a
tensor has not the label (grouped keys, shared masks). Padding is poisoned with NaN before a load, so that a missing
fill cannot pass. Key and query tiles may have other sizes, and the key tiles another order, than the text says:
the result must not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mcir.analysis.axes import RESERVED, Layout, axis_size, batch_labels, label_sizes, tile_axes
from mcir.analysis.phases import Nest, Phase, infer_nests
from mcir.analysis.visibility import visible_tiles
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.interpreter.arrays import as_mode, cut, from_canonical, to_canonical
from mcir.interpreter.graph import MEMORY_LIMIT, bind_dims, check_arrays
from mcir.interpreter.numerics import Array, Numerics
from mcir.nodes import MCNode
from mcir.ops.definition import EvalContext, lookup
from mcir.regions import Region
from mcir.types import TensorType

# In what order the visible key tiles 0 ... n-1 are streamed.
ORDERS: dict[str, Callable[[list[int]], list[int]]] = {
    "forward": lambda tiles: tiles,
    "backward": lambda tiles: tiles[::-1],
    "inside out": lambda tiles: tiles[len(tiles) // 2 :] + tiles[: len(tiles) // 2],
}

Meanings = dict[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a nest runs: tile sizes (None: as the text says), order of the key tiles, other meanings of ops (tests)."""

    tile_m: int | None = None
    tile_n: int | None = None
    tile_k: int | None = None
    order: str = "forward"
    meanings: Meanings = field(default_factory=dict)

    def tile(self, nest: Nest, name: str) -> int:
        chosen = getattr(self, name)
        return int(nest.tile.attrs[name] if chosen is None else chosen)


def run_region(
    region: Region, inputs: dict[str, Array], mode: str = "typed", *,
    schedule: Schedule | None = None, numerics: Numerics | None = None, memory_limit: int = MEMORY_LIMIT,
) -> dict[str, Array]:  # fmt: skip
    """The outputs of a lowered region by name.

    inputs: an array for every input of the region. Raises MCIRError for missing, extra or misfit arrays, a region
    that is not lowered, an ill-formed nest, sizes that disagree, and memory beyond the limit.
    """
    numerics = numerics or Numerics(mode)
    check_arrays(inputs, region.inputs, [], f"region @{region.name}", numerics)
    nests = runnable_nests(region)
    _check_mask(region, nests)
    known = bind_dims([(value, inputs[value.name].shape) for value in region.inputs])
    held = {value.name: as_mode(inputs[value.name], numerics.dtype(value.dtype)) for value in region.inputs}
    outputs: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for nest in nests:
            layouts, sizes = _bound(nest, inputs, known)
            outputs |= _NestRun(nest, layouts, held, sizes, numerics, schedule or Schedule(), memory_limit).run()
    missing = [value.name for value in region.outputs if value.name not in outputs]
    if missing:
        raise MCIRError(Diagnostic(f"region @{region.name} never stores '{missing[0]}'", region.loc))
    return {value.name: outputs[value.name] for value in region.outputs}


def runnable_nests(region: Region) -> list[Nest]:
    """The nests of a region. Raises MCIRError if it is not lowered, or its phases or states are ill-formed."""
    nests = infer_nests(region)
    if not nests:
        message = f"region @{region.name} is not lowered: it has no tile region"
        raise MCIRError(Diagnostic(message, region.loc, hint="mcir-opt --streaming-lowering"))
    faults = [
        Diagnostic(problem.message, problem.node.loc, hint=problem.hint, rule=problem.rule)
        for nest in nests
        for problem in nest.problems
    ]
    if faults:
        raise MCIRError(faults)
    return nests


def _check_mask(region: Region, nests: list[Nest]) -> None:
    """A region made by hand may say has_mask without saying which mask: running it without one would be wrong."""
    if region.attrs.get("has_mask") is True and not any(map(_changes_scores, nests)):
        message = f"region @{region.name} has a mask, but none of its nodes masks"
        raise MCIRError(Diagnostic(message, region.loc, hint='compute_score takes mask = "causal"'))


def _changes_scores(nest: Nest) -> bool:
    """Whether a node adds to, selects from or masks the scores."""
    return any(
        (node.op == "compute_score" and "mask" in node.attrs)
        or (nest.axes.get(node.outputs[0].name) == ("q", "k") and node.op not in ("compute_score", "load_tile"))
        for node in nest.tile.nodes
        if node.outputs
    )


def _bound(
    nest: Nest, inputs: dict[str, Array], known: dict[str, int]
) -> tuple[dict[str, Layout], dict[str, int]]:
    """(the layouts by node, the size of every label).

    A batch axis, and each axis of a mask or bias, may be of size one and so hold for all: NumPy's rule. Where a type
    does not tell, because the size was unknown, the layout names the label all the same: then it is left out here.
    """
    declared = {value.name: value.shape for value in nest.region.outputs}
    shapes: dict[str, tuple[Any, ...]] = {}
    for node in nest.tile.nodes:
        if node.op == "load_tile":
            shapes[node.name] = inputs[node.attrs["source"]].shape
        elif node.name in nest.layouts:
            dims = declared[node.attrs["target"]]
            shapes[node.name] = tuple(known.get(dim, dim) if isinstance(dim, str) else dim for dim in dims)
    layouts = dict(nest.layouts)
    written = _written_extents(nest.region, known)
    try:
        sizes = _label_sizes(layouts, shapes, written)
    except ValueError as error:
        loads = {node.name for node in nest.tile.nodes if node.op == "load_tile"}
        layouts |= {name: _broadcast(layouts[name], shapes[name]) for name in loads}
        try:
            sizes = _label_sizes(layouts, shapes, written)
        except ValueError:
            raise MCIRError(Diagnostic(f"region @{nest.region.name}: {error}", nest.tile.loc)) from None
    for label in dict.fromkeys(label for layout in nest.layouts.values() for label in layout.labels):
        if label not in sizes:
            raise MCIRError(Diagnostic(f"region @{nest.region.name}: the size of '{label}' is unknown", nest.tile.loc))
    return layouts, sizes


def _label_sizes(
    layouts: dict[str, Layout], shapes: dict[str, tuple[Any, ...]], written: dict[str, int]
) -> dict[str, int]:
    """What the arrays fix; `written` sizes for what they do not, as h and q where all tensors have `(h q)`."""
    bindings = [(layout, shapes[name]) for name, layout in layouts.items()]
    sizes = label_sizes(bindings)
    open_labels = {label for layout in layouts.values() for label in layout.labels} - sizes.keys()
    return label_sizes(bindings, {**sizes, **{label: written[label] for label in open_labels & written.keys()}})


def _written_extents(region: Region, known: dict[str, int]) -> dict[str, int]:
    """The sizes in the region's `extents`, by name those that the inputs fix."""
    written = region.attrs.get("extents")
    if not isinstance(written, dict):
        return {}
    sizes = {label: known.get(size) if isinstance(size, str) else size for label, size in written.items()}
    return {label: size for label, size in sizes.items() if isinstance(size, int)}


def _broadcast(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """The layout without the labels of axes that hold for all."""
    own = set() if tile_axes(layout) == ("q", "k") else set(RESERVED)
    groups = zip(layout.groups, shape, strict=True)
    return Layout(tuple(() if size == 1 and not own.intersection(group) else group for group, size in groups))


class _NestRun:
    """One nest over one set of arrays."""

    def __init__(
        self, nest: Nest, layouts: dict[str, Layout], inputs: dict[str, Array], sizes: dict[str, int],
        numerics: Numerics, schedule: Schedule, memory_limit: int,
    ) -> None:  # fmt: skip
        self.nest, self.layouts, self.sizes, self.numerics, self.schedule = nest, layouts, sizes, numerics, schedule
        self.tile_m, self.tile_n, self.tile_k = (schedule.tile(nest, f"tile_{axis}") for axis in "mnk")
        stored = [layouts[node.name] for node in nest.tile.nodes if node.op in ("store_tile", "store_lse")]
        self.batch = batch_labels([*stored, *nest.layouts.values()])
        self.values: dict[str, Array] = {}
        self.before: dict[str, Array] = {}  # per update_softmax, the maximum before its step
        self.rows = self.cols = np.arange(0)
        self.sources = {
            node.name: self._canonical(inputs[node.attrs["source"]], layouts[node.name])
            for node in nest.tile.nodes
            if node.op == "load_tile"
        }
        self._check_memory(memory_limit)
        self.stored = {
            node.name: np.full(self._stored_shape(node), np.nan, numerics.dtype(node.outputs[0].dtype))
            for node in nest.tile.nodes
            if node.op in ("store_tile", "store_lse")
        }

    def run(self) -> dict[str, Array]:
        """The stored outputs by name, in stored order."""
        queries, keys = self.sizes.get("q", 1), self.sizes.get("k", 0)
        prologue, body, epilogue = (self.nest.nodes(phase) for phase in Phase)
        for start in range(0, queries, self.tile_m):
            self.rows = np.arange(start, start + self.tile_m)
            self._run_nodes(prologue)
            self._initialise()
            visible = visible_tiles(self.nest, range(start, min(queries, start + self.tile_m)), keys, self.tile_n)
            for tile in ORDERS[self.schedule.order](visible):
                self.cols = np.arange(tile * self.tile_n, (tile + 1) * self.tile_n)
                self._run_nodes(body)
            self._run_nodes(epilogue)
        return {
            node.attrs["target"]: from_canonical(
                self.stored[node.name], self.layouts[node.name], self._stored_labels(node), self.sizes
            )
            for node in self.nest.tile.nodes
            if node.name in self.stored
        }

    def _initialise(self) -> None:
        """m = -inf, l = 0, acc = 0 for every row."""
        front = (1,) * len(self.batch)
        for node in self.nest.tile.nodes:
            if node.op == "update_softmax":
                top, total = node.outputs
                self.values[top.name] = np.full((*front, self.tile_m), -np.inf, self.numerics.dtype(top.dtype))
                self.values[total.name] = np.zeros((*front, self.tile_m), self.numerics.dtype(total.dtype))
            elif node.op == "accumulate_output":
                (acc,) = node.outputs
                shape = (*front, self.tile_m, self.sizes.get("e", 1))
                self.values[acc.name] = np.zeros(shape, self.numerics.dtype(acc.dtype))

    def _run_nodes(self, nodes: list[MCNode]) -> None:
        for node in nodes:
            results = self._run_node(node)
            for value, array in zip(node.outputs, results, strict=True):
                self.values[value.name] = array
            if node.name in self.stored:
                self._store(node, results[0])

    def _run_node(self, node: MCNode) -> tuple[Array, ...]:
        op = lookup(node.op)
        if op is None or op.evaluate is None:
            raise MCIRError(Diagnostic(f'not runnable: op "{node.op}"', node.loc))
        results = [TensorType(value.shape, value.dtype, value.residency) for value in node.outputs]
        context = self.numerics.context(op, node.attrs, results, self.rows, self.cols)
        context.extra = {"keys": self.sizes.get("k", 0), "tile_k": self.tile_k}
        _EXTRA.get(node.op, _nothing)(self, node, context)
        operands = [self.values[value.name] for value in node.inputs]
        missing = len(op.operands) - len(operands)
        evaluate = self.schedule.meanings.get(node.op, op.evaluate)
        try:
            result = evaluate(context, *operands, *[None] * missing)
        except (ValueError, TypeError, IndexError) as error:
            raise MCIRError(Diagnostic(f"{node.op} @{node.name} cannot run: {error}", node.loc)) from None
        return result if isinstance(result, tuple) else (result,)

    def _load_extra(self, node: MCNode, context: EvalContext) -> None:
        """The tile with poisoned padding, and where it is real."""
        tile, valid = self.sources[node.name], np.True_
        labels = self.layouts[node.name].labels
        for at, label in enumerate(tile_axes(self.layouts[node.name]), start=len(self.batch)):
            positions = {"q": self.rows, "k": self.cols}.get(label)
            if positions is not None and label in labels:
                tile, real = cut(tile, at, int(positions[0]), len(positions))
                valid = valid & real
        context.extra.update(tile=tile, valid=valid)

    def _softmax_extra(self, node: MCNode, context: EvalContext) -> None:
        top, total = (self.values[value.name] for value in node.outputs)
        self.before[node.name] = top
        context.extra["state"] = (top, total)

    def _accumulate_extra(self, node: MCNode, context: EvalContext) -> None:
        softmax = self.nest.softmax_of[node.name]
        context.extra["state"] = self.values[node.outputs[0].name]
        context.extra["weights"] = (self.before[softmax.name], self.values[softmax.outputs[0].name])

    def _store_extra(self, node: MCNode, context: EvalContext) -> None:
        softmax = self.nest.softmax_of.get(node.name)
        if softmax is not None:
            context.extra["sum"] = self.values[softmax.outputs[1].name]

    def _store(self, node: MCNode, tile: Array) -> None:
        """Writes the rows that exist."""
        axis = len(self.batch)
        stored = self.stored[node.name]
        count = min(self.tile_m, stored.shape[axis] - int(self.rows[0]))
        front = (slice(None),) * axis
        stored[(*front, slice(int(self.rows[0]), int(self.rows[0]) + count))] = tile[(*front, slice(0, count))]

    def _canonical(self, array: Array, layout: Layout) -> Array:
        return to_canonical(array, layout, self.batch + tile_axes(layout), self.sizes)

    def _stored_labels(self, node: MCNode) -> tuple[str, ...]:
        return self.batch + (("q", "e") if node.op == "store_tile" else ("q",))

    def _stored_shape(self, node: MCNode) -> tuple[int, ...]:
        return tuple(self.sizes[label] for label in self._stored_labels(node))

    def _check_memory(self, limit: int) -> None:
        """Before work begins: scores, weights, accumulators and outputs of all batch indices at once."""
        batch = axis_size(self.batch, self.sizes)
        wide = self.tile_n * 3 + self.sizes.get("e", 1) * 3 + self.sizes.get("d", 1)
        need = batch * (self.tile_m * wide + self.sizes.get("q", 1) * self.sizes.get("e", 1)) * 8
        if need > limit:
            message = f"region @{self.nest.region.name} would need {need >> 20} MiB, the limit is {limit >> 20} MiB"
            raise MCIRError(Diagnostic(message, self.nest.region.loc, hint="raise --memory-limit"))


def _nothing(run: _NestRun, node: MCNode, context: EvalContext) -> None:
    """Most ops need nothing of the nest but positions."""


_EXTRA: dict[str, Callable[[_NestRun, MCNode, EvalContext], None]] = {
    "load_tile": _NestRun._load_extra,
    "update_softmax": _NestRun._softmax_extra,
    "accumulate_output": _NestRun._accumulate_extra,
    "store_tile": _NestRun._store_extra,
}
