"""The memory account: bytes that move, bytes that live, and whether they fit. Counting, no cost model."""

from mcir.analysis.memory.account import RegionAccount, Tiles, account_module, account_region
from mcir.analysis.memory.targets import TARGETS, Target, find_target

__all__ = ["TARGETS", "RegionAccount", "Target", "Tiles", "account_module", "account_region", "find_target"]
