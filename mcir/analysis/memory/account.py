"""The memory account of execution regions: how many bytes move, what is live, next to two other ways of doing the work.

    account = account_region(module, region)
    account.streaming.read + account.streaming.written      # bytes, exact
    account.compulsory.total, account.op_by_op.total
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcir.analysis.memory.formulas import closed_form
from mcir.analysis.memory.live import LiveBytes, live_bytes
from mcir.analysis.memory.moves import Move, compulsory, nest_moves
from mcir.analysis.memory.op_by_op import OpByOp, covered_nodes, graph_of, op_by_op
from mcir.analysis.memory.sizes import Dims, Sizes, region_sizes, value_bytes
from mcir.analysis.memory.symbolic import Number, maximum, names_of
from mcir.analysis.memory.visible import Span, nest_spans
from mcir.analysis.memory.walk import Totals, walk_nest
from mcir.analysis.phases import Nest, infer_nests
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.module import MCModule
from mcir.regions import Region


@dataclass(frozen=True, slots=True)
class Traffic:
    """Global bytes."""

    read: Number
    written: Number

    @property
    def total(self) -> Number:
        return self.read + self.written


@dataclass(slots=True)
class NestAccount:
    """One tile region: tile sizes in elements, totals, loads and stores, what it holds on chip, what it may skip."""

    nest: Nest
    tile_m: int
    tile_n: int
    totals: Totals
    moves: list[Move]
    live: LiveBytes
    spans: list[Span]


@dataclass(slots=True)
class RegionAccount:
    """One execution region. `op_by_op` is None where no graph is known; `nests` is empty before lowering."""

    region: Region
    graph: str
    sizes: Sizes
    nests: list[NestAccount]
    compulsory: Traffic
    op_by_op: OpByOp | None

    @property
    def streaming(self) -> Traffic | None:
        """What all nests move together; None before lowering."""
        if not self.nests:
            return None
        return Traffic(
            sum((each.totals.read for each in self.nests), start=0),
            sum((each.totals.written for each in self.nests), start=0),
        )

    @property
    def flops(self) -> Number:
        return sum((each.totals.flops for each in self.nests), start=0)

    @property
    def steps(self) -> Number:
        return sum((each.totals.steps for each in self.nests), start=0)

    @property
    def all_steps(self) -> Number:
        return sum((each.totals.all_steps for each in self.nests), start=0)

    def live(self, residency: str) -> Number:
        """The most bytes of `residency` that one tile holds at a time: nests run one after the other."""
        most: Number = 0
        for each in self.nests:
            most = maximum(most, each.live.peak.get(residency, 0))
        return most

    def unknown(self) -> set[str]:
        """The names of sizes that the account is a formula of."""
        totals = [self.compulsory.total, self.steps, self.flops, self.live("shared"), self.live("register")]
        if self.streaming is not None:
            totals.append(self.streaming.total)
        if self.op_by_op is not None:
            totals.append(self.op_by_op.total)
        return set().union(*map(names_of, totals))


@dataclass(frozen=True, slots=True)
class Tiles:
    """Tile sizes to count with in place of a nest's own; None keeps that."""

    tile_m: int | None = None
    tile_n: int | None = None


OWN_TILES = Tiles()


def account_module(module: MCModule, dims: Dims | None = None, tiles: Tiles = OWN_TILES) -> list[RegionAccount]:
    """The accounts of every execution region, in order. Raises MCIRError as `account_region` does."""
    return [account_region(module, region, dims, tiles) for region in module.regions if region.kind == "execution"]


def account_region(
    module: MCModule, region: Region, dims: Dims | None = None, tiles: Tiles = OWN_TILES
) -> RegionAccount:  # fmt: skip
    """The account of one region. `dims` gives sizes by dimension name; what stays unnamed makes formulas.

    Raises MCIRError for a nest that cannot run and for sizes that contradict each other.
    """
    given: Mapping[str, int] = dims or {}
    nests = infer_nests(region)
    faults = [
        Diagnostic(problem.message, problem.node.loc, hint=problem.hint, rule=problem.rule)
        for nest in nests
        for problem in nest.problems
    ]
    if faults:
        raise MCIRError(faults)
    sizes = region_sizes(region, nests, given)
    accounts = [_account_nest(nest, sizes, tiles) for nest in nests]
    graph = graph_of(module, region)
    covered = covered_nodes(graph, region) if graph is not None else []
    return RegionAccount(
        region, graph.name if graph is not None else "", sizes, accounts,
        _compulsory(region, accounts, sizes), op_by_op(covered, given) if covered else None,
    )  # fmt: skip


def _account_nest(nest: Nest, sizes: Sizes, tiles: Tiles) -> NestAccount:
    tile_m = _tile(nest, "tile_m", tiles.tile_m, sizes.label("q"))
    tile_n = _tile(nest, "tile_n", tiles.tile_n, sizes.label("k"))
    moves, spans = nest_moves(nest, sizes), nest_spans(nest)
    return NestAccount(
        nest, tile_m, tile_n, _totals(nest, moves, sizes, spans, tile_m, tile_n), moves,
        live_bytes(nest, sizes, tile_m, tile_n), spans,
    )  # fmt: skip


def _tile(nest: Nest, name: str, wanted: int | None, extent: Number) -> int:
    """A tile size; one asked for is clipped to a known extent, as the lowering does."""
    if wanted is not None:
        return max(1, min(wanted, extent)) if isinstance(extent, int) else wanted
    written = nest.tile.attrs.get(name)
    if not isinstance(written, int) or written < 1:
        raise MCIRError(Diagnostic(f"@{nest.tile.name} has no {name}", nest.tile.loc, rule="tile.size"))
    return written


def _totals(
    nest: Nest, moves: list[Move], sizes: Sizes, spans: list[Span], tile_m: int, tile_n: int
) -> Totals:  # fmt: skip
    if not nest.tile.nodes:
        return Totals()
    labels = {"q", "k"}.union(*(layout.labels for layout in nest.layouts.values()))
    needed = [sizes.label(label) for label in sorted(labels)]
    if all(isinstance(size, int) for size in needed):
        return walk_nest(nest, moves, sizes, spans, tile_m, tile_n)
    if len(spans) > 1:
        names = sorted(set().union(*map(names_of, needed)))
        message = f"@{nest.tile.name} has several softmaxes under different masks: no formula, only numbers"
        raise MCIRError(Diagnostic(message, nest.tile.loc, hint=f"--dim {names[0]}=SIZE", rule="memory.sizes"))
    return closed_form(nest, moves, sizes, spans[0], tile_m, tile_n)


def _compulsory(region: Region, nests: list[NestAccount], sizes: Sizes) -> Traffic:
    """Before lowering nothing says what a mask hides: every input is read as a whole."""
    if not nests:
        read, written = (
            sum((sizes.tensor(value) * value_bytes(value) for value in {v.name: v for v in side}.values()), start=0)
            for side in (region.inputs, region.outputs)
        )
        return Traffic(read, written)
    bounds = [compulsory(each.moves, sizes, each.spans) for each in nests]
    return Traffic(sum((bound[0] for bound in bounds), start=0), sum((bound[1] for bound in bounds), start=0))
