"""What stands under the cursor: a value with its type and bytes, an op with its doc, an attribute, a type."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcir.analysis.memory.sizes import Sizes
from mcir.analysis.memory.symbolic import Number
from mcir.lsp.attributes import attribute_line, find_attribute, value_texts
from mcir.lsp.checks import Problem
from mcir.lsp.document import Chunk, Document, Span
from mcir.lsp.names import Item, Name
from mcir.lsp.tolerant import Token
from mcir.ops import lookup
from mcir.ops.definition import OpDef, Slot
from mcir.printer import type_text
from mcir.text import name_text
from mcir.types import DTYPES, TensorType
from mcir.values import MCValue
from mcir.verifier.rules import find_rule

_RESIDENCIES = {
    "global": "global memory: what the whole device sees; it is the default and left out",
    "shared": "shared memory: on chip, seen by the threads of one block",
    "register": "registers: on chip, of one thread each",
}


@dataclass(slots=True)
class Hover:
    """Markdown, and the text that it is about."""

    span: Span
    text: str


def hover(document: Document, offset: int) -> Hover | None:
    """What there is to say of what stands at `offset`, and of the rules that are broken there."""
    found, rules = _hover(document, offset), _rules(document, offset)
    if found is None and rules:
        return Hover(next(problem.span for problem in document.problems if _at(problem, offset)), rules)
    return replace(found, text=f"{found.text}\n\n---\n\n{rules}") if found is not None and rules else found


def _at(problem: Problem, offset: int) -> bool:
    return bool(problem.rule) and problem.span[0] <= offset <= problem.span[1]


def _rules(document: Document, offset: int) -> str:
    """What the rules say that the problems at `offset` break."""
    names = dict.fromkeys(problem.rule for problem in document.problems if _at(problem, offset))
    rules = (find_rule(name) for name in names)
    return "\n\n".join(f"`{rule.id}`: {rule.title}" for rule in rules if rule is not None)


def _hover(document: Document, offset: int) -> Hover | None:
    chunk, inner = document.chunk_at(offset)
    place = chunk.index.place_at(inner)
    if place is not None:
        return Hover((chunk.base + place.start, chunk.base + place.end), _name_text(place.name))
    token = chunk.index.token_at(inner)
    text = _token_text(chunk, token) if token is not None else ""
    if token is None or not text:
        return None
    return Hover((chunk.base + token.start, chunk.base + token.end), text)


def value_line(name: Name) -> str:
    """`%x: tensor<4x8xfp16>`, or the name alone where the text gives no type."""
    return f"%{name_text(name.text)}" + (f": {type_text(name.type)}" if name.type is not None else "")


def op_text(definition: OpDef) -> str:
    """Signature, doc, attributes and example of an op."""
    flow = f"{_slots(definition.operands)} -> {_slots(definition.results)}"
    lines = [_code(f"{definition.name} {flow}"), definition.doc]
    lines += [f"- `{attribute_line(attr)}` {attr.doc}".rstrip() for attr in definition.attrs]
    return "\n\n".join([*lines[:2], "\n".join(lines[2:]), _code(definition.example)])


def _name_text(name: Name) -> str:
    if name.kind == "value":
        return "\n\n".join([_code(value_line(name)), *filter(None, [_origin(name), size_text(name.type), _uses(name)])])
    if name.item is None:
        return _code(f"@{name_text(name.text)}")
    head = _code(_item_line(name.item))
    definition = lookup(name.item.op) if name.kind == "node" else None
    return f"{head}\n\n{definition.doc}" if definition is not None else head


def _item_line(item: Item) -> str:
    """`graph @g(%x: tensor<4xfp16>)`, `softmax @S`, with what the item takes and gives."""
    if item.kind == "node":
        return f"{item.op} @{name_text(item.name)}"
    inputs = ", ".join(map(value_line, item.inputs))
    outputs = ", ".join(map(value_line, item.outputs))
    signature = f"({inputs})" if inputs else ""
    return f"{item.kind} @{name_text(item.name)}{signature}{f' -> ({outputs})' if outputs else ''}"


def _origin(name: Name) -> str:
    if name.definition is None:
        return "not defined here"
    if name.item is not None:
        definition = lookup(name.item.op)
        return f"result of `{name.item.op}`" + (f": {definition.doc}" if definition is not None else "")
    return f"of {name.owner.kind} `@{name_text(name.owner.name)}`" if name.owner is not None else ""


def byte_count(type_: TensorType | None) -> Number | None:
    """The bytes of a value: a number, or a formula over the named sizes; None where there is no known type."""
    if type_ is None or type_.dtype not in DTYPES:
        return None
    return Sizes({}).tensor(MCValue("", type_.shape, type_.dtype)) * DTYPES[type_.dtype].bytes


def size_text(type_: TensorType | None) -> str:
    """`32 bytes in global memory, 2 an element`; empty where the type is unknown."""
    total = byte_count(type_)
    if type_ is None or total is None:
        return ""
    shown = f"{total:,}" if isinstance(total, int) else str(total)
    return f"{shown} bytes in {type_.residency} memory, {DTYPES[type_.dtype].bytes} an element"


def _uses(name: Name) -> str:
    uses = sum(not place.defines for place in name.places)
    return f"used {uses} time{'s' * (uses != 1)}"


def _token_text(chunk: Chunk, token: Token) -> str:
    word = chunk.source.text[token.start : token.end]
    if token.type == "OP_NAME":
        definition = lookup(word)
        return op_text(definition) if definition is not None else ""
    if token.type == "DTYPE" and word in DTYPES:
        dtype = DTYPES[word]
        return f"`{word}`: {dtype.kind}, {dtype.bits} bits, {dtype.bytes} bytes in memory, `{dtype.numpy}` in NumPy"
    if token.type == "RESIDENCY":
        return _RESIDENCIES.get(word, "")
    if token.type == "KEY":
        return _attribute_text(chunk, token, word)
    return ""


def _attribute_text(chunk: Chunk, token: Token, word: str) -> str:
    """An attribute, also one in a dictionary inside of another attribute, with what it may be."""
    found = find_attribute(chunk.index.item_at(token.start), chunk.index.keys.get(token.start, (word,)))
    if found is None:
        return ""
    choices = f"one of {', '.join(f'`{text}`' for text in value_texts(found))}" if value_texts(found) else ""
    return "\n\n".join(filter(None, [f"`{attribute_line(found)}`", found.doc, choices]))


def _slots(slots: tuple[Slot, ...]) -> str:
    texts = [slot.name + "?" * slot.optional + "..." * slot.variadic for slot in slots]
    return f"({', '.join(texts)})"


def _code(text: str) -> str:
    return f"```mcir\n{text}\n```"
