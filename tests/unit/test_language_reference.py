"""`grammar/LANGUAGE.md`: its tables are those of the definitions, its examples are MCIR."""

from __future__ import annotations

import re

import pytest

from mcir.ops import all_ops
from mcir.parser import parse_module
from mcir.tools.docs import LANGUAGE, TABLES, with_tables

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
