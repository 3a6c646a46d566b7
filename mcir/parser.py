"""Text to model. `grammar/mcir.lark` defines the syntax; each rule of it has one action here.

Lark's LALR parser calls the actions while it reads (no tree is built, nothing recurses), so a
10,000-fold nested region costs no stack. Faults other than syntax do not stop the parser: each
becomes a diagnostic, and all of them are raised together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcir.comments import CommentPlacer
from mcir.diagnostics import Diagnostic, MCIRError, Note, did_you_mean
from mcir.graph import SemanticGraph
from mcir.location import Location, Source
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops import all_ops, lookup
from mcir.regions import ExecutionRegion, Region, StreamingRegion, TileRegion
from mcir.rewriter import fresh_name
from mcir.syntax_errors import syntax_diagnostic
from mcir.text import read_name, unquote
from mcir.types import DTYPE_ALIASES, DTYPES, MAX_ATTRIBUTE_DEPTH, RESIDENCIES, Dim, Symbol, TensorType
from mcir.values import MCValue

if TYPE_CHECKING:
    from lark import Lark, Token

MAX_DIAGNOSTICS = 100  # further faults of one text are not worth reading
_MAX_DECIMAL_DIGITS = 4000  # Python reads longer ones in quadratic time; hexadecimal has no limit
_UNNAMED = "\0"  # marks a node that gets its name when its region is closed


def parse_module(text: str, filename: str = "<string>", first_line: int = 1) -> MCModule:
    """The module that `text` spells. Raises MCIRError with one diagnostic per fault.

    `first_line` is the line number of the first line, for a piece of a larger file.
    """
    from lark.exceptions import UnexpectedInput

    source = Source(filename, text, first_line)
    lark, actions = _parser()
    actions.begin(source)
    try:
        items = lark.parse(text, start="start")
    except UnexpectedInput as error:
        actions.diagnostics.append(syntax_diagnostic(error, source))
    if actions.diagnostics:
        ordered = sorted(actions.diagnostics, key=lambda fault: fault.location.offset if fault.location else 0)
        raise MCIRError(ordered[:MAX_DIAGNOSTICS])
    module = MCModule(
        regions=[item for item in items if isinstance(item, Region)],
        graphs=[item for item in items if isinstance(item, SemanticGraph)],
    )
    actions.comments.place(module)
    return module


@cache
def grammar_text() -> str:
    """The grammar: from the installed package, or from the checkout beside it."""
    here = Path(__file__).parent
    for path in (here / "_grammar" / "mcir.lark", here.parent / "grammar" / "mcir.lark"):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise MCIRError("the installation is incomplete: mcir.lark is missing")


_local = threading.local()


def _parser() -> tuple[Lark, _Actions]:
    # One parser per thread: the actions hold the state of the text being read.
    if not hasattr(_local, "parser"):
        from lark import Lark

        actions = _Actions()
        _local.parser = (
            Lark(
                grammar_text(),
                parser="lalr",
                lexer="contextual",
                start=["start", "type", "attr_dict"],
                maybe_placeholders=False,
                transformer=_Inline(actions),
                lexer_callbacks={"COMMENT": actions.on_comment},
            ),
            actions,
        )
    return _local.parser  # type: ignore[no-any-return]


class _Inline:
    """Lark's view of the actions: a rule's children arrive as arguments of its method."""

    def __init__(self, actions: _Actions) -> None:
        self._actions = actions

    def __getattr__(self, rule: str) -> Callable[[list[Any]], Any]:
        action = getattr(self._actions, rule)
        return lambda children: action(*children)


class _Scope:
    """The values that a text sees at one point; nested regions add to it and take away again."""

    def __init__(self) -> None:
        self.values: dict[str, MCValue] = {}
        self.frames: list[list[str]] = [[]]

    def push(self) -> None:
        self.frames.append([])

    def pop(self) -> None:
        for name in self.frames.pop():
            del self.values[name]

    def enter(self, value: MCValue) -> None:
        self.values[value.name] = value
        self.frames[-1].append(value.name)


class _Actions:
    """One method per grammar rule; `begin` starts a new text."""

    def begin(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.comments = CommentPlacer(source.text)
        self.scope = _Scope()
        self.open_regions = 0
        self.depths: dict[int, int] = {}  # id of a list or dictionary -> how deep it nests

    def on_comment(self, token: Token) -> Token:
        self.comments.add(token.start_pos or 0, str(token)[2:].rstrip())
        return token

    def fault(self, token: Token | Location | None, message: str, hint: str = "", notes: Iterable[Note] = ()) -> None:
        if not isinstance(token, tuple):
            token = self.locate(token)
        self.diagnostics.append(Diagnostic(message, token, hint=hint, notes=list(notes)))

    def locate(self, token: Token | None) -> Location | None:
        if token is None or token.start_pos is None:
            return None
        return Location(self.source, token.start_pos, token.end_pos or 0)

    # -- module, graphs and regions ------------------------------------------------------------

    def start(self, *items: Any) -> list[Any]:
        return list(items)

    def item(self, item: Any) -> Any:
        return item

    def graph_head(self, keyword: Token, symbol: Token, params: list[MCValue], attrs: dict[str, Any]) -> SemanticGraph:
        self.scope = _Scope()
        graph = SemanticGraph(self.read(symbol), attrs=attrs, loc=self.locate(keyword))
        graph.inputs = [value for value in params if self.declare(value)]
        self.comments.open(keyword.start_pos, graph)
        return graph

    def graph(self, graph: SemanticGraph, *rest: Any) -> SemanticGraph:
        *nodes, outputs, brace = rest
        graph.nodes = nodes
        graph.outputs = outputs
        _name_the_unnamed(nodes)
        self.comments.close(brace.start_pos, graph)
        return graph

    def return_(self, keyword: Token, operands: list[MCValue]) -> list[MCValue]:
        self.comments.pass_over(keyword.start_pos)
        return operands

    def region_head(
        self, keyword: Token, symbol: Token, signature: list[list[MCValue]], attrs: dict[str, Any]
    ) -> Region:
        if self.open_regions == 0:
            self.scope = _Scope()
        self.scope.push()
        self.open_regions += 1
        region = _new_region(str(keyword), self.read(symbol))
        region.attrs = attrs
        region.loc = self.locate(keyword)
        inputs, outputs = (*signature, [], [])[:2]
        region.inputs = [value for value in inputs if self.declare(value)]
        region.outputs = [value for value in outputs if self.declare(value)]
        self.comments.open(keyword.start_pos, region)
        return region

    def region(self, region: Region, *rest: Any) -> Region:
        *body, brace = rest
        region.nodes = [item for item in body if isinstance(item, MCNode)]
        region.subregions = [item for item in body if isinstance(item, Region)]
        _name_the_unnamed(region.nodes)
        self.scope.pop()
        self.open_regions -= 1
        self.comments.close(brace.start_pos, region)
        return region

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
        if len(names) != len(types):
            self.fault(*_count_fault(first if results is not None else op, len(names), len(types)))
            types = (types + [TensorType((), "fp32")] * len(names))[: len(names)]
        outputs = [
            MCValue(result, type_.shape, type_.dtype, type_.residency, loc=loc)
            for result, type_ in zip(names, types, strict=True)
        ]
        if name is not None:
            node_name = self.read(name)
        else:
            node_name = names[0] if names else f"{_UNNAMED}{first.start_pos}"
        node = MCNode(node_name, self.op_name(op), operands, outputs, attrs, loc=loc)
        for value in outputs:
            self.declare(value)
        self.comments.open(first.start_pos, node)
        return node

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

    # -- types ---------------------------------------------------------------------------------

    def type(self, *parts: Any) -> TensorType:
        *dims, dtype, residency = parts
        name = str(dtype)
        if name not in DTYPES:
            alias = DTYPE_ALIASES.get(name)
            hint = f"did you mean '{alias}'?" if alias else did_you_mean(name, DTYPES)
            self.fault(dtype, f"unknown element type '{name}'", hint or f"one of {', '.join(DTYPES)}")
            name = "fp32"
        return TensorType(tuple(map(self.dim, dims)), name, residency)

    def residency(self, token: Token | None = None) -> str:
        if token is None:
            return "global"
        if str(token) not in RESIDENCIES:
            near = did_you_mean(str(token), RESIDENCIES)
            self.fault(token, f"unknown residency '{token}'", near or f"one of {', '.join(RESIDENCIES)}")
            return "global"
        return str(token)

    def dim(self, token: Token) -> Dim:
        body = str(token)[:-1]
        if body == "?":
            return None
        if body[0] == "(":
            name = self.text(token, body[1:-1]) if body[1] == '"' else body[1:-1]
            if not name:
                self.fault(token, "a dimension name is empty", "write ? for an unknown size")
            return name
        if len(body) > 18:
            self.fault(token, "a dimension has more than 18 digits")
            return None
        return int(body)

    # -- attributes ----------------------------------------------------------------------------

    def attr_dict(self, brace: Token, *entries: tuple[Token, str, Any]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for token, key, value in entries:
            if key in table:
                self.fault(token, f"attribute '{key}' is given twice")
            table[key] = value
        return self.nested(table, table.values(), brace)

    def entry(self, key: tuple[Token, str], value: Any) -> tuple[Token, str, Any]:
        return (*key, value)

    def key(self, token: Token) -> tuple[Token, str]:
        return token, self.text(token) if token[0] == '"' else str(token)

    def value(self, value: Any) -> Any:
        return value

    def list(self, bracket: Token, *items: Any) -> list[Any]:
        return self.nested([*items], items, bracket)

    def true(self, _token: Token) -> bool:
        return True

    def false(self, _token: Token) -> bool:
        return False

    def integer(self, token: Token) -> int:
        if "x" in token:
            return int(token, 16)
        if len(token) > _MAX_DECIMAL_DIGITS:
            self.fault(token, f"a decimal integer has more than {_MAX_DECIMAL_DIGITS} digits", "write it as 0x...")
            return 0
        return int(token)

    def floating(self, token: Token) -> float:
        return float(token)

    def string(self, token: Token) -> str:
        return self.text(token)

    def symbol(self, token: Token) -> Symbol:
        return Symbol(self.read(token))

    def nested(self, container: Any, items: Iterable[Any], token: Token) -> Any:
        """Notes how deep a container nests and refuses what is deeper than allowed."""
        depth = 1 + max((self.depths.get(id(item), 0) for item in items if isinstance(item, (list, dict))), default=0)
        if depth > MAX_ATTRIBUTE_DEPTH + 1:
            if depth == MAX_ATTRIBUTE_DEPTH + 2:
                self.fault(token, f"an attribute nests deeper than {MAX_ATTRIBUTE_DEPTH} levels")
            container = type(container)()
        self.depths[id(container)] = depth
        return container

    # -- names ---------------------------------------------------------------------------------

    def text(self, token: Token, quoted: str | None = None) -> str:
        try:
            return unquote(quoted if quoted is not None else str(token))
        except ValueError as error:
            self.fault(token, str(error), 'escapes are \\\\ \\" \\n \\t \\r and \\u{hex}')
            return "?"

    def read(self, token: Token) -> str:
        """The name in a %, @ token."""
        if '"' not in token:
            return str(token)[1:]
        name = self.text(token, str(token)[1:])
        if not name:
            self.fault(token, "a name is empty")
        return name

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
        if lookup(name) is None:
            near = did_you_mean(name, (op.name for op in all_ops()))
            self.fault(token, f"unknown op '{name}'", near or f'write "{name}" in quotes for an opaque op')
        return name

    def declare(self, value: MCValue) -> bool:
        """Enters a definition. False, with a fault, where the name is taken."""
        earlier = self.scope.values.get(value.name)
        if earlier is not None:
            notes = [Note("first defined here", earlier.loc)] if earlier.loc else []
            self.fault(value.loc, f"value %{value.name} is defined twice", notes=notes)
            return False
        self.scope.enter(value)
        return True

    def use(self, token: Token) -> MCValue:
        name = self.read(token)
        value = self.scope.values.get(name)
        if value is None:
            known = (f"%{known}" for known in self.scope.values)
            self.fault(token, f"value %{name} is not defined here", did_you_mean(f"%{name}", known))
            value = MCValue(name, (), "fp32", loc=self.locate(token))
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


def _count_fault(token: Token, results: int, types: int) -> tuple[Token, str, str]:
    wanted = f"{results} result{'s' * (results != 1)}"
    got = f"{types} result type{'s' * (types != 1)}"
    return token, f"{wanted} but {got}", "write `: type` after the node, one type per result"


def _name_tokens(token: Token) -> list[Token]:
    """The single %names of a RESULTS token that holds quotes or comments."""
    import re

    from lark import Token

    start = token.start_pos or 0
    # A comment matches first, so that a name inside of it is none.
    pattern = r'//[^\n]*|%(?:[A-Za-z0-9_.$]+|"(?:[^"\\]|\\.)*")'
    return [
        Token("VALUE", match.group(), start + match.start(), end_pos=start + match.end())
        for match in re.finditer(pattern, str(token))
        if match.group()[0] == "%"
    ]


def _name_the_unnamed(nodes: list[MCNode]) -> None:
    """Gives nodes without result and name the name of their op, made unique."""
    unnamed = [node for node in nodes if node.name.startswith(_UNNAMED) and not node.outputs]
    if not unnamed:
        return
    taken = {node.name for node in nodes}
    for node in unnamed:
        marker, node.name = node.name, fresh_name(node.op, taken)
        for value in node.inputs:
            value.consumers[:] = [node.name if name == marker else name for name in value.consumers]
