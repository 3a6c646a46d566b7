"""Delta debugging of modules: the smallest text that a test still finds interesting.

A reduction names the parts of a module that may go, and takes a chosen set of them out; the Reducer tries large sets
first and halves them (Zeller's ddmin), reduction after reduction, until none takes anything off any more: of what is
left, no single part of any reduction may go. A result in use of a node that goes becomes an input, so that every step
leaves a module that parses. The steps edit a module of their own that is only printed, so they leave producers and
consumers as they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mcir.diagnostics import MCIRError
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.regions import Region
from mcir.types import Dim
from mcir.values import MCValue
from mcir.verifier import check_module

Holder = SemanticGraph | Region
Interesting = Callable[[str], bool]
# What a text that is no module consists of; together the pieces are the text.
_PIECES = {"lines": re.compile(r"[^\n]*\n|[^\n]+"), "words": re.compile(r"\w+|\s+|[^\w\s]")}


class OutOfTests(Exception):
    """The number of tests that may run is used up."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """parts: how many parts may go. without: takes those with the given indices out of the module."""

    name: str
    parts: Callable[[MCModule], int]
    without: Callable[[MCModule, set[int]], None]


@dataclass(slots=True)
class Reducer:
    """Runs the test on candidates and keeps the smallest text so far in `best`.

    interesting: the test. valid: candidates that the verifier refuses are not tried. max_tests: 0 is no limit.
    progress: is told the name of each reduction that took something off.
    """

    interesting: Interesting
    valid: bool = True
    max_tests: int = 0
    progress: Callable[[str], None] = field(default=lambda name: None)
    best: str = ""
    tests: int = 0
    _seen: set[int] = field(default_factory=set)

    def reduce(self, text: str) -> str:
        """The smallest interesting text. Raises MCIRError if `text` is not interesting itself.

        Text that cannot be parsed, or is not interesting in canonical form, is reduced by lines, then by words.
        """
        self.best = text
        if not self._ask(text):
            raise MCIRError("the test does not find the input interesting: it must exit with 0 for it")
        with suppress(OutOfTests):
            self._reduce(text)
        return self.best

    def is_steady(self) -> bool:
        """Whether the test still finds the best text interesting: a test that does not always say the same may not."""
        return self.interesting(self.best)

    def _reduce(self, text: str) -> None:
        structured = self._canonical(text)
        before = None
        while before != self.best:
            before = self.best
            for name, step in self._steps(structured):
                smaller = self.best
                step()
                if self.best != smaller:
                    self.progress(name)

    def _canonical(self, text: str) -> bool:
        """Whether the text can be reduced as a module; it is in canonical form then."""
        try:
            module = parse_module(text)
        except MCIRError:
            return False
        self.valid = self.valid and _is_valid(module)
        canonical = print_module(module)
        return canonical == text or self._try(canonical)

    def _steps(self, structured: bool) -> Iterator[tuple[str, Callable[[], None]]]:
        if structured:
            yield from ((reduction.name, partial(self._chunks, reduction)) for reduction in REDUCTIONS)
        else:
            yield from ((name, partial(self._pieces, pattern)) for name, pattern in _PIECES.items())

    def _chunks(self, reduction: Reduction) -> None:
        count = reduction.parts(parse_module(self.best))
        size = count
        while size >= 1:
            begin = 0
            while begin < count:
                end = min(begin + size, count)
                if self._try_without(reduction, set(range(begin, end))):
                    count = reduction.parts(parse_module(self.best))
                else:
                    begin = end
            size = min(size // 2, count)

    def _try_without(self, reduction: Reduction, chosen: set[int]) -> bool:
        module = parse_module(self.best)
        reduction.without(module, chosen)
        text = print_module(module)
        smaller = (len(text), text) < (len(self.best), self.best)
        return smaller and (not self.valid or _is_valid(parse_module(text))) and self._try(text)

    def _pieces(self, pattern: re.Pattern[str]) -> None:
        """Takes out pieces of the text itself."""
        pieces = pattern.findall(self.best)
        size = len(pieces)
        while size >= 1:
            begin = 0
            while begin < len(pieces):
                shorter = pieces[:begin] + pieces[begin + size :]
                if self._try("".join(shorter)):
                    pieces = shorter
                else:
                    begin += size
            size //= 2

    def _try(self, text: str) -> bool:
        """Asks the test about a candidate that it has not seen, and keeps the candidate if it is interesting."""
        key = hash(text)
        if key in self._seen:
            return False
        self._seen.add(key)
        if not self._ask(text):
            return False
        self.best = text
        return True

    def _ask(self, text: str) -> bool:
        if self.max_tests and self.tests >= self.max_tests:
            raise OutOfTests
        self.tests += 1
        return self.interesting(text)


def _is_valid(module: MCModule) -> bool:
    try:
        check_module(module)
    except MCIRError:
        return False
    return True


# What may go


def _holders(module: MCModule) -> list[Holder]:
    return [*module.graphs, *module.walk()]


def _tops(module: MCModule) -> int:
    return len(module.graphs) + len(module.regions)


def _without_tops(module: MCModule, chosen: set[int]) -> None:
    first = len(module.graphs)
    module.graphs[:] = [graph for at, graph in enumerate(module.graphs) if at not in chosen]
    module.regions[:] = [region for at, region in enumerate(module.regions, first) if at not in chosen]


def _nested(module: MCModule) -> Iterator[tuple[Region, Region]]:
    return ((region, child) for region in module.walk() for child in region.subregions)


def _without_nested(module: MCModule, chosen: set[int]) -> None:
    gone = {id(pair[1]) for at, pair in enumerate(_nested(module)) if at in chosen}
    for region in list(module.walk()):
        region.subregions[:] = [child for child in region.subregions if id(child) not in gone]


def _nodes(module: MCModule) -> list[tuple[Holder, Holder, MCNode]]:
    """(graph or execution region, graph or region that holds the node, node), in text order."""
    found: list[tuple[Holder, Holder, MCNode]] = []
    for graph in module.graphs:
        found += [(graph, graph, node) for node in graph.nodes]
    for top in module.regions:
        found += [(top, region, node) for region in top.walk() for node in region.nodes]
    return found


def _without_nodes(module: MCModule, chosen: set[int]) -> None:
    """Takes nodes out; results that are still used become inputs of the graph or execution region."""
    nodes = _nodes(module)
    gone = {id(node) for at, (_, _, node) in enumerate(nodes) if at in chosen}
    used = {id(value) for _, _, node in nodes if id(node) not in gone for value in node.inputs}
    used |= {id(value) for graph in module.graphs for value in graph.outputs}
    for top, _, node in nodes:
        if id(node) in gone:
            top.inputs += [value for value in node.outputs if id(value) in used]
    for holder in _holders(module):
        holder.nodes[:] = [node for node in holder.nodes if id(node) not in gone]


def _without_bypassed(module: MCModule, chosen: set[int]) -> None:
    """Uses of a node's only result go to an operand of the same type."""
    stands_for: dict[int, MCValue] = {}
    for at, (_, _, node) in enumerate(_nodes(module)):
        node.inputs[:] = [stands_for.get(id(value), value) for value in node.inputs]
        if at in chosen and len(node.outputs) == 1:
            same = [value for value in node.inputs if value.type == node.outputs[0].type]
            if same:
                stands_for[id(node.outputs[0])] = same[0]
    for graph in module.graphs:
        graph.outputs[:] = [stands_for.get(id(value), value) for value in graph.outputs]
    dead = {at for at, (_, _, node) in enumerate(_nodes(module)) if any(id(out) in stands_for for out in node.outputs)}
    _without_nodes(module, dead)


