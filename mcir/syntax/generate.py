"""Derives `tables.py` from the grammar. Run `python -m mcir.syntax.generate` after a change of it.

Why there are tables. Lark reads a node in about 90 microseconds, and no Python lexer that works token
by token does it in ten; `fast.py` takes four. For nearly every line of a real file is one plain node, and
a node is a flat thing: its rule nests only inside of `{...}`. So the rule can be written as one regular
expression, and one match of it reads the whole line. All that `fast.py` needs is made here from what
Lark compiled out of `grammar/mcir.lark`:

PLAIN
    The line of a node as the printer writes it and as nearly all lines are: results and their types,
    one space between items, no comment, no escape in a quoted name, no dictionary in the attributes. It
    is put together from the grammar's terminals and splits a line as NODE does, so it needs no other
    proof; it is shorter, and its groups can be taken apart by `str.split` alone.

NODE
    The rule `node` as a regular expression with a group for each of its items. `_Regexes` expands
    rules into alternations and Lark's helper rules for `*` into repetitions. The recursive
    `attr_dict` becomes "balanced text": braces and brackets nested up to BALANCE_DEPTH levels with
    anything in them. Every terminal stands in an atomic group, because a lexer never gives back a
    character of a token either. Two places need the lexer's priorities: the first operand must not
    be the result list of the next node (RESULTS goes before VALUE), and a node must not begin with
    a keyword.

TERMINALS, ROWS, RULES, STARTS, END_STATE, ANY_STATE
    Lark's LALR tables for the rules in STARTS. A small loop in `fast.py` reads by them the heads of
    graphs and regions, and once for each distinct text the types and the attributes that the
    regular expression took in as a whole. `automaton.py` finds syntax errors by them, and where to go on;
    so Lark itself is loaded for unusual texts only. ROWS gives for each state the terminals that the
    contextual lexer tries there, in order of priority, and for each symbol a state to go to, or
    -1 - n to reduce by rule n. RULES gives a rule's left side, its action, and a letter for each of
    its items: k kept, d dropped, s spliced in (the helper rules).

GRAMMAR
    The grammar that the tables were made from. Where it is not the present grammar, `fast.py`
    stands aside and Lark reads everything; a test fails then too. So the grammar can be changed at will, and
    without `fast.py` there is still a whole parser (`lark_reader.py`).

Why this is sound. The grammar is unambiguous, so a split of a text whose parts each are accepted by
their own rule is the parse. What the expression takes in as balanced text is parsed by its own
rule before it counts; and a text of which any piece does not fit goes to Lark as a whole.
"""

from __future__ import annotations

import pprint
from collections import defaultdict
from pathlib import Path
from typing import Any

from mcir.syntax.grammar import grammar_text

_Row = tuple[tuple[str, ...], dict[str, int]]

TABLES = Path(__file__).with_name("tables.py")
STARTS = ("graph_head", "region_head", "return_", "node_types", "attr_dict", "start")
KEYWORDS = ("GRAPH", "REGION_KIND", "RETURN")
BALANCE_DEPTH = 4
_SPACE = r"[ \t\r\n]*+"
_NODE_GROUPS = ("results", "op", "node_name", "operands", "node_attrs", "node_types")


def generate() -> str:
    """The text of tables.py for the present grammar."""
    body = "\n".join(f"{name} = {pprint.pformat(value, width=116, compact=True)}" for name, value in derive().items())
    title = "Made from grammar/mcir.lark by `python -m mcir.syntax.generate`. Do not edit."
    return f'"""{title}"""\n\n# fmt: off\n{body}\n'


def derive() -> dict[str, Any]:
    """The contents of tables.py for the present grammar."""
    from lark import Lark

    text = grammar_text()
    lark = Lark(text, parser="lalr", lexer="contextual", maybe_placeholders=False, start=[*STARTS])
    terminals = {terminal.name: terminal.pattern.to_regexp() for terminal in lark.terminals}
    regexes = _Regexes(lark.rules, terminals)
    starts, end, rows, rules = _tables(lark)
    return {
        "GRAMMAR": text,
        "PLAIN": regexes.plain(),
        "NODE": regexes.node(),
        "KEYWORDS": KEYWORDS,
        "TERMINALS": {name: terminals[name] for name in sorted(terminals) if name not in lark.ignore_tokens},
        "ANY_STATE": tuple(each.name for each in lark.parser.lexer.root_lexer.terminals
                           if each.name not in lark.ignore_tokens),
        "STARTS": starts,
        "END_STATE": end,
        "ROWS": rows,
        "RULES": rules,
    }  # fmt: skip


