"""Tile choices side by side: what each moves, holds on chip, and whether it fits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from mcir.analysis.memory.account import RegionAccount, Tiles, account_region
from mcir.analysis.memory.fit import fit
from mcir.analysis.memory.report import aligned, grouped, plain, ratio
from mcir.analysis.memory.sizes import Dims
from mcir.analysis.memory.targets import Target
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.module import MCModule
from mcir.text import name_text

Comparison = list[tuple[str, list[RegionAccount]]]


def compare_tiles(module: MCModule, rows: Sequence[int], keys: Sequence[int], dims: Dims) -> Comparison:
    """For each lowered region its name and its accounts under every pair of tile sizes.

    An empty sequence keeps a region's own size. Raises MCIRError when no region is lowered.
    """
    no_choice: Sequence[int | None] = [None]
    choices = [Tiles(tile_m, tile_n) for tile_m, tile_n in product(rows or no_choice, keys or no_choice)]
    lowered = [region for region in module.regions if region.kind == "execution" and region.subregions]
    if not lowered:
        hint = "mcir-opt --attention-pattern --streaming-lowering"
        raise MCIRError(Diagnostic("no region has tiles to compare", hint=hint, rule="memory.compare"))
    return [(region.name, [account_region(module, region, dims, each) for each in choices]) for region in lowered]


def comparison_text(comparison: Comparison, target: Target | None = None) -> str:
    """One table for each region, a line for each choice."""
    blocks = []
    for name, accounts in comparison:
        head = ["tile-m", "tile-n", "steps", "global bytes", "x compulsory", "flops a byte", "shared", "registers"]
        table = [[*head, f"fits {target.name}"] if target else head]
        table += [_row(account, target) for account in accounts]
        blocks.append("\n".join([f"tiles of @{name_text(name)}", *(f"  {line}" for line in aligned(table, 0))]) + "\n")
    return "\n".join(blocks)


def comparison_record(comparison: Comparison, target: Target | None = None) -> list[dict[str, Any]]:
    """The comparison as JSON data."""
    return [
        {"region": name, "choices": [_choice(account, target) for account in accounts]} for name, accounts in comparison
    ]


def _choice(account: RegionAccount, target: Target | None) -> dict[str, Any]:
    record: dict[str, Any] = {
        "tile_m": [nest.tile_m for nest in account.nests], "tile_n": [nest.tile_n for nest in account.nests],
        "steps": plain(account.steps), "bytes": plain(_total(account)),
        "over_compulsory": ratio(_total(account), account.compulsory.total),
        "flops_per_byte": ratio(account.flops, _total(account)),
        "shared": plain(account.live("shared")), "register": plain(account.live("register")),
    }  # fmt: skip
    if target is not None:
        record["fits"] = _fits(account, target)
    return record


def _row(account: RegionAccount, target: Target | None) -> list[str]:
    sizes = [",".join(str(getattr(nest, name)) for nest in account.nests) for name in ("tile_m", "tile_n")]
    numbers = [account.steps, _total(account)]
    quotients = [ratio(_total(account), account.compulsory.total), ratio(account.flops, _total(account))]
    cells = [*sizes, *map(grouped, numbers), *(f"{each:.2f}" if each is not None else "" for each in quotients)]
    cells += [grouped(account.live("shared")), grouped(account.live("register"))]
    if target is not None:
        cells.append({True: "yes", False: "no", None: "?"}[_fits(account, target)])
    return cells


def _total(account: RegionAccount) -> Any:
    return account.streaming.total if account.streaming is not None else 0


def _fits(account: RegionAccount, target: Target) -> bool | None:
    verdicts = [fit(nest, target).fits for nest in account.nests]
    return False if False in verdicts else None if None in verdicts else True