def _operands(module: MCModule) -> int:
    return sum(len(node.inputs) for _, _, node in _nodes(module))


def _without_operands(module: MCModule, chosen: set[int]) -> None:
    at = 0
    for _, _, node in _nodes(module):
        first, at = at, at + len(node.inputs)
        node.inputs[:] = [value for index, value in enumerate(node.inputs, first) if index not in chosen]


def _signature(module: MCModule) -> list[tuple[list[MCValue], MCValue]]:
    """(list, value) of every input and output that may go: inputs that nothing uses, and all outputs."""
    used = {id(value) for _, _, node in _nodes(module) for value in node.inputs}
    used |= {id(value) for graph in module.graphs for value in graph.outputs}
    holders = _holders(module)
    free = [(holder.inputs, value) for holder in holders for value in holder.inputs if id(value) not in used]
    return free + [(holder.outputs, value) for holder in holders for value in holder.outputs]


def _without_signature(module: MCModule, chosen: set[int]) -> None:
    gone: dict[int, set[int]] = {}
    lists: dict[int, list[MCValue]] = {}
    for at, (values, value) in enumerate(_signature(module)):
        if at in chosen:
            lists[id(values)] = values
            gone.setdefault(id(values), set()).add(id(value))
    for key, values in lists.items():
        values[:] = [value for value in values if id(value) not in gone[key]]


