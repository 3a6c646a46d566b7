"""`grammar/LANGUAGE.md`: its tables are those of the definitions, its examples are MCIR."""

from __future__ import annotations

import re

import pytest

from mcir.ops import all_ops
from mcir.parser import parse_module
from mcir.passes import registered_passes
from mcir.passes.pipeline import option_fields
from mcir.tools.docs import LANGUAGE, TABLES, with_tables
from tests.support.sessions import ROOT, Session, run, sessions

TEXT = LANGUAGE.read_text(encoding="utf-8")


def test_tables_are_fresh() -> None:
    assert with_tables(TEXT) == TEXT, "run python -m mcir.tools.docs"


def test_every_table_is_shown_and_every_op_in_one() -> None:
    assert set(re.findall(r"<!-- table: ([a-z-]+) -->", TEXT)) == set(TABLES)
    assert all(f"\n| `{op.name}` |" in TEXT for op in all_ops())


@pytest.mark.parametrize("example", re.findall(r"```mcir\n(.*?)```", TEXT, re.DOTALL))
def test_examples_are_mcir(example: str) -> None:
    module = parse_module(example)
    assert module.graphs or module.regions


@pytest.mark.parametrize("session", sessions(TEXT), ids=lambda session: session.command[:40])
def test_console_session(session: Session) -> None:
    output = run(session.command, ROOT)
    assert session.fits(output), output


def test_nothing_in_the_tables_is_left_unsaid() -> None:
    assert [op.name for op in all_ops() if not (op.infer.__doc__ or "").endswith(".")] == []
    assert [(op.name, attr.name) for op in all_ops() for attr in op.attrs if not attr.doc] == []
    options = [(name, *item) for name, cls in registered_passes().items() for item in option_fields(cls).items()]
    assert options
    assert [(name, key) for name, key, option in options if not option.metadata.get("help")] == []


def test_the_grammar_for_reading_is_closed_and_has_the_words_of_the_grammar() -> None:
    shown = TEXT.partition("## Syntax")[2].partition("```text\n")[2].partition("```")[0]
    words = {"graph", "return", "attributes", "true", "false", "execution", "streaming", "tile"}
    assert set(re.findall(r'"([a-z]{2,})"', shown)) == words
    grammar = (LANGUAGE.parent / "mcir.lark").read_text(encoding="utf-8")
    assert all(re.search(rf"\b{word}\b", grammar) for word in words)
    defined = set(re.findall(r"^([a-z]+) +=", shown, re.MULTILINE))
    used = set(re.findall(r"(?<![@%])\b[a-z]+\b", re.sub(r'"[^"]*"', " ", shown)))
    assert used - defined == {"word", "string", "digits", "integer", "float", "key", "dtype", "residency"}


def test_links_lead_to_titles() -> None:
    titles = re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    anchors = {"#" + re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    local = {link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if not link.startswith("https://")}
    assert len(local) > 15
    assert [link for link in local if link not in anchors and not (LANGUAGE.parent / link).exists()] == []
