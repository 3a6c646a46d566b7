"""Any text: it parses and prints to a fixed point, or it is refused with MCIRError. Nothing else."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lark.exceptions import UnexpectedInput

from mcir.diagnostics import MCIRError
from mcir.location import Source
from mcir.module import MCModule
from mcir.parser import parse_module, parse_with_lark
from mcir.printer import print_module
from tests.support.grammar_texts import grammar, grammar_texts, mutated_texts
from tests.support.truth import check_uses


def parses(text: str) -> bool:
    """True if `text` parses, after checking the fixed point; False if it is refused as it should be."""
    try:
        module = parse_module(text)
    except MCIRError as error:
        assert error.diagnostics
        assert all(fault.location is not None for fault in error.diagnostics)
        assert str(error)
        return False
    printed = print_module(module)
    again = parse_module(printed)
    assert again == module
    assert print_module(again) == printed
    check_uses(module)
    return True


def outcome(parse: Callable[[str], MCModule], text: str) -> MCModule | str:
    """The module, or the faults as they are shown."""
    try:
        return parse(text)
    except MCIRError as error:
        return str(error)


def in_grammar(text: str) -> bool:
    try:
        grammar().parse(text)
    except UnexpectedInput:
        return False
    return True


@given(grammar_texts())
def test_texts_of_the_grammar(text: str) -> None:
    accepted = parses(text)
    assert in_grammar(text) or not accepted


def test_most_texts_of_the_grammar_are_in_the_language() -> None:
    """Else the test above would only ever see syntax errors."""
    counts = {"drawn": 0, "in grammar": 0, "parsed": 0, "parsed and long": 0}

    @settings(max_examples=100, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(grammar_texts())
    def count(text: str) -> None:
        counts["drawn"] += 1
        counts["in grammar"] += in_grammar(text)
        if parses(text):
            counts["parsed"] += 1
            counts["parsed and long"] += len(text) > 60

    count()
    assert counts["in grammar"] > 0.9 * counts["drawn"], counts
    # The rest hurt what a grammar cannot say: names defined once and before use, a type for each result.
    assert counts["parsed"] > 0.15 * counts["drawn"], counts
    assert counts["parsed and long"] > 0.05 * counts["drawn"], counts


@given(mutated_texts())
def test_mutated_texts(text: str) -> None:
    assert in_grammar(text) or not parses(text)


@settings(max_examples=max(200, settings.default.max_examples))
@given(mutated_texts() | grammar_texts())
def test_the_fast_way_and_lark_agree(text: str) -> None:
    """Statements are read by a regular expression derived from the grammar, or by Lark: nobody can tell which."""
    assert outcome(parse_module, text) == outcome(lambda whole: parse_with_lark(Source("<string>", whole)), text)


@given(st.text())
def test_arbitrary_text(text: str) -> None:
    parses(text)
