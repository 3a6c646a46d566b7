"""Where a thing stands in a text: sources and locations, the bottom of the import order."""

from __future__ import annotations

from bisect import bisect_right
from collections import namedtuple

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import NamedTuple


class Source:
    """One text and the name it came under. Lines are indexed on first use only."""

    __slots__ = ("_starts", "first_line", "name", "text")

    def __init__(self, name: str, text: str, first_line: int = 1) -> None:
        self.name = name
        self.text = text
        self.first_line = first_line  # a chunk of a split file does not begin at line 1
        self._starts: list[int] | None = None

    def line_column(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in characters) of `offset`."""
        row = bisect_right(self._line_starts(), offset) - 1
        return row + self.first_line, offset - self._line_starts()[row] + 1

    def line_text(self, line: int) -> str:
        """The text of the 1-based `line`, without its end; empty past the last line."""
        starts = self._line_starts()
        row = line - self.first_line
        if not 0 <= row < len(starts):
            return ""
        end = starts[row + 1] - 1 if row + 1 < len(starts) else len(self.text)
        return self.text[starts[row] : end].rstrip("\r")

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts


if TYPE_CHECKING:

    class _Fields(NamedTuple):
        source: Source
        offset: int
        end: int = 0

else:
    _Fields = namedtuple("Location", "source offset end", defaults=(0,))


class Location(_Fields):
    """A place in a source; `end` makes it a range (0: a single place)."""

    __slots__ = ()

    def line_column(self) -> tuple[int, int]:
        return self.source.line_column(self.offset)

    def __str__(self) -> str:
        line, column = self.line_column()
        return f"{self.source.name}:{line}:{column}"
