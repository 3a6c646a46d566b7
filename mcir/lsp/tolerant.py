"""Reads a text to tokens, also one that is broken: the reading goes on at the next statement.

On the way of a whole text the tokens are Lark's own, type and place alike. At a fault the open node or
head is given up: what is left of it is read word by word, so that its names still count, up to

- results (`%x =`), `return`, or a word that begins a line, where a node may begin;
- `graph @`, `execution @`: whatever was open is closed; `streaming @`, `tile @`: where they may stand;
- a closing brace, for which a missing `return` is supplied;
- the `{` at the end of a line behind a broken head: the body counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from mcir.lsp.automaton import END, Stack

_SPACE = re.compile(r"[ \t\r\n]*+")
_BLANK_REST = re.compile(r"[ \t\r]*(?://|\n|\Z)")
_NAME_BEHIND = re.compile(r"[ \t\r\n]*@")
_COMMA_BEHIND = re.compile(r"(?:[ \t\r\n]|//[^\n]*\n)*+,(?:[ \t\r\n]|//[^\n]*\n)*+")
_EQUAL_BEHIND = re.compile(r"[ \t\r\n]*=")
_WORD = re.compile(r"[A-Za-z0-9_.$]+|.", re.DOTALL)
_LOOSE = ("STRING", "VALUE", "SYMBOL")  # what is read as itself wherever it stands
_HEADS = {"GRAPH": ("GRAPH", "SYMBOL", "LPAR", "RPAR"), "REGION_KIND": ("REGION_KIND", "SYMBOL")}


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
        self.listed = -1  # where the next value of a list stands that was looked through
        self.break_behind = -1  # its last line break before `=`; the text's end if it is no list of results

    def run(self) -> None:
        text, stack, match_in = self.text, self.stack, self.stack.automaton.match
        at = self.space(0)
        while at < len(text):
            match = match_in(stack.states[-1], text, at)
            kind = match.lastgroup if match else None
            if kind == "VALUE" and self.results_at(at):
                match = None  # not an operand: the node before is unfinished
            elif kind == "RESULTS" and not self.results_at(at) and "VALUE" in stack.accepts():
                match, kind = self.terminals["VALUE"].match(text, at), "VALUE"
            if match is None or kind is None or not stack.feed(kind):
                at = self.recover(at)
                continue
            self.emit(kind, at, match.end())
            at = self.space(match.end())

    def results_at(self, at: int) -> bool:
        """Whether a node's results begin at `at`, and not the last operands of an unfinished line before them.

        Values in a list share the answer, so that a list of any length is looked through once.
        """
        text = self.text
        if self.listed != at:
            match = self.terminals["RESULTS"].match(text, at)
            self.break_behind = text.rfind("\n", at, match.end()) if match else len(text)
        self.listed = -1
        value = self.terminals["VALUE"].match(text, at)
        comma = _COMMA_BEHIND.match(text, value.end()) if value else None
        if comma:
            self.listed = comma.end()
        return self.break_behind < at or (self.break_behind < len(text) and self.begins_line(at))

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
        elif kind in _HEADS:
            self.head = kind
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
        depth, head, again = self.depth, self.head, at == self.given_up
        if not again:
            self.result.faults.append(Fault(at, frozenset(self.stack.accepts())))
        self.depth, self.head, self.given_up = 0, "", at
        self.unwind("RESULTS", "GRAPH")
        while at < len(self.text):
            # what was given up twice is passed over: the reading always gets on
            if not again and self.resumes(at, head, depth):
                return at
            again = False
            depth = self.braces(at, depth)
            at = self.space(self.skip(at))
        return at

    def unwind(self, *wanted: str) -> None:
        """Forgets states up to one in which one of the terminals may stand; the first always stays."""
        states, rows = self.stack.states, self.stack.automaton.rows
        while len(states) > 1 and not any(name in rows[states[-1]] for name in wanted):
            states.pop()

    def resumes(self, at: int, head: str, depth: int) -> bool:
        """Whether the reading goes on at `at`; the states are made to fit."""
        char, row = self.text[at], self.stack.row
        if char == "%":
            return self.results_at(at) and "RESULTS" in row
        if char == "{":
            return bool(head) and depth == 0 and self.ends_line(at + 1) and all(map(self.stack.feed, _HEADS[head]))
        if char == "}":
            begins_line = self.begins_line(at) and self.ends_line(at + 1)
            return (depth == 0 or begins_line) and self.closes()
        return self.begins_head(at) or (depth == 0 and self.begins_line(at) and self.begins_node(at))

    def closes(self) -> bool:
        """Whether a body is open; a `return` that it lacks is supplied."""
        accepts = self.stack.accepts()
        return "RBRACE" in accepts or ("RETURN" in accepts and self.stack.feed("RETURN"))

    def begins_head(self, at: int) -> bool:
        for kind in _HEADS:
            match = self.terminals[kind].match(self.text, at)
            if match and _NAME_BEHIND.match(self.text, match.end()):
                if match.group() in ("graph", "execution") or kind not in self.stack.accepts():
                    self.unwind("GRAPH")
                return True
        return False

    def begins_node(self, at: int) -> bool:
        match = self.terminals["OP_NAME"].match(self.text, at)
        if match is None or _EQUAL_BEHIND.match(self.text, match.end()):
            return False
        fits = self.stack.automaton.match(self.stack.states[-1], self.text, at)
        return fits is not None and fits.lastgroup in self.stack.accepts()

    def skip(self, at: int) -> int:
        """Notes one word that is passed over; the offset behind it."""
        for kind in _LOOSE:
            if match := self.terminals[kind].match(self.text, at):
                self.result.tokens.append(Token(kind, at, match.end(), True))
                return match.end()
        end = _WORD.match(self.text, at).end()  # type: ignore[union-attr]
        self.result.tokens.append(Token("ERROR", at, end, True))
        return end

    def braces(self, at: int, depth: int) -> int:
        change = {"{": 1, "}": -1}.get(self.text[at], 0)
        return max(0, depth + change)

    def begins_line(self, at: int) -> bool:
        text = self.text
        while at and text[at - 1] in " \t\r":
            at -= 1
        return at == 0 or text[at - 1] == "\n"

    def ends_line(self, at: int) -> bool:
        return _BLANK_REST.match(self.text, at) is not None
