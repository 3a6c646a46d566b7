"""The LALR automaton that Lark made of the grammar, as a loop that can be fed any text, token by token.

There is no second grammar: states, rules and terminals are those of `grammar/mcir.lark`. Recovery from syntax
errors and the language server use it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from mcir.syntax import tables
from mcir.syntax.fast import GRAPH, REGION, TOP, tables_fit

END = "$END"
# The shortest head of a graph and of a region, by the terminal that it begins with.
HEADS = {"GRAPH": ("GRAPH", "SYMBOL", "LPAR", "RPAR"), "REGION_KIND": ("REGION_KIND", "SYMBOL")}
_OPENINGS = {TOP: (), GRAPH: (*HEADS["GRAPH"], "LBRACE"), REGION: (*HEADS["REGION_KIND"], "LBRACE")}
_WHOLE = {TOP: (), GRAPH: (*_OPENINGS[GRAPH], "RETURN", "RBRACE"), REGION: (*_OPENINGS[REGION], "RBRACE")}


@dataclass(frozen=True, slots=True)
class Automaton:
    """`rows` gives for each state and symbol the state to go to, or -1 - n to reduce by rule n.

    `bodies` says of the states in which a statement may begin what it stands in: TOP, GRAPH or REGION.
    """

    rows: list[dict[str, int]]
    tried: list[tuple[str, ...]]  # by state: the terminals that may stand there, by priority
    rules: list[tuple[str, int]]  # left side, number of items
    start: int
    end: int  # the state of a whole text
    patterns: dict[str, str]
    terminals: dict[str, re.Pattern[str]]
    bodies: dict[int, str]
    anything: re.Pattern[str]  # every terminal, whatever the state

    def match(self, state: int, text: str, at: int) -> re.Match[str] | None:
        """The terminal at `at` (`lastgroup`) that may stand in `state`."""
        return scanner(self.tried[state]).match(text, at)


@cache
def automaton() -> Automaton:
    """The automaton of the grammar: from the tables, or made anew where they are those of another grammar."""
    if tables_fit():
        found = vars(tables)
    else:
        from mcir.syntax.generate import derive

        found = derive()
    rows = [row for _, row in found["ROWS"]]
    bodies = {state: body for state, row in enumerate(rows) if (body := body_of([key for key in row if row[key] >= 0]))}
    return Automaton(
        rows, [tried for tried, _ in found["ROWS"]], [(origin, len(letters)) for origin, _, letters in found["RULES"]],
        found["STARTS"]["start"], found["END_STATE"], found["TERMINALS"],
        {name: re.compile(pattern) for name, pattern in found["TERMINALS"].items()},
        bodies, _alternatives(found["ANY_STATE"], found["TERMINALS"]),
    )  # fmt: skip


def body_of(shifts: Collection[str]) -> str:
    """What a statement stands in that begins in a state which shifts these terminals; "" if none does."""
    if "GRAPH" in shifts:
        return TOP
    if "RESULTS" not in shifts:
        return ""
    return GRAPH if "RETURN" in shifts else REGION


@cache
def scanner(names: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the terminals, the first that fits."""
    return _alternatives(names, automaton().patterns)


def _alternatives(names: tuple[str, ...], patterns: dict[str, str]) -> re.Pattern[str]:
    # an empty class fits nothing: a state behind which only the end may stand
    return re.compile("|".join(f"(?P<{name}>{patterns[name]})" for name in names) or "[^\\s\\S]")


class Stack:
    """The states that a text has led to.

    It starts at the beginning of a text, or in the `body` of a graph or region; `closed`: right behind one that was
    closed there, where words are told apart another way.
    """

    __slots__ = ("automaton", "states")

    def __init__(self, body: str = TOP, closed: str = TOP) -> None:
        self.automaton = automaton()
        self.states = [self.automaton.start]
        for terminal in (*_OPENINGS[body], *_WHOLE[closed]):
            self.feed(terminal)

    @property
    def row(self) -> dict[str, int]:
        """What may come next, as far as the state on top tells; see `accepts`."""
        return self.automaton.rows[self.states[-1]]

    def feed(self, terminal: str) -> bool:
        """Takes one terminal. False, and nothing happens, where it may not stand."""
        after = self._after(terminal)
        if after is None:
            return False
        depth, pushed = after
        del self.states[depth:]
        self.states += pushed
        return True

    @property
    def body(self) -> str:
        """What a statement that begins here would stand in; "" inside of a statement."""
        return self.automaton.bodies.get(self.states[-1], "")

    def unwind(self) -> str:
        """Forgets the open statement; returns what it stood in."""
        while not self.body:
            self.states.pop()
        return self.body

    def settle(self) -> None:
        """Behind a graph or region: it is whole, and a statement may begin."""
        depth, pushed = self._after("REGION_KIND") or (len(self.states), [0])
        self.states[depth:] = pushed[:-1]

    def accepts(self) -> set[str]:
        """The terminals that may stand next."""
        known = self.automaton.terminals
        return {name for name in self.row if (name in known or name == END) and self._after(name) is not None}

    def _after(self, terminal: str) -> tuple[int, list[int]] | None:
        """How many states stay and which come on top of them when `terminal` is taken, or None."""
        rows, rules, states = self.automaton.rows, self.automaton.rules, self.states
        depth = len(states)
        pushed: list[int] = []
        while True:
            state = pushed[-1] if pushed else states[depth - 1]
            action = rows[state].get(terminal)
            if action is None:
                return (depth, pushed) if terminal == END and state == self.automaton.end else None
            if action >= 0:
                pushed.append(action)
                return depth, pushed
            origin, length = rules[-1 - action]
            taken = min(length, len(pushed))
            del pushed[len(pushed) - taken :]
            depth -= length - taken
            pushed.append(rows[pushed[-1] if pushed else states[depth - 1]][origin])
