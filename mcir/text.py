"""How names and strings are written: quoting, escapes, and what needs neither."""

from __future__ import annotations

import re

PLAIN_NAME = re.compile(r"[A-Za-z0-9_.$]+")
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.$]*")
PLAIN_DIM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_SHORT_MEANINGS = {escape[1]: char for char, escape in _SHORT_ESCAPES.items()}
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)


def quote(text: str) -> str:
    """`text` as an MCIR string: printable characters stand as they are, all others escaped.

    `\\u{hex}` names one code point, surrogates included, so that every Python string round-trips.
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_SHORT_ESCAPES.get(char) or _escaped(char) for char in text) + '"'


def unquote(text: str) -> str:
    """The string that a quoted text stands for. Raises ValueError on an unknown escape."""
    inner = text[1:-1]
    return _ESCAPE.sub(_meaning, inner) if "\\" in inner else inner


def name_text(name: str) -> str:
    """A value, node or region name: plain, or quoted where it must be."""
    return name if PLAIN_NAME.fullmatch(name) else quote(name)


def read_name(token: str) -> str:
    """The name in a `%x`, `@x` or quoted token."""
    body = token[1:]
    return unquote(body) if body[:1] == '"' else body


def _escaped(char: str) -> str:
    return char if char.isprintable() else f"\\u{{{ord(char):x}}}"


def _meaning(match: re.Match[str]) -> str:
    code, short = match.groups()
    if code is not None and int(code, 16) <= 0x10FFFF:
        return chr(int(code, 16))
    if short in _SHORT_MEANINGS:
        return _SHORT_MEANINGS[short]
    raise ValueError(f"unknown escape '{match.group(0)}'")
