"""Op definitions. Importing this room registers every op; a new op file is found by itself."""

from __future__ import annotations

from mcir.ops.definition import OpDef, all_ops, lookup
from mcir.rooms import load_all

load_all(__name__, __path__[0])

__all__ = ["OpDef", "all_ops", "lookup"]
