"""Writes the generated tables of `grammar/LANGUAGE.md`. Run `python -m mcir.tools.docs` in a checkout.

Each table stands between `<!-- table: NAME -->` and `<!-- end -->`; a test fails where one is stale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from mcir.analysis.attention.rules import RULES
from mcir.analysis.memory.targets import TARGETS
from mcir.lsp.attributes import MODIFIER, REGIONS
from mcir.ops import all_ops
from mcir.ops.definition import ATTRIBUTE_KINDS, OPTIONAL, REQUIRED, Attr, OpDef, Slot
from mcir.passes import ModulePass, registered_passes
from mcir.passes.pipeline import option_fields
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
    return _table(["op", "operands → results", "meaning, example", "types", "attributes"], rows)


def _op_row(op: OpDef) -> list[str]:
    """The type rule in words is the docstring of the rule itself."""
    flow = f"{_slots(op.operands)} → {_slots(op.results)}"
    meaning = f"{_one_line(op.doc)}<br>`{op.example}`"
    return [f"`{op.name}`", flow, meaning, _one_line(op.infer.__doc__ or ""), "<br>".join(map(_attr, op.attrs))]


def _one_line(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def _slots(slots: tuple[Slot, ...]) -> str:
    return ", ".join(slot.name + "?" * slot.optional + "..." * slot.variadic for slot in slots) or "-"


def _attr(attr: Attr) -> str:
    """`` `axis`: int = -1, the axis ``; one that may be left out without a default has a `?`."""
    optional = "?" if attr.default is OPTIONAL else ""
    default = "" if attr.default in (REQUIRED, OPTIONAL) else f" = {attribute_text(attr.default)}"
    choices = f" ({', '.join(map(attribute_text, attr.choices))})" if attr.choices else ""
    return f"`{attr.name}`{optional}: {attr.kind}{default}, {attr.doc}{choices}"


def _kinds() -> str:
    return _table(["kind", "what it is"], ([f"{kind}", words] for kind, (words, _) in ATTRIBUTE_KINDS.items()))


def _rules() -> str:
    rows = ([f"`{rule.id}`", rule.severity, rule.title] for rule in all_rules())
    return _table(["rule", "level", "what holds"], rows)


def _passes() -> str:
    rows = ([f"`--{name}`", cls.summary, _options(cls), _counts(cls)] for name, cls in registered_passes().items())
    return _table(["pass", "what it does", "options", "counts"], rows)


def _options(cls: type[ModulePass]) -> str:
    return "<br>".join(
        f"`{key}` = {attribute_text(option.default)}, {option.metadata.get('help', '')}"
        for key, option in option_fields(cls).items()
    )


def _counts(cls: type[ModulePass]) -> str:
    """`` `declined`: softmaxes that are not taken as attention, by rule ``."""
    return "<br>".join(
        f"`{counted.name}`: {counted.description}{f', by {counted.key}' if counted.key else ''}"
        for counted in cls.statistics()
    )


def _region_attributes() -> str:
    rows = ([kind, _attr(attr)] for kind, attrs in REGIONS.items() for attr in attrs)
    return _table(["region", "attribute"], rows)


def _modifiers() -> str:
    return _table(["key"], ([_attr(attr)] for attr in MODIFIER))


def _targets() -> str:
    rows = (
        [f"`{target.name}`", target.title, f"{target.shared_bytes:,}", f"{target.register_bytes:,}"]
        for target in TARGETS.values()
    )
    return _table(["target", "cards", "bytes of shared memory a block", "bytes of registers a block"], rows)


def _declines() -> str:
    return _table(["rule", "what would make the graph match"], ([f"`{rule}`", hint] for rule, hint in RULES.items()))


def _families() -> str:
    """The data of the proof; its functions say in their docstrings what they are for."""
    from mcir.interpreter.families import FAMILIES, LEVEL_FAMILIES

    levels = {name: ", ".join(level for level, names in LEVEL_FAMILIES.items() if name in names) for name in FAMILIES}
    rows = ([name, _one_line(draw.__doc__ or ""), levels[name]] for name, draw in FAMILIES.items())
    return _table(["data", "what it is for", "levels"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "dtypes": _dtypes,
    "semantic-ops": lambda: _ops("semantic"),
    "tile-ops": lambda: _ops("tile"),
    "attribute-kinds": _kinds,
    "rules": _rules,
    "passes": _passes,
    "region-attributes": _region_attributes,
    "modifiers": _modifiers,
    "declines": _declines,
    "targets": _targets,
    "families": _families,
}


if __name__ == "__main__":
    LANGUAGE.write_text(with_tables(LANGUAGE.read_text(encoding="utf-8")), encoding="utf-8")
