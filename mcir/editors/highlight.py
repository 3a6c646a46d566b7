"""The rules by which a text is coloured without being parsed, made of the grammar's own terminals.

A terminal that means different things in different places is told apart by what stands beside it: a key is
followed by `=`, the word behind `%x =` is an op, `tile` is a keyword where `@` follows. Tests hold the
result to the classes of the tokens that the grammar gives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mcir.syntax.grammar import plain_parser

# Terminal of the grammar -> class.
CLASSES: dict[str, str] = {
    "GRAPH": "keyword", "REGION_KIND": "keyword", "RETURN": "keyword", "ATTRIBUTES": "keyword",
    "TRUE": "constant", "FALSE": "constant", "INT": "number", "FLOAT": "number", "STRING": "string",
    "VALUE": "value", "RESULTS": "value", "SYMBOL": "symbol", "OP_NAME": "op", "KEY": "key", "_TENSOR": "tensor",
    "DIM": "dim", "DTYPE": "dtype", "RESIDENCY": "residency", "COMMENT": "comment",
    "EQUAL": "operator", "__ANON_0": "operator",
    "LBRACE": "punctuation", "RBRACE": "punctuation", "LSQB": "punctuation", "RSQB": "punctuation",
    "LPAR": "punctuation", "RPAR": "punctuation", "COMMA": "punctuation", "COLON": "punctuation",
    "MORETHAN": "tensor",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` with one class for each of its groups, and the state that it enters ("" for none, "#pop")."""

    pattern: str
    classes: tuple[str, ...]
    enters: str = ""


_NAME = re.compile(r"<(\w+)>")

# State -> rules in order of precedence; <NAME> stands for that terminal, <_> for blanks.
_RULES: dict[str, tuple[Rule, ...]] = {
    "root": (
        Rule("(<COMMENT>)", ("comment",)),
        Rule("(<VALUE>)<_>(=)<_>(<OP_NAME>|<STRING>)", ("value", "operator", "op")),
        Rule("(<_TENSOR>)", ("tensor",), "type"),
        Rule("(<KEY>|<STRING>)<_>(=)", ("key", "operator")),
        Rule(r"(<GRAPH>|<REGION_KIND>)(?=[ \t]*@)", ("keyword",)),
        Rule("(<RETURN>)", ("keyword",)),
        Rule(r"(<ATTRIBUTES>)(?=[ \t]*\{)", ("keyword",)),
        Rule("(<TRUE>|<FALSE>)", ("constant",)),
        Rule("(<FLOAT>|<INT>)", ("number",)),
        Rule("(<VALUE>)", ("value",)),
        Rule("(<SYMBOL>)", ("symbol",)),
        Rule("(<STRING>)", ("string",)),
        Rule("(<OP_NAME>)", ("op",)),
        Rule("(<__ANON_0>|<EQUAL>)", ("operator",)),
        Rule("(<LBRACE>|<RBRACE>|<LSQB>|<RSQB>|<LPAR>|<RPAR>|<COMMA>|<COLON>)", ("punctuation",)),
    ),
    "type": (
        Rule("(<COMMENT>)", ("comment",)),
        Rule("(<MORETHAN>)", ("tensor",), "#pop"),
        Rule("(<COMMA>)<_>(<RESIDENCY>)", ("punctuation", "residency")),
        Rule("(<DIM>)", ("dim",)),
        Rule("(<DTYPE>)", ("dtype",)),
        Rule("(<COMMA>)", ("punctuation",)),
        # what cannot stand in a type ends it: an unfinished one colours nothing but itself
        Rule(r"(?=[^ \t\r\n])", (), "#pop"),
    ),
}  # fmt: skip


@cache
def rules(blanks: str = r"[ \t]*") -> dict[str, tuple[Rule, ...]]:
    """The rules with the grammar's terminals filled in; none of their patterns reaches beyond a line.

    `blanks` is what stands between two groups.
    """
    terminals = {terminal.name: f"(?:{terminal.pattern.to_regexp()})" for terminal in plain_parser().terminals}
    terminals["_"] = blanks
    return {state: tuple(_filled(rule, terminals) for rule in ordered) for state, ordered in _RULES.items()}


def named_terminals() -> set[str]:
    """The terminals that the rules speak of."""
    named = {name for ordered in _RULES.values() for rule in ordered for name in _NAME.findall(rule.pattern)}
    return named - {"_"}


def _filled(rule: Rule, terminals: dict[str, str]) -> Rule:
    return Rule(_NAME.sub(lambda match: terminals[match[1]], rule.pattern), rule.classes, rule.enters)
