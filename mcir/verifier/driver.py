"""Runs the rules over a module: stage by stage, each unit on its own, in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.graph import SemanticGraph
from mcir.location import Location
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.regions import Region
from mcir.values import MCValue
from mcir.verifier.keys import TypeKeys, node_key, operand_constants
from mcir.verifier.rules import (
    STAGES,
    Checker,
    Finding,
    Place,
    Rule,
    Signature,
    Unit,
    checkers,
    find_rule,
    load_every_rule,
    location_of,
)
from mcir.verifier.sweep import sweep

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_WORD = r"[A-Za-z_][A-Za-z0-9_.]*"
LONGEST_CONSTANT = 64  # elements of a constant operand that a type rule may read: shapes, axes, sizes


def verify_module(module: MCModule, *, read: bool = False) -> list[Diagnostic]:
    """Every breach of a rule, errors and warnings, in text order; empty for a valid module.

    read: nobody changed the module since `parse_module` made it. What the parser refuses is not looked for again.
    """
    if module.regions:
        load_every_rule()
    diagnostics: list[Diagnostic] = []
    _run(checkers("module", "form"), module, None, diagnostics)
    types = TypeKeys()
    verdicts = _TypeVerdicts(types), _NodeVerdicts(types)
    shared: dict[str, frozenset[str]] = {}
    for graph in module.graphs:
        _verify_unit(Unit(module, graph, shared=shared), *verdicts, diagnostics, read)
    if module.regions:
        _verify_regions(_region_units(module, shared), *verdicts, diagnostics)
    return sorted(diagnostics, key=_text_order)


def check_module(module: MCModule) -> None:
    """Raises MCIRError with all errors of `verify_module`; warnings pass."""
    errors = [diagnostic for diagnostic in verify_module(module) if diagnostic.severity == "error"]
    if errors:
        raise MCIRError(errors)


def _verify_regions(
    units: Iterable[Unit], types: _TypeVerdicts, nodes: _NodeVerdicts, diagnostics: list[Diagnostic]
) -> None:  # fmt: skip
    from mcir.verifier.alike import GoodRegions, region_key

    good, outside = GoodRegions(), _outside()
    for unit in units:
        key = region_key(unit)
        found = len(diagnostics)
        if key is not None and good.holds(key):
            for place in unit.places:
                _run(outside, place, place.region, diagnostics)
            continue
        _verify_unit(unit, types, nodes, diagnostics)
        if key is not None and len(diagnostics) == found:
            good.enter(key)


def _verify_unit(
    unit: Unit, types: _TypeVerdicts, nodes: _NodeVerdicts, diagnostics: list[Diagnostic], read: bool = False
) -> None:  # fmt: skip
    constants = _constants(unit) if unit.is_graph else {}
    swept = sweep(unit.top, types.keys, constants, read) if isinstance(unit.top, SemanticGraph) else None
    if swept and not types.all_good(swept.values):
        swept = None
    for stage in STAGES:
        found = len(diagnostics)
        rules = checkers("unit", stage)
        _run([rule for rule in rules if not rule.swept] if swept else rules, unit, None, diagnostics)
        for place in unit.places:
            _run(checkers("region", stage), place, place.region, diagnostics)
        if stage == STAGES[0] and not swept:
            types.check(unit, diagnostics)
        if _has_error(diagnostics, found):
            return
        if stage == STAGES[0]:
            nodes.begin(unit, constants, swept.nodes if swept else None)
        nodes.check(stage, diagnostics)
        if _has_error(diagnostics, found):
            return


class _TypeVerdicts:
    """Findings on each distinct type; a value's type is looked at where the value is defined."""

    def __init__(self, keys: TypeKeys) -> None:
        self.keys = keys
        self._found: dict[int, list[tuple[Rule, Finding]]] = {}

    def check(self, unit: Unit, diagnostics: list[Diagnostic]) -> None:
        for value in _defined_values(unit):
            for rule, finding in self._of(value):
                diagnostics.append(_diagnostic(rule, finding, value))

    def all_good(self, values: Iterable[MCValue]) -> bool:
        return not any(map(self._of, values))

    def _of(self, value: MCValue) -> list[tuple[Rule, Finding]]:
        key = self.keys.key(value)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = list(_findings(checkers("type", STAGES[0]), value))
        return found


