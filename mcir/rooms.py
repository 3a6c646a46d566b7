"""Rooms whose files enter what they declare in a table: ops, verifier rules, passes."""

from __future__ import annotations

import os
import sys


def load_all(package: str, folder: str) -> None:
    """Imports every module of the package `package` in `folder`, in alphabetical order.

    As `pkgutil.iter_modules` would tell them; that imports `inspect`, which takes longer than all ops.
    """
    names = {name.split(".")[0] for name in os.listdir(folder) if name.endswith((".py", ".pyc"))}
    for name in sorted(names - {"__init__", "__main__"}):
        if f"{package}.{name}" not in sys.modules:
            __import__(f"{package}.{name}")
