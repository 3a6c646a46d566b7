"""The grammar file and the Lark parser that is made from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from mcir.diagnostics import MCIRError
from mcir.syntax.actions import Actions

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

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


@cache
def _of_threads() -> Any:
    import threading  # few runs need Lark

    return threading.local()


def lark_parser() -> tuple[Lark, Actions]:
    """The parser with its actions, one per thread: the actions hold the state of a text."""
    local = _of_threads()
    if not hasattr(local, "parser"):
        actions = Actions()
        options = {"transformer": _Inline(actions), "lexer_callbacks": {"COMMENT": actions.on_comment}}
        local.parser = _make(**options), actions
    return local.parser  # type: ignore[no-any-return]


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
