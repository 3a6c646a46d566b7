"""What a verifier rule is, and the table of all of them.

A rule is one small function under an id and a title that states what holds in a valid module:

    @rule("value.dtype", "Every element type is a known one.", scope="type", stage="form")
    def dtype_known(value: MCValue) -> Iterator[Finding]:
        if value.dtype not in DTYPES:
            yield Finding(f"unknown element type '{value.dtype}'", hint=did_you_mean(value.dtype, DTYPES))

The scope says what the function is given and how often it runs:

| scope  | given       | runs once for |
|--------|-------------|---------------|
| module | MCModule    | the module |
| unit   | Unit        | each graph and each top-level region, with all that nests in it |
| region | Place       | each region, outer before inner |
| node   | Signature   | each distinct (op, operand types, result types, attributes, kind of holder): memoised |
| type   | MCValue     | each distinct type, with one value that has it: memoised |

The stage says what a rule may take for granted: a stage looks at a unit only when the stages before
it found no error there. "form" takes nothing for granted but Python types; "type" may rely on names,
uses, nesting and well-formed types; "meaning" also on every node matching its op definition. Node rules run in
the order of their declaration, and the first that finds an error ends the verdict on that signature.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from mcir.diagnostics import Note
from mcir.graph import SemanticGraph
from mcir.location import Location
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops.definition import OpDef
from mcir.record import field, record
from mcir.regions import Region
from mcir.rooms import load_all
from mcir.types import TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from mcir.syntax.spots import Spot

SCOPES = ("module", "unit", "region", "node", "type")
STAGES = ("form", "type", "meaning")


@record(slots=True)
class Finding:
    """One breach of a rule.

    `where` is the node, value, region or graph at fault, or a Location; for scopes "node" and "type" the
    driver fills it in. `spot` is the part of it that is at fault, such as ("value", "axis"); without one, an attribute
    that the message names is. `rule` is another rule's id when the finding counts under that one.
    """

    message: str
    where: Any = None
    hint: str = ""
    notes: Sequence[Note] = ()
    rule: str = ""
    spot: Spot | None = None


@record(slots=True)
class Place:
    """A region, the region it stands in (None at top level) and its unit."""

    region: Region
    parent: Region | None
    unit: Unit


@record(slots=True)
class Unit:
    """A graph or a top-level region: what names of values and uses are resolved in."""

    module: MCModule
    top: SemanticGraph | Region
    places: list[Place] = field(default_factory=list)  # every region, outer before inner; none for a graph
    shared: dict[str, frozenset[str]] = field(default_factory=dict)  # one for all units of a run, see `node_names`

    @property
    def is_graph(self) -> bool:
        return isinstance(self.top, SemanticGraph)

    def node_names(self, graph: SemanticGraph) -> frozenset[str]:
        """The names of the nodes of a graph of the module, collected once in a run."""
        names = self.shared.get(graph.name)
        if names is None:
            names = self.shared[graph.name] = frozenset(node.name for node in graph.nodes)
        return names

    def holders(self) -> list[SemanticGraph | Region]:
        """What holds nodes, outer before inner: the graph, or the regions."""
        return [place.region for place in self.places] if self.places else [self.top]

    def nodes(self) -> Iterable[MCNode]:
        """All nodes in text order."""
        for holder in self.holders():
            yield from holder.nodes


@record(slots=True)
class Signature:
    """What a node rule sees: nodes that agree in all of this share one verdict.

    `holder` is "graph" or the kind of the region; `definition` is None for an opaque op; `constants` maps
    an operand's position to its value where a `constant` node defines it.
    """

    op: str
    operands: list[TensorType]
    results: list[TensorType]
    attrs: dict[str, Any]
    holder: str
    definition: OpDef | None
    constants: dict[int, Any]


if TYPE_CHECKING:
    Check = Callable[[Any], Iterable[Finding]]


@record(frozen=True, slots=True)
class Rule:
    """What holds in a valid module. `severity` is "error" or "warning"."""

    id: str
    title: str
    severity: str


@record(frozen=True, slots=True)
class Checker:
    """A function that looks for breaches of a rule; see the head of this file for scope and stage.

    `swept`: in a graph, `sweep.py` tells whether it would find any. `outside`: it looks at more than its unit, so that
    units which are alike share no verdict of it.
    """

    rule: Rule
    scope: str
    stage: str
    check: Check
    swept: bool = False
    outside: bool = False


_RULES: dict[str, Rule] = {}
_CHECKERS: list[Checker] = []


def declare(id: str, title: str, *, severity: str = "error") -> Rule:
    """Enters a rule that is checked elsewhere: op definitions name its id in TypeRuleError.

    Raises ValueError if the id is taken.
    """
    if id in _RULES:
        raise ValueError(f"rule {id} is declared twice")
    _RULES[id] = Rule(id, title, severity)
    return _RULES[id]


def rule(
    id: str, title: str, *, scope: str, stage: str = "meaning", severity: str = "error", swept: bool = False,
    outside: bool = False,
) -> Callable[[Check], Check]:  # fmt: skip
    """Decorator that declares a rule and its check. Raises ValueError for a taken id, unknown scope or stage."""
    enter = also(id, scope=scope, stage=stage, swept=swept, outside=outside)
    declare(id, title, severity=severity)
    return enter


def also(
    id: str, *, scope: str, stage: str = "meaning", swept: bool = False, outside: bool = False
) -> Callable[[Check], Check]:
    """Decorator for a further check of a declared rule, mostly one of another scope."""
    if scope not in SCOPES or stage not in STAGES:
        raise ValueError(f"rule {id}: unknown scope '{scope}' or stage '{stage}'")

    def enter(check: Check) -> Check:
        _CHECKERS.append(Checker(_RULES[id], scope, stage, check, swept, outside))
        return check

    return enter


def load_every_rule() -> None:
    """Registers the rules of all files in this room."""
    load_all("mcir.verifier", os.path.dirname(__file__))


def all_rules() -> list[Rule]:
    """Every rule by id: the table of the language reference."""
    load_every_rule()
    return [_RULES[id] for id in sorted(_RULES)]


def checkers(scope: str, stage: str) -> list[Checker]:
    """The checks of one scope and stage, in the order they were declared."""
    return [checker for checker in _CHECKERS if checker.scope == scope and checker.stage == stage]


def find_rule(id: str) -> Rule | None:
    """The rule `id`, or None."""
    if id not in _RULES:
        load_every_rule()
    return _RULES.get(id)


def location_of(where: Any) -> Location | None:
    """The location of a node, value, region or graph; a Location is its own."""
    return where if where is None or isinstance(where, Location) else where.loc
