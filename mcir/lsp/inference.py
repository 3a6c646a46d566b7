"""The result types that an op gives for the operands and attributes written so far."""

from __future__ import annotations

from typing import Any

from mcir.diagnostics import MCIRError
from mcir.lsp.names import Item, Name
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


def accepts(node: Item, value: Name, text: str, reading: Reading) -> bool:
    """Whether `value` may be the next operand of an unfinished node; True where nothing can be said.

    The op's own type rule decides, once all operands are there that it needs.
    """
    definition = lookup(node.op)
    operands = [name.type for name in node.inputs if name.type is not None]
    if node.kind != "node" or definition is None or value.type is None or len(operands) < len(node.inputs):
        return True
    slots = definition.operands
    needed = sum(not slot.optional and not slot.variadic for slot in slots)
    if len(operands) >= len(slots) and not (slots and slots[-1].variadic):
        return False
    operands.append(value.type)
    if len(operands) < needed:
        return True
    context = TypeContext(definition, operands, definition.attributes(_attributes(node, text, reading)), [])
    try:
        list(definition.infer(context))
    except TypeRuleError:
        return False
    except (KeyError, TypeError, ValueError, IndexError):
        return True  # attributes are missing as yet
    return True


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
