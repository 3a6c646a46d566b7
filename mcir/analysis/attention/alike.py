"""Work that attentions which are alike share: the layers of a model are the same but for their names.

What the matcher makes of a softmax is a function of the answers that it gets about the graph: which node makes a value,
which ones use it, what constant it is. `Transcript` writes the questions and answers down, with nodes and values
numbered as they come up, so that nothing in it depends on names. After equal answers the next question is the same; so
all transcripts of a graph make a tree, from a question by its answer to the next one. A softmax is led down that tree;
where it comes to an end that another one has come to before, its region is that one's under its own names.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from mcir.analysis.attention.match import Match
from mcir.analysis.attention.walk import Leads
from mcir.analysis.constants import Constant, Constants
from mcir.analysis.mask_algebra import Form
from mcir.analysis.mask_forms import MaskForms
from mcir.analysis.shadow import Shadow
from mcir.analysis.softmax import Softmax
from mcir.nodes import MCNode
from mcir.regions import ExecutionRegion
from mcir.types import Shape
from mcir.values import MCValue

# A graph whose attentions are all different need not remember them all.
MAX_KINDS = 64

# Lists of more elements are not compared: a node or constant that has one is like itself only.
_LONGEST = 64

_MARSHAL = 2  # the newest version whose bytes depend on the values alone


@dataclass(slots=True)
class Question:
    """What is asked of the value with a number, and by its answers what comes next."""

    kind: str
    number: int
    next: dict[Hashable, Question | Pattern] = field(default_factory=dict)


@dataclass(slots=True)
class Pattern:
    """The attributes of a region, and the numbers of the values and nodes whose names are in them."""

    attrs: dict[str, Any]
    inputs: list[int]
    roles: dict[str, int]
    operands: dict[int, int]
    nodes: list[int]


@dataclass(slots=True)
class Facts:
    """All that can be asked about a graph."""

    shadow: Shadow
    constants: Constants
    forms: MaskForms
    leads: Leads


class Transcript:
    """The questions asked on the way from one softmax, and their answers; numbers in place of names."""

    def __init__(self, kinds: Kinds, softmax: Softmax) -> None:
        self.facts: Facts = kinds.facts
        self.things: list[Any] = []
        self.steps: list[tuple[str, int, Hashable]] = []
        self._kinds = kinds
        self._numbers: dict[int, int] = {}
        self._asked: set[tuple[str, int]] = set()
        self.start = self._started(softmax)

    def note(self, kind: str, value: MCValue) -> None:
        """Writes down a question, unless the answer has been written before."""
        key = (kind, id(value))
        if key in self._asked or (kind == "producer" and self._is_result(value)):
            return
        self._asked.add(key)
        self.steps.append((kind, self.number(value), _ANSWERS[kind](self, value)))

    def number(self, thing: MCNode | MCValue) -> int:
        """The number of a node or value that has come up."""
        return self._numbers[id(thing)]

    def node(self, node: MCNode | None) -> Hashable:
        """The number of a node; when it comes up first, all that it says: what it is, its operands and results."""
        if node is None:
            return None
        numbers = self._numbers
        written = numbers.get(id(node))
        if written is not None:
            return written
        things = self.things
        answer = [self._kinds.of_node(node)]
        for thing in (node, *node.inputs, *node.outputs):
            number = numbers.get(id(thing))
            if number is None:
                number = numbers[id(thing)] = len(things)
                things.append(thing)
            answer.append(number)
        return tuple(answer)

    def _started(self, softmax: Softmax) -> Hashable:
        nodes = tuple([self.node(node) for node in softmax.nodes])
        named = (softmax.anchor, softmax.scores, softmax.probs, softmax.division, softmax.row_sum, *softmax.row_path)
        return softmax.axis, nodes, tuple([-1 if thing is None else self._numbers[id(thing)] for thing in named])

    def _is_result(self, value: MCValue) -> bool:
        """Whether a node that has come up is known to make `value`."""
        node = self.facts.shadow.producer_of(value)
        return node is not None and id(node) in self._numbers


# What is written down of the answer to each kind of question.
_ANSWERS: dict[str, Callable[[Transcript, MCValue], Hashable]] = {
    "producer": lambda script, value: script.node(script.facts.shadow.producer_of(value)),
    "uses": lambda script, value: tuple([script.node(node) for node in script.facts.shadow.uses_of(value)]),
    "output": lambda script, value: script.facts.shadow.is_output(value),
    "constant": lambda script, value: _constant_key(script.facts.constants.of(value)),
    "shape": lambda script, value: script.facts.constants.shape(value),
    "form": lambda script, value: repr(script.facts.forms.of(value)),
    "leads": lambda script, value: script.facts.leads.to_contraction(value),
}


class Kinds:
    """The kinds of attention in one graph."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._starts: dict[Hashable, Question | Pattern] = {}
        self._node_kinds: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._count = 0

    def of_node(self, node: MCNode) -> int:
        """A number that two nodes share if they differ in names at most: of the node, its operands and results."""
        kind = self._node_kinds.get(id(node))
        if kind is None:
            attrs = _attributes_key(node.attrs)
            types = [(value.dtype, *value.shape) for value in (*node.inputs, *node.outputs)]
            key = (node.op, attrs, len(node.inputs), *types) if attrs is not None else id(node)
            kind = self._node_kinds[id(node)] = self._numbers.setdefault(key, len(self._numbers))
        return kind

    def follow(self, transcript: Transcript) -> Pattern | None:
        """The pattern that a softmax just begun leads to, or None."""
        at = self._starts.get(transcript.start)
        while isinstance(at, Question):
            at = at.next.get(_ANSWERS[at.kind](transcript, transcript.things[at.number]))
        return at

    def is_full(self) -> bool:
        return self._count >= MAX_KINDS

    def enter(self, transcript: Transcript, pattern: Pattern) -> None:
        """Remembers where the answers of a whole transcript led to."""
        self._count += 1
        branches, answer = self._starts, transcript.start
        for kind, number, said in transcript.steps:
            question = branches.setdefault(answer, Question(kind, number))
            assert isinstance(question, Question)  # equal answers lead to the same question
            branches, answer = question.next, said
        branches[answer] = pattern


