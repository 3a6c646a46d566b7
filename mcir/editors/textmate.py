"""The rules of `highlight.py` as a TextMate grammar, for VS Code and other editors.

`python -m mcir.editors.textmate` writes it; a test fails where the file is stale.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcir.editors.highlight import Rule, rules

FILE = Path(__file__).parent.parent.parent / "grammar" / "vscode" / "syntaxes" / "mcir.tmLanguage.json"

# Class -> scope.
SCOPES = {
    "keyword": "keyword.control.mcir",
    "constant": "constant.language.mcir",
    "number": "constant.numeric.mcir",
    "string": "string.quoted.double.mcir",
    "value": "variable.other.mcir",
    "symbol": "entity.name.type.mcir",
    "op": "support.function.mcir",
    "key": "variable.other.property.mcir",
    "tensor": "storage.type.mcir",
    "dim": "constant.numeric.dimension.mcir",
    "dtype": "support.type.mcir",
    "residency": "storage.modifier.mcir",
    "comment": "comment.line.double-slash.mcir",
    "operator": "keyword.operator.mcir",
    "punctuation": "punctuation.mcir",
}


def textmate_grammar() -> str:
    """The text of mcir.tmLanguage.json."""
    table = rules()
    type_begin = next(rule for rule in table["root"] if rule.enters)
    ends = [rule.pattern for rule in table["type"] if rule.enters]
    inside = [_pattern(rule) for rule in table["type"] if not rule.enters]
    type_ = {
        "begin": type_begin.pattern,
        "beginCaptures": _captures(type_begin),
        "end": "|".join(ends),
        "endCaptures": {"1": {"name": SCOPES["tensor"]}},
        "applyEndPatternLast": True,  # an end that fits anywhere comes after what fits
        "patterns": inside,
    }
    grammar = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "comment": "Made from grammar/mcir.lark by `python -m mcir.editors.textmate`. Do not edit.",
        "name": "MCIR",
        "scopeName": "source.mcir",
        "fileTypes": ["mcir"],
        "patterns": [type_ if rule is type_begin else _pattern(rule) for rule in table["root"]],
    }
    return json.dumps(grammar, indent=2) + "\n"


def _pattern(rule: Rule) -> dict[str, Any]:
    return {"match": rule.pattern, "captures": _captures(rule)}


def _captures(rule: Rule) -> dict[str, Any]:
    return {str(at): {"name": SCOPES[name]} for at, name in enumerate(rule.classes, 1)}


if __name__ == "__main__":
    FILE.write_text(textmate_grammar(), encoding="utf-8")
