"""Actions for the rules of modules, graphs, regions and nodes: they make the model.

The actions run while the parser reads: no tree is built and nothing recurses, so a 10,000-fold
nested region costs no stack. Faults other than syntax do not stop them; each becomes a diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcir.diagnostics import Diagnostic, Note, did_you_mean
from mcir.graph import SemanticGraph
from mcir.location import Location, Source
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops import all_ops, lookup
from mcir.regions import ExecutionRegion, Region, StreamingRegion, TileRegion
from mcir.rewriter import fresh_name
from mcir.syntax.comments import CommentPlacer
from mcir.syntax.values import ValueActions, make_token
from mcir.types import TensorType
from mcir.values import MCValue

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from mcir.syntax.values import Token

MAX_DIAGNOSTICS = 100  # further faults of one text are not worth reading


class _Unnamed(str):
    """Stands for the name of a node that gets it when its region is closed.

    Equal to itself alone: any string may be the name that a user gave.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


class _StandIn(MCValue):
    """Stands for a value that is used where nothing defines it; `fault` says so, None where that was not told."""

    __slots__ = ("fault",)

    def __init__(self, name: str, loc: Location | None, fault: Diagnostic | None) -> None:
        super().__init__(name, (), "fp32", loc=loc)
        self.fault = fault


class Scope:
    """The values that a text sees at one point; nested regions add to it and take away again."""

    def __init__(self) -> None:
        self.values: dict[str, MCValue] = {}
        self.frames: list[list[MCValue]] = [[]]
        self.replaced: dict[int, _StandIn] = {}  # id of a value in a frame -> what stood for it until it was defined

    def push(self) -> None:
        self.frames.append([])

    def pop(self) -> None:
        for value in reversed(self.frames.pop()):
            self.leave(value)

    def forget_from(self, offset: int) -> None:
        """Takes away the values of the innermost region that stand at or behind `offset` in the text."""
        values = self.frames[-1]
        while values and (loc := values[-1].loc) is not None and loc.offset >= offset:
            self.leave(values.pop())

    def enter(self, value: MCValue) -> None:
        earlier = self.values.get(value.name)
        if isinstance(earlier, _StandIn):
            self.replaced[id(value)] = earlier
        self.values[value.name] = value
        self.frames[-1].append(value)

    def leave(self, value: MCValue) -> None:
        """Undoes `enter`, the last of that name."""
        earlier = self.replaced.pop(id(value), None)
        if earlier is not None:
            self.values[value.name] = earlier
        else:
            del self.values[value.name]