Place = tuple[dict[str, Any] | list[Any], Any]


def _entries(module: MCModule) -> list[Place]:
    """(dictionary or list, key) of every attribute and every entry in one, outer before inner."""
    places: list[Place] = []
    owners: list[dict[str, Any]] = [holder.attrs for holder in _holders(module)]
    owners += [node.attrs for _, _, node in _nodes(module)]
    waiting: list[Any] = owners[::-1]
    while waiting:
        container = waiting.pop()
        keys: list[Any] = list(container) if isinstance(container, dict) else list(range(len(container)))
        places += [(container, key) for key in keys]
        waiting += [container[key] for key in reversed(keys) if isinstance(container[key], (dict, list))]
    return places


def _without_entries(module: MCModule, chosen: set[int]) -> None:
    # from the back, so that the indices of a list stay right
    for at, (container, key) in reversed(list(enumerate(_entries(module)))):
        if at in chosen:
            del container[key]


def _commented(module: MCModule) -> list[Any]:
    holders: list[Any] = [module, *_holders(module), *(node for _, _, node in _nodes(module))]
    return [holder for holder in holders if holder.comments is not None]


def _without_comments(module: MCModule, chosen: set[int]) -> None:
    for at, holder in enumerate(_commented(module)):
        if at in chosen:
            holder.comments = None


def _values(module: MCModule) -> Iterable[MCValue]:
    """Every value once, where it is defined."""
    for holder in _holders(module):
        yield from holder.inputs
        if isinstance(holder, Region):
            yield from holder.outputs
        for node in holder.nodes:
            yield from node.outputs


def _sizes(module: MCModule) -> list[Dim]:
    """The sizes of axes that differ from 1, each once."""
    return [dim for dim in dict.fromkeys(dim for value in _values(module) for dim in value.shape) if dim != 1]


def _with_sizes(new: int, module: MCModule, chosen: set[int]) -> None:
    """Gives all axes of a size another one, in attributes too."""
    sizes = {dim: new for at, dim in enumerate(_sizes(module)) if at in chosen and dim is not None}
    unknown = any(dim is None and at in chosen for at, dim in enumerate(_sizes(module)))
    for value in _values(module):
        value.shape = tuple((new if unknown else None) if dim is None else sizes.get(dim, dim) for dim in value.shape)
    for container, key in _entries(module):
        value = container[key]
        if isinstance(value, int | str) and not isinstance(value, bool) and value in sizes:
            container[key] = sizes[value]


def _node_count(module: MCModule) -> int:
    return len(_nodes(module))


# Large parts first: what they take along need not be tried alone.
REDUCTIONS: tuple[Reduction, ...] = (
    Reduction("graphs and regions", _tops, _without_tops),
    Reduction("nested regions", lambda module: sum(1 for _ in _nested(module)), _without_nested),
    Reduction("comments", lambda module: len(_commented(module)), _without_comments),
    Reduction("nodes", _node_count, _without_nodes),
    Reduction("nodes that can be passed by", _node_count, _without_bypassed),
    Reduction("inputs and outputs", lambda module: len(_signature(module)), _without_signature),
    Reduction("operands", _operands, _without_operands),
    Reduction("attributes", lambda module: len(_entries(module)), _without_entries),
    Reduction("sizes to 1", lambda module: len(_sizes(module)), partial(_with_sizes, 1)),
    Reduction("sizes to 2", lambda module: len(_sizes(module)), partial(_with_sizes, 2)),
)
