"""Every softmax of a graph with its verdict: an execution region, or the rule that stood against it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcir.analysis.attention.match import Matcher
from mcir.analysis.attention.region import attention_region
from mcir.analysis.attention.rules import Declined
from mcir.analysis.constants import Constants
from mcir.analysis.shadow import Shadow
from mcir.analysis.softmax import Problem, SoftmaxFinder
from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.regions import ExecutionRegion
from mcir.rewriter import fresh_name

REGION_NAME = "attention_region"


@dataclass(slots=True)
class Finding:
    """The verdict on the softmax at `anchor`: either `region` or `declined` is set."""

    anchor: MCNode
    region: ExecutionRegion | None = None
    declined: Declined | None = None


def find_attention(graph: SemanticGraph, taken: set[str]) -> Iterator[Finding]:
    """A finding for each softmax of `graph`, in graph order; linear in the size of the graph.

    taken: names that regions must not have; the names of the new ones are entered.
    """
    shadow = Shadow(graph)
    constants = Constants(shadow)
    matcher = Matcher(shadow, constants)
    order = {id(node): at for at, node in enumerate(graph.nodes)}
    for softmax in SoftmaxFinder(shadow, constants).find():
        if isinstance(softmax, Problem):
            yield Finding(softmax.anchor, declined=Declined(softmax.rule, softmax.anchor, softmax.message))
            continue
        try:
            region = attention_region(matcher.match(softmax), REGION_NAME, graph.name, order)
        except Declined as declined:
            yield Finding(softmax.anchor, declined=declined)
            continue
        region.name = fresh_name(REGION_NAME, taken)
        yield Finding(softmax.anchor, region=region)
