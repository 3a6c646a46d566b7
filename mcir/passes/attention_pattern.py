"""`attention-pattern`: an execution region beside the graph for every attention that is proved to be one.

    graph @g(%Q, %K, %V) {             execution @attention_region(%Q, %K, %V) -> (%O) attributes {
      %Kt = transpose %K ...       →     pattern = "scaled_dot_product_attention", has_mask = false, graph = @g,
      ... matmul, softmax, matmul        q_name = "Q", ..., scale = 0.125, modifiers = [...] }
    }                                  and the graph as it was

The contract, rule by rule, stands in `mcir/analysis/attention/rules.py`. Each softmax gets a region or a remark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from mcir.analysis.attention.detector import Finding, find_attention, find_softmaxes, judge
from mcir.analysis.attention.rules import FUSED_OPS, RULES
from mcir.analysis.records import graph_of_records
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.passes.base import ModulePass, Remark, register_pass
from mcir.passes.statistic import Statistic, StatisticBy
from mcir.regions import ExecutionRegion
from mcir.verifier import check_module


@register_pass
@dataclass
class AttentionPattern(ModulePass):
    """Adds the regions of all graphs of a module; graphs that have regions already are left alone."""

    name: ClassVar[str] = "attention-pattern"
    summary: ClassVar[str] = "every attention of a graph gets an execution region; the graph stays as it is"

    softmaxes = Statistic("softmaxes looked at")
    formed = Statistic("regions formed")
    declined = StatisticBy("rule", "softmaxes that are not taken as attention")
    opaque = Statistic("opaque ops that are a whole attention by their names alone")
    left_alone = Statistic("graphs left alone, since they have regions")

    def run(self, module: MCModule) -> MCModule:
        taken = module.names()
        served = {region.attrs["graph"].name for region in module.regions if hasattr(region.attrs.get("graph"), "name")}
        regions = list(module.regions)
        for graph in module.graphs:
            if graph.name in served:
                self.left_alone += 1
                continue
            with self.phase("find"):
                search = find_softmaxes(graph)
            with self.phase("form"):
                findings = list(judge(search, taken))
            regions += [finding.region for finding in findings if finding.region is not None]
            self.remarks += [_remark(graph, finding) for finding in findings]
            self._count(findings)
            fused = _fused_remarks(graph)
            self.opaque += len(fused)
            self.remarks += fused
            if not any(remark.graph == graph.name for remark in self.remarks):
                self.remarks.append(_nothing(graph))
        return MCModule(regions, module.graphs, module.comments)

    def _count(self, findings: list[Finding]) -> None:
        rules = [finding.declined.rule for finding in findings if finding.declined is not None]
        self.softmaxes += len(findings)
        self.formed += len(findings) - len(rules)
        self.declined.update(rules)


def detect_attention_pattern(ops: SemanticGraph | Iterable[Any]) -> list[ExecutionRegion]:
    """The attention regions of a graph or of a list of operator records, in graph order.

    A record is a dictionary or an object with name, op, inputs, outputs and attrs, in any order (design note, 9.1; see
    `mcir.analysis.records`). Raises MCIRError for records or a graph that are not valid.
    """
    graph = _graph(ops)
    with _verified(graph):
        return [finding.region for finding in find_attention(graph, {graph.name}) if finding.region is not None]


def run_attention_pattern_pass(semantic_graph: SemanticGraph | MCModule | Iterable[Any]) -> MCModule:
    """The module of a graph (a module, or a list of operator records) with its attention regions.

    Raises MCIRError for records or a graph that are not valid.
    """
    module = semantic_graph if isinstance(semantic_graph, MCModule) else MCModule(graphs=[_graph(semantic_graph)])
    with _verified(*module.graphs):
        return AttentionPattern()(module)


def _graph(ops: SemanticGraph | Iterable[Any]) -> SemanticGraph:
    """The graph of records is verified, since other frameworks may mean other things by an op."""
    if isinstance(ops, SemanticGraph):
        return ops
    graph = graph_of_records(ops)
    check_module(MCModule(graphs=[graph]))
    return graph


@contextmanager
def _verified(*graphs: SemanticGraph) -> Iterator[None]:
    """A fault on a graph that is not valid is reported as what is wrong with the graph."""
    try:
        yield
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, AssertionError):
        check_module(MCModule(graphs=list(graphs)))
        raise


def _remark(graph: SemanticGraph, finding: Finding) -> Remark:
    anchor = finding.anchor
    if finding.region is not None:
        region = finding.region
        return Remark(
            AttentionPattern.name, "formed", f"{anchor.op} @{anchor.name} is attention: region @{region.name}",
            graph.name, region.name, anchor.name, anchor.op, location=anchor.loc,
        )  # fmt: skip
    declined = finding.declined
    assert declined is not None
    node = declined.node or anchor
    message = f"{anchor.op} @{anchor.name} is not taken as attention: {declined.message}"
    return Remark(
        AttentionPattern.name, "declined", message, graph.name, "", node.name, node.op, declined.rule,
        RULES[declined.rule], node.loc or anchor.loc,
    )  # fmt: skip


def _fused_remarks(graph: SemanticGraph) -> list[Remark]:
    """A remark for each op that is a whole attention by its name alone."""
    return [
        Remark(
            AttentionPattern.name, "declined", f"{node.op} @{node.name} is opaque, so nothing is known of its scores",
            graph.name, "", node.name, node.op, "fused-op", RULES["fused-op"], node.loc,
        )
        for node in graph.nodes
        if node.op in FUSED_OPS
    ]  # fmt: skip


def _nothing(graph: SemanticGraph) -> Remark:
    message = f"graph @{graph.name} has no softmax, so no attention"
    return Remark(
        AttentionPattern.name, "declined", message, graph.name, rule="no-softmax", hint=RULES["no-softmax"],
        location=graph.loc,
    )  # fmt: skip
