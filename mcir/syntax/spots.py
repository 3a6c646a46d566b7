"""Where the parts of a node or head stand in the text: the model keeps only where it begins.

The text is read again when a diagnostic is made, so that good input pays nothing. What was built or changed by a pass
may not be as the text says: then a part is simply not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mcir.location import Location
from mcir.syntax import tables
from mcir.text import quote, unquote

# ("op", ""), ("key", name) and ("value", name) of an attribute, ("operand", number), ("type", number of the result)
Spot = tuple[str, str | int]
_Span = tuple[int, int]

_TOKEN = re.compile(
    rf"//[^\r\n]*|(?P<results>{tables.TERMINALS['RESULTS']})|(?P<name>[%@]?{tables.TERMINALS['STRING']}|[%@][\w.$]+)"
    r"|(?P<type>tensor<[^>\r\n]*>)|(?P<word>->|-?[\w.$]+)|(?P<sign>[^\s])"
)
_OPENING, _CLOSING = "{[(", "}])"
_HEADS = ("graph", "execution", "streaming", "tile")


def find_spot(location: Location, op: str, spot: Spot) -> Location | None:
    """The place of a part of the node (of this op) or head (op "") that begins at `location`.

    None where the text says something else than the model, or does not have the part.
    """
    reader = _Reader(location)
    reader.read()
    written = reader.spots.get(("op", ""), (0, 0))
    if location.source.text[slice(*written)] not in ((op, quote(op)) if op else ("",)):
        return None
    span = reader.spots.get(spot)
    return Location(location.source, *span) if span is not None else None


@dataclass
class _Reader:
    location: Location
    spots: dict[Spot, _Span] = field(default_factory=dict)

    def read(self) -> None:
        """Enters the parts up to the end of the node or head, or to what does not fit."""
        text = self.location.source.text
        matches = _TOKEN.finditer(text, self.location.offset)
        self.tokens: Iterator[re.Match[str]] = (match for match in matches if match.lastgroup is not None)
        self.next()
        if self.text in _HEADS:
            self.head()
        else:
            self.node()

    def next(self) -> None:
        token = next(self.tokens, None)
        self.kind, self.text = (str(token.lastgroup), token.group()) if token is not None else ("", "")
        self.span = token.span() if token is not None else (0, 0)

    def head(self) -> None:
        while self.kind and self.text not in ("attributes", "{"):
            self.next()
        if self.text == "attributes":
            self.next()
            self.attributes()

    def node(self) -> None:
        if self.kind == "results":
            self.next()
        self.spots["op", ""] = self.span
        self.next()
        if self.text.startswith("@"):
            self.next()
        self.listed("operand", "name")
        self.attributes()
        if self.text == ":":
            self.next()
            self.listed("type", "type")

    def listed(self, what: str, kind: str) -> None:
        """The items of a list with commas."""
        number = 0
        while self.kind == kind and self.text[0] in "%t":
            self.spots[what, number] = self.span
            number += 1
            self.next()
            if self.text != ",":
                return
            self.next()

    def attributes(self) -> None:
        """The keys and values of the outermost dictionary."""
        if self.text != "{":
            return
        self.next()
        while self.kind and self.text != "}":
            key = self.text
            with_key = self.span
            self.next()
            if self.text != "=":
                return
            self.next()
            begin, end = self.span[0], self.value()
            try:
                name = unquote(key) if key[0] == '"' else key
            except ValueError:
                return
            self.spots["key", name] = with_key
            self.spots["value", name] = begin, end
            if self.text == ",":
                self.next()
        self.next()

    def value(self) -> int:
        """Passes over one value; where it ends."""
        depth, end = 0, self.span[1]
        while self.kind and (depth or self.text not in (",", "}")):
            depth += (self.text in _OPENING) - (self.text in _CLOSING)
            end = self.span[1]
            self.next()
        return end
