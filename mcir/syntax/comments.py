"""Which graph, region or node a comment of the text belongs to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import Comments, MCNode
from mcir.regions import Region

Holder = SemanticGraph | Region | MCNode
_Mark = tuple[int, Holder | None, bool]  # offset, the item that begins or ends there, whether it ends
_INNER = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*')


class CommentPlacer:
    """Collects comments and the places where graphs and regions end; `place` gives each its item.

    A comment behind something on its line ends that line: it belongs to the item that began last.
    A comment on a line of its own belongs to the item that begins next, or to the end of the graph
    or region that it stands in.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._comments: list[tuple[int, str]] = []
        self._marks: list[_Mark] = []

    def add(self, offset: int, text: str) -> None:
        """A comment at `offset`; `text` is without its slashes."""
        self._comments.append((offset, text))

    def add_inner(self, start: int, text: str) -> None:
        """The comments inside one token that begins at `start`."""
        for match in _INNER.finditer(text):
            if match.group().startswith("//"):
                self.add(start + match.start(), match.group()[2:].rstrip())

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
        marks = sorted(self._marks + list(_beginnings(module)), key=lambda mark: mark[0])
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

    def _end_line(self, mark: _Mark, text: str) -> bool:
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


def _beginnings(module: MCModule) -> Iterator[_Mark]:
    holders: list[SemanticGraph | Region] = [*module.graphs, *module.walk()]
    for holder in holders:
        for item in (holder, *holder.nodes):
            if item.loc is not None:
                yield item.loc.offset, item, False


def _comments_of(item: Holder | None) -> Comments:
    assert item is not None
    if item.comments is None:
        item.comments = Comments()
    return item.comments
