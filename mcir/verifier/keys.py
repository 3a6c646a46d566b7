"""Keys under which verdicts are memoised: cheap for shared objects, exact for all others."""

from __future__ import annotations

import marshal

from mcir.nodes import MCNode
from mcir.types import attribute_key
from mcir.values import MCValue

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_LONGEST_KEY = 4096  # characters; a longer attribute dictionary is judged anew, not kept
_MARSHAL = 2  # the newest version whose bytes depend on the values alone


class TypeKeys:
    """Numbers the distinct types of one module; equal numbers mean equal types.

    Shapes are known by identity first: a parsed module shares them. The module must outlive this object.
    """

    def __init__(self) -> None:
        self._by_identity: dict[tuple[int, str, str], int] = {}
        self._by_value: dict[tuple[str, str, str], int] = {}

    def key(self, value: MCValue) -> int:
        """The number of the type of `value`."""
        identity = (id(value.shape), value.dtype, value.residency)
        found = self._by_identity.get(identity)
        if found is None:
            # repr tells 1, 1.0 and True apart, which are equal as dictionary keys.
            exact = (repr(value.shape), value.dtype, str(value.residency))
            found = self._by_identity[identity] = self._by_value.setdefault(exact, len(self._by_value))
        return found


def node_key(kind: str, node: MCNode, types: TypeKeys, constants: dict[str, Any]) -> tuple[Any, ...]:
    """Equal only for nodes that have one verdict: kind of holder, op, types, attributes, constant operands."""
    return (
        kind, node.op,
        tuple([types.key(value) for value in node.inputs]),
        tuple([types.key(value) for value in node.outputs]),
        attributes_key(node.attrs, node) if node.attrs else "",
        constants_key(node, constants) if constants else "",
    )  # fmt: skip


def operand_constants(node: MCNode, constants: dict[str, Any]) -> dict[int, Any]:
    """What `constants`, by names of values, tells of the operands of `node`, by their position."""
    return {at: constants[value.name] for at, value in enumerate(node.inputs) if value.name in constants}


def constants_key(node: MCNode, constants: dict[str, Any]) -> bytes | str | int:
    """The key of `operand_constants`."""
    known = operand_constants(node, constants)
    return attributes_key(known, node) if known else ""


def attributes_key(attrs: dict[Any, Any], node: MCNode) -> bytes | str | int:
    """A key equal only for equal attributes; one of the node's own where building it costs too much."""
    try:
        key: bytes | str = marshal.dumps(attrs, _MARSHAL)  # as exact as repr, four times faster
    except ValueError:  # a symbol, a type; nested too deep
        try:
            key = repr(attrs)
        except (ValueError, RecursionError):  # an integer of thousands of digits beside it
            return id(node)
    return key if len(key) <= _LONGEST_KEY else id(node)


def attribute_problem(attrs: dict[str, Any]) -> str:
    """What is wrong with the values of an attribute dictionary whatever its owner, or an empty string."""
    if not isinstance(attrs, dict) or not all(isinstance(name, str) and name for name in attrs):
        return "attribute names must be non-empty strings"
    for name, value in attrs.items():
        try:
            attribute_key(value, 1)
        except (ValueError, TypeError) as error:
            return f"attribute '{name}': {error}"
    return ""
