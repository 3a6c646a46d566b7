"""The attributes that may stand somewhere: those an op declares, and those of regions."""

from __future__ import annotations

from collections.abc import Sequence

from mcir.analysis.attention_region import PATTERN
from mcir.lsp.names import Item
from mcir.ops import lookup
from mcir.ops.definition import OPTIONAL, REQUIRED, Attr
from mcir.ops.tile import DEAD_ROWS
from mcir.printer import attribute_text
from mcir.types import DTYPES

_LAYOUTS = tuple(
    Attr(f"{role}_layout", "str", OPTIONAL, f"the label of each axis of {role.upper()}, such as 'b h q d'")
    for role in "qkvo"
)
_TENSORS = tuple(Attr(f"{role}_name", "str", OPTIONAL, f"the value that is {role.upper()}") for role in "qkvo")

# Kind of a graph or region -> the attributes that MCIR itself writes and reads there.
REGIONS: dict[str, tuple[Attr, ...]] = {
    "execution": (
        Attr("pattern", "str", OPTIONAL, "what the region computes", (PATTERN,)),
        Attr("has_mask", "bool", OPTIONAL, "whether a modifier adds to, selects from or masks the scores"),
        Attr("graph", "symbol", OPTIONAL, "the graph that the region was found in"),
        *_TENSORS,
        *_LAYOUTS,
        Attr("extents", "dict", OPTIONAL, "the size of each label"),
        Attr("scale", "float", OPTIONAL, "the product of all constant factors on the scores"),
        Attr("modifiers", "list", OPTIONAL, "the pointwise chain from the scores to the softmax, in order"),
        Attr("score_dtype", "dtype", OPTIONAL, "the type in which the graph computes the scores"),
        Attr("softmax_dtype", "dtype", OPTIONAL, "the type in which the graph computes the softmax"),
        Attr("dead_rows", "str", OPTIONAL, "what becomes of a row with no allowed column", DEAD_ROWS),
        Attr("nodes", "strs", OPTIONAL, "the nodes of the graph that the region covers"),
    ),
    "streaming": (Attr("stream_axis", "str", doc="the axis that is streamed"),),
    "tile": (
        Attr("tile_m", "int", doc="query rows of a tile"),
        Attr("tile_n", "int", doc="keys of a tile"),
        Attr("tile_k", "int", doc="elements of the head dim that a score sums at a time"),
    ),
}
# Keys of one entry of `modifiers`.
MODIFIER = (
    Attr("op", "str", doc="the op that is applied to the scores"),
    Attr("value", "float", OPTIONAL, "its constant operand"),
    Attr("operand", "str", OPTIONAL, "the input of the region that is its operand"),
    Attr("layout", "str", OPTIONAL, "the label of each axis of the operand"),
    Attr("reversed", "bool", OPTIONAL, "whether the scores are the second operand"),
    Attr("keep", "bool", OPTIONAL, "of a where: the value of the operand at which scores stay"),
    Attr("fill", "float", OPTIONAL, "what stands in place of scores that do not stay"),
    Attr("kind", "str", OPTIONAL, "of a mask", ("causal", "window")),
    Attr("offset", "int", OPTIONAL, "of a mask: how far the diagonal is moved"),
    Attr("left", "int", OPTIONAL, "of a window: keys before the diagonal, -1 for all"),
    Attr("right", "int", OPTIONAL, "of a window: keys behind the diagonal, -1 for all"),
    Attr("dtype", "dtype", OPTIONAL, "of a cast: the type"),
)


def attributes_of(item: Item, keys: Sequence[str] = ()) -> tuple[Attr, ...]:
    """The attributes declared for a dictionary of `item`; `keys` lead to one that nests in another."""
    if keys:
        return MODIFIER if item.kind == "execution" and tuple(keys) == ("modifiers",) else ()
    if item.kind == "node":
        definition = lookup(item.op)
        return definition.attrs if definition is not None else ()
    return REGIONS.get(item.kind, ())


def find_attribute(item: Item, keys: Sequence[str]) -> Attr | None:
    """The attribute under `keys`, if it is declared."""
    if not keys:
        return None
    return next((attr for attr in attributes_of(item, keys[:-1]) if attr.name == keys[-1]), None)


def attribute_line(attr: Attr) -> str:
    """`axis: int = -1`; a question mark stands behind the name of one that may be left out."""
    if attr.default is REQUIRED:
        return f"{attr.name}: {attr.kind}"
    default = "" if attr.default is OPTIONAL else f" = {attribute_text(attr.default)}"
    return f"{attr.name}?: {attr.kind}{default}"


def value_texts(attr: Attr) -> list[str]:
    """The values that an attribute may have, as they are written; empty where there are too many to list."""
    if attr.choices:
        return [attribute_text(choice) for choice in attr.choices]
    return {"bool": ["true", "false"], "dtype": [f'"{name}"' for name in DTYPES]}.get(attr.kind, [])
