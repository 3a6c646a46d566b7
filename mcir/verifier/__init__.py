"""The verifier: rules as data (`rules.py` says how) and the driver that runs them.

Importing this room registers every rule; a new rule file is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil

from mcir.verifier.driver import check_module, verify_module
from mcir.verifier.rules import Rule, all_rules

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["Rule", "all_rules", "check_module", "verify_module"]
