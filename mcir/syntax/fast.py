"""Reads a text by the tables derived from the grammar; `generate.py` explains them.

The model is that of Lark, and so are the diagnostics: the same actions are called. Where a piece
of the text does not fit the tables, either it has a syntax error, and Lark is asked for the error
from the enclosing graph or region on; or it is only unusual (a comment in the middle of a node,
attributes nested very deep), and Lark reads the whole text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from mcir.graph import SemanticGraph
from mcir.location import Location, Source
from mcir.nodes import MCNode
from mcir.syntax import tables
from mcir.syntax.actions import Actions
from mcir.syntax.grammar import grammar_checksum
from mcir.types import TensorType
from mcir.values import MCValue

_SPACE = re.compile(r"[ \t\r\n]*+")
_COMMENT = re.compile(r"//[^\r\n]*")
# Shorter than any other graph or region: they stand for one that is read, so that Lark is in the
# same state behind them.
_EMPTY_GRAPH = "graph@_(){return}"
_EMPTY_REGION = "tile@_{}"
_MAX_MEMO = 100_000  # distinct texts remembered; past that, memory would grow with the input


class NotByTables(Exception):
    """The text does not fit the tables from `offset` on; `before` stands for what comes before.

    The statement that does not fit begins at `read_to`; one before it may have to be read again, as it may go on there.
    """

    def __init__(self, offset: int, read_to: int, before: list[tuple[int, str]]) -> None:
        super().__init__(offset)
        self.offset = offset
        self.read_to = read_to
        self.before = before

    def rest(self, text: str) -> str:
        """`text` with blanks for all that is read and closed; offsets stay as they are."""
        pieces, done = [], 0
        for start, piece in self.before:
            pieces += [" " * (start - done), piece]
            done = start + len(piece)
        return "".join(pieces) + " " * (self.offset - done) + text[self.offset :]


@cache
def tables_fit() -> bool:
    """Whether the tables were made from the present grammar."""
    return grammar_checksum() == tables.GRAMMAR_CHECKSUM


class _Token(str):
    """A piece of text that knows its place, as Lark's tokens do."""

    __slots__ = ("end_pos", "start_pos")
    start_pos: int
    end_pos: int


def _token(text: str, start: int) -> _Token:
    token = _Token(text)
    token.start_pos = start
    token.end_pos = start + len(text)
    return token


def read(source: Source, actions: Actions) -> list[Any]:
    """The graphs and regions of the text. Faults are left in `actions`. Raises NotByTables."""
    actions.begin(source)
    return _Reader(source, actions).items()


