"""Does a tile fit on a target? And if it does not, what is the largest tile that would?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcir.analysis.memory.account import NestAccount, RegionAccount, account_region
from mcir.analysis.memory.live import live_bytes
from mcir.analysis.memory.symbolic import Number
from mcir.analysis.memory.targets import Target, find_target
from mcir.diagnostics import Diagnostic, Note
from mcir.module import MCModule
from mcir.regions import Region

_MOST = 1 << 20  # tile sizes beyond this are not searched


@dataclass(frozen=True, slots=True)
class Fit:
    """What one tile region needs of a target and may use at most, in bytes; needs may be formulas."""

    nest: NestAccount
    target: Target
    shared: Number
    registers: Number

    @property
    def fits(self) -> bool | None:
        """Whether shared memory suffices; None where that depends on a size without a value."""
        return self.shared <= self.target.shared_bytes if isinstance(self.shared, int) else None

    @property
    def registers_fit(self) -> bool | None:
        """Whether the registers suffice, with as many threads as a block may have."""
        return self.registers <= self.target.register_bytes if isinstance(self.registers, int) else None


def fit(nest: NestAccount, target: Target) -> Fit:
    """What the nest needs, next to what the target has."""
    return Fit(nest, target, nest.live.peak.get("shared", 0), nest.live.peak.get("register", 0))


def fit_diagnostics(accounts: list[RegionAccount], target: Target) -> list[Diagnostic]:
    """An error for each tile that needs more shared memory than a block has, listing its values; a warning for each
    that needs more registers, which a compiler would spill."""
    found = []
    for account in accounts:
        for nest in account.nests:
            found += _nest_diagnostics(account, nest, target)
    return found


def misfits(region: Region, target_name: str) -> list[Diagnostic]:
    """The errors of `fit_diagnostics` for one lowered region. Raises MCIRError for an unknown target."""
    target = find_target(target_name)
    account = account_region(MCModule(regions=[region]), region)
    return [each for each in fit_diagnostics([account], target) if each.severity == "error"]


def _nest_diagnostics(account: RegionAccount, nest: NestAccount, target: Target) -> list[Diagnostic]:
    here, found = fit(nest, target), []
    where = nest.nest.tile.loc or account.region.loc
    if here.fits is False:
        what = f"a tile of @{nest.nest.tile.name} needs {here.shared:,} bytes of shared memory"
        found.append(Diagnostic(
            f"{what}, a block on {target.name} has {target.shared_bytes:,}", where,
            hint=largest_text(account, nest, target), rule="memory.shared", notes=_value_notes(nest, "shared"),
        ))  # fmt: skip
    if here.registers_fit is False:
        what = f"a tile of @{nest.nest.tile.name} needs {here.registers:,} bytes of registers"
        found.append(Diagnostic(
            f"{what}, a block on {target.name} has {target.register_bytes:,}", where, "warning",
            rule="memory.registers", notes=_value_notes(nest, "register"),
        ))  # fmt: skip
    return found


def _value_notes(nest: NestAccount, residency: str) -> list[Note]:
    """Each value that is live where most is, largest first."""
    names = sorted(nest.live.at_peak[residency], key=lambda name: -_known(nest.live.bytes[name]))
    return [
        Note(f"%{name} takes {_known(nest.live.bytes[name]):,} bytes", nest.live.values[name].loc) for name in names
    ]


def largest_text(account: RegionAccount, nest: NestAccount, target: Target) -> str:
    """Which tile sizes would fit, in words: the largest of one while the other stays."""
    rows = largest_tile(lambda size: _shared(account, nest, size, nest.tile_n), target)
    keys = largest_tile(lambda size: _shared(account, nest, nest.tile_m, size), target)
    choices = []
    if rows:
        choices.append(f"tile-m={rows} with tile-n={nest.tile_n}")
    if keys:
        choices.append(f"tile-n={keys} with tile-m={nest.tile_m}")
    if choices:
        return f"the largest that fit: {' or '.join(choices)}"
    both = largest_tile(lambda size: _shared(account, nest, size, size), target)
    return f"the largest square tile that fits: tile-m={both} tile-n={both}" if both else "no tile size fits"


def largest_tile(needed: Callable[[int], int], target: Target) -> int:
    """The largest size whose need, which grows with it, fits the target's shared memory; 0 for none."""
    low, high = 0, _MOST
    while low < high:
        middle = (low + high + 1) // 2
        if needed(middle) <= target.shared_bytes:
            low = middle
        else:
            high = middle - 1
    return low


def _shared(account: RegionAccount, nest: NestAccount, tile_m: int, tile_n: int) -> int:
    return _known(live_bytes(nest.nest, account.sizes, tile_m, tile_n).peak["shared"])


def _known(number: Number) -> int:
    if not isinstance(number, int):
        raise TypeError(f"{number} is not a number of bytes yet")
    return number
