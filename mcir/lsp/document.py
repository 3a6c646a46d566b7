"""One open text: the modules in it (`// -----` parts them) and what is known of each."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from mcir.location import Location, Source
from mcir.lsp.index import Index, build_index
from mcir.lsp.names import Occurrence
from mcir.lsp.positions import Positions
from mcir.lsp.tolerant import Reading, read_tokens
from mcir.syntax import tables
from mcir.tools.opt_chunk import split_source

Span = tuple[int, int]

# What an editor marks where a location is a single place: the name, string or word there.
_MARKED = re.compile("|".join(tables.TERMINALS[name] for name in ("VALUE", "SYMBOL", "STRING")) + r"|[A-Za-z0-9_.$]+")
_RESULTS = re.compile(tables.TERMINALS["RESULTS"])


@dataclass
class Chunk:
    """One module text of a document; `base` is its offset there."""

    source: Source
    base: int

    @cached_property
    def reading(self) -> Reading:
        """Its tokens and syntax errors; made on first use."""
        return read_tokens(self.source.text)

    @cached_property
    def index(self) -> Index:
        """What stands where; made on first use."""
        return build_index(self.source.text, self.reading)


class Document:
    """A text as the editor has it. Offsets are into `text`; nothing here changes when the editor goes on typing."""

    def __init__(self, name: str, text: str, version: int | None = None, encoding: str = "utf-16") -> None:
        self.name = name
        self.written = text
        self.text = " " + text[1:] if text[:1] == "\ufeff" else text  # a byte order mark is no part of the language
        self.version = version
        self.encoding = encoding
        self.problems: list[Any] = []  # what the last check of this text found, see checks.py
        self.positions = Positions(text, encoding)

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The modules, in order; there is always one."""
        sources = split_source(Source(self.name, self.text))
        return [Chunk(source, self._line_start(source.first_line)) for source in sources]

    @property
    def stem(self) -> str:
        """The name of the file without its ending, fit for another file's name."""
        return re.sub(r"[^\w.-]", "_", unquote(self.name).removesuffix(".mcir"))[:80] or "module"

    @property
    def is_read(self) -> bool:
        """Whether its index is made, so that what is asked of it costs little."""
        return all("index" in vars(chunk) for chunk in self.chunks)

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
        begin, end = (min(base + at, len(self.text)) for at in (location.offset, location.end))
        if end > begin and not _RESULTS.fullmatch(self.text, begin, end):
            return begin, end
        marked = _MARKED.match(self.text, begin)
        return begin, marked.end() if marked else min(begin + 1, len(self.text))
