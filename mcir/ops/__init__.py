"""Op definitions. Importing this room registers every op; a new op file is found by itself."""

from __future__ import annotations

import importlib
import pkgutil

from mcir.ops.definition import OpDef, all_ops, lookup

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["OpDef", "all_ops", "lookup"]
