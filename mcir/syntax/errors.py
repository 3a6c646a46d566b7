"""Lark's syntax errors in words: what stood there, what was expected, and a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcir.diagnostics import Diagnostic
from mcir.location import Location, Source

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


def syntax_error(error: UnexpectedInput, source: Source) -> Diagnostic:
    """The diagnostic for a Lark error. Its location is the first character not understood."""
    text = source.text
    offset, token = _offset(error, text), getattr(error, "token", None)
    end = offset + (len(str(token)) if token is not None and token.type != "$END" else 1)
    expected = _expected(error)
    message = f"{_got(text, offset, token)}, expected {_listing(expected)}" if expected else _got(text, offset, token)
    return Diagnostic(message, Location(source, offset, end), hint=_hint(text, offset, expected))


def _offset(error: UnexpectedInput, text: str) -> int:
    offset, token = error.pos_in_stream, getattr(error, "token", None)
    if offset is None or offset < 0 or (token is not None and token.type == "$END"):
        return len(text.rstrip())
    return offset


def broken_from(error: UnexpectedInput, text: str) -> int:
    """Where the statement or head begins that is half read at an error of the parser without actions.

    The place of the error where nothing is open: behind a brace, between statements.
    """
    offset = _offset(error, text)
    state = error.interactive_parser.parser_state
    rows = state.parse_conf.states
    top = next(at for at in reversed(range(len(state.state_stack))) if _begins_statement(rows[state.state_stack[at]]))
    half_read = state.value_stack[top:]
    kinds = [getattr(value, "type", "") for value in half_read]
    if not half_read or (kinds[-1] == "RBRACE" and "LBRACE" not in kinds):  # the brace closed a graph or region
        return offset
    return next((place for value in half_read if (place := _begin(value)) is not None), offset)


def _begins_statement(row: dict[str, Any]) -> bool:
    return any(name in row and row[name][0].name == "Shift" for name in ("RESULTS", "GRAPH"))


def _begin(value: Any) -> int | None:
    """The offset of the first token in a token or tree, which may be empty."""
    tokens = [value] if hasattr(value, "start_pos") else value.scan_values(lambda leaf: True)
    return min((token.start_pos for token in tokens), default=None)


def _expected(error: Any) -> set[str]:
    """The terminals that would have been right here."""
    names = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None)
    return set(names or ()) - {"COMMENT", "WHITESPACE"}


def _got(text: str, offset: int, token: Any) -> str:
    if offset >= len(text.rstrip()):
        return "unexpected end of the text"
    if text[offset] == '"':
        line = text[offset : text.find("\n", offset) if "\n" in text[offset:] else len(text)]
        if token is None:
            return "unterminated string" if line.count('"') == 1 else "unexpected string"
    shown = str(token) if token is not None else _word_at(text, offset)
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


def _hint(text: str, offset: int, expected: set[str]) -> str:
    here = text[offset : offset + 1]
    if here == "%" and "RESULTS" in expected and "VALUE" not in expected and _word_at(text, offset) != "%":
        return "a node that begins with results is written `%x = op ...`"
    if here in ("%", "@") and ("VALUE" in expected or "SYMBOL" in expected or "RESULTS" in expected):
        return f'a name of other characters than A-Z a-z 0-9 _ . $ stands in quotes: {here}"..."'
    if here == "'":
        return 'strings stand in double quotes: "..."'
    if here == "#" or text.startswith("/*", offset):
        return "comments begin with //"
    if here == ":" and "EQUAL" in expected:
        return "attributes are written `key = value`"
    if text.startswith("module", offset) and "GRAPH" in expected:
        return "a file is a list of graphs and execution regions; there is no module keyword"
    return ""
