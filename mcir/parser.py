"""Text to model: `parse_module`. The stages of the way stand in `mcir/syntax/`."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from mcir.diagnostics import MCIRError
from mcir.location import Source
from mcir.module import MCModule
from mcir.syntax import fast
from mcir.syntax.actions import Actions
from mcir.syntax.errors import broken_from, syntax_error
from mcir.syntax.grammar import lark_parser, plain_parser

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput


__all__ = ["parse_module"]


def parse_module(text: str, filename: str = "<string>", first_line: int = 1) -> MCModule:
    """The module that `text` spells. Raises MCIRError with one diagnostic per fault.

    `first_line` is the line number of the first line, for a piece of a larger file.
    """
    source = Source(filename, text, first_line)
    if not fast.tables_fit():
        return parse_with_lark(source)
    actions = Actions()
    collecting = gc.isenabled()
    gc.disable()  # a model under construction is no garbage; looking for some costs a third of the time
    try:
        items = fast.read(source, actions)
    except fast.NotByTables as misfit:
        error = _syntax_error(misfit.rest(text))
        if error is None or broken_from(error, text) > misfit.read_to:
            return parse_with_lark(source)  # what did not fit was only unusual
        _add_syntax_error(actions, error)
        items = []
    finally:
        if collecting:
            gc.enable()
    return _finish(actions, items)


def parse_with_lark(source: Source) -> MCModule:
    """`parse_module` by Lark alone. Raises MCIRError."""
    from lark.exceptions import UnexpectedInput

    lark, actions = lark_parser()
    actions.begin(source)
    items: Any = []
    try:
        items = lark.parse(source.text)
    except UnexpectedInput:
        error = _syntax_error(source.text)
        assert error is not None
        _add_syntax_error(actions, error)
    return _finish(actions, items)


def _syntax_error(text: str) -> UnexpectedInput | None:
    """The first syntax error that Lark finds in `text`, or None."""
    from lark.exceptions import UnexpectedInput

    try:
        plain_parser().parse(text)
    except UnexpectedInput as error:
        return error
    return None


def _add_syntax_error(actions: Actions, error: UnexpectedInput) -> None:
    """Enters a syntax error; the statement that it stands in is half read, and so are all other faults of it."""
    actions.forget_from(broken_from(error, actions.source.text))
    actions.diagnostics.append(syntax_error(error, actions.source))


def _finish(actions: Actions, items: list[object]) -> MCModule:
    """The module of the parsed items. Raises MCIRError with the faults the actions found."""
    if actions.diagnostics:
        ordered = sorted(actions.diagnostics, key=lambda fault: fault.location.offset if fault.location else 0)
        raise MCIRError(ordered)
    return actions.module(items)
