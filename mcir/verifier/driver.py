"""Runs the rules over a module: stage by stage, each unit on its own, in linear time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.regions import Region
from mcir.values import MCValue
from mcir.verifier.keys import TypeKeys, attributes_key
from mcir.verifier.rules import STAGES, Checker, Finding, Place, Rule, Signature, Unit, checkers, find_rule, location_of

LONGEST_CONSTANT = 64  # elements of a constant operand that a type rule may read: shapes, axes, sizes


def verify_module(module: MCModule) -> list[Diagnostic]:
    """Every breach of a rule, errors and warnings, in text order; empty for a valid module."""
    diagnostics: list[Diagnostic] = []
    _run(checkers("module", "form"), module, None, diagnostics)
    types, nodes = _TypeVerdicts(), _NodeVerdicts()
    for unit in _units(module):
        for stage in STAGES:
            found = len(diagnostics)
            _run(checkers("unit", stage), unit, None, diagnostics)
            for place in unit.places:
                _run(checkers("region", stage), place, place.region, diagnostics)
            if stage == STAGES[0]:
                types.check(unit, diagnostics)
            if _has_error(diagnostics, found):
                break
            if stage == STAGES[0]:
                nodes.group(unit, types.of_value)
            nodes.check(stage, diagnostics)
            if _has_error(diagnostics, found):
                break
    return sorted(diagnostics, key=_text_order)


def check_module(module: MCModule) -> None:
    """Raises MCIRError with all errors of `verify_module`; warnings pass."""
    errors = [diagnostic for diagnostic in verify_module(module) if diagnostic.severity == "error"]
    if errors:
        raise MCIRError(errors)


class _TypeVerdicts:
    """Findings on each distinct type; a value's type is looked at where the value is defined.

    `of_value` numbers the types of the unit looked at last, by the id of the value.
    """

    def __init__(self) -> None:
        self.of_value: dict[int, int] = {}
        self._keys = TypeKeys()
        self._found: dict[int, list[tuple[Rule, Finding]]] = {}

    def check(self, unit: Unit, diagnostics: list[Diagnostic]) -> None:
        self.of_value.clear()
        for value in _defined_values(unit):
            key = self.of_value[id(value)] = self._keys.key(value)
            found = self._found.get(key)
            if found is None:
                found = self._found[key] = list(_findings(checkers("type", STAGES[0]), value))
            for rule, finding in found:
                diagnostics.append(_diagnostic(rule, finding, value))


class _NodeVerdicts:
    """Findings on each distinct node signature of the module, handed to the nodes of one unit that have it."""

    def __init__(self) -> None:
        self._found: dict[Any, list[tuple[Rule, Finding]]] = {}
        self._groups: dict[Any, list[MCNode]] = {}
        self._signatures: dict[Any, Signature] = {}

    def group(self, unit: Unit, type_of: dict[int, int]) -> None:
        """Takes up the nodes of `unit`, whose values have types by number."""
        self._groups.clear()
        self._signatures.clear()
        constants = _constants(unit) if unit.is_graph else {}
        for holder in unit.holders():
            kind = holder.kind if isinstance(holder, Region) else "graph"
            for node in holder.nodes:
                known = _operand_constants(node, constants) if constants else {}
                key = (
                    kind, node.op,
                    tuple([type_of[id(value)] for value in node.inputs]),
                    tuple([type_of[id(value)] for value in node.outputs]),
                    attributes_key(node.attrs) if node.attrs else "",
                    attributes_key(known) if known else "",
                )  # fmt: skip
                group = self._groups.get(key)
                if group is None:
                    group = self._groups[key] = []
                    self._signatures[key] = _signature(node, kind, known)
                group.append(node)

    def check(self, stage: str, diagnostics: list[Diagnostic]) -> None:
        rules = checkers("node", stage)
        for key, group in self._groups.items():
            found = self._found.get((stage, key))
            if found is None:
                found = self._found[stage, key] = list(_first_faults(rules, self._signatures[key]))
            for rule, finding in found:
                diagnostics.extend(_diagnostic(rule, finding, node) for node in group)


def _has_error(diagnostics: list[Diagnostic], begin: int) -> bool:
    return any(diagnostics[at].severity == "error" for at in range(begin, len(diagnostics)))


def _units(module: MCModule) -> Iterator[Unit]:
    shared: dict[str, frozenset[str]] = {}
    for graph in module.graphs:
        yield Unit(module, graph, shared=shared)
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


def _operand_constants(node: MCNode, constants: dict[str, Any]) -> dict[int, Any]:
    return {at: constants[value.name] for at, value in enumerate(node.inputs) if value.name in constants}


def _signature(node: MCNode, kind: str, constants: dict[int, Any]) -> Signature:
    return Signature(
        node.op, [value.type for value in node.inputs], [value.type for value in node.outputs],
        node.attrs, kind, lookup(node.op), constants,
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
    location = location_of(finding.where if finding.where is not None else where)
    message = finding.message
    if location is None and finding.where is None and where is not None and f"@{where.name}" not in message:
        message = f"{where.name}: {message}"  # a module that was built has names only
    return Diagnostic(message, location, counted.severity, finding.hint, counted.id, list(finding.notes))


def _text_order(diagnostic: Diagnostic) -> tuple[bool, str, int]:
    location = diagnostic.location
    return (location is None, location.source.name if location else "", location.offset if location else 0)
