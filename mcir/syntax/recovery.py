"""What is done at a syntax error, whoever reads: the fast reader, Lark, or the language server.

The statement (node, `return`, head) in which the error stands is given up, with all other faults of it, and the
reading goes on where a statement begins that can be told for sure (`_Search`). Names that stand in what was given up
may have been defined there, so that they count as defined from then on. An error in the bones of a graph or region
that had an error before - a brace, its end - tells nothing new: most likely a brace got lost with a statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcir.diagnostics import Diagnostic, did_you_mean
from mcir.location import Source
from mcir.syntax.actions import MAX_DIAGNOSTICS, Actions
from mcir.syntax.automaton import END, HEADS, Stack, automaton
from mcir.syntax.fast import GRAPH, REGION, TOP
from mcir.text import unquote

_MOST_MET = 10 * MAX_DIAGNOSTICS  # errors, shown or not, after which the rest of a text is not read
_REGION_WORDS = ("execution", "streaming", "tile", "region")
_KEYWORDS = ("GRAPH", "REGION_KIND", "RETURN")
_SPACE = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+)*+")
_BLANK_REST = re.compile(r"[ \t\r]*(?://|\n|\Z)")
_NAME_BEHIND = re.compile(r"[ \t\r\n]*@")
_EQUAL_BEHIND = re.compile(r"[ \t\r\n]*=")
_COMMA_BEHIND = re.compile(r"(?:[ \t\r\n]|//[^\n]*\n)*+,(?:[ \t\r\n]|//[^\n]*\n)*+")
_LAST_RETURN = re.compile(r'return(?:[ \t]*(?:,|%(?:[A-Za-z0-9_.$]+|"[^"\r\n]*")))*[ \t]*\}')
_HEAD_LIKE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[ \t]+@")
_WORD = re.compile(r'[A-Za-z0-9_.$]+|[%@]?"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"|[%@][A-Za-z0-9_.$]*|.', re.DOTALL)
_NAME = re.compile(r'[A-Za-z0-9_.$]+|"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"')


@dataclass(slots=True)
class Broken:
    """A syntax error and the statement that it stands in.

    begin: of the statement; where none is open, of what stands there. body: what the statement stands in. token: the
    text that does not fit, as far as it is a token of the language at all. head: GRAPH or REGION_KIND in the head of
    one. depth: open braces of attributes.
    """

    begin: int
    offset: int
    body: str
    token: str | None
    expected: frozenset[str]
    head: str = ""
    depth: int = 0


@dataclass(slots=True)
class Resume:
    """Where the reading goes on.

    closes_all: all that is open is closed first. opens: the body of a graph or region opens at `offset`, whose head
    (that begins with this terminal) is lost. returns: a graph is closed at `offset`, whose `return` is missing.
    """

    offset: int
    closes_all: bool = False
    opens: str = ""
    returns: bool = False


class Recovery:
    """The syntax errors of one text. Faults are entered in `actions`."""

    def __init__(self, source: Source, actions: Actions) -> None:
        self.text = source.text
        self.actions = actions
        self.last = -1  # where the last error stands
        self.met = 0

    def meet(self, broken: Broken, fault: Diagnostic, block_begin: int) -> Resume | None:
        """Enters the error; where the reading goes on, or None if it is over.

        block_begin: where the graph or region begins that the statement stands in; at top level, the one before.
        """
        self.actions.forget_from(broken.begin)
        lost_brace = broken.body == TOP and self.text[broken.offset : broken.offset + 1] == "}" and self.last >= 0
        follows = lost_brace or self._is_type_without_colon(broken)
        if not follows and (self.last <= block_begin or not self._is_structural(broken)):
            self.actions.syntax_errors.append(fault)
        self.last = broken.offset
        self.met += 1
        if len(self.actions.syntax_errors) >= MAX_DIAGNOSTICS or self.met >= _MOST_MET:
            return None
        found = find_resume(self.text, broken)
        end = found.offset if found is not None else len(self.text)
        self.actions.lost.update(map(_plain_name, _NAME.findall(self.text, broken.begin, end)))
        return found

    def _is_type_without_colon(self, broken: Broken) -> bool:
        """Whether it is the `<` of a type, read as an op `tensor`, behind a node in its line that lacks its types."""
        unfinished = self.actions.unfinished
        behind = bool(unfinished) and unfinished[-1][0] < broken.begin < unfinished[-1][1]
        return behind and self.text.startswith("tensor<", broken.begin)

    def _is_structural(self, broken: Broken) -> bool:
        text, at = self.text, broken.offset
        if broken.body == TOP and broken.begin == at and _HEAD_LIKE.match(text, at) is None:
            return True
        if broken.depth or (broken.begin < at and not broken.expected & {"RESULTS", "RBRACE"}):
            return False  # the statement before is not whole
        return at >= len(text.rstrip()) or text[at] == "}" or begins_head(text, at) != ""


def find_error(text: str, begin: int, body: str, closed: str, last_begin: int) -> Broken | None:
    """The first syntax error from `begin` on, where a statement in `body` begins, or where something was `closed`.

    None if there is none in the statements that begin up to `last_begin`.
    """
    stack, match_in = Stack(body, closed), automaton().match
    broken = Broken(begin, 0, body, None, frozenset())
    open_statement, before = False, ""
    at = skip_space(text, begin)
    while at < len(text):
        match = match_in(stack.states[-1], text, at)
        kind = match.lastgroup if match is not None else None
        begins = kind in ("RESULTS", "GRAPH", "REGION_KIND", "RETURN") or (
            kind in ("OP_NAME", "STRING") and before != "RESULTS" and broken.depth == 0 and not broken.head
        )
        if match is None or kind is None or not stack.feed(kind):
            broken.token = match.group() if match is not None else _any_token(text, at)
            break
        if begins:
            if at > last_begin:
                return None
            broken.begin, broken.head = at, kind if kind in HEADS else ""
            open_statement = True
        elif kind == "LBRACE":
            if "KEY" in stack.row:
                broken.depth += 1
            else:
                open_statement, broken.head = False, ""
        elif kind == "RBRACE":
            if broken.depth:
                broken.depth -= 1
            else:
                open_statement = False
        before = kind
        at = skip_space(text, match.end())
    else:
        if END in stack.accepts():
            return None
        at = len(text.rstrip())
    if not open_statement:
        if at > last_begin:
            return None
        broken.begin = at
    broken.offset = at
    broken.expected = frozenset(stack.accepts())
    return broken


def find_resume(text: str, broken: Broken) -> Resume | None:
    """Where the reading goes on behind an error; None if nothing more can be told for sure."""
    return _Search(text, broken).run()


class _Search:
    """Looks behind an error for the place where the reading goes on:

    - results (`%x =`), or a word or string that begins a line outside of braces, where a node may begin; `return`
      too where it ends its graph;
    - `graph @`, `execution @`: whatever was open is closed; `streaming @`, `tile @` where they may stand;
    - a closing brace, unless more of the graph follows;
    - the `{` of the body behind a broken head.
    """

    def __init__(self, text: str, broken: Broken) -> None:
        self.text = text
        self.body = broken.body
        self.begin = broken.offset
        self.head = broken.head or self._misspelt_head(broken)
        self.depth = broken.depth
        self.listed = ResultLists(text)

    def run(self) -> Resume | None:
        text, at, before = self.text, skip_space(self.text, self.begin), ""
        while at < len(text):
            found = self.resumes(at, before)
            if found is not None:
                return found
            before = _WORD.match(text, at).group()  # type: ignore[union-attr]
            self.depth = max(0, self.depth + {"{": 1, "}": -1}.get(before, 0))
            at = skip_space(text, at + len(before))
        return None

    def resumes(self, at: int, before: str) -> Resume | None:
        """How the reading may go on at `at`, behind the word `before`, if it can."""
        char = self.text[at]
        if char == "{":
            # behind a word, such as `attributes`, no body opens
            return self.opens(at) if self.depth == 0 and not before.isidentifier() else None
        if char == "}":
            return self.closes(at)
        if char == "%":
            return Resume(at) if self.body != TOP and self.listed.begins_at(at) else None
        if char == '"' or char.isalpha() or char == "_":
            return self.head_at(at) or self.node_at(at)
        return None

    def opens(self, at: int) -> Resume | None:
        if self.head:
            return Resume(at, opens=self.head)
        if self.body == REGION and at == self.begin and ends_line(self.text, at + 1):
            return Resume(at, opens="REGION_KIND")  # its keyword was read as an op
        return None

    def closes(self, at: int) -> Resume | None:
        if self.body == TOP or (self.depth and not (begins_line(self.text, at) and ends_line(self.text, at + 1))):
            return None
        if self.body == REGION:
            return Resume(at)
        behind = skip_space(self.text, at + 1)
        if behind == len(self.text) or self.text[behind] == "}" or begins_head(self.text, behind):
            return Resume(at, returns=True)
        return None

    def head_at(self, at: int) -> Resume | None:
        kind = begins_head(self.text, at)
        if kind in ("graph", "execution"):
            return Resume(at, closes_all=True)
        return Resume(at) if kind and self.body != GRAPH else None

    def node_at(self, at: int) -> Resume | None:
        if self.body == TOP or self.depth or self.head:
            return None
        if self.body == GRAPH and _LAST_RETURN.match(self.text, at):
            return Resume(at)
        if not begins_line(self.text, at):
            return None
        terminals = automaton().terminals
        word = terminals["OP_NAME"].match(self.text, at) or terminals["STRING"].match(self.text, at)
        if word is None or _EQUAL_BEHIND.match(self.text, word.end()):
            return None
        keyword = any(terminals[kind].match(self.text, at) for kind in _KEYWORDS)
        return None if keyword and (self.body != GRAPH or word.group() != "return") else Resume(at)

    def _misspelt_head(self, broken: Broken) -> str:
        """A word before a name at top level, such as `grpah @g`: it must have been a head."""
        word = _HEAD_LIKE.match(self.text, broken.offset) if broken.body == TOP else None
        if word is None:
            return ""
        near = did_you_mean(word.group().split()[0].lower(), _REGION_WORDS)
        return "REGION_KIND" if near else "GRAPH"


class ResultLists:
    """Tells whether a value begins a node's results, or belongs to the operands of an unfinished line before them.

    Values in a list share the answer, so that a list of any length is looked through once.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.next_value = -1  # where the next value of a list stands that was looked through
        self.break_behind = -1  # its last line break before `=`; the text's end if it is no list of results

    def begins_at(self, at: int) -> bool:
        text, terminals = self.text, automaton().terminals
        if self.next_value != at:
            match = terminals["RESULTS"].match(text, at)
            self.break_behind = text.rfind("\n", at, match.end()) if match else len(text)
        self.next_value = -1
        value = terminals["VALUE"].match(text, at)
        comma = _COMMA_BEHIND.match(text, value.end()) if value else None
        if comma:
            self.next_value = comma.end()
        return self.break_behind < at or (self.break_behind < len(text) and begins_line(text, at))


def skip_space(text: str, at: int) -> int:
    """Behind white space and comments."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def begins_line(text: str, at: int) -> bool:
    while at and text[at - 1] in " \t\r":
        at -= 1
    return at == 0 or text[at - 1] == "\n"


def ends_line(text: str, at: int) -> bool:
    return _BLANK_REST.match(text, at) is not None


def begins_head(text: str, at: int) -> str:
    """The keyword of the graph or region whose head begins at `at`, or ""."""
    for kind in HEADS:
        match = automaton().terminals[kind].match(text, at)
        if match and _NAME_BEHIND.match(text, match.end()):
            return match.group()
    return ""


def _any_token(text: str, at: int) -> str | None:
    match = automaton().anything.match(text, at)
    return match.group() if match is not None else None


def _plain_name(word: str) -> str:
    if word[0] != '"':
        return word.lstrip("$")
    try:
        return unquote(word)
    except ValueError:
        return word
