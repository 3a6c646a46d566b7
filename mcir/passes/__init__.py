"""Passes. Importing this room registers every pass; a new pass file is found by itself."""

from __future__ import annotations

import importlib
import pkgutil

from mcir.passes.base import ModulePass, Remark, register_pass, registered_passes
from mcir.passes.statistic import Statistic, StatisticBy

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["ModulePass", "Remark", "Statistic", "StatisticBy", "register_pass", "registered_passes"]
