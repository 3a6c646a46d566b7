"""One open text: the modules in it (`// -----` parts them) and what is known of each."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from mcir.location import Location, Source
from mcir.lsp.index import Index, build_index
from mcir.lsp.names import Occurrence
from mcir.lsp.positions import Positions
from mcir.tools.opt_chunk import split_source

Span = tuple[int, int]


@dataclass
class Chunk:
    """One module text of a document; `base` is its offset there."""

    source: Source
    base: int

    @cached_property
    def index(self) -> Index:
        """What stands where; made on first use."""
        return build_index(self.source.text)


class Document:
    """A text as the editor has it. Offsets are into `text`; nothing here changes when the editor goes on typing."""

    def __init__(self, name: str, text: str, version: int | None = None, encoding: str = "utf-16") -> None:
        self.name = name
        self.text = " " + text[1:] if text[:1] == "\ufeff" else text  # a byte order mark is no part of the language
        self.version = version
        self.positions = Positions(text, encoding)

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The modules, in order; there is always one."""
        sources = split_source(Source(self.name, self.text))
        return [Chunk(source, self._line_start(source.first_line)) for source in sources]

    @cached_property
    def _lines(self) -> list[int]:
        # the lines of Source, which end with a line feed only
        starts = [0]
        while (at := self.text.find("\n", starts[-1])) >= 0:
            starts.append(at + 1)
        return starts

    def _line_start(self, line: int) -> int:
        return self._lines[min(line, len(self._lines)) - 1]

    def chunk_at(self, offset: int) -> tuple[Chunk, int]:
        """The module around `offset`, and the offset in it."""
        at = bisect_right(self.chunks, offset, key=lambda chunk: chunk.base) - 1
        chunk = self.chunks[at]
        return chunk, min(offset - chunk.base, len(chunk.source.text))

    def place_at(self, offset: int) -> tuple[Chunk, Occurrence] | None:
        """The name at `offset` and the module that it stands in."""
        chunk, inner = self.chunk_at(offset)
        place = chunk.index.place_at(inner)
        return (chunk, place) if place is not None else None

    def span(self, location: Location) -> Span:
        """Where a location of one of the modules stands; a single place takes in what stands there."""
        base = self._line_start(location.source.first_line)
        begin = min(base + location.offset, len(self.text))
        chunk, inner = self.chunk_at(begin)
        token, place = chunk.index.token_at(inner), chunk.index.place_at(inner)
        of_results = token is not None and token.type == "RESULTS" and token.start == inner
        if location.end > location.offset and not of_results:
            return begin, min(base + location.end, len(self.text))
        found = place if place is not None and place.start == inner else token
        end = chunk.base + found.end if found is not None else 0
        return begin, end if end > begin else min(begin + 1, len(self.text))
