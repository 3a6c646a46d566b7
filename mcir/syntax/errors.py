"""Syntax errors in words: what stood there, what was expected, and a hint."""

from __future__ import annotations

from collections.abc import Iterable

from mcir.diagnostics import Diagnostic
from mcir.location import Location, Source
from mcir.syntax.hints import find_hint

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

# Terminal of the grammar -> what a person calls it.
_WORDS: dict[str, str] = {
    "GRAPH": "'graph'",
    "REGION_KIND": "'execution', 'streaming' or 'tile'",
    "RETURN": "'return'",
    "TRUE": "'true'",
    "FALSE": "'false'",
    "VALUE": "a value such as %x",
    "SYMBOL": "a name such as @x",
    "STRING": 'a "string"',
    "RESULTS": "results such as '%x ='",
    "OP_NAME": "an op",
    "KEY": "an attribute name",
    "DIM": "a dimension such as 128x",
    "_TENSOR": "a type such as tensor<4x8xfp16>",
    "__ANON_0": "'->'",
    "DTYPE": "an element type such as fp16",
    "RESIDENCY": "a residency",
    "FLOAT": "a float",
    "INT": "an integer",
    "RBRACE": "'}'",
    "LBRACE": "'{'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "COLON": "':'",
    "EQUAL": "'='",
    "MORETHAN": "'>'",
    "ATTRIBUTES": "'attributes'",
    "$END": "the end of the text",
}
_VALUES = {"TRUE", "FALSE", "INT", "FLOAT", "STRING", "SYMBOL", "LSQB", "LBRACE", "_TENSOR"}


def syntax_error(source: Source, begin: int, offset: int, token: str | None, expected: Iterable[str]) -> Diagnostic:
    """The diagnostic for what stands at `offset`, the first character not understood, of the statement from `begin` on.

    token: the text there, if it is a token at all. expected: the terminals that would have been right.
    """
    text, wanted = source.text, set(expected)
    end = offset + (len(token) if token is not None else 1)
    message = _got(text, offset, token)
    message = f"{message}, expected {_listing(wanted)}" if wanted else message
    return Diagnostic(message, Location(source, offset, end), hint=find_hint(text, begin, offset, wanted))


def error_place(error: UnexpectedInput, text: str) -> tuple[int, str | None]:
    """The offset of a Lark error, and the token that stands there, if it is one."""
    offset, token = error.pos_in_stream, getattr(error, "token", None)
    if offset is None or offset < 0 or (token is not None and token.type == "$END"):
        return len(text.rstrip()), None
    return offset, str(token) if token is not None else None


def _got(text: str, offset: int, token: str | None) -> str:
    if offset >= len(text.rstrip()):
        return "unexpected end of the text"
    if text[offset] == '"':
        line = text[offset : text.find("\n", offset) if "\n" in text[offset:] else len(text)]
        if token is None:
            return "unterminated string" if line.count('"') == 1 else "unexpected string"
    shown = token if token is not None else _word_at(text, offset)
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return f"unexpected {_quoted(shown)}"


def _word_at(text: str, offset: int) -> str:
    end = offset + 1
    if text[offset].isalnum() or text[offset] in "%@_":
        while end < len(text) and end - offset < 48 and (text[end].isalnum() or text[end] in "_.$"):
            end += 1
    return text[offset:end]


def _quoted(text: str) -> str:
    return f"'{text}'" if text.isprintable() else f"character {text.encode('unicode_escape').decode()}"


def _listing(expected: set[str]) -> str:
    words = ["an attribute value"] if expected >= _VALUES else []
    rest = expected - _VALUES if words else expected
    words += sorted(_WORDS.get(name, f"'{name.lower()}'") for name in rest)
    if len(words) > 1:
        return f"{', '.join(words[:-1])} or {words[-1]}"
    return words[0]