class _Regexes:
    """Rules and terminals as regular expressions."""

    def __init__(self, rules: Any, terminals: dict[str, str]) -> None:
        self.terminals = terminals
        self.alternatives: dict[str, list[list[str]]] = defaultdict(list)
        for rule in rules:
            self.alternatives[rule.origin.name].append([symbol.name for symbol in rule.expansion])

    def node(self) -> str:
        """The rule `node`, one group an item."""
        (items,) = self.alternatives["node"]
        assert tuple(items) == _NODE_GROUPS, "the rule node has changed: fast.py must know its items"
        groups = [f"({self.rule(item)})" for item in items]
        # An operand that is the beginning of the next node's results is none.
        groups[3] = f"((?!{self.terminals['RESULTS']}){self.rule('operands')}|)"
        keywords = "|".join(self.terminals[name] for name in KEYWORDS)
        return f"{_SPACE}(?!{keywords}){_SPACE.join(groups)}"

    def plain(self) -> str:
        """The line of a node with results, as printed; it matches everywhere, if need be nothing."""
        string = r'"[^"\\\r\n]*+"'
        name = rf"(?:{_first_alternative(self.terminals['VALUE'])}+|{string})"
        op = rf"{self.terminals['OP_NAME']}+|{string}"
        attrs = rf'\{{(?:[^{{}}"/\r\n]++|{string})*+\}}'
        type_ = r'tensor<[^<>"/\r\n]*+>'
        return (
            rf"{_SPACE}%({name}(?:, %{name})*+) = ({op})(?: @({name}))?+(?: %({name}(?:, %{name})*+))?+"
            rf"(?: ({attrs}))?+ (: {type_}(?:, {type_})*+)(?!{_SPACE},)|"
        )

    def rule(self, name: str) -> str:
        """A rule as one group; a terminal as an atomic one."""
        if name in self.terminals:
            return f"(?>{self.terminals[name]})"
        if name == "attr_dict":
            return self._balanced()
        plain = [items for items in self.alternatives[name] if items[:1] != [name]]
        again = [items[1:] for items in self.alternatives[name] if items[:1] == [name]]
        text = self._choice(plain)
        return f"{text}(?:{_SPACE}{self._choice(again)})*+" if again else text

    def _choice(self, alternatives: list[list[str]]) -> str:
        # The longest first: a regular expression takes the first that matches.
        ordered = sorted(alternatives, key=len, reverse=True)
        return f"(?>{'|'.join(_SPACE.join(map(self.rule, items)) for items in ordered)})"

    def _balanced(self) -> str:
        plain = rf'(?:[^{{}}\[\]"/]++|{self.terminals["STRING"]})'
        text = rf"(?:{plain})*+"
        for _ in range(BALANCE_DEPTH):
            text = rf"(?:{plain}|\{{{text}\}}|\[{text}\])*+"
        return rf"(?>\{{{text}\}})"


def _first_alternative(pattern: str) -> str:
    """`plain` of `%(?:plain|quoted)`."""
    begin, end = pattern.index("(?:") + 3, pattern.index("|")
    return pattern[begin:end]


def _tables(lark: Any) -> tuple[dict[str, int], int, list[_Row], list[tuple[str, str, str]]]:
    """Start states, the state of a whole text, rows and rules: of the states reached from STARTS, numbered anew."""
    table = lark.parser.parser._parse_table
    lexers = lark.parser.lexer.lexers
    numbers: dict[int, int] = {}
    order: list[int] = []

    def number(state: int) -> int:
        if state not in numbers:
            numbers[state] = len(order)
            order.append(state)
        return numbers[state]

    rules: dict[Any, int] = {}
    starts = {start: number(table.start_states[start]) for start in STARTS}
    rows: list[_Row] = []
    while len(rows) < len(order):
        state = order[len(rows)]
        tried = tuple(terminal.name for terminal in lexers[state].terminals if terminal.name in table.states[state])
        actions = {}
        for name, (action, argument) in sorted(table.states[state].items(), key=lambda entry: entry[0]):
            shift = action.name == "Shift"
            actions[name] = number(argument) if shift else -1 - rules.setdefault(argument, len(rules))
        rows.append((tried, actions))
    return starts, numbers[table.end_states["start"]], rows, [_rule(rule) for rule in rules]


def _rule(rule: Any) -> tuple[str, str, str]:
    """(left side, action, a letter an item: k kept, d dropped, s spliced)."""
    letters = "".join(map(_letter, rule.expansion))
    origin = str(rule.origin.name)
    return origin, str(rule.alias or origin), letters


def _letter(symbol: Any) -> str:
    if symbol.is_term:
        return "d" if symbol.filter_out else "k"
    return "s" if symbol.name.startswith("_") else "k"


if __name__ == "__main__":
    TABLES.write_text(generate(), encoding="utf-8")
