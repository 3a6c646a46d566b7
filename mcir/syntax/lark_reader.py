"""Reads a text by Lark alone: where the tables of `fast.py` are not those of the grammar, and where a text is unusual.

The tests hold the fast reader against it, so that at a syntax error the states are Lark's own here; what is done then
is said by `recovery.py`.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from typing import Any

from mcir.graph import SemanticGraph
from mcir.location import Source
from mcir.nodes import MCNode
from mcir.regions import Region
from mcir.syntax.actions import Actions
from mcir.syntax.automaton import HEADS, body_of
from mcir.syntax.errors import error_place, syntax_error
from mcir.syntax.fast import GRAPH, REGION, TOP
from mcir.syntax.grammar import lark_parser
from mcir.syntax.recovery import Recovery, Resume, find_error

_TEXTS = {
    "GRAPH": "graph", "REGION_KIND": "tile", "SYMBOL": "@_", "LPAR": "(", "RPAR": ")", "RETURN": "return",
    "RBRACE": "}",
}  # fmt: skip


def read_with_lark(source: Source) -> tuple[Actions, list[Any]]:
    """The actions with the faults they found, and the items of the text."""
    from lark.exceptions import UnexpectedInput

    lark, actions = lark_parser()
    actions.begin(source)
    handler = _Handler(source, actions)
    items: Any = []
    with suppress(UnexpectedInput):  # the handler has entered it, and the reading is over
        items = lark.parse(source.text, on_error=handler.meet)
    return actions, items


class _Handler:
    """Takes Lark over one syntax error after the other."""

    def __init__(self, source: Source, actions: Actions) -> None:
        self.source = source
        self.actions = actions
        self.recovery = Recovery(source, actions)

    def meet(self, error: Any) -> bool:
        """Makes Lark's states fit a place to go on from; False if the reading is over."""
        parser, text = error.interactive_parser, self.source.text
        states, values = parser.parser_state.state_stack, parser.parser_state.value_stack
        offset, token = error_place(error, text)
        bodies = [_body(parser.parser_state.parse_conf.states[state]) for state in states]
        top = max(at for at, body in enumerate(bodies) if body)
        blocks = [body for body, _ in groupby(bodies[: top + 1]) if body]  # one block may have several states in a row
        closed = _closed(values, top)
        if closed is not None and not isinstance(values[-1], Region):  # Lark has still to make an item of it
            blocks.pop()
        begin = offset if closed is not None else self._begin(values[top:], offset)
        broken = find_error(text, begin, blocks[-1], _kind(closed), offset)
        assert broken is not None and broken.offset == offset, (broken, offset)
        fault = syntax_error(self.source, broken.begin, offset, token, broken.expected)
        found = self.recovery.meet(broken, fault, self._block_begin(blocks, values[:top], closed))
        if found is None:
            return False
        if closed is None:
            del states[top + 1 :], values[top:]
        self._prepare(parser, found, blocks, broken.begin)
        parser.lexer_thread.state.line_ctr.char_pos = found.offset
        return True

    def _begin(self, half_read: list[Any], offset: int) -> int:
        """Where the open statement begins; `offset` if none is open."""
        for value in half_read:
            if isinstance(value, list):
                return self.actions.last_return
            if (begin := _offset(value)) is not None:
                return begin
        return offset

    def _block_begin(self, blocks: list[str], values: list[Any], closed: Any) -> int:
        if blocks == [TOP]:
            begin = _offset(closed)
            return self.actions.last_item if begin is None else begin
        heads = [value for value in values if isinstance(value, (SemanticGraph, Region)) and value is not closed]
        return _offset(heads[-1]) or 0

    def _prepare(self, parser: Any, found: Resume, blocks: list[str], begin: int) -> None:
        """Feeds what the text lacks."""
        missing: list[tuple[str, int]] = []
        for block in reversed(blocks[1:]) if found.closes_all else ():
            missing += [("RETURN", found.offset)] if block == GRAPH else []
            missing.append(("RBRACE", found.offset))
        if found.returns:
            missing.append(("RETURN", found.offset))
        missing += [(terminal, begin) for terminal in HEADS.get(found.opens, ())]
        for terminal, offset in missing:
            parser.feed_token(_token(terminal, offset))


def _body(row: dict[str, Any]) -> str:
    return body_of([name for name, (action, _) in row.items() if action.name == "Shift"])


def _closed(values: list[Any], top: int) -> SemanticGraph | Region | None:
    """The graph or region whose closing brace is the last token that was read, if it is."""
    half_read = values[top:]
    kinds = [getattr(value, "type", "") for value in half_read]
    if half_read and isinstance(half_read[-1], Region):
        return half_read[-1]
    if not half_read or kinds[-1] != "RBRACE" or "LBRACE" in kinds:
        return None
    return next(value for value in reversed(values[:top]) if isinstance(value, (SemanticGraph, Region)))


def _kind(closed: SemanticGraph | Region | None) -> str:
    return TOP if closed is None else GRAPH if isinstance(closed, SemanticGraph) else REGION


def _offset(value: Any) -> int | None:
    """Where a token or a piece of the model begins."""
    if isinstance(value, (SemanticGraph, Region, MCNode)):
        return value.loc.offset if value.loc is not None else None
    return getattr(value, "start_pos", None)


def _token(terminal: str, offset: int) -> Any:
    from lark import Token

    return Token(terminal, _TEXTS[terminal], start_pos=offset, end_pos=offset)
