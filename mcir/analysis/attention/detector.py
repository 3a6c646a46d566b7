"""Every softmax of a graph with its verdict: an execution region, or the rule that stood against it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from mcir.analysis.attention.alike import Facts, Kinds, Transcript, asked, pattern_of, region_like
from mcir.analysis.attention.match import Match, Matcher
from mcir.analysis.attention.region import attention_region
from mcir.analysis.attention.rules import Declined
from mcir.analysis.attention.walk import Leads
from mcir.analysis.constants import Constants
from mcir.analysis.mask_forms import MaskForms
from mcir.analysis.shadow import Shadow
from mcir.analysis.softmax import Problem, Softmax, SoftmaxFinder
from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.regions import ExecutionRegion

REGION_NAME = "attention_region"


@dataclass(slots=True)
class Finding:
    """The verdict on the softmax at `anchor`: either `region` or `declined` is set."""

    anchor: MCNode
    region: ExecutionRegion | None = None
    declined: Declined | None = None


@dataclass(slots=True)
class Search:
    """The softmaxes of `graph`, in graph order, and what was learnt on the way to them."""

    graph: SemanticGraph
    shadow: Shadow
    constants: Constants
    softmaxes: list[Softmax | Problem]


def find_softmaxes(graph: SemanticGraph) -> Search:
    """The first half of the detection, the second is `judge`; linear in the size of the graph."""
    shadow = Shadow(graph)
    constants = Constants(shadow)
    return Search(graph, shadow, constants, list(SoftmaxFinder(shadow, constants).find()))


def find_attention(graph: SemanticGraph, taken: set[str]) -> Iterator[Finding]:
    """A finding for each softmax of `graph`, in graph order; linear in the size of the graph.

    taken: names that regions must not have; the names of the new ones are entered.
    """
    return judge(find_softmaxes(graph), taken)


def judge(search: Search, taken: set[str]) -> Iterator[Finding]:
    """A finding for each softmax of the search; `taken` as for `find_attention`."""
    judgement = _Judgement(search)
    names = _free_names(taken)
    for softmax in search.softmaxes:
        if isinstance(softmax, Problem):
            yield Finding(softmax.anchor, declined=Declined(softmax.rule, softmax.anchor, softmax.message))
            continue
        try:
            region = judgement.region(softmax)
        except Declined as declined:
            yield Finding(softmax.anchor, declined=declined)
            continue
        region.name = next(names)
        region.loc = softmax.anchor.loc
        yield Finding(softmax.anchor, region=region)


class _Judgement:
    """Makes the regions of one graph; softmaxes that are alike but for names are matched once."""

    def __init__(self, search: Search) -> None:
        shadow, constants = search.shadow, search.constants
        self._graph = search.graph.name
        self._facts = Facts(shadow, constants, MaskForms(shadow, constants), Leads(shadow))
        self._kinds = Kinds(self._facts)

    def region(self, softmax: Softmax) -> ExecutionRegion:
        """The region of `softmax`, still without a name of its own. Raises Declined."""
        transcript = Transcript(self._kinds, softmax)
        pattern = self._kinds.follow(transcript)
        if pattern is None:
            if self._kinds.is_full():
                return self._matched(softmax, self._facts)[1]
            transcript = Transcript(self._kinds, softmax)
            match, region = self._matched(softmax, asked(self._facts, transcript))
            pattern = pattern_of(match, region, transcript)
            self._kinds.enter(transcript, pattern)
        return region_like(pattern, transcript.things, self._facts.shadow)

    def _matched(self, softmax: Softmax, facts: Facts) -> tuple[Match, ExecutionRegion]:
        match = Matcher(facts.shadow, facts.constants, facts.forms, facts.leads).match(softmax)
        return match, attention_region(match, "", self._graph, self._facts.shadow)


def _free_names(taken: set[str]) -> Iterator[str]:
    """attention_region, attention_region_1, ... without the names taken; counts on, so that many cost linear time."""
    for number in count():
        name = f"{REGION_NAME}_{number}" if number else REGION_NAME
        if name not in taken:
            taken.add(name)
            yield name