class Actions(ValueActions):
    """One method per grammar rule; `begin` starts a new text."""

    def begin(self, source: Source) -> None:
        """Forgets the text before and starts with `source`."""
        self.source = source
        self.diagnostics: list[Diagnostic] = []  # faults other than syntax
        self.syntax_errors: list[Diagnostic] = []
        # Faults that only follow from another, by id; kept, or a later one could get the id of one that was dropped.
        self.follow_ups: dict[int, Diagnostic] = {}
        # Ops whose result types are missing, each with the offset up to which nodes without results may be its rest.
        self.unfinished: list[tuple[int, int]] = []
        self.late: list[tuple[Diagnostic, str]] = []  # faults of uses above the definition, and the hints they had
        self.comments = CommentPlacer(source.text)
        self.scope = Scope()
        self.open_regions = 0
        self.lost: set[str] = set()  # names that may be defined in a statement that has a syntax error
        self.last_item = 0  # where the graph or outermost region begins that was closed last
        self.last_return = 0  # where the `return` stands that was read last
        self.depths: dict[int, int] = {}  # id of a list or dictionary -> how deep it nests

    def on_comment(self, token: Token) -> Token:
        self.comments.add(token.start_pos or 0, str(token)[2:].rstrip())
        return token

    def fault(self, token: Token | Location | None, message: str, hint: str = "", notes: Iterable[Note] = ()) -> None:
        if self.is_full():
            return
        if not isinstance(token, Location):
            token = self.locate(token)
        self.diagnostics.append(Diagnostic(message, token, hint=hint, notes=list(notes)))

    def is_full(self) -> bool:
        return len(self.diagnostics) >= MAX_DIAGNOSTICS

    def forget_from(self, offset: int) -> None:
        """Drops faults and values at or behind `offset`: a statement with a syntax error is as good as not there."""
        self.diagnostics = [fault for fault in self.diagnostics if fault.location and fault.location.offset < offset]
        for at, (fault, hint) in reversed([*enumerate(self.late)]):
            if (place := fault.notes[-1].location) is not None and place.offset >= offset:
                fault.notes.pop()
                fault.hint = hint
                del self.late[at]
        self.scope.forget_from(offset)
        while self.unfinished and self.unfinished[-1][0] >= offset:
            self.unfinished.pop()

    def locate(self, token: Token | None) -> Location | None:
        if token is None or token.start_pos is None:
            return None
        return Location(self.source, token.start_pos, token.end_pos or 0)

    def module(self, items: list[Any]) -> MCModule:
        """The module of the text's graphs and regions, every comment in its place."""
        module = MCModule(
            regions=[item for item in items if isinstance(item, Region)],
            graphs=[item for item in items if isinstance(item, SemanticGraph)],
        )
        self.comments.place(module)
        return module

    # -- module, graphs and regions ------------------------------------------------------------

    def start(self, *items: Any) -> list[Any]:
        return list(items)

    def item(self, item: Any) -> Any:
        return item

    def graph_head(self, keyword: Token, symbol: Token, params: list[MCValue], attrs: dict[str, Any]) -> SemanticGraph:
        self.scope = Scope()
        graph = SemanticGraph(self.read(symbol), attrs=attrs, loc=self.locate(keyword))
        graph.inputs = [value for value in params if self.declare(value)]
        return graph

    def graph(self, graph: SemanticGraph, *rest: Any) -> SemanticGraph:
        *nodes, outputs, brace = rest
        graph.nodes = nodes
        graph.outputs = outputs
        _name_the_unnamed(nodes)
        self.last_item = graph.loc.offset if graph.loc else 0
        self.comments.close(brace.start_pos, graph)
        return graph

    def return_(self, keyword: Token, operands: list[MCValue]) -> list[MCValue]:
        self.comments.pass_over(keyword.start_pos)
        self.last_return = keyword.start_pos
        return operands

    def region_head(
        self, keyword: Token, symbol: Token, signature: list[list[MCValue]], attrs: dict[str, Any]
    ) -> Region:
        if self.open_regions == 0:
            self.scope = Scope()
        self.scope.push()
        self.open_regions += 1
        region = _new_region(str(keyword), self.read(symbol))
        region.attrs = attrs
        region.loc = self.locate(keyword)
        inputs, outputs = (*signature, [], [])[:2]
        region.inputs = [value for value in inputs if self.declare(value)]
        region.outputs = [value for value in outputs if self.declare(value)]
        return region

    def region(self, region: Region, *rest: Any) -> Region:
        *body, brace = rest
        region.nodes = [item for item in body if isinstance(item, MCNode)]
        region.subregions = [item for item in body if isinstance(item, Region)]
        _name_the_unnamed(region.nodes)
        self.scope.pop()
        self.open_regions -= 1
        if self.open_regions == 0:
            self.last_item = region.loc.offset if region.loc else 0
        self.comments.close(brace.start_pos, region)
        return region

    def lost_head(self, kind: str, begin: int) -> SemanticGraph | Region:
        """Stands for a head with a syntax error; `kind` is the terminal that it begins with."""
        if kind == "GRAPH":
            return self.graph_head(make_token("graph", begin), make_token("@_", begin), [], {})
        return self.region_head(make_token("tile", begin), make_token("@_", begin), [], {})

    def undo_head(self, head: SemanticGraph | Region) -> None:
        """Forgets a head that turned out to have a syntax error."""
        if isinstance(head, Region):
            self.scope.pop()
            self.open_regions -= 1

    def signature(self, *lists: list[MCValue]) -> list[list[MCValue]]:
        return list(lists)

    def params(self, *values: MCValue) -> list[MCValue]:
        return list(values)

    def param(self, token: Token, type_: TensorType) -> MCValue:
        return MCValue(self.read(token), type_.shape, type_.dtype, type_.residency, loc=self.locate(token))

    def attributes(self, attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        return attrs if attrs is not None else {}

    # -- nodes ---------------------------------------------------------------------------------

    def node(
        self, results: Token | None, op: Token, name: Token | None,
        operands: list[MCValue], attrs: dict[str, Any], types: list[TensorType],
    ) -> MCNode:  # fmt: skip
        first = results if results is not None else op
        loc = self.locate(first)
        names = self.result_names(results) if results is not None else []
        told = len(self.diagnostics)
        miscounted = len(names) != len(types)
        if miscounted and not self.is_full():
            self.fault(*_count_fault(first if results is not None else op, len(names), len(types), self.rest(op)))
        if miscounted:
            types = (types + [TensorType((), "fp32")] * len(names))[: len(names)]
        outputs = [
            MCValue(result, type_.shape, type_.dtype, type_.residency, loc=loc)
            for result, type_ in zip(names, types, strict=True)
        ]
        node_name = self.read(name) if name is not None else names[0] if names else _Unnamed()
        node = MCNode(node_name, self.op_name(op), operands, outputs, attrs, loc=loc)
        if results is None and self.unfinished and op.start_pos < self.unfinished[-1][1]:
            self.follow_ups.update((id(fault), fault) for fault in self.diagnostics[told:])
        if names and miscounted:
            self.unfinished.append((op.start_pos, self.line_end(op.start_pos)))
        for value in outputs:
            self.declare(value)
        return node

    def rest(self, token: Token) -> str:
        """The line from `token` on."""
        begin = token.start_pos or 0
        return self.source.text[begin : self.line_end(begin)]

    def line_end(self, at: int) -> int:
        """Where the line at `at` ends. One with many unfinished nodes is gone through once."""
        if self.unfinished and self.unfinished[-1][0] <= at < self.unfinished[-1][1]:
            return self.unfinished[-1][1]
        end = self.source.text.find("\n", at)
        return end if end >= 0 else len(self.source.text)

    def results(self, token: Token | None = None) -> Token | None:
        return token

    def op(self, token: Token) -> Token:
        return token

    def node_name(self, token: Token | None = None) -> Token | None:
        return token

    def operands(self, *tokens: Token) -> list[MCValue]:
        return [self.use(token) for token in tokens]

    def node_attrs(self, attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        return attrs if attrs is not None else {}

    def node_types(self, *types: TensorType) -> list[TensorType]:
        return list(types)

    def result_names(self, token: Token) -> list[str]:
        """The names in a RESULTS token."""
        text = str(token)
        if '"' not in text and "/" not in text:
            return [part.strip()[1:] for part in text[:-1].split(",")]
        self.comments.add_inner(token.start_pos or 0, text)
        return [self.read(piece) for piece in _name_tokens(token)]

    def op_name(self, token: Token) -> str:
        if token[0] == '"':
            name = self.text(token)
            if not name:
                self.fault(token, "an op name is empty")
            return name
        name = str(token)
        if lookup(name) is None and not self.is_full():
            known = [op.name for op in all_ops()]
            near = did_you_mean(name, known) or did_you_mean(name.rpartition(".")[2], known)
            self.fault(token, f"unknown op '{name}'", near or f'write "{name}" in quotes for an opaque op')
        return name

    def declare(self, value: MCValue) -> bool:
        """Enters a definition. False, with a fault, where the name is taken."""
        earlier = self.scope.values.get(value.name)
        if isinstance(earlier, _StandIn):
            self.tell_late(earlier, value)
        elif earlier is not None:
            notes = [Note("first defined here", earlier.loc)] if earlier.loc else []
            self.fault(value.loc, f"value %{value.name} is defined twice", notes=notes)
            return False
        self.scope.enter(value)
        return True

    def tell_late(self, used: _StandIn, defined: MCValue) -> None:
        """Says where the value is defined that was used above."""
        fault = used.fault
        if fault is None or fault.notes or used.loc is None or defined.loc is None:
            return
        self.late.append((fault, fault.hint))
        if defined.loc.offset < used.loc.offset:
            fault.notes.append(Note("defined here, by the node that uses it", defined.loc))
            fault.hint = "a node cannot use its own results"
        else:
            fault.notes.append(Note("defined here, below its use", defined.loc))
            fault.hint = "a value is defined above its uses: move its node up"

    def use(self, token: Token) -> MCValue:
        name = self.read(token)
        value = self.scope.values.get(name)
        if value is None:
            fault = None
            if name not in self.lost and not self.is_full():
                known = (f"%{known}" for known in self.scope.values)
                self.fault(token, f"value %{name} is not defined here", did_you_mean(f"%{name}", known))
                fault = self.diagnostics[-1]
            value = _StandIn(name, self.locate(token), fault)
            self.scope.enter(value)  # one diagnostic per name is enough
        return value


_REGION_CLASSES: dict[str, type[Region]] = {
    "execution": ExecutionRegion,
    "streaming": StreamingRegion,
    "tile": TileRegion,
}


def _new_region(kind: str, name: str) -> Region:
    # The class without its __init__: attributes are those of the text, no defaults are added.
    region = _REGION_CLASSES[kind].__new__(_REGION_CLASSES[kind])
    Region.__init__(region, name, kind)
    return region


_BARE_OPERAND = re.compile(r"[^\s{:]+\s+(?:@\S+\s+)?(?:%[^\s,]+\s*,\s*)*([A-Za-z_][\w.$]*)")


def _count_fault(token: Token, results: int, types: int, rest: str) -> tuple[Token, str, str]:
    """`rest`: the line from the op on, which says what may have been meant."""
    wanted = f"{results} result{'s' * (results != 1)}"
    got = f"{types} result type{'s' * (types != 1)}"
    bare = _BARE_OPERAND.match(rest) if results and not types else None
    if bare is None:
        return token, f"{wanted} but {got}", "write `: type` after the node, one type per result"
    if lookup(bare.group(1)) is not None:
        return token, f"{wanted} but {got}", "each node has a line of its own, and its results a name: %x = op ..."
    return token, f"{wanted} but {got}", f"write the `: type`; as an operand, '{bare.group(1)}' is %{bare.group(1)}"


def _name_tokens(token: Token) -> list[Token]:
    """The single %names of a RESULTS token that holds quotes or comments."""
    from lark import Token as LarkToken

    start = token.start_pos or 0
    # A comment matches first, so that a name inside of it is none.
    pattern = r'//[^\r\n]*|%(?:[A-Za-z0-9_.$]+|"(?:[^"\\]|\\.)*")'
    return [
        LarkToken("VALUE", match.group(), start + match.start(), end_pos=start + match.end())
        for match in re.finditer(pattern, str(token))
        if match.group()[0] == "%"
    ]


def _name_the_unnamed(nodes: list[MCNode]) -> None:
    """Gives nodes without result and name the name of their op, made unique."""
    unnamed = [node for node in nodes if isinstance(node.name, _Unnamed)]
    if not unnamed:
        return
    taken = {node.name for node in nodes}
    for node in unnamed:
        marker, node.name = node.name, fresh_name(node.op, taken)
        for value in node.inputs:
            value.consumers[:] = [node.name if name == marker else name for name in value.consumers]
