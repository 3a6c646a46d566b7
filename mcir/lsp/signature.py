"""The signature of the op that is being written: its operands, its attributes, and which of them the cursor is at."""

from __future__ import annotations

from dataclasses import dataclass

from mcir.lsp.attributes import attribute_line
from mcir.lsp.completion import reading_to
from mcir.lsp.document import Document
from mcir.lsp.index import Cursor
from mcir.ops import lookup
from mcir.ops.definition import OpDef


@dataclass(frozen=True, slots=True)
class Signature:
    """`label` holds each of `parameters`, a pair of its text and what is said of it; `active` is an index of them."""

    label: str
    doc: str
    parameters: tuple[tuple[str, str], ...]
    active: int | None


def signature(document: Document, offset: int) -> Signature | None:
    """The signature of the op whose operands or attributes stand around `offset`."""
    _, before, cursor = reading_to(document, offset)
    definition = lookup(cursor.item.op) if cursor.item is not None and cursor.item.kind == "node" else None
    if definition is None or "COLON" in _types(cursor) or before[-1:] == "\n":
        return None
    operands = [(slot.name + "?" * slot.optional + "..." * slot.variadic, "operand") for slot in definition.operands]
    attributes = [(attribute_line(attr), attr.doc) for attr in definition.attrs]
    named = ", ".join(text for text, _ in operands)
    braces = f" {{{', '.join(text for text, _ in attributes)}}}" if attributes else ""
    results = ", ".join(slot.name + "..." * slot.variadic for slot in definition.results)
    label = f"{definition.name} {named}{braces} -> {results}"
    return Signature(label, definition.doc, (*operands, *attributes), _active(definition, cursor))


def _types(cursor: Cursor) -> list[str]:
    """The terminals of the open node."""
    start = cursor.item.start if cursor.item is not None else 0
    return [token.type for token in cursor.reading.tokens if token.start >= start]


def _active(definition: OpDef, cursor: Cursor) -> int | None:
    """The operand or attribute at the cursor, counted through both."""
    kinds = _types(cursor)
    count = len(definition.operands)
    if "LBRACE" in kinds:
        item = cursor.item
        names = [attr.name for attr in definition.attrs]
        key = cursor.keys[0] if cursor.keys else ""
        if key in names:
            return count + names.index(key)
        missing = [name for name in names if item is not None and name not in item.keys]
        return count + names.index(missing[0]) if missing else None
    at = kinds.count("COMMA")  # those of the results stand inside of one token
    if at < count:
        return at
    return count - 1 if definition.operands and definition.operands[-1].variadic else None