class _AskedShadow(Shadow):
    """A shadow whose answers are written down. It has no other state, so that nothing can be read unasked."""

    def __init__(self, shadow: Shadow, transcript: Transcript) -> None:
        self._shadow = shadow
        self._note = transcript.note

    def producer_of(self, value: MCValue) -> MCNode | None:
        self._note("producer", value)
        return self._shadow.producer_of(value)

    def uses_of(self, value: MCValue) -> list[MCNode]:
        self._note("uses", value)
        return self._shadow.uses_of(value)

    def is_output(self, value: MCValue) -> bool:
        self._note("output", value)
        return self._shadow.is_output(value)


class _AskedConstants(Constants):
    def __init__(self, constants: Constants, transcript: Transcript) -> None:
        self._constants = constants
        self._note = transcript.note

    def of(self, value: MCValue) -> Constant | None:
        self._note("constant", value)
        return self._constants.of(value)

    def shape(self, value: MCValue) -> Shape:
        self._note("shape", value)
        return self._constants.shape(value)


class _AskedForms(MaskForms):
    def __init__(self, forms: MaskForms, transcript: Transcript) -> None:
        self._forms = forms
        self._note = transcript.note

    def of(self, value: MCValue) -> Form | None:
        self._note("form", value)
        return self._forms.of(value)


class _AskedLeads(Leads):
    def __init__(self, leads: Leads, transcript: Transcript) -> None:
        self._leads = leads
        self._note = transcript.note

    def to_contraction(self, value: MCValue) -> bool:
        self._note("leads", value)
        return self._leads.to_contraction(value)


def asked(facts: Facts, transcript: Transcript) -> Facts:
    """The same facts; what is asked of them goes into the transcript."""
    return Facts(
        _AskedShadow(facts.shadow, transcript), _AskedConstants(facts.constants, transcript),
        _AskedForms(facts.forms, transcript), _AskedLeads(facts.leads, transcript),
    )  # fmt: skip


def pattern_of(match: Match, region: ExecutionRegion, transcript: Transcript) -> Pattern:
    """What `region`, just made of `match`, has in common with those of like softmaxes. Takes the region over."""
    number = transcript.number
    values = [match.q.value, match.k.value, match.v.value, *(step.operand for step in match.modifiers)]
    of_name = {value.name: number(value) for value in values if value is not None}
    operands = {
        at: of_name[entry["operand"]] for at, entry in enumerate(region.attrs["modifiers"]) if "operand" in entry
    }
    roles = {"q_name": match.q.value, "k_name": match.k.value, "v_name": match.v.value, "o_name": match.out}
    return Pattern(
        region.attrs,
        [of_name[value.name] for value in region.inputs],
        {key: number(value) for key, value in roles.items()},
        operands,
        [number(node) for node in match.nodes],
    )


def region_like(pattern: Pattern, things: list[Any], shadow: Shadow) -> ExecutionRegion:
    """The region of `pattern` with the names of `things`, which have the numbers of the pattern."""
    region = ExecutionRegion("")
    region.inputs = [_fresh(things[number]) for number in pattern.inputs]
    region.outputs = [_fresh(things[pattern.roles["o_name"]])]
    attrs = region.attrs = dict(pattern.attrs)
    for key, number in pattern.roles.items():
        attrs[key] = things[number].name
    attrs["extents"] = dict(attrs["extents"])
    attrs["modifiers"] = entries = [dict(entry) for entry in attrs["modifiers"]]
    for at, number in pattern.operands.items():
        entries[at]["operand"] = things[number].name
    nodes = sorted([things[number] for number in pattern.nodes], key=shadow.position)
    attrs["nodes"] = [node.name for node in nodes]
    return region


def _fresh(value: MCValue) -> MCValue:
    return MCValue(value.name, value.shape, value.dtype)


def _constant_key(constant: Constant | None) -> Hashable:
    if constant is None:
        return None
    if constant.items is not None and len(constant.items) > _LONGEST:
        return id(constant)
    # repr tells 1 from true and 0.0 from -0.0
    return constant.dtype, tuple(constant.shape), repr(constant.splat), repr(constant.items)


def _attributes_key(attrs: dict[str, Any]) -> bytes | None:
    """A key equal only for equal attributes; None where they are long, or no plain data."""
    if not attrs:
        return b""
    for value in attrs.values():
        if isinstance(value, (list, dict)) and len(value) > _LONGEST:
            return None
    try:
        return marshal.dumps(attrs, _MARSHAL)  # as exact as repr, four times faster
    except ValueError:  # a symbol, a type
        return None