class _NodeVerdicts:
    """Findings on each distinct node signature of the module, handed to the nodes of one unit that have it."""

    def __init__(self, keys: TypeKeys) -> None:
        self._keys = keys
        self._found: dict[Any, list[tuple[Rule, Finding]]] = {}

    def begin(self, unit: Unit, constants: dict[str, Any], first: dict[Any, MCNode] | None) -> None:
        """Takes up the nodes of `unit`, whose values have types by number; `first` has one node a signature."""
        self._unit, self._constants = unit, constants
        self._nodes: dict[Any, list[MCNode]] = {}
        if first is None:
            self._group()
            first = {key: nodes[0] for key, nodes in self._nodes.items()}
        self._signatures = {key: _signature(node, key[0], constants) for key, node in first.items()}

    def check(self, stage: str, diagnostics: list[Diagnostic]) -> None:
        rules = checkers("node", stage)
        for key, signature in self._signatures.items():
            found = self._found.get((stage, key))
            if found is None:
                found = self._found[stage, key] = list(_first_faults(rules, signature))
            if found and not self._nodes:
                self._group()
            for rule, finding in found:
                diagnostics.extend(_diagnostic(rule, finding, node) for node in self._nodes[key])

    def _group(self) -> None:
        for holder in self._unit.holders():
            kind = holder.kind if isinstance(holder, Region) else "graph"
            for node in holder.nodes:
                key = node_key(kind, node, self._keys, self._constants)
                self._nodes.setdefault(key, []).append(node)


def _outside() -> list[Checker]:
    """The rules on regions that look at more than their unit."""
    return [checker for stage in STAGES for checker in checkers("region", stage) if checker.outside]


def _has_error(diagnostics: list[Diagnostic], begin: int) -> bool:
    return any(diagnostics[at].severity == "error" for at in range(begin, len(diagnostics)))


def _region_units(module: MCModule, shared: dict[str, frozenset[str]]) -> Iterator[Unit]:
    for region in module.regions:
        unit = Unit(module, region, shared=shared)
        stack: list[tuple[Region, Region | None]] = [(region, None)]
        while stack:
            inner, parent = stack.pop()
            unit.places.append(Place(inner, parent, unit))
            stack.extend((below, inner) for below in reversed(inner.subregions))
        yield unit


def _defined_values(unit: Unit) -> Iterator[MCValue]:
    for holder in unit.holders():
        yield from holder.inputs
        if not isinstance(holder, SemanticGraph):
            yield from holder.outputs
        for node in holder.nodes:
            yield from node.outputs


def _constants(unit: Unit) -> dict[str, Any]:
    """What short `constant` nodes of rank 0 and 1 define, by the name of the value: a scalar or a list."""
    table = {}
    for node in unit.top.nodes:
        if node.op == "constant" and len(node.outputs) == 1 and "value" in node.attrs:
            value, shape = node.attrs["value"], node.outputs[0].shape
            if not shape and not isinstance(value, list):
                table[node.outputs[0].name] = value
            elif len(shape) == 1 and type(shape[0]) is int and shape[0] <= LONGEST_CONSTANT:
                table[node.outputs[0].name] = value if isinstance(value, list) else [value] * shape[0]
    return table


def _signature(node: MCNode, kind: str, constants: dict[str, Any]) -> Signature:
    return Signature(
        node.op, [value.type for value in node.inputs], [value.type for value in node.outputs],
        node.attrs, kind, lookup(node.op), operand_constants(node, constants),
    )  # fmt: skip


def _findings(rules: list[Checker], subject: Any) -> Iterator[tuple[Rule, Finding]]:
    for checker in rules:
        for finding in checker.check(subject):
            yield checker.rule, finding


def _first_faults(rules: list[Checker], signature: Signature) -> Iterator[tuple[Rule, Finding]]:
    """As `_findings`, up to and with the first check that finds an error: the next may rely on it."""
    for checker in rules:
        broken = False
        for finding in checker.check(signature):
            broken = broken or checker.rule.severity == "error"
            yield checker.rule, finding
        if broken:
            return


def _run(rules: list[Checker], subject: Any, where: Any, diagnostics: list[Diagnostic]) -> None:
    for rule, finding in _findings(rules, subject):
        diagnostics.append(_diagnostic(rule, finding, where))


def _diagnostic(rule: Rule, finding: Finding, where: Any) -> Diagnostic:
    counted = (find_rule(finding.rule) or rule) if finding.rule else rule
    subject = finding.where if finding.where is not None else where
    location = location_of(subject)
    message = finding.message
    if location is None and finding.where is None and where is not None and f"@{where.name}" not in message:
        message = f"{where.name}: {message}"  # a module that was built has names only
    if location is not None:
        location = _part_at_fault(subject, location, finding)
    return Diagnostic(message, location, counted.severity, finding.hint, counted.id, list(finding.notes))


def _part_at_fault(subject: Any, location: Location, finding: Finding) -> Location:
    """The place of the part of a node or head that is at fault, or its own place."""
    import re  # only diagnostics need it, and the reader of places

    from mcir.syntax.spots import find_spot

    spot = finding.spot
    if spot is None:
        attrs = getattr(subject, "attrs", {})
        named = [word for word in re.findall(_WORD, finding.message) if word in attrs] if attrs else []
        spot = ("value", named[0]) if named else None
    found = find_spot(location, subject.op if isinstance(subject, MCNode) else "", spot) if spot is not None else None
    return found or location


def _text_order(diagnostic: Diagnostic) -> tuple[bool, str, int]:
    location = diagnostic.location
    return (location is None, location.source.name if location else "", location.offset if location else 0)
