"""Keys under which verdicts are memoised: cheap for shared objects, exact for all others."""

from __future__ import annotations

from typing import Any

from mcir.types import attribute_key
from mcir.values import MCValue

_LONGEST_KEY = 4096  # characters; a longer attribute dictionary is judged anew, not kept


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


def attributes_key(attrs: dict[Any, Any]) -> Any:
    """A hashable key equal only for equal attributes; a new one each time where building it costs too much."""
    try:
        key = repr(attrs)  # ten times faster than attribute_key, and as exact
    except (ValueError, RecursionError):  # an integer of thousands of digits; a value nested too deep
        return object()
    return key if len(key) <= _LONGEST_KEY else object()


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
