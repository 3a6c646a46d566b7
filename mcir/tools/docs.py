"""Writes the generated tables of `grammar/LANGUAGE.md`. Run `python -m mcir.tools.docs` in a checkout.

Each table stands between `<!-- table: NAME -->` and `<!-- end -->`; a test fails where one is stale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from mcir.ops import all_ops
from mcir.ops.definition import OPTIONAL, REQUIRED, Attr, OpDef, Slot
from mcir.passes import registered_passes
from mcir.printer import attribute_text
from mcir.types import DTYPES
from mcir.verifier import all_rules

LANGUAGE = Path(__file__).parent.parent.parent / "grammar" / "LANGUAGE.md"
_MARKED = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str) -> str:
    """`text` with every marked table made anew. Raises KeyError for a table that is not known."""
    return _MARKED.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}{match[3]}", text)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), ["---"] * len(list(head)), *map(list, rows)]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _dtypes() -> str:
    rows = ([f"`{dtype.name}`", str(dtype.bits), dtype.kind, dtype.numpy] for dtype in DTYPES.values())
    return _table(["type", "bits", "kind", "NumPy"], rows)


def _ops(level: str) -> str:
    rows = (_op_row(op) for op in all_ops() if op.level == level)
    return _table(["op", "operands → results", "attributes", "meaning", "example"], rows)


def _op_row(op: OpDef) -> list[str]:
    flow = f"{_slots(op.operands)} → {_slots(op.results)}"
    attrs = ", ".join(map(_attr, op.attrs))
    return [f"`{op.name}`", flow, attrs, op.doc.split("\n\n")[0].replace("\n", " "), f"`{op.example}`"]


def _slots(slots: tuple[Slot, ...]) -> str:
    return ", ".join(slot.name + "?" * slot.optional + "..." * slot.variadic for slot in slots) or "-"


def _attr(attr: Attr) -> str:
    if attr.default is REQUIRED:
        return f"`{attr.name}`: {attr.kind}"
    return f"`{attr.name}`?: {attr.kind}" + ("" if attr.default is OPTIONAL else f" = {attribute_text(attr.default)}")


def _rules() -> str:
    rows = ([f"`{rule.id}`", rule.severity, rule.title] for rule in all_rules())
    return _table(["rule", "level", "what holds"], rows)


def _passes() -> str:
    return _table(["pass", "what it does"], ([f"`--{name}`", cls.summary] for name, cls in registered_passes().items()))


TABLES: dict[str, Callable[[], str]] = {
    "dtypes": _dtypes,
    "semantic-ops": lambda: _ops("semantic"),
    "tile-ops": lambda: _ops("tile"),
    "rules": _rules,
    "passes": _passes,
}


if __name__ == "__main__":
    LANGUAGE.write_text(with_tables(LANGUAGE.read_text(encoding="utf-8")), encoding="utf-8")
