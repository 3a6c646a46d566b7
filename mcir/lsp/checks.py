"""What is wrong with a document, and what the attention pass says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from mcir.analysis.holds import find_holds
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.lsp.document import Chunk, Document, Span
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes import Remark, registered_passes
from mcir.passes.dce import live_nodes
from mcir.verifier import verify_module

ERROR, WARNING, INFORMATION, HINT = 1, 2, 3, 4  # as the protocol numbers severities
_SEVERITIES = {"error": ERROR, "warning": WARNING, "remark": INFORMATION}
REMARK, UNNEEDED = "good news", "unneeded"  # severities of no tool but an editor: both are hints
REMARKING_PASS = "attention-pattern"
MAX_REMARKED_NODES = 20_000  # a pass over more is no matter of an instant
MAX_PROBLEMS = 200  # of one module text


@dataclass(slots=True)
class Problem:
    """One diagnostic as an editor shows it. `related`: further places, each with what is to be said there."""

    span: Span
    severity: int
    message: str
    rule: str = ""
    remark: bool = False  # a verdict of the attention pass
    unneeded: bool = False  # what stands there could go
    related: list[tuple[Span, str]] = field(default_factory=list)


def check_document(document: Document) -> list[Problem]:
    """Everything there is to say of a document, module by module."""
    problems: list[Problem] = []
    for chunk in document.chunks:
        problems += [_problem(document, chunk, found) for found in islice(_check(chunk), MAX_PROBLEMS)]
    return problems


def _check(chunk: Chunk) -> Iterator[Diagnostic]:
    """The faults of one module text; if it has none, the remarks and what is never used."""
    source = chunk.source
    try:
        module = parse_module(source.text, source.name, source.first_line)
    except MCIRError as error:
        yield from error.diagnostics
        return
    found = verify_module(module)
    yield from found
    if not any(diagnostic.severity == "error" for diagnostic in found):
        yield from _remarks(module)
        yield from _dead(module)


def _dead(module: MCModule) -> Iterator[Diagnostic]:
    """The nodes that dead-node-elimination would take out."""
    holds = find_holds(module)
    for graph in module.graphs:
        live = set(map(id, live_nodes(graph, holds[graph.name])))
        for node in graph.nodes:
            if id(node) not in live:
                yield Diagnostic("leads to no output of the graph", node.loc, UNNEEDED)


def _remarks(module: MCModule) -> Iterator[Diagnostic]:
    """Why a softmax is no attention that could be fused, and which one is."""
    cls = registered_passes().get(REMARKING_PASS)
    if cls is None or sum(len(graph.nodes) for graph in module.graphs) > MAX_REMARKED_NODES:
        return
    found = cls()
    try:
        found(module)
    except MCIRError as error:
        yield from error.diagnostics
    yield from map(_remark, found.remarks)


def _remark(remark: Remark) -> Diagnostic:
    declined = remark.status == "declined"
    message = f"not fused: {remark.message}" if declined else f"attention {remark.status}: {remark.message}"
    return Diagnostic(message, remark.location, "remark" if declined else REMARK, remark.hint, remark.rule)


def _problem(document: Document, chunk: Chunk, found: Diagnostic) -> Problem:
    span = document.span(found.location) if found.location is not None else (chunk.base, chunk.base)
    lines = [found.message, f"hint: {found.hint}" if found.hint else ""]
    lines += [f"note: {note.message}" for note in found.notes if note.location is None]
    related = [(document.span(note.location), note.message) for note in found.notes if note.location is not None]
    message = "\n".join(line for line in lines if line)
    remark, unneeded = found.severity in ("remark", REMARK), found.severity == UNNEEDED
    return Problem(span, _SEVERITIES.get(found.severity, HINT), message, found.rule, remark, unneeded, related)
