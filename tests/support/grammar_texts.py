"""Texts drawn from grammar/mcir.lark itself, and mutations of good texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark

from mcir.ops import all_ops
from mcir.printer import print_module
from mcir.syntax.grammar import grammar_text
from mcir.types import DTYPES, RESIDENCIES
from tests.support.strategies import TRICKY, modules

Draw = Callable[[st.SearchStrategy[Any]], Any]

# The grammar says what a name or a string looks like, not which are known: most draws come from here.
LIKELY: dict[str, tuple[str, ...]] = {
    "DTYPE": tuple(sorted(DTYPES)),
    "RESIDENCY": RESIDENCIES,
    "OP_NAME": tuple(op.name for op in all_ops()),
    "VALUE": ("%a", '%"a"', "%0", '%"b c"', *(f"%p{number}" for number in range(20))),
    "RESULTS": ('%"e f" =', "%c, %d =", "%g,//x\n%h\n=", *(f"%r{number} =" for number in range(20))),
    "DIM": ("4x", "?x", "(seq)x", '("s + 1")x'),
    "SYMBOL": ("@a", '@"b c"', "@0"),
    "STRING": ('""', '"onnx.Foo"', r'"\"\\\n"', r'"\u{1F642}"'),
}
ENDS = {"COMMENT": "\n", "WHITESPACE": ""}


@cache
def grammar() -> Lark:
    """Plain Lark over the grammar: what it accepts is in the language."""
    return Lark(grammar_text(), parser="lalr", lexer="contextual", start="start", maybe_placeholders=False)


@cache
def grammar_texts() -> st.SearchStrategy[str]:
    """Texts of the grammar, a blank after each terminal so that none glues to the next."""
    return from_lark(grammar(), explicit={terminal.name: _terminal(terminal) for terminal in grammar().terminals})


def _terminal(terminal: Any) -> st.SearchStrategy[str]:
    pattern = terminal.pattern
    drawn = st.just(pattern.value) if pattern.type == "str" else st.from_regex(pattern.to_regexp(), fullmatch=True)
    if terminal.name in LIKELY:
        likely = st.sampled_from(LIKELY[terminal.name])
        drawn = st.integers(0, 31).flatmap(lambda choice: likely if choice else drawn)
    return drawn.map(lambda text: text + ENDS.get(terminal.name, " "))


TOKENS = re.compile(r'[%@]?"(?:[^"\\\n]|\\.)*"|[%@]?[\w.$]+|\s+|//[^\n]*|.', re.DOTALL)


@st.composite
def mutated_texts(draw: Draw) -> str:
    """The text of a module after one to three faults: characters or tokens dropped, doubled, swapped or put in."""
    text: str = print_module(draw(modules()))
    for _ in range(draw(st.integers(1, 3))):
        parts = list(text) if draw(st.booleans()) else TOKENS.findall(text)
        if parts:
            draw(st.sampled_from(MUTATIONS))(draw, parts, draw(st.integers(0, len(parts) - 1)))
        text = "".join(parts)
    return text


def _delete(draw: Draw, parts: list[str], at: int) -> None:
    del parts[at : at + draw(st.integers(1, 3))]


def _double(draw: Draw, parts: list[str], at: int) -> None:
    parts.insert(at, parts[at])


def _swap(draw: Draw, parts: list[str], at: int) -> None:
    other = draw(st.integers(0, len(parts) - 1))
    parts[at], parts[other] = parts[other], parts[at]


def _insert(draw: Draw, parts: list[str], at: int) -> None:
    parts.insert(at, draw(st.sampled_from(TRICKY) | st.sampled_from('{}()[]<>,:=%@"\\/-+#;') | st.characters()))


MUTATIONS = (_delete, _double, _swap, _insert)
