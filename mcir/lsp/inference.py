"""The result types that an op gives for the operands and attributes written so far."""

from __future__ import annotations

from typing import Any

from mcir.diagnostics import MCIRError
from mcir.lsp.names import Item
from mcir.lsp.tolerant import Reading
from mcir.ops import lookup
from mcir.ops.definition import TypeContext, TypeRuleError
from mcir.parser import parse_module
from mcir.printer import type_text


def result_types(node: Item, text: str, reading: Reading) -> list[str]:
    """The texts of the result types of an unfinished node, as its op's type rule has them; [] if it cannot tell.

    `text` is what `reading` was read from. All types are given at once where none is written yet, else one by one.
    """
    definition = lookup(node.op)
    operands = [name.type for name in node.inputs if name.type is not None]
    if node.kind != "node" or definition is None or len(operands) < len(node.inputs):
        return []
    context = TypeContext(definition, operands, definition.attributes(_attributes(node, text, reading)), [])
    try:
        inferred = list(definition.infer(context))
    except (TypeRuleError, KeyError, TypeError, ValueError, IndexError):
        return []  # operands or attributes are missing as yet
    written = sum(name.type is not None for name in node.outputs)
    texts = [type_text(type_) for type_ in inferred[written : len(node.outputs)]]
    return [", ".join(texts)] if texts else []


def _attributes(node: Item, text: str, reading: Reading) -> dict[str, Any]:
    """The attributes of an unfinished node, by the parser: as those of a region that has nothing else."""
    tokens = [token for token in reading.tokens if token.start >= node.start]
    begin = next((token.start for token in tokens if token.type == "LBRACE"), None)
    end = next((token.end for token in reversed(tokens) if token.type == "RBRACE"), None)
    if begin is None or end is None:
        return {}
    try:
        return parse_module(f"tile @attributes attributes {text[begin:end]} {{}}").regions[0].attrs
    except MCIRError:
        return {}
