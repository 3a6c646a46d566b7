"""Offsets in a text, and the protocol's positions: lines and columns in code units, UTF-16 unless agreed otherwise.

A line ends with CR LF, LF or CR, as the protocol says, and with nothing else that Unicode calls a line end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

_LINE_END = re.compile(r"\r\n|\n|\r")

# Encoding -> code units of a text.
_UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}


class Positions:
    """The lines of one text. `encoding` is a key of the protocol's PositionEncodingKind."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._text = text
        self._units = _UNITS[encoding]
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, from 0."""
        row = bisect_right(self._starts, offset) - 1
        return row, self._units(self._text[self._starts[row] : offset])

    def offset(self, line: int, column: int) -> int:
        """The offset of a position; one behind the end of its line, or of the text, is that end."""
        if line >= len(self._starts):
            return len(self._text)
        line, column = max(line, 0), max(column, 0)
        text = self._line(line)
        if text.isascii() or self._units is len:
            return self._starts[line] + min(column, len(text))
        units = 0
        for at, char in enumerate(text):
            units += self._units(char)
            if units > column:
                return self._starts[line] + at
        return self._starts[line] + len(text)

    def _line(self, line: int) -> str:
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)
        return self._text[self._starts[line] : end].rstrip("\r\n")
