"""Imports point one way (`pyproject.toml` has the layers), and the grammar has no terminals that collide."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcir.syntax.grammar import grammar_text

ROOT = Path(__file__).parents[2]


def test_imports_point_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    cli = pytest.importorskip("importlinter.cli")
    code = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capsys.readouterr().out


def test_the_grammar_is_strict() -> None:
    pytest.importorskip("interegular")
    from lark import Lark

    Lark(grammar_text(), parser="lalr", lexer="contextual", strict=True)
