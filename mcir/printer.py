"""Model to text: the round-trippable form. `parse_module(print_module(m)) == m`."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from functools import lru_cache

from mcir.dump import dump_module  # the design note names it here
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.ops import lookup
from mcir.regions import Region
from mcir.text import PLAIN_DIM, PLAIN_KEY, PLAIN_NAME, name_text, quote
from mcir.types import MAX_ATTRIBUTE_DEPTH, Dim, Shape, Symbol, TensorType
from mcir.values import MCValue

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["attribute_text", "dump_module", "key_text", "print_module", "print_node", "type_text"]

LINE_WIDTH = 100  # a region's attributes that would pass it stand one per line
_DEEPEST_INDENT = 80
_LINES_JOINED = 1000
_MOST_REMEMBERED = 100_000  # attribute texts; past that, memory would grow with the input
_DECIMAL_LIMIT = 10**4000  # longer integers print in hexadecimal, which Python converts in linear time


def print_module(module: MCModule) -> str:
    """The text of `module`: graphs, then regions, a blank line between them."""
    lines: list[str] = []
    known = _Known()
    for graph in module.graphs:
        _separate(lines)
        _print_graph(graph, lines, known)
    for region in module.regions:
        _separate(lines)
        _print_region(region, lines, known)
    if module.comments and module.comments.inside:
        _separate(lines)
        lines += _comment_lines(module.comments.inside, "")
    return "\n".join([*lines, ""])


def print_node(node: MCNode) -> str:
    """The line of one node, without comments."""
    parts = []
    if node.outputs:
        parts.append(", ".join(f"%{name_text(value.name)}" for value in node.outputs) + " =")
    parts.append(node.op if _is_bare(node.op) else quote(node.op))
    if not node.outputs or node.outputs[0].name != node.name:
        parts.append(f"@{name_text(node.name)}")
    if node.inputs:
        parts.append(", ".join(f"%{name_text(value.name)}" for value in node.inputs))
    if node.attrs:
        parts.append(attribute_text(node.attrs))
    if node.outputs:
        parts.append(": " + ", ".join(_value_type(value) for value in node.outputs))
    return " ".join(parts)


def type_text(type_: TensorType) -> str:
    """`tensor<128x64xfp16, shared>`; residency `global` is left out."""
    return _type_text(type_.shape, type_.dtype, str(type_.residency))


def attribute_text(value: Any, depth: int = 0) -> str:
    """The text of an attribute value.

    Floats print as the shortest text that reads back to the same double, and never as an integer.
    Raises ValueError below MAX_ATTRIBUTE_DEPTH levels, TypeError for what is no attribute value.
    """
    if depth > MAX_ATTRIBUTE_DEPTH:
        raise ValueError(f"attribute nested deeper than {MAX_ATTRIBUTE_DEPTH} levels")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value)) if -_DECIMAL_LIMIT < value < _DECIMAL_LIMIT else hex(value)
    if isinstance(value, float):
        return "nan" if value != value else repr(float(value))
    if isinstance(value, str):
        return quote(str(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([attribute_text(item, depth + 1) for item in value])}]"
    if isinstance(value, dict):
        entries = [f"{key_text(key)} = {attribute_text(item, depth + 1)}" for key, item in value.items()]
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, Symbol):
        return f"@{name_text(value.name)}"
    if isinstance(value, TensorType):
        return type_text(value)
    raise TypeError(f"{type(value).__name__} is no attribute value")


def key_text(key: str) -> str:
    """An attribute name: plain, or quoted where it must be."""
    return key if PLAIN_KEY.fullmatch(key) else quote(key)


def _is_bare(op: str) -> bool:
    # A registered op prints bare; everything else is opaque and quoted.
    return lookup(op) is not None


def _value_type(value: MCValue) -> str:
    return _type_text(tuple(value.shape), value.dtype, str(value.residency))


@lru_cache(maxsize=4096)
def _type_text(shape: Shape, dtype: str, residency: str) -> str:
    dims = "".join(f"{_dim_text(dim)}x" for dim in shape)
    return f"tensor<{dims}{dtype}{'' if residency == 'global' else ', ' + residency}>"


def _dim_text(dim: Dim) -> str:
    if dim is None:
        return "?"
    if isinstance(dim, int):
        return str(int(dim))
    return f"({dim})" if PLAIN_DIM.fullmatch(dim) else f"({quote(dim)})"


def _separate(lines: list[str]) -> None:
    if lines:
        lines.append("")


def _print_graph(graph: SemanticGraph, lines: list[str], known: _Known) -> None:
    comments = graph.comments or Comments()
    lines += _comment_lines(comments.before, "")
    head = f"graph @{name_text(graph.name)}({_params(graph.inputs)})"
    lines.append(_with_after(_with_attributes(head, graph.attrs, "", " "), comments.after))
    _print_nodes(graph.nodes, lines, "  ", known)
    lines += _comment_lines(comments.inside, "  ")
    outputs = ", ".join(f"%{name_text(value.name)}" for value in graph.outputs)
    lines.append(f"  return {outputs}".rstrip())
    lines.append(_with_after("}", comments.close))


def _print_region(root: Region, lines: list[str], known: _Known) -> None:
    # An explicit stack: regions may nest as deep as memory allows.
    stack: list[tuple[str, Iterator[Region], Comments]] = []
    stack.append(_open_region(root, "", lines, known))
    while stack:
        indent, subregions, comments = stack[-1]
        child = next(subregions, None)
        if child is not None:
            # Past this depth the indentation stays, or it would outgrow the text.
            deeper = indent + "  " if len(indent) < _DEEPEST_INDENT else indent
            stack.append(_open_region(child, deeper, lines, known))
            continue
        lines += _comment_lines(comments.inside, indent + "  ")
        lines.append(_with_after(indent + "}", comments.close))
        stack.pop()


def _open_region(
    region: Region, indent: str, lines: list[str], known: _Known
) -> tuple[str, Iterator[Region], Comments]:
    comments = region.comments or Comments()
    lines += _comment_lines(comments.before, indent)
    head = f"{indent}{region.kind} @{name_text(region.name)}"
    joint = " "
    if region.kind == "execution" or region.inputs or region.outputs:
        head += f"({_params(region.inputs)})"
        joint = f"\n{indent}    "
    if region.outputs:
        head += f"{joint}-> ({_params(region.outputs)})"
    lines.append(_with_after(_with_attributes(head, region.attrs, indent, joint), comments.after))
    _print_nodes(region.nodes, lines, indent + "  ", known)
    return indent, iter(region.subregions), comments


def _with_attributes(head: str, attrs: dict[str, Any], indent: str, joint: str) -> str:
    if not attrs:
        return head + " {"
    text = f"attributes {attribute_text(attrs)} {{"
    if len(indent) + len(text) <= LINE_WIDTH:
        return f"{head}{joint}{text}"
    deeper = indent + ("      " if joint != " " else "    ")
    entries = [f"{deeper}{key_text(key)} = {attribute_text(value, 1)}" for key, value in attrs.items()]
    return f"{head}{joint}attributes {{\n" + ",\n".join(entries) + f"\n{deeper[:-2]}}} {{"


def _print_nodes(nodes: list[MCNode], lines: list[str], indent: str, known: _Known) -> None:
    # Joined in parts: a string for each line would take as much memory again as the text.
    for begin in range(0, len(nodes), _LINES_JOINED):
        lines.append("\n".join(_node_lines(nodes[begin : begin + _LINES_JOINED], indent, known)))


class _Known:
    """Texts of ops, types and attributes that were printed before in the same module."""

    def __init__(self) -> None:
        self.ops: dict[str, str] = {}
        self.types: dict[tuple[int, str, str], str] = {}  # by the identity of the shape
        self.attributes: dict[bytes | None, str] = {}


def _node_lines(nodes: list[MCNode], indent: str, known: _Known) -> list[str]:
    """The lines of nodes with their comments.

    Most nodes have one result, and names that need no quotes: these are printed here, four times faster than by
    `print_node`, which would print them alike.
    """
    ops, types, attributes = known.ops, known.types, known.attributes
    lines: list[str] = []
    for node in nodes:
        outputs, attrs = node.outputs, node.attrs
        name = outputs[0].name if len(outputs) == 1 else ""
        names = [operand.name for operand in node.inputs]
        joined = name + "".join(names)
        plain = (joined.isidentifier() and joined.isascii()) or PLAIN_NAME.fullmatch(joined)
        if not plain or not name or name != node.name or "" in names:
            _add_line(node, indent + print_node(node), indent, lines)
            continue
        op = ops.get(node.op)
        if op is None:
            op = ops[node.op] = node.op if _is_bare(node.op) else quote(node.op)
        value = outputs[0]
        type_ = types.get((id(value.shape), value.dtype, value.residency))
        if type_ is None:
            type_ = types[id(value.shape), value.dtype, value.residency] = _value_type(value)
        attrs_text = ""
        if attrs:
            key = _attributes_key(attrs)
            attrs_text = attributes.get(key, "")
            if not attrs_text:
                attrs_text = " " + attribute_text(attrs)
                if key is not None and len(attributes) < _MOST_REMEMBERED:
                    attributes[key] = attrs_text
        operands = f" %{', %'.join(names)}" if names else ""
        line = f"{indent}%{name} = {op}{operands}{attrs_text} : {type_}"
        if node.comments is None:
            lines.append(line)
        else:
            _add_line(node, line, indent, lines)
    return lines


def _attributes_key(attrs: dict[str, Any]) -> bytes | None:
    try:
        return marshal.dumps(attrs, 2)  # the newest version whose bytes depend on the values alone
    except ValueError:  # a symbol, a type; nested too deep
        return None


def _add_line(node: MCNode, line: str, indent: str, lines: list[str]) -> None:
    if node.comments is not None:
        lines += _comment_lines(node.comments.before, indent)
        line = _with_after(line, node.comments.after)
    lines.append(line)


def _params(values: list[MCValue]) -> str:
    return ", ".join(f"%{name_text(value.name)}: {_value_type(value)}" for value in values)


def _comment_lines(texts: list[str], indent: str) -> list[str]:
    return [f"{indent}//{text}" for text in texts]


def _with_after(line: str, comment: str | None) -> str:
    return line if comment is None else f"{line} //{comment}"
