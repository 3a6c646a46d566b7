"""Which graph, region or node a comment of the text belongs to."""

from __future__ import annotations

import re
from bisect import bisect_right

from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.regions import Region

Holder = SemanticGraph | Region | MCNode
_INNER = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*')


class CommentPlacer:
    """Collects comments and the places where items begin and end; `place` joins the two.

    A comment behind something on its line ends that line: it belongs to the item that began last.
    A comment on a line of its own belongs to the item that begins next, or to the end of the graph
    or region that it stands in.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._comments: list[tuple[int, str]] = []
        self._marks: list[tuple[int, Holder | None, bool]] = []  # offset, item, is its closing brace

    def add(self, offset: int, text: str) -> None:
        """A comment at `offset`; `text` is without its slashes."""
        self._comments.append((offset, text))

    def add_inner(self, start: int, text: str) -> None:
        """The comments inside one token that begins at `start`."""
        for match in _INNER.finditer(text):
            if match.group().startswith("//"):
                self.add(start + match.start(), match.group()[2:].rstrip())

    def open(self, offset: int | None, item: Holder) -> None:
        """`item` begins at `offset`."""
        self._marks.append((offset or 0, item, False))

    def close(self, offset: int | None, item: Holder) -> None:
        """The closing brace of `item` stands at `offset`."""
        self._marks.append((offset or 0, item, True))

    def pass_over(self, offset: int | None) -> None:
        """Something at `offset` that holds no comments itself (`return`)."""
        self._marks.append((offset or 0, None, False))

    def place(self, module: MCModule) -> None:
        """Enters every comment where it belongs, in one pass over the text's comments."""
        if not self._comments:
            return
        # Marks arrive in text order but for a node's, which is made when its last token is read.
        marks = sorted(self._marks, key=lambda mark: mark[0])
        offsets = [mark[0] for mark in marks]
        for offset, text in sorted(self._comments):
            at = bisect_right(offsets, offset)
            if self._ends_a_line(offset) and at and self._end_line(marks[at - 1], text):
                continue
            while at < len(marks) and marks[at][1] is None:
                at += 1  # what stands at `return` belongs to the brace behind it
            if at == len(marks):
                module.comments = module.comments or Comments()
                module.comments.inside.append(text)
                continue
            _, item, closing = marks[at]
            comments = _comments_of(item)
            (comments.inside if closing else comments.before).append(text)

    def _end_line(self, mark: tuple[int, Holder | None, bool], text: str) -> bool:
        """Puts `text` at the end of the marked line; False where one stands there already."""
        _, item, closing = mark
        if item is None:
            return False
        comments = _comments_of(item)
        slot = "close" if closing else "after"
        if getattr(comments, slot) is not None:
            return False
        setattr(comments, slot, text)
        return True

    def _ends_a_line(self, offset: int) -> bool:
        before = self._text.rfind("\n", 0, offset) + 1
        return bool(self._text[before:offset].strip(" \t\r"))


def _comments_of(item: Holder | None) -> Comments:
    assert item is not None
    if item.comments is None:
        item.comments = Comments()
    return item.comments
