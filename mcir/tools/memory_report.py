"""The memory account as tools show it: sizes from `--dim`, limits from `--target`, tile choices from `--compare`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mcir.analysis.memory import account_module, find_target
from mcir.analysis.memory.compare import compare_tiles, comparison_record, comparison_text
from mcir.analysis.memory.fit import fit_diagnostics
from mcir.analysis.memory.report import module_record, report_text
from mcir.diagnostics import Diagnostic, MCIRError, did_you_mean
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.regions import Region
from mcir.tools.report import json_line

COMPARED = ("tile-m", "tile-n")

_CHOICES = re.compile(r"(tile-[a-z]+)=([0-9]+(?:,[0-9]+)*)")
_MOST_CHOICES = 1000


@dataclass(slots=True)
class MemoryReport:
    """What there is to print, and the verdicts of a target: errors where a tile does not fit."""

    text: str
    diagnostics: list[Diagnostic] = field(default_factory=list)


def memory_report(
    module: MCModule, style: str, target_name: str = "", dims: dict[str, int] | None = None
) -> MemoryReport:  # fmt: skip
    """The report on a valid module; `style` is "text", "json" or "" for no text. Raises MCIRError."""
    dims = dims or {}
    target = find_target(target_name) if target_name else None
    accounts = account_module(module, dims)
    diagnostics = list(_unused(module, dims))
    if target is not None:
        diagnostics += fit_diagnostics(accounts, target)
    if not style:
        return MemoryReport("", diagnostics)
    text = json_line(module_record(accounts, target)) + "\n" if style == "json" else report_text(accounts, target)
    return MemoryReport(text, diagnostics)


def comparison_report(
    module: MCModule, style: str, choices: dict[str, list[int]], target_name: str = "",
    dims: dict[str, int] | None = None,
) -> MemoryReport:  # fmt: skip
    """The table of tile choices, of which a target refuses none: it says which fit. Raises MCIRError."""
    dims = dims or {}
    target = find_target(target_name) if target_name else None
    comparison = compare_tiles(module, choices.get("tile-m", ()), choices.get("tile-n", ()), dims)
    text = comparison_text(comparison, target)
    if style == "json":
        text = json.dumps(comparison_record(comparison, target)) + "\n"
    return MemoryReport(text, list(_unused(module, dims)))


def read_dims(texts: Iterable[str]) -> dict[str, int]:
    """Sizes by dimension name from `seq=4096,batch=2`. Raises MCIRError."""
    dims: dict[str, int] = {}
    for part in ",".join(texts).split(","):
        name, equals, size = part.rpartition("=")
        if not part:
            continue
        if not equals or not name or not size.isdecimal() or not size.isascii() or len(size) > 18:
            raise MCIRError(Diagnostic(f"--dim takes NAME=SIZE, not '{part[:40]}'", hint="--dim=seq=4096,batch=2"))
        dims[name] = int(size)
    return dims


def read_choices(text: str) -> dict[str, list[int]]:
    """Tile sizes to compare from `tile-m=64,128 tile-n=32,64`. Raises MCIRError."""
    choices: dict[str, list[int]] = {}
    for part in text.split():
        match = _CHOICES.fullmatch(part)
        if match is None or match[1] not in COMPARED:
            hint = "tile-k splits the contraction: it moves no bytes" if part.startswith("tile-k") else ""
            wanted = "tile-m=64,128 tile-n=32,64"
            raise MCIRError(Diagnostic(f"--compare takes {wanted}, not '{part[:40]}'", hint=hint))
        choices[match[1]] = [int(size) for size in match[2].split(",") if len(size) < 10]
        if not all(choices[match[1]]) or len(choices[match[1]]) != match[2].count(",") + 1:
            raise MCIRError(Diagnostic(f"--compare: '{part[:40]}' has a size that is no tile size"))
    if not choices:
        raise MCIRError(Diagnostic("--compare takes tile-m=64,128 tile-n=32,64"))
    if max(map(len, choices.values())) ** len(choices) > _MOST_CHOICES:
        raise MCIRError(Diagnostic(f"--compare: more than {_MOST_CHOICES} choices"))
    return choices


def _unused(module: MCModule, dims: dict[str, int]) -> Iterator[Diagnostic]:
    """A warning for each size that belongs to no dimension of the module: a misspelt name would do nothing."""
    wanted = [name for name in dims if not name.startswith("?")]
    known = _dimension_names(module) if wanted else set()
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known) or f"it has: {', '.join(sorted(known)[:20]) or 'none'}"
            yield Diagnostic(f"no dimension is called '{name}'", severity="warning", hint=hint, rule="memory.sizes")


def _dimension_names(module: MCModule) -> set[str]:
    holders: list[SemanticGraph | Region] = [*module.graphs, *module.walk()]
    values = [value for holder in holders for value in [*holder.inputs, *holder.outputs]]
    values += [value for holder in holders for node in holder.nodes for value in node.outputs]
    named = {dim for value in values for dim in value.shape if isinstance(dim, str)}
    for region in module.regions:
        extents = region.attrs.get("extents")
        if isinstance(extents, dict):
            named.update(size for size in extents.values() if isinstance(size, str))
    return named
