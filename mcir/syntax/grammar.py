"""The grammar file and the Lark parser that is made from it."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from mcir.diagnostics import MCIRError
from mcir.syntax.actions import Actions

if TYPE_CHECKING:
    from lark import Lark

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PLACES = (("_grammar", "mcir.lark"), (os.pardir, "grammar", "mcir.lark"))


@cache
def grammar_text() -> str:
    """The grammar: from the installed package, or from the checkout beside it. Raises MCIRError."""
    for place in _PLACES:
        path = os.path.join(_PACKAGE, *place)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise MCIRError("the installation is incomplete: mcir.lark is missing")


def grammar_checksum() -> int:
    """What ties the tables in `tables.py` to a grammar."""
    return zlib.crc32(grammar_text().encode())


_local = threading.local()


def lark_parser() -> tuple[Lark, Actions]:
    """The parser with its actions, one per thread: the actions hold the state of a text."""
    if not hasattr(_local, "parser"):
        actions = Actions()
        options = {"transformer": _Inline(actions), "lexer_callbacks": {"COMMENT": actions.on_comment}}
        _local.parser = _make(**options), actions
    return _local.parser  # type: ignore[no-any-return]


@cache
def plain_parser() -> Lark:
    """The parser without actions: it only tells where a text is wrong."""
    return _make()


def _make(**options: Any) -> Lark:
    from lark import Lark

    return Lark(grammar_text(), parser="lalr", lexer="contextual", maybe_placeholders=False, **options)


class _Inline:
    """Lark's view of the actions: a rule's children arrive as arguments of its method."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions

    def __getattr__(self, rule: str) -> Callable[[list[Any]], Any]:
        action = getattr(self._actions, rule)
        return lambda children: action(*children)
