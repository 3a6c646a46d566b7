"""New names: what a rename would change, and why it is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcir.lsp.document import Chunk, Document, Span
from mcir.lsp.names import STRING, Item, Name
from mcir.text import quote, unquote

Edit = tuple[Span, str]
_ROLES = ("Q", "K", "V", "O")  # of an attention region


class RenameRefused(Exception):
    """The new name cannot be given; the text says why."""


def rename_target(document: Document, offset: int) -> tuple[Span, str] | None:
    """What would be renamed at `offset`: where the name stands, without its sigil, and the name itself."""
    found = document.place_at(offset)
    if found is None:
        return None
    chunk, place = found
    inset = 0 if place.form == STRING else 1
    return (chunk.base + place.start + inset, chunk.base + place.end), place.name.text


def rename(document: Document, offset: int, new: str) -> list[Edit]:
    """The edits that give the name at `offset` another text.

    `new` is the name itself; one that is written as in the language (`%x`, `@x`, `"a b"`) is read as such.
    Raises RenameRefused where nothing can be renamed or the name is taken.
    """
    found = document.place_at(offset)
    if found is None:
        raise RenameRefused("there is no name here")
    chunk, place = found
    text = _plain(new, place.spelled("")[:1])
    _refuse_taken(chunk, place.name, text)
    spans = ((chunk.base + at.start, chunk.base + at.end, at) for at in place.name.places)
    edits = [((start, end), at.spelled(text)) for start, end, at in spans]
    return edits + list(_written_roles(chunk, place.name, text))


def _written_roles(chunk: Chunk, name: Name, new: str) -> Iterator[Edit]:
    """An attention region takes Q, K, V and O by these names; another name has to be written: `q_name = "new"`."""
    key = f"{name.text.lower()}_name"
    if name.kind != "value" or name.text not in _ROLES or new == name.text:
        return
    for region in _units(chunk, name):
        values = region.outputs if name.text == "O" else region.inputs
        if "pattern" in region.keys and key not in region.keys and any(value.text == name.text for value in values):
            at = chunk.base + region.attrs_end
            yield (at, at), f", {key} = {quote(new)}"


def _plain(new: str, sigil: str) -> str:
    """The name that a person means."""
    text = new[1:] if len(new) > 1 and new[0] == sigil and sigil in "%@" else new
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            text = unquote(text)
        except ValueError as error:
            raise RenameRefused(str(error)) from None
    if not text:
        raise RenameRefused("a name is not empty")
    return text


def _refuse_taken(chunk: Chunk, name: Name, new: str) -> None:
    if new == name.text:
        return
    for taken, where in _spaces(chunk, name):
        if any(new == other for other in taken):
            raise RenameRefused(f"'{new}' is taken: {where} has that name already")


def _spaces(chunk: Chunk, name: Name) -> Iterator[tuple[Iterable[str], str]]:
    """The sets of names that the name must differ from, each with who has them."""
    if name.kind in ("graph", "region"):
        yield chunk.index.symbols, "a graph or region of this module"
    for unit in _units(chunk, name) if name.kind == "value" else ():
        for item in unit.walk():
            yield item.values, f"a value of {unit.kind} @{unit.name}"
    for block in _blocks_of_node(name):
        yield block.nodes, f"a node of {block.kind} @{block.name}"


def _units(chunk: Chunk, name: Name) -> list[Item]:
    """The graph and regions in which the value is known."""
    found = {id(unit): unit for place in name.places if (unit := chunk.index.item_at(place.start).unit())}
    return list(found.values())


def _blocks_of_node(name: Name) -> Iterator[Item]:
    """The graph or region whose node has this name: explicitly, or as that of its first result."""
    node = name.item
    if node is not None and node.kind == "node" and node.parent is not None:
        named = name.kind == "node" or node.parent.nodes.get(name.text) is name
        if named:
            yield node.parent
