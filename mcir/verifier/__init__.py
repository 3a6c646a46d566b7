"""The verifier: rules as data (`rules.py` says how) and the driver that runs them.

Importing this room registers the rules of graphs. Those of regions come with the first region; a new rule file is
found by itself.
"""

from __future__ import annotations

from mcir.verifier import masks, ops, structure, values
from mcir.verifier.driver import check_module, verify_module
from mcir.verifier.rules import Rule, all_rules

__all__ = ["Rule", "all_rules", "check_module", "masks", "ops", "structure", "values", "verify_module"]
