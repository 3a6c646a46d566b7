"""MCIR for Pygments, registered as a plugin: `pygmentize -l mcir`, Sphinx, and all that colours by Pygments."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments import token
from pygments.lexer import RegexLexer, bygroups

from mcir.editors.highlight import Rule, rules

# Class -> Pygments' token.
TOKENS = {
    "keyword": token.Keyword,
    "constant": token.Keyword.Constant,
    "number": token.Number,
    "string": token.String.Double,
    "value": token.Name.Variable,
    "symbol": token.Name.Class,
    "op": token.Name.Function,
    "key": token.Name.Attribute,
    "tensor": token.Keyword.Type,
    "dim": token.Number.Integer,
    "dtype": token.Keyword.Type,
    "residency": token.Keyword.Pseudo,
    "comment": token.Comment.Single,
    "operator": token.Operator,
    "punctuation": token.Punctuation,
}


def _pygments_rule(rule: Rule) -> tuple[Any, ...]:
    kinds: list[Any] = []
    for name in rule.classes:
        kinds += [TOKENS[name], token.Whitespace]
    callback = bygroups(*kinds[:-1]) if len(kinds) > 2 else kinds[0] if kinds else token.Text  # type: ignore[no-untyped-call]
    return (rule.pattern, callback, rule.enters) if rule.enters else (rule.pattern, callback)


class McirLexer(RegexLexer):
    """Lexer for MCIR text."""

    name = "MCIR"
    aliases: ClassVar[list[str]] = ["mcir"]
    filenames: ClassVar[list[str]] = ["*.mcir"]
    url = ""
    tokens: ClassVar[dict[str, list[Any]]] = {
        state: [(r"[ \t\r\n]+", token.Whitespace), *map(_pygments_rule, ordered)]
        for state, ordered in rules(r"([ \t]*)").items()  # Pygments wants a group for every character
    }