class _Reader:
    def __init__(self, source: Source, actions: Actions) -> None:
        self.source = source
        self.text = source.text
        self.actions = actions
        self.done: list[Any] = []
        # Open graphs and regions: head, body so far, where the head begins and its brace ends.
        self.open: list[tuple[Any, list[Any], int, int]] = []
        self.outputs: list[MCValue] | None = None  # of the open graph, once its `return` is read
        self.last_closed = -1, -1, ""  # the graph or region: its begin, its end, one of its kind
        self.last = -1  # where the node or `return` begins that was read last
        self.match_node = _regex(tables.NODE).match
        self.types: dict[str, list[TensorType]] = {}
        self.attrs: dict[str, dict[str, Any]] = {}
        self.ops: dict[str, str] = {}

    def items(self) -> list[Any]:
        at = 0
        while True:
            if self.open and self.outputs is None:
                at = self.nodes(at)
            at = self.space(at)
            if at == len(self.text) and not self.open:
                return self.done
            at = self.mark(at)

    def nodes(self, at: int) -> int:
        """Reads nodes as long as they come without a comment between them."""
        text, match_node, body, node = self.text, self.match_node, self.open[-1][1], self.node
        last, match = None, match_node(text, at)
        while match is not None:
            body.append(node(match))
            at = match.end()
            last, match = match, match_node(text, at)
        if last is not None:
            self.last = last.start(1) if last[1] else last.start(2)
        return at

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
        in_graph = bool(self.open) and isinstance(self.open[-1][0], SemanticGraph)
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
        if self.open and self.match_node(self.text, at):
            return at  # a node behind a comment
        # What does not fit may be the rest of a node whose beginning did.
        after = max(self.open[-1][3] if self.open else 0, self.last_closed[1])
        raise self.misfit(self.last if self.last >= after else at, at)

    def at_keyword(self, name: str, at: int) -> bool:
        return _regex(tables.TERMINALS[name]).match(self.text, at) is not None

    def head(self, start: str, at: int) -> int:
        head, end = self.table(start, at)
        end = self.space(end)
        if self.text[end : end + 1] != "{":
            raise self.misfit(at)
        self.open.append((head, [], at, end + 1))
        return end + 1

    def close(self, at: int) -> int:
        head, body, begin, _ = self.open.pop()
        self.last_closed = begin, at, _EMPTY_GRAPH if self.outputs is not None else _EMPTY_REGION
        brace = _token("}", at)
        if self.outputs is not None:
            item: Any = self.actions.graph(head, *body, self.outputs, brace)
            self.outputs = None
        else:
            item = self.actions.region(head, *body, brace)
        (self.open[-1][1] if self.open else self.done).append(item)
        return at + 1

    def misfit(self, at: int, read_to: int = 0) -> NotByTables:
        before = [(start, self.text[start:end]) for _, _, start, end in self.open]
        begin, end, stand_in = self.last_closed
        if stand_in and end < at and (not before or begin >= self.open[-1][3]):
            before.append((begin, stand_in))
        return NotByTables(at, max(at, read_to), before)

    # -- nodes ---------------------------------------------------------------------------------

    def node(self, match: re.Match[str]) -> MCNode:
        results, op, name, operands, attrs, types = match.groups()
        known = self.types.get(types)
        scope = self.actions.scope
        if known is None or op not in self.ops or '"' in results or "/" in results:
            return self.careful_node(match)
        names = [part.strip()[1:] for part in results[:-1].split(",")] if results else []
        try:
            inputs = [scope.values[part.strip()[1:]] for part in operands.split(",")] if operands else []
        except KeyError:  # undefined, or quoted
            return self.careful_node(match)
        if len(names) != len(known) or not names or name[1:2] == '"' or any(new in scope.values for new in names):
            return self.careful_node(match)
        found = self.attrs.get(attrs)
        if attrs and found is None:
            return self.careful_node(match)
        loc = Location(self.source, match.start(1))
        outputs = []
        for new, type_ in zip(names, known, strict=True):
            value = MCValue(new, type_.shape, type_.dtype, type_.residency, loc=loc)
            scope.enter(value)
            outputs.append(value)
        node_name = name[1:] if name else names[0]
        return MCNode(node_name, self.ops[op], inputs, outputs, _copy(found) if found else {}, loc=loc)

    def careful_node(self, match: re.Match[str]) -> MCNode:
        """By the grammar's own actions, as Lark would call them."""
        actions = self.actions
        results, op, name, operands, attrs, types = match.groups()
        self.last = match.start(1) if results else match.start(2)
        tokens = [
            actions.use(_token(item.group(), match.start(4) + item.start()))
            for item in _regex(tables.TERMINALS["VALUE"]).finditer(operands)
        ]
        faults = len(actions.diagnostics)
        read_attrs = actions.node_attrs(*self.piece("attr_dict", attrs, match.start(5)))
        read_types = self.piece("node_types", types, match.start(6))
        read_types = read_types[0] if read_types else []
        op_token = _token(op, match.start(2))
        node = actions.node(
            _token(results, match.start(1)) if results else None, op_token,
            _token(name, match.start(3)) if name else None, tokens, read_attrs, list(read_types),
        )  # fmt: skip
        if len(actions.diagnostics) == faults and len(self.attrs) + len(self.types) < _MAX_MEMO:
            self.ops[op] = node.op
            self.types[types] = read_types
            if attrs:
                self.attrs[attrs] = _copy(read_attrs)
        return node

    def piece(self, start: str, text: str, offset: int) -> list[Any]:
        """A piece that the expression took in whole, read by its own rule; nothing for no text."""
        if not text:
            return []
        try:
            value, end = self.table(start, offset)
        except NotByTables:
            end = -1
        if end != offset + len(text):
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
                values.append(_token(match.group(), at))
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


def _copy(value: Any) -> Any:
    """A copy of an attribute value that shares nothing that could be changed."""
    if isinstance(value, dict):
        return {key: _copy(item) if type(item) in (list, dict) else item for key, item in value.items()}
    return [_copy(item) if type(item) in (list, dict) else item for item in value]
