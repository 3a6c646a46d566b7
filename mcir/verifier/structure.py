"""Rules of form: names, nesting, definitions and uses. Design note, sections 15.1 and 15.2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcir.diagnostics import Note, did_you_mean
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.regions import Region
from mcir.types import LARGEST_SIZE
from mcir.values import MCValue
from mcir.verifier.keys import attribute_problem
from mcir.verifier.rules import Finding, Place, Signature, Unit, rule

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

PARENT_OF = {"execution": None, "streaming": "execution", "tile": "streaming"}
_STANDS = {
    "execution": "an execution region stands at the top of the module",
    "streaming": "a streaming region stands directly in an execution region",
    "tile": "a tile region stands directly in a streaming region",
}


def is_name(name: Any) -> bool:
    """Any non-empty string is a name."""
    return isinstance(name, str) and name != ""


@rule("module.names", "Graph and region names are unique in the module.", scope="module", stage="form")
def unique_module_names(module: MCModule) -> Iterator[Finding]:
    seen: dict[str, SemanticGraph | Region] = {}
    for item in _named(module):
        first = seen.setdefault(item.name, item)
        if first is not item:
            yield Finding(f"the name @{item.name} is taken", item, notes=[Note("first used here", first.loc)])


@rule("module.comments", "A comment is one line.", scope="module", stage="form")
def one_line_comments(module: MCModule) -> Iterator[Finding]:
    for owner, comments in _comments(module):
        if any("\n" in line or "\r" in line for line in _lines(comments)):
            yield Finding("a comment holds a line break", owner, hint="make it several comments")


@rule("graph.name", "A graph has a non-empty name.", scope="unit", stage="form")
def graph_name(unit: Unit) -> Iterator[Finding]:
    if unit.is_graph and not is_name(unit.top.name):
        yield Finding("a graph needs a non-empty name", unit.top)


@rule("region.name", "A region has a non-empty name.", scope="region", stage="form")
def region_name(place: Place) -> Iterator[Finding]:
    if not is_name(place.region.name):
        yield Finding(f"this {place.region.kind} region needs a non-empty name", place.region)


@rule("region.kind", "A region is of kind execution, streaming or tile.", scope="region", stage="form")
def region_kind(place: Place) -> Iterator[Finding]:
    kind = place.region.kind
    if kind not in PARENT_OF:
        yield Finding(f"@{place.region.name}: unknown region kind '{kind}'", hint=did_you_mean(str(kind), PARENT_OF))


@rule("region.nesting", "Regions nest as execution > streaming > tile.", scope="region", stage="form")
def region_nesting(place: Place) -> Iterator[Finding]:
    kind = place.region.kind
    parent = place.parent.kind if place.parent is not None else None
    if kind in PARENT_OF and PARENT_OF[kind] != parent:
        where = f"in a region of kind {parent}" if parent else "at the top of the module"
        yield Finding(f"{kind} region @{place.region.name} stands {where}", hint=_STANDS[kind])


@rule("region.nodes", "Only tile regions hold nodes.", scope="region", stage="form")
def region_nodes(place: Place) -> Iterator[Finding]:
    if place.region.nodes and place.region.kind in ("execution", "streaming"):
        node = place.region.nodes[0]
        message = f"node '{node.name}' stands in the {place.region.kind} region @{place.region.name}"
        yield Finding(message, node, hint="only tile regions hold nodes")


@rule("region.signature", "Only execution regions have inputs and outputs.", scope="region", stage="form")
def region_signature(place: Place) -> Iterator[Finding]:
    region = place.region
    if region.kind != "execution" and (region.inputs or region.outputs):
        hint = "nested regions see the values around them"
        yield Finding(f"{region.kind} region @{region.name} has inputs or outputs", hint=hint)


@rule("tile.sizes", "A tile region has integers tile_m, tile_n and tile_k of at least 1.", scope="region", stage="form")
def tile_sizes(place: Place) -> Iterator[Finding]:
    if place.region.kind != "tile":
        return
    for name in ("tile_m", "tile_n", "tile_k"):
        size = place.region.attrs.get(name)
        if size is None:
            yield Finding(f"tile region @{place.region.name} has no {name}")
        elif type(size) is not int or not 1 <= size <= LARGEST_SIZE:
            yield Finding(f"{name} of tile region @{place.region.name} must be an integer of at least 1")


@rule("stream.axis", "A streaming region has a stream_axis, a non-empty string.", scope="region", stage="form")
def stream_axis(place: Place) -> Iterator[Finding]:
    if place.region.kind == "streaming" and not is_name(place.region.attrs.get("stream_axis")):
        hint = 'write attributes {stream_axis = "sequence"}'
        yield Finding(f"streaming region @{place.region.name} has no stream_axis", hint=hint)


@rule("node.name", "A node has a non-empty name.", scope="unit", stage="form", swept=True)
def node_name(unit: Unit) -> Iterator[Finding]:
    for node in unit.nodes():
        if not is_name(node.name):
            yield Finding(f"this {node.op} node needs a non-empty name", node)


@rule("node.unique", "Node names are unique in their graph or region.", scope="unit", stage="form", swept=True)
def unique_node_names(unit: Unit) -> Iterator[Finding]:
    for holder in unit.holders():
        seen: dict[str, MCNode] = {}
        for node in holder.nodes:
            first = seen.setdefault(node.name, node)
            if first is not node:
                message = f"the node name @{node.name} is taken in @{holder.name}"
                yield Finding(message, node, notes=[Note("first used here", first.loc)])


@rule("node.op", "A node has a non-empty op.", scope="node", stage="form")
def node_op(signature: Signature) -> Iterator[Finding]:
    if not is_name(signature.op):
        yield Finding("a node needs a non-empty op")


@rule("node.attributes", "Attribute values of a node are of the attribute kinds, nested at most 64 deep.",
      scope="node", stage="form")  # fmt: skip
def node_attributes(signature: Signature) -> Iterator[Finding]:
    if problem := attribute_problem(signature.attrs):
        yield Finding(problem)


@rule("region.attributes", "Attribute values of a graph or region are of the attribute kinds, nested at most 64 deep.",
      scope="unit", stage="form")  # fmt: skip
def region_attributes(unit: Unit) -> Iterator[Finding]:
    for holder in unit.holders():
        if problem := attribute_problem(holder.attrs):
            yield Finding(f"@{holder.name}: {problem}", holder)


@rule("value.name", "A value has a non-empty name.", scope="unit", stage="form", swept=True)
def value_name(unit: Unit) -> Iterator[Finding]:
    for value, owner in definitions(unit):
        if not is_name(value.name):
            yield Finding("a value needs a non-empty name", _place_of(value, owner))


@rule("value.single", "A value is defined once in its graph or execution region.",
      scope="unit", stage="form", swept=True)  # fmt: skip
def single_assignment(unit: Unit) -> Iterator[Finding]:
    seen: dict[str, MCValue] = {}
    for value, owner in definitions(unit):
        name = value.name
        if name in seen:
            notes = [Note("first defined here", seen[name].loc)]
            yield Finding(f"%{name} is defined twice in @{unit.top.name}", _place_of(value, owner), notes=notes)
        else:
            seen[name] = value


@rule("value.defined", "A value is defined before it is used, and an execution region sees only its own.",
      scope="unit", stage="form", swept=True)  # fmt: skip
def defined_before_use(unit: Unit) -> Iterator[Finding]:
    visible: dict[str, MCValue] = {value.name: value for value in unit.top.inputs}
    open_regions: list[tuple[Region, list[str]]] = []
    everywhere: set[int] = set()
    for holder, parent in _holders_with_parents(unit):
        while open_regions and open_regions[-1][0] is not parent:
            for name in open_regions.pop()[1]:
                visible.pop(name, None)
        entered: list[str] = []
        for node in holder.nodes:
            for value in node.inputs:
                if visible.get(value.name) is not value:
                    yield Finding(_undefined(unit, value, node.name, everywhere), node)
            for value in node.outputs:
                visible[value.name] = value
                entered.append(value.name)
        if isinstance(holder, Region):
            open_regions.append((holder, entered))
    if isinstance(unit.top, SemanticGraph):
        for value in unit.top.outputs:
            if visible.get(value.name) is not value:
                yield Finding(f"@{unit.top.name} returns %{value.name}, which it does not define", unit.top)


@rule("value.uses", "producer and consumers of a value tell the truth.", scope="unit", stage="form", swept=True)
def true_uses(unit: Unit) -> Iterator[Finding]:
    consumers: dict[int, list[str]] = {}
    for node in unit.nodes():
        name = node.name
        for value in node.inputs:
            known = consumers.setdefault(id(value), [])
            if not known or known[-1] != name:  # a node's uses come together
                known.append(name)
    for value, owner in definitions(unit):
        producer = owner.name if isinstance(owner, MCNode) else None
        if value.producer != producer:
            yield Finding(f"%{value.name} names {value.producer!r} as its producer, which is {producer!r}", owner)
        real = consumers.get(id(value), [])
        if value.consumers != real and set(value.consumers) != set(real):
            yield Finding(f"%{value.name} names {value.consumers} as its consumers, which are {real}", owner)


def definitions(unit: Unit) -> Iterator[tuple[MCValue, SemanticGraph | Region | MCNode]]:
    """Every value a unit defines with what defines it: inputs, region outputs, results, in text order."""
    for holder in unit.holders():
        for value in holder.inputs:
            yield value, holder
        if isinstance(holder, Region):
            for value in holder.outputs:
                yield value, holder
        for node in holder.nodes:
            for value in node.outputs:
                yield value, node


def _holders_with_parents(unit: Unit) -> Iterator[tuple[SemanticGraph | Region, Region | None]]:
    if not unit.places:
        yield unit.top, None
    for place in unit.places:
        yield place.region, place.parent


def _undefined(unit: Unit, value: MCValue, user: str, everywhere: set[int]) -> str:
    if not everywhere:  # built for the first error only
        everywhere.update(id(other) for other, _ in definitions(unit))
    if id(value) in everywhere:
        return f"node '{user}' uses %{value.name}, which is not defined before it in its own or an enclosing region"
    return f"node '{user}' uses %{value.name}, which @{unit.top.name} does not define"


def _place_of(value: MCValue, owner: Any) -> Any:
    return value if value.loc is not None else owner


def _named(module: MCModule) -> Iterator[SemanticGraph | Region]:
    yield from module.graphs
    yield from module.walk()


def _comments(module: MCModule) -> Iterator[tuple[Any, Comments]]:
    if module.comments is not None:
        yield None, module.comments
    for holder in _named(module):
        if holder.comments is not None:
            yield holder, holder.comments
        for node in holder.nodes:
            if node.comments is not None:
                yield node, node.comments


def _lines(comments: Comments) -> Iterable[str]:
    yield from comments.before
    yield from comments.inside
    yield from (line for line in (comments.after, comments.close) if line is not None)
