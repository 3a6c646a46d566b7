"""Reads a text to tokens, also one that is broken: the reading goes on at the next statement.

On the way of a whole text the tokens are Lark's own, type and place alike. At a fault the open node or head is given
up: what is left of it is read word by word, so that its names still count, up to where `syntax/recovery.py` says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from mcir.syntax.automaton import END, HEADS, Stack
from mcir.syntax.fast import GRAPH, TOP
from mcir.syntax.recovery import Broken, ResultLists, Resume, find_resume

_SPACE = re.compile(r"[ \t\r\n]*+")
_WORD = re.compile(r"[A-Za-z0-9_.$]+|.", re.DOTALL)
_LOOSE = ("STRING", "VALUE", "SYMBOL")  # what is read as itself wherever it stands


class Token(NamedTuple):
    """A terminal of the grammar and where it stands.

    `{` and `}` of attributes are LBRACE and RBRACE, those of bodies BODY and END_BODY; a word that could
    not be understood is an ERROR. `loose`: read while a fault was passed over.
    """

    type: str
    start: int
    end: int
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A syntax error: what stands at `offset` is none of `expected`."""

    offset: int
    expected: frozenset[str]


@dataclass
class Reading:
    """What a text gave: tokens and comments in text order, and the faults."""

    tokens: list[Token] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    next: frozenset[str] = frozenset()  # what might have followed at the end


def read_tokens(text: str, *, ending: bool = True) -> Reading:
    """The tokens of `text`. `ending`: the text is complete, so that an end too early is a fault."""
    reader = _Reader(text)
    reader.run()
    reader.result.next = frozenset(reader.stack.accepts())
    if ending and END not in reader.result.next:
        reader.result.faults.append(Fault(len(text.rstrip()), reader.result.next))
    return reader.result


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.stack = Stack()
        self.terminals = self.stack.automaton.terminals
        self.result = Reading()
        self.head = ""  # GRAPH or REGION_KIND while the head of one is read
        self.depth = 0  # open braces of attributes
        self.given_up = -1  # where the last fault was
        self.closed = False  # whether the last token closed a graph or region
        self.lists = ResultLists(text)

    def run(self) -> None:
        text, stack, match_in = self.text, self.stack, self.stack.automaton.match
        at = self.space(0)
        while at < len(text):
            match = match_in(stack.states[-1], text, at)
            kind = match.lastgroup if match else None
            if kind == "VALUE" and self.lists.begins_at(at):
                match = None  # not an operand: the node before is unfinished
            elif kind == "RESULTS" and not self.lists.begins_at(at) and "VALUE" in stack.accepts():
                match, kind = self.terminals["VALUE"].match(text, at), "VALUE"
            if match is None or kind is None or not stack.feed(kind):
                at = self.recover(at)
                continue
            self.emit(kind, at, match.end())
            at = self.space(match.end())

    def emit(self, kind: str, start: int, end: int) -> None:
        """Notes a token that was fed, and what it opens or closes."""
        if kind == "LBRACE":
            if "KEY" in self.stack.row:
                self.depth += 1
            else:
                kind, self.head = "BODY", ""
        elif kind == "RBRACE":
            if self.depth:
                self.depth -= 1
            else:
                kind = "END_BODY"
        elif kind in HEADS:
            self.head = kind
        self.closed = kind == "END_BODY"
        self.result.tokens.append(Token(kind, start, end))

    def space(self, at: int) -> int:
        """Passes over white space and comments."""
        text = self.text
        while True:
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
            if not text.startswith("//", at):
                return at
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            self.result.tokens.append(Token("COMMENT", at, end))
            at = end

    # -- faults --------------------------------------------------------------------------------

    def recover(self, at: int) -> int:
        """Gives up the open statement and finds where the reading goes on."""
        if at == self.given_up:
            return self.space(self.skip(at))  # the reading always gets on
        self.given_up = at
        expected = frozenset(self.stack.accepts())
        self.result.faults.append(Fault(at, expected))
        if self.closed:
            self.stack.settle()
        body = self.stack.unwind()
        found = find_resume(self.text, Broken(at, at, body, None, expected, self.head, self.depth))
        self.depth, self.head = 0, ""
        end = found.offset if found is not None else len(self.text)
        while at < end:
            at = self.space(self.skip(at))
        if found is not None:
            self.prepare(found)
        return at

    def prepare(self, found: Resume) -> None:
        """Makes the states fit where the reading goes on: what is lost is supplied."""
        while found.closes_all and self.stack.body != TOP:
            if self.stack.body == GRAPH:
                self.stack.feed("RETURN")
            self.stack.feed("RBRACE")
            self.stack.settle()
        if found.returns:
            self.stack.feed("RETURN")
        for terminal in HEADS.get(found.opens, ()):
            self.stack.feed(terminal)

    def skip(self, at: int) -> int:
        """Notes one word that is passed over; the offset behind it."""
        for kind in _LOOSE:
            if match := self.terminals[kind].match(self.text, at):
                self.result.tokens.append(Token(kind, at, match.end(), True))
                return match.end()
        end = _WORD.match(self.text, at).end()  # type: ignore[union-attr]
        self.result.tokens.append(Token("ERROR", at, end, True))
        return end
