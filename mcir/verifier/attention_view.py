"""How the rules read an attention region: its tensors, layouts, sizes and modifiers, as far as they are well-formed.

Nothing here reports: what cannot be read is left out, and the rule that owns it says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from mcir.analysis.attention_region import PATTERN
from mcir.analysis.axes import Layout, label_sizes, parse_layout, stored_layout
from mcir.ops.definition import is_int
from mcir.regions import Region
from mcir.types import Dim
from mcir.values import MCValue
from mcir.verifier.rules import Place

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any, TypeGuard

# The reserved labels that each tensor has.
ROLES: dict[str, tuple[str, str]] = {"q": ("q", "d"), "k": ("k", "d"), "v": ("k", "e"), "o": ("q", "e")}


def attention_of(place: Place) -> Region | None:
    """The region of `place` if it is an attention region."""
    region = place.region
    return region if region.kind == "execution" and region.attrs.get("pattern") == PATTERN else None


def role_name(region: Region, role: str) -> Any:
    """The name of the tensor in a role: what `q_name` says, Q by default."""
    return region.attrs.get(f"{role}_name", role.upper())


def role_tensor(region: Region, role: str) -> MCValue | None:
    """The input (the output for role "o") that is Q, K, V or O."""
    name = role_name(region, role)
    values = region.outputs if role == "o" else region.inputs
    return next((value for value in values if value.name == name), None)


def role_layouts(region: Region) -> dict[str, tuple[MCValue, Layout]]:
    """Value and layout of each role whose layout can be read and fits the rank of the value."""
    found = {}
    for role in ROLES:
        value = role_tensor(region, role)
        if value is not None:
            with contextlib.suppress(ValueError):
                layout = stored_layout(region, value.name, value.shape, role)
                if layout.rank == len(value.shape):
                    found[role] = (value, layout)
    return found


def known_sizes(region: Region) -> dict[str, Dim]:
    """The size of each label: what the shapes say, beyond that what `extents` says."""
    extents = region.attrs.get("extents")
    sizes: dict[str, Dim] = dict(extents) if isinstance(extents, dict) else {}
    bindings = [(layout, value.shape) for value, layout in role_layouts(region).values()]
    for layout, shape in bindings:
        for group, dim in zip(layout.groups, shape, strict=True):
            if len(group) == 1 and isinstance(dim, str):
                sizes[group[0]] = dim
    with contextlib.suppress(ValueError):
        sizes.update(label_sizes(bindings))
    return {label: None if size == "?" else size for label, size in sizes.items()}


def entries(place: Place, *ops: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The dictionaries among an attention region's `modifiers` with their positions; of `ops` only if given."""
    region = attention_of(place)
    modifiers = region.attrs.get("modifiers") if region is not None else None
    for at, entry in enumerate(modifiers if isinstance(modifiers, list) else ()):
        if isinstance(entry, dict) and (not ops or entry.get("op") in ops):
            yield at, entry


def entry_layout(entry: dict[str, Any]) -> Layout | None:
    """The layout that an entry writes for its operand, or None."""
    with contextlib.suppress(ValueError):
        if isinstance(entry.get("layout"), str):
            return parse_layout(entry["layout"])
    return None


def is_number(value: Any) -> TypeGuard[float]:
    """An integer or a float that a double can hold; true and false are none."""
    return isinstance(value, float) or (is_int(value) and abs(value) < 2**1023)


def shown(value: Any) -> str:
    """An attribute value for a message, cut to a readable length."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        text = f"{type(value).__name__} of great length"
    return text if len(text) < 60 else f"{text[:57]}..."
