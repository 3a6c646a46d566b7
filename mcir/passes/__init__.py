"""Passes. `registered_passes` finds every pass file in this room; `find_pass` imports no more than it needs."""

from __future__ import annotations

from mcir.passes.base import ModulePass, Remark, find_pass, option, register_pass, registered_passes
from mcir.passes.statistic import Statistic, StatisticBy

__all__ = [
    "ModulePass", "Remark", "Statistic", "StatisticBy", "find_pass", "option", "register_pass", "registered_passes",
]  # fmt: skip
