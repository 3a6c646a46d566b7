"""What is shown between the words of a text though it does not stand there: bytes of results, verdicts on attention."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from mcir.lsp.document import Chunk, Document, Span
from mcir.lsp.hover import byte_count, size_text
from mcir.lsp.names import Item

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_LONGEST = 70  # characters of a verdict beside the text; all of it stands in the tooltip


@dataclass(frozen=True, slots=True)
class Hint:
    """A few words at `offset`, and what is told when someone points at them."""

    offset: int
    label: str
    tooltip: str


def inlay_hints(document: Document, span: Span) -> Iterator[Hint]:
    """The hints in a part of a document, in text order but for verdicts, which come last."""
    for chunk in document.chunks:
        if chunk.base <= span[1] and chunk.base + len(chunk.source.text) >= span[0]:
            for node in _nodes(chunk, span):
                yield from _bytes(chunk, node)
    yield from _verdicts(document, span)


def brief_bytes(count: int) -> str:
    """`1.5 KiB`; a number below 1024 in bytes."""
    power = 0
    while count >= 1024 ** (power + 1) and power + 1 < len(_UNITS):
        power += 1
    value = f"{count / 1024**power:.1f}".removesuffix(".0") if power else str(count)
    return f"{value} {_UNITS[power]}" if count != 1 else "1 byte"


def _nodes(chunk: Chunk, span: Span) -> Iterator[Item]:
    """The nodes whose text touches the span."""
    begin, end = span[0] - chunk.base, span[1] - chunk.base
    waiting = [chunk.index.root]
    while waiting:
        block = waiting.pop()
        first = bisect_left(block.children, begin, key=lambda child: child.end)
        for item in block.children[first:]:
            if item.start > end:
                break
            if item.kind == "node":
                yield item
            else:
                waiting.append(item)


def _bytes(chunk: Chunk, node: Item) -> Iterator[Hint]:
    counts = [byte_count(value.type) for value in node.outputs]
    known = [count for count in counts if count is not None]
    if not known or len(known) < len(counts):
        return
    label = " + ".join(brief_bytes(count) if isinstance(count, int) else f"{count} bytes" for count in known)
    tooltip = "\n\n".join(f"`%{value.text}`: {size_text(value.type)}" for value in node.outputs)
    yield Hint(chunk.base + node.end, label, tooltip)


def _verdicts(document: Document, span: Span) -> Iterator[Hint]:
    """Remarks of the attention pass at the end of the line that they are about."""
    for problem in document.problems:
        if problem.remark and span[0] <= problem.span[0] <= span[1]:
            end = document.text.find("\n", problem.span[0])
            end = len(document.text) if end < 0 else end
            text = problem.message.split("\n")[0]
            yield Hint(end, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...", problem.message)

