"""Reads a text by the tables derived from the grammar; `generate.py` explains them.

The model is that of Lark, and so are the diagnostics: the same actions are called. Where a piece
of the text does not fit the tables, either it has a syntax error, and the reading goes on behind it as
`recovery.py` says; or it is only unusual (a comment in the middle of a node, attributes nested very deep), and
Lark reads the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from mcir.graph import SemanticGraph
from mcir.location import Location, Source
from mcir.nodes import MCNode
from mcir.syntax import tables
from mcir.syntax.actions import Actions
from mcir.syntax.grammar import grammar_text
from mcir.syntax.values import PlacedText, make_token
from mcir.types import Shape, TensorType
from mcir.values import MCValue

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from mcir.syntax.recovery import Broken, Resume

_SPACE = re.compile(r"[ \t\r\n]*+")
_COMMENT = re.compile(r"//[^\r\n]*")
TOP, GRAPH, REGION = "top", "graph", "region"  # where a statement can stand: between graphs and regions, or in one
# What no node begins with: a keyword, a closing brace, a comment, the end.
_NO_NODE = re.compile(rf"[ \t\r\n]*+(?:{'|'.join(tables.TERMINALS[name] for name in tables.KEYWORDS)}|\}}|//|\Z)")
_MAX_MEMO = 100_000  # distinct texts remembered; past that, memory would grow with the input


class NotByTables(Exception):
    """The text does not fit the tables from `offset` on, where a statement begins.

    The statement that does not fit begins at `read_to`; one before it may have to be read again, as it may go on there.
    `body` says what it stands in, `block_begin` where that begins (at top level: the item before), and `closed` what
    was closed there before, if anything.
    """

    def __init__(self, offset: int, read_to: int, body: str, closed: str, block_begin: int) -> None:
        super().__init__(offset)
        self.offset = offset
        self.read_to = read_to
        self.body = body
        self.closed = closed
        self.block_begin = block_begin


@cache
def tables_fit() -> bool:
    """Whether the tables were made from the present grammar."""
    return grammar_text() == tables.GRAMMAR


class Reader:
    """Reads one text. Faults are left in `actions`."""

    def __init__(self, source: Source, actions: Actions) -> None:
        self.source = source
        self.text = source.text
        actions.begin(source)
        self.actions = actions
        self.done: list[Any] = []
        # Open graphs and regions: head, body so far, where the head begins and its brace ends.
        self.open: list[tuple[Any, list[Any], int, int]] = []
        self.outputs: list[MCValue] | None = None  # of the open graph, once its `return` is read
        self.last_closed = -1  # where the graph or region ends that was closed last
        self.last = -1  # where the node or `return` begins that was read last
        # What texts mean that were read once; attributes come as a function that makes them anew.
        self.types: dict[str, list[TensorType]] = {}
        self.single_types: dict[str, tuple[Shape, str, str]] = {}  # of results that come alone
        self.copies: dict[str, Callable[[], dict[str, Any]]] = {"": dict}
        self.ops: dict[str, str] = {}

    def items(self, at: int = 0) -> list[Any]:
        """The graphs and regions of the text, read from `at` on. Raises NotByTables."""
        while True:
            if self.open and self.outputs is None:
                at = self.nodes(at)
            at = self.space(at)
            if at == len(self.text) and not self.open:
                return self.done
            at = self.mark(at)

    def nodes(self, at: int) -> int:
        """Reads nodes as long as they come without a comment between them."""
        body = self.open[-1][1]
        while True:
            at = self.plain_nodes(at, body)
            if _NO_NODE.match(self.text, at):
                return at
            match = _regex(tables.NODE).match(self.text, at)
            if match is None:
                return at
            body.append(self.careful_node([match.span(group) for group in range(1, 7)]))
            at = match.end()

    def plain_nodes(self, at: int, body: list[Any]) -> int:
        """Reads nodes as the printer writes them; the offset of the first piece of text that is no such node.

        This is the innermost loop of the reader, and calls would be half of its time: so the objects are
        filled in place. The differential tests compare every field with what Lark and `__init__` make.
        """
        values, entered = self.actions.scope.values, self.actions.scope.frames[-1]
        source, ops, single_types, copies = self.source, self.ops, self.single_types, self.copies
        lookup = values.__getitem__
        new_node, new_value, new_tuple = MCNode.__new__, MCValue.__new__, tuple.__new__
        for match in _regex(tables.PLAIN).finditer(self.text, at):
            name, op, node_name, operands, attrs_text, types_text = match.groups()
            if name is None:
                self.last = body[-1].loc.offset if match.start() > at else self.last
                return match.start()
            loc = new_tuple(Location, (source, match.start(1) - 1, 0))
            try:
                if operands is None:
                    inputs = []
                else:
                    names = operands.split(", %") if '"' not in operands else _names(operands)
                    inputs = [*map(lookup, names)]
                attrs = {} if attrs_text is None else copies[attrs_text]()
                op = ops[op]
                if node_name is None:
                    node_name = name
                elif '"' in node_name:
                    (node_name,) = _names(node_name)
                type_ = single_types.get(types_text)
                if type_ is not None and name not in values and name[0] != '"' and "," not in name:
                    value = new_value(MCValue)
                    value.name = name
                    value.shape, value.dtype, value.residency = type_
                    value.producer = node_name
                    value.consumers = []
                    value.loc = loc
                    values[name] = value
                    entered.append(value)
                    outputs = [value]
                else:
                    outputs = self.results(_names(name), self.types[types_text], loc)
                    if node_name is name:
                        node_name = outputs[0].name
                    for value in outputs:
                        value.producer = node_name
            except (KeyError, ValueError):  # not defined, defined twice, seen for the first time
                body.append(self.careful_node(_spans_of_plain(match)))
                continue
            node = new_node(MCNode)
            node.name = node_name
            node.op = op
            node.inputs = inputs
            node.outputs = outputs
            node.attrs = attrs
            node.comments = None
            node.loc = loc
            for value in inputs:
                consumers = value.consumers
                if not consumers:
                    value.consumers = [node_name]  # shorter than a list that has grown
                elif consumers[-1] != node_name:
                    consumers.append(node_name)
            body.append(node)
        raise AssertionError("PLAIN matches nothing, if need be, and that ends the loop")

    def results(self, names: list[str], types: list[TensorType], loc: Location) -> list[MCValue]:
        """The results of a plain node. Raises KeyError where there are not as many types, or a name is taken."""
        scope, values = self.actions.scope, []
        if len(names) != len(types) or len({*names}) != len(names) or any(name in scope.values for name in names):
            raise KeyError(names)
        for name, type_ in zip(names, types, strict=True):
            value = MCValue(name, type_.shape, type_.dtype, type_.residency, loc=loc)
            scope.enter(value)
            values.append(value)
        return values

    def space(self, at: int) -> int:
        """Passes over white space and comments."""
        while True:
            at = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]
            comment = _COMMENT.match(self.text, at)
            if comment is None:
                return at
            self.actions.comments.add(at, comment.group()[2:].rstrip())
            at = comment.end()

    def mark(self, at: int) -> int:
        """Reads what is no node: a head, `return` or a closing brace."""
        in_graph = self.in_graph()
        if self.text[at : at + 1] == "}" and self.open and (self.outputs is not None or not in_graph):
            return self.close(at)
        if self.outputs is not None:
            raise self.misfit(self.last, at)
        if in_graph and self.at_keyword("RETURN", at):
            self.outputs, end = self.table("return_", at)
            self.last = at
            return end
        if not self.open and self.at_keyword("GRAPH", at):
            return self.head("graph_head", at)
        if not in_graph and self.at_keyword("REGION_KIND", at):
            return self.head("region_head", at)
        if self.open and _regex(tables.NODE).match(self.text, at):
            return at  # a node behind a comment
        # What does not fit may be the rest of a node whose beginning did.
        after = max(self.open[-1][3] if self.open else 0, self.last_closed)
        raise self.misfit(self.last if self.last >= after else at, at)

    def at_keyword(self, name: str, at: int) -> bool:
        return _regex(tables.TERMINALS[name]).match(self.text, at) is not None

    def head(self, start: str, at: int) -> int:
        head, end = self.table(start, at)
        end = self.space(end)
        if self.text[end : end + 1] != "{":
            self.actions.undo_head(head)
            raise self.misfit(at)
        self.open.append((head, [], at, end + 1))
        return end + 1

    def close(self, at: int) -> int:
        head, body, _, _ = self.open.pop()
        self.last_closed = at
        brace = make_token("}", at)
        if self.outputs is not None:
            item: Any = self.actions.graph(head, *body, self.outputs, brace)
            self.outputs = None
        else:
            item = self.actions.region(head, *body, brace)
        (self.open[-1][1] if self.open else self.done).append(item)
        return at + 1

    def in_graph(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1][0], SemanticGraph)

    def misfit(self, at: int, read_to: int = 0) -> NotByTables:
        body = GRAPH if self.in_graph() else REGION if self.open else TOP
        block_begin = self.open[-1][2] if self.open else self.actions.last_item
        closed = TOP
        if self.last_closed >= (self.open[-1][3] if self.open else 0):
            closed = GRAPH if not self.open and isinstance(self.done[-1], SemanticGraph) else REGION
        return NotByTables(at, max(at, read_to), body, closed, block_begin)

    def resume(self, broken: Broken, found: Resume) -> int:
        """Gets over a syntax error; the offset from which `items` goes on. What is read from then on is no model."""
        self.last, self.outputs = -1, None
        at = found.offset
        while found.closes_all and self.open:
            self.outputs = [] if self.in_graph() else None
            self.close(at)
        self.last_closed = -1
        if found.returns:
            self.outputs = []
        if found.opens:
            self.open.append((self.actions.lost_head(found.opens, broken.begin), [], broken.begin, at + 1))
            at += 1
        return at

    # -- nodes ---------------------------------------------------------------------------------

    def careful_node(self, spans: list[tuple[int, int]]) -> MCNode:
        """The node whose items stand at `spans`, by the grammar's own actions as Lark would call them."""
        actions = self.actions
        results, op, name, operands, attrs, types = (make_token(self.text[begin:end], begin) for begin, end in spans)
        self.last = results.start_pos if results else op.start_pos
        inputs = [
            actions.use(make_token(item.group(), operands.start_pos + item.start()))
            for item in _regex(tables.TERMINALS["VALUE"]).finditer(operands)
        ]
        faults = len(actions.diagnostics)
        copy_attrs = self.copies.get(attrs)
        read_attrs = copy_attrs() if copy_attrs else actions.node_attrs(*self.piece("attr_dict", attrs))
        read_types = self.types.get(types)
        if read_types is None:
            read_types = self.piece("node_types", types)[0] if types else []
        node = actions.node(results or None, op, name or None, inputs, read_attrs, list(read_types))
        if len(actions.diagnostics) == faults and len(self.copies) + len(self.types) < _MAX_MEMO:
            self.ops[str(op)] = node.op
            self.types[str(types)] = read_types
            if len(read_types) == 1:
                self.single_types[str(types)] = read_types[0].shape, read_types[0].dtype, read_types[0].residency
            if copy_attrs is None:
                self.copies[str(attrs)] = _copier(read_attrs)
        return node

    def piece(self, start: str, token: PlacedText) -> list[Any]:
        """A piece that the expression took in whole, read by its own rule; nothing for no text."""
        if not token:
            return []
        try:
            value, end = self.table(start, token.start_pos)
        except NotByTables:
            end = -1
        if end != token.end_pos:
            raise self.misfit(self.last)
        return [value]

    # -- LALR ----------------------------------------------------------------------------------

    def table(self, start: str, at: int) -> tuple[Any, int]:
        """Lark's LALR automaton from `start`: the value, and the offset behind its last token.

        The text ends for it where no terminal fits that could stand there.
        """
        states, values, begin, end = [tables.STARTS[start]], [], at, at
        while True:
            tried, row = tables.ROWS[states[-1]]
            at = self.space_without_comments(at)
            match = _scanner(tried).match(self.text, at) if tried else None
            action = row.get(match.lastgroup or "" if match else "$END")
            if action is None and (match is None or (action := row.get("$END")) is None):
                raise self.misfit(begin)
            if action >= 0:
                assert match is not None
                states.append(action)
                values.append(make_token(match.group(), at))
                at = end = match.end()
                continue
            origin, rule, letters = tables.RULES[-1 - action]
            value = self.reduce(rule, letters, values, states)
            if len(states) == 1 and origin == start:
                return value, end
            states.append(tables.ROWS[states[-1]][1][origin])
            values.append(value)

    def reduce(self, rule: str, letters: str, values: list[Any], states: list[int]) -> Any:
        children: list[Any] = []
        if letters:
            taken = values[-len(letters) :]
            del values[-len(letters) :]
            del states[-len(letters) :]
            if letters[0] == "s":  # a repetition goes on: its list is extended, not copied
                children = taken[0]
                letters, taken = letters[1:], taken[1:]
            for letter, child in zip(letters, taken, strict=True):
                if letter == "k":
                    children.append(child)
                elif letter == "s":
                    children.extend(child)
        if rule.startswith("__"):
            return children
        return getattr(self.actions, rule)(*children)

    def space_without_comments(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _scanner(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{tables.TERMINALS[name]})" for name in names))


def _names(text: str) -> list[str]:
    """The names in `a, %b` or `"a/b", %c`, spelled as the printer does. Raises ValueError where that is not sure."""
    names = text.split(", %")
    if '"' in text:
        names = [_unquoted(name) for name in names]
    return names


def _unquoted(name: str) -> str:
    """A plain name, or one in quotes without escapes. ValueError for an empty one, or half of one that holds `, %`."""
    if name[0] != '"' and name[-1] != '"':
        return name
    if len(name) < 3 or name[0] != name[-1]:
        raise ValueError(name)
    return name[1:-1]


def _spans_of_plain(match: re.Match[str]) -> list[tuple[int, int]]:
    """Where the items of the node stand that PLAIN matched, with the signs that it leaves out of its groups."""
    spans = [match.span(group) for group in range(1, 7)]
    with_sign = [(begin - 1, end) if begin >= 0 else (0, 0) for begin, end in spans]
    results, op, attrs, types = (with_sign[0][0], spans[1][0] - 1), spans[1], spans[4], spans[5]
    return [results, op, with_sign[2], with_sign[3], attrs if attrs[0] >= 0 else (0, 0), types]


def _copier(attrs: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """A function that makes attributes equal to `attrs` that share nothing that could be changed."""
    own = _copy(attrs)
    if any(type(item) in (list, dict) for item in own.values()):
        return lambda: _copy(own)
    return own.copy  # type: ignore[no-any-return]


def _copy(value: Any) -> Any:
    """A copy of an attribute value that shares nothing that could be changed."""
    if isinstance(value, dict):
        return {key: _copy(item) if type(item) in (list, dict) else item for key, item in value.items()}
    return [_copy(item) if type(item) in (list, dict) else item for item in value]
