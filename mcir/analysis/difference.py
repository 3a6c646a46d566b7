"""The structural difference of two modules: what was renamed, changed, moved, added or removed, with reasons.

Graphs and execution regions are paired by name, then by what they hold. Nodes of a pair are paired in one of three
ways, and the way that leaves the fewest differences counts: names first (a text that was edited), what is computed on
paired operands first (a text whose values were named anew), or the order of equal nodes first. Values follow the nodes
and parameters that define them. Each step looks every node up in a table or walks along both sides, so that the cost
is near to linear in the modules (see `pairing.py`). Comments are no part of the structure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcir.analysis.attribute_difference import attribute_differences
from mcir.analysis.node_pairing import NAMES, WAYS, pair_nodes, types_of
from mcir.analysis.pairing import Pairing, aligned, out_of_order
from mcir.graph import SemanticGraph
from mcir.location import Location
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.printer import print_node, type_text
from mcir.regions import Region
from mcir.text import name_text
from mcir.types import Symbol, attribute_key
from mcir.values import MCValue

Holder = SemanticGraph | Region
Names = dict[tuple[str, str], str]  # (kind, name on the left) -> name on the right
# Attributes whose strings are names -> of what.
NAMING = {
    **dict.fromkeys(("source", "target", "q_name", "k_name", "v_name", "o_name", "operand"), "value"), "nodes": "node",
}  # fmt: skip


@dataclass(slots=True)
class Difference:
    """One difference.

    kind: "added", "removed", "moved", "renamed" or "changed". subject: what differs, as text names it (`%x`, `@g`).
    where: the graph or region, on the left side unless added. reason: one line for people. left, right: the places.
    """

    kind: str
    subject: str
    where: str
    reason: str
    left: Location | None = None
    right: Location | None = None


@dataclass(slots=True)
class Called:
    """Where names make no difference: what the right side calls what the left side has.

    tops: graphs and regions. inner: by the name of a left graph, what is in it; values and nodes as (kind, name).
    """

    tops: dict[str, str]
    inner: dict[str, Names] = field(default_factory=dict)

    def within(self, top: Holder) -> Names:
        """The names that are known in a graph or region: those of the graph that it was found in, for a region."""
        graph = top.attrs.get("graph")
        names = self.inner.get(graph.name, {}) if isinstance(graph, Symbol) and isinstance(top, Region) else {}
        return names | {("top", name): other for name, other in self.tops.items()}


def compare_modules(left: MCModule, right: MCModule, *, names: bool = True) -> list[Difference]:
    """All differences, those of one graph or region together; empty for modules of equal structure.

    `names`: whether another name of a value, node, graph or region is a difference.
    """
    graphs, regions = _pair_tops(left.graphs, right.graphs, names), _pair_tops(left.regions, right.regions, names)
    called = None if names else Called({})
    if called is not None:
        called.tops.update({left.graphs[at].name: right.graphs[other].name for at, other in graphs})
        for at, other in regions:
            inner = _pair_holders(left.regions[at], right.regions[other], names)
            called.tops.update({inner.ours[here].name: inner.theirs[there].name for here, there in inner.pairs})
    found = list(_compare_tops(left.graphs, right.graphs, graphs, called))
    return found + list(_compare_tops(left.regions, right.regions, regions, called))


def _compare_tops(
    ours: Sequence[Holder], theirs: Sequence[Holder], pairs: list[tuple[int, int]], called: Called | None
) -> Iterator[Difference]:
    partner, known = dict(pairs), {pair[1] for pair in pairs}
    for at, top in enumerate(ours):
        if at in partner:
            yield from _compare(top, theirs[partner[at]], called)
        else:
            yield _gone("removed", top, top.loc, None)
    for at, top in enumerate(theirs):
        if at not in known:
            yield _gone("added", top, None, top.loc)
    for at in out_of_order(pairs):
        reason = f"stands elsewhere among the {_kind(ours[at])}s"
        yield Difference("moved", _at(ours[at]), "", reason, ours[at].loc, theirs[partner[at]].loc)


def _compare(left: Holder, right: Holder, called: Called | None) -> list[Difference]:
    """The differences by the way of pairing that leaves the fewest; the first of the ways that leave as many."""
    best: _Comparison | None = None
    for way in WAYS if called is None else [way for way in WAYS if way != NAMES]:
        tried = _Comparison(left, right, way, called.within(left) if called is not None else None)
        tried.run()
        if best is None or _weight(tried.found) < _weight(best.found):
            best = tried
        if _weight(best.found) < (1, 2):
            break
    assert best is not None
    if called is not None and best.called is not None:
        called.inner[left.name] = best.called
    return best.found


def _weight(found: list[Difference]) -> tuple[int, int]:
    """Another name weighs less than any other difference."""
    renamed = sum(difference.kind == "renamed" for difference in found)
    return len(found) - renamed, renamed


def _gone(kind: str, top: Holder, left: Location | None, right: Location | None) -> Difference:
    side = "left" if kind == "removed" else "right"
    count = sum(len(holder.nodes) for holder in _holders(top))
    reason = f"{_kind(top)} of {count} node{'s' * (count != 1)}, on the {side} only"
    return Difference(kind, _at(top), "", reason, left, right)


def _pair_tops(ours: Sequence[Holder], theirs: Sequence[Holder], names: bool) -> list[tuple[int, int]]:
    """Indices of graphs or regions that belong together: of one name, else of equal content; or in order."""
    pairing = Pairing(ours, theirs)
    if not names:
        pairing.by(_content)
    pairing.by(lambda top: (top.name, _kind(top)))
    pairing.by(_content if names else _kind)
    return sorted(pairing.pairs)


def _pair_holders(left: Holder, right: Holder, names: bool) -> Pairing:
    """The regions in two that belong together, themselves first; of one name, else in order."""
    regions = Pairing(list(_holders(left)), list(_holders(right)))
    regions.pairs, regions.left, regions.right = [(0, 0)], regions.left[1:], regions.right[1:]
    if names:
        regions.by(lambda holder: (holder.name, _kind(holder)))
    regions.by(_kind)
    return regions


def _content(top: Holder) -> Hashable:
    """Equal for graphs or regions that differ in names only, as far as ops, attributes and types tell."""
    nodes = (node for holder in _holders(top) for node in holder.nodes)
    computed = tuple((node.op, attribute_key(node.attrs), types_of(node.outputs)) for node in nodes)
    return _kind(top), computed, types_of(top.inputs), types_of(top.outputs)


@dataclass
class _Comparison:
    """One graph, or one execution region with all in it, against its partner.

    way: how nodes are paired, one of WAYS. called: where names make no difference, what the right side calls what the
    left one has; None where they do.
    """

    left: Holder
    right: Holder
    way: str
    called: Names | None = None
    found: list[Difference] = field(default_factory=list)
    partner: dict[int, MCValue] = field(default_factory=dict)  # id of a left value -> the right one

    def run(self) -> list[Difference]:
        regions = _pair_holders(self.left, self.right, names=self.called is None)
        ours, theirs = list(regions.ours), list(regions.theirs)
        pairs = [(ours[left], theirs[right]) for left, right in sorted(regions.pairs)]
        for left, right in pairs:
            self._pair_values(left.inputs, right.inputs)
            if isinstance(left, Region):
                self._pair_values(left.outputs, right.outputs)
        self._nodes(ours, theirs, {id(left): id(right) for left, right in pairs})
        for left, right in pairs:
            self._holder(left, right)
        self.found += [_gone("removed", ours[at], ours[at].loc, None) for at in regions.left]
        self.found += [_gone("added", theirs[at], None, theirs[at].loc) for at in regions.right]
        self._parents(pairs)
        return self.found

    # Values

    def _pair_values(self, ours: Sequence[MCValue], theirs: Sequence[MCValue]) -> None:
        pairing = Pairing(ours, theirs)
        if self.called is None:
            pairing.by(lambda value: value.name)
        else:
            pairing.take(aligned([value.type for value in ours], [value.type for value in theirs]))
        pairing.by(lambda value: value.type)
        if len(pairing.left) == len(pairing.right):
            pairing.pairs += zip(pairing.left, pairing.right, strict=True)
        for left, right in pairing.pairs:
            self.partner[id(ours[left])] = theirs[right]

    def _same(self, left: MCValue, right: MCValue) -> bool:
        return self.partner.get(id(left)) is right

    # Nodes

    def _nodes(self, ours: list[Holder], theirs: list[Holder], holder_of: dict[int, int]) -> None:
        left = [(holder, at, node) for holder in ours for at, node in enumerate(holder.nodes)]
        right = [(holder, at, node) for holder in theirs for at, node in enumerate(holder.nodes)]
        pairing = pair_nodes(left, right, holder_of, self.partner, self.way)
        self._name_values(pairing)
        self._report_nodes(pairing, holder_of)

    def _name_values(self, pairing: Pairing) -> None:
        """Where names make no difference: what the right side calls the values and nodes of the left one."""
        if self.called is None:
            return
        nodes = ((pairing.ours[left][2], pairing.theirs[right][2]) for left, right in pairing.pairs)
        self.called |= {("node", node.name): other.name for node, other in nodes}
        for top in _holders(self.left):
            values = [*top.inputs, *top.outputs, *(value for node in top.nodes for value in node.outputs)]
            pairs = ((value.name, self.partner.get(id(value))) for value in values)
            self.called |= {("value", name): other.name for name, other in pairs if other is not None}

    def _report_nodes(self, pairing: Pairing, holder_of: dict[int, int]) -> None:
        elsewhere: list[tuple[int, int]] = []
        by_holder: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for left, right in pairing.pairs:
            same_holder = holder_of.get(id(pairing.ours[left][0])) == id(pairing.theirs[right][0])
            (by_holder[id(pairing.ours[left][0])] if same_holder else elsewhere).append((left, right))
        moved = {at for pairs in by_holder.values() for at in out_of_order(pairs)}
        gone = dict(elsewhere)
        partner = dict(pairing.pairs)
        for at, (holder, _, node) in enumerate(pairing.ours):
            if at not in partner:
                self._add("removed", node, holder, print_node(node), node.loc, None)
                continue
            target, _, other = pairing.theirs[partner[at]]
            self._pair(holder, node, other)
            if at in moved:
                self._add("moved", node, holder, "stands elsewhere among its neighbours", node.loc, other.loc)
            elif at in gone:
                self._add("moved", node, holder, f"stands in {_kind(target)} {_at(target)} now", node.loc, other.loc)
        for at in pairing.right:
            holder, _, node = pairing.theirs[at]
            self._add("added", node, holder, print_node(node), None, node.loc)

    def _pair(self, holder: Holder, left: MCNode, right: MCNode) -> None:
        """What differs in two nodes that belong together."""
        for value, other in zip(left.outputs, right.outputs, strict=False):
            if value.name != other.name:
                self._add("renamed", value, holder, f"is {_percent(other)} now", left.loc, right.loc)
        if left.name != right.name and not (_named_after_result(left) and _named_after_result(right)):
            self._add("renamed", left, holder, f"the node is @{name_text(right.name)} now", left.loc, right.loc)
        reasons = [f"op {left.op} is {right.op} now"] if left.op != right.op else []
        reasons += self._operands(left.inputs, right.inputs, "operand")
        reasons += list(attribute_differences(self._called(left.attrs), right.attrs))
        reasons += list(_result_types(left.outputs, right.outputs))
        for reason in reasons:
            self._add("changed", left, holder, reason, left.loc, right.loc)

    def _operands(self, ours: Sequence[MCValue], theirs: Sequence[MCValue], what: str) -> list[str]:
        if len(ours) != len(theirs):
            return [f"{what}s ({_list(ours)}) are ({_list(theirs)}) now"]
        pairs = enumerate(zip(ours, theirs, strict=True), 1)
        return [
            f"{what} {at} {_percent(left)} is {_percent(right)} now"
            for at, (left, right) in pairs
            if not self._same(left, right)
        ]

    # Graphs and regions themselves

    def _holder(self, left: Holder, right: Holder) -> None:
        if left.name != right.name:
            self._add("renamed", left, left, f"is {_at(right)} now", left.loc, right.loc)
        reasons = list(attribute_differences(self._called(left.attrs), right.attrs))
        self._signature(left, right, "input", left.inputs, right.inputs)
        if isinstance(left, SemanticGraph):
            reasons += self._operands(left.outputs, right.outputs, "returned value")
        else:
            self._signature(left, right, "output", left.outputs, right.outputs)
        for reason in reasons:
            self._add("changed", left, left, reason, left.loc, right.loc)

    def _signature(self, left: Holder, right: Holder, what: str, ours: list[MCValue], theirs: list[MCValue]) -> None:
        known = {id(value) for value in theirs}
        paired = [value for value in ours if id(self.partner.get(id(value))) in known]
        for value in ours:
            other = self.partner.get(id(value))
            if other is None or id(other) not in known:
                self._add("removed", value, left, f"{what} {_percent(value)}: {type_text(value.type)}", left.loc, None)
                continue
            if value.name != other.name:
                self._add("renamed", value, left, f"{what} is {_percent(other)} now", left.loc, right.loc)
            if value.type != other.type:
                reason = f"{what} of type {type_text(value.type)} has {type_text(other.type)} now"
                self._add("changed", value, left, reason, left.loc, right.loc)
        there = {id(self.partner[id(value)]) for value in paired}
        for value in theirs:
            if id(value) not in there:
                self._add("added", value, right, f"{what} {_percent(value)}: {type_text(value.type)}", None, right.loc)
        places = {id(value): at for at, value in enumerate(theirs)}
        order = [(at, places[id(self.partner[id(value)])]) for at, value in enumerate(paired)]
        for at in out_of_order(order):
            self._add("moved", paired[at], left, f"stands elsewhere among the {what}s", left.loc, right.loc)

    def _parents(self, pairs: list[tuple[Holder, Holder]]) -> None:
        """Regions that stand in another region, or elsewhere in it."""
        partner = {id(left): right for left, right in pairs}
        for left, right in pairs:
            if not isinstance(left, Region) or not isinstance(right, Region):
                continue
            places = {id(child): at for at, child in enumerate(right.subregions)}
            order = []
            for at, child in enumerate(left.subregions):
                other = partner.get(id(child))
                if other is not None and id(other) in places:
                    order.append((at, places[id(other)]))
                elif other is not None:
                    reason = f"stands in another region than {_at(left)} now"
                    self._add("moved", child, left, reason, child.loc, other.loc)
            for at in out_of_order(order):
                self._add("moved", left.subregions[at], left, "stands elsewhere among the regions", left.loc, right.loc)

    def _called(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Attributes of the left side, with the right side's names in those that hold names."""
        return attrs if self.called is None else {key: self._renamed(key, value) for key, value in attrs.items()}

    def _renamed(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._called(value)
        if isinstance(value, list):
            return [self._renamed(key, each) for each in value]
        names = self.called or {}
        if isinstance(value, Symbol):
            return Symbol(names.get(("top", value.name), value.name))
        return names.get((NAMING[key], value), value) if isinstance(value, str) and key in NAMING else value

    def _add(
        self, kind: str, subject: MCNode | MCValue | Holder, holder: Holder, reason: str,
        left: Location | None, right: Location | None,
    ) -> None:  # fmt: skip
        if kind == "renamed" and self.called is not None:
            return
        where = "" if subject is holder else _at(holder)
        self.found.append(Difference(kind, _subject(subject), where, reason, left, right))


def _result_types(left: list[MCValue], right: list[MCValue]) -> Iterator[str]:
    if len(left) != len(right):
        yield f"results ({_list(left)}) are ({_list(right)}) now"
    for value, other in zip(left, right, strict=False):
        if value.type != other.type:
            yield f"{_percent(value)} of type {type_text(value.type)} has {type_text(other.type)} now"


def _holders(top: Holder) -> Iterator[Holder]:
    return top.walk() if isinstance(top, Region) else iter((top,))


def _kind(holder: Holder) -> str:
    return holder.kind if isinstance(holder, Region) else "graph"


def _named_after_result(node: MCNode) -> bool:
    return bool(node.outputs) and node.name == node.outputs[0].name


def _subject(subject: MCNode | MCValue | Holder) -> str:
    if isinstance(subject, MCNode) and _named_after_result(subject):
        return f"%{name_text(subject.name)}"
    return _percent(subject) if isinstance(subject, MCValue) else f"@{name_text(subject.name)}"


def _at(holder: Holder) -> str:
    return f"@{name_text(holder.name)}"


def _percent(value: MCValue) -> str:
    return f"%{name_text(value.name)}"


def _list(values: Sequence[MCValue]) -> str:
    return ", ".join(map(_percent, values))
