"""Text to model: `parse_module`. The stages of the way stand in `mcir/syntax/`."""

from __future__ import annotations

from mcir.diagnostics import MCIRError
from mcir.location import Source
from mcir.module import MCModule
from mcir.syntax.actions import Actions


__all__ = ["parse_module"]


def parse_module(text: str, filename: str = "<string>", first_line: int = 1) -> MCModule:
    """The module that `text` spells. Raises MCIRError with one diagnostic per fault.

    `first_line` is the line number of the first line, for a piece of a larger file.
    """
    return parse_with_lark(Source(filename, text, first_line))


def parse_with_lark(source: Source) -> MCModule:
    """`parse_module` by Lark alone. Raises MCIRError."""
    from lark.exceptions import UnexpectedInput

    from mcir.syntax.errors import syntax_diagnostic
    from mcir.syntax.grammar import lark_parser

    lark, actions = lark_parser()
    actions.begin(source)
    try:
        items = lark.parse(source.text)
    except UnexpectedInput as error:
        actions.diagnostics.append(syntax_diagnostic(error, source))
        items = []
    return finish(actions, items)


def finish(actions: Actions, items: list[object]) -> MCModule:
    """The module of the parsed items. Raises MCIRError with the faults the actions found."""
    if actions.diagnostics:
        ordered = sorted(actions.diagnostics, key=lambda fault: fault.location.offset if fault.location else 0)
        raise MCIRError(ordered)
    return actions.module(items)
