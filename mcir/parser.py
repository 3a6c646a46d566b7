"""Text to model: `parse_module`. The stages of the way stand in `mcir/syntax/`."""

from __future__ import annotations

from mcir.collector import paused_collector
from mcir.diagnostics import MCIRError
from mcir.location import Source
from mcir.module import MCModule
from mcir.syntax import fast
from mcir.syntax.actions import MAX_DIAGNOSTICS, Actions

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["parse_module"]


def parse_module(text: str, filename: str = "<string>", first_line: int = 1) -> MCModule:
    """The module that `text` spells. Raises MCIRError with one diagnostic per fault, at most MAX_DIAGNOSTICS.

    `first_line` is the line number of the first line, for a piece of a larger file.
    """
    source = Source(filename, text, first_line)
    if not fast.tables_fit():
        return parse_with_lark(source)
    actions = Actions()
    with paused_collector():  # looking for garbage costs a third of the time
        items = _read(fast.Reader(source, actions), source, actions)
    return _finish(actions, items) if items is not None else parse_with_lark(source)


def parse_with_lark(source: Source) -> MCModule:
    """`parse_module` by Lark alone. Raises MCIRError."""
    from mcir.syntax.lark_reader import read_with_lark

    actions, items = read_with_lark(source)
    return _finish(actions, items)


def _read(reader: fast.Reader, source: Source, actions: Actions) -> list[Any] | None:
    """The items of the text, over all its syntax errors; None where the text is only unusual."""
    recovery: Any = None
    at = 0
    while True:
        try:
            return reader.items(at)
        except fast.NotByTables as misfit:
            from mcir.syntax.errors import syntax_error
            from mcir.syntax.recovery import Recovery, find_error

            broken = find_error(source.text, misfit.offset, misfit.body, misfit.closed, misfit.read_to)
            if broken is None:
                return None
            recovery = recovery or Recovery(source, actions)
            fault = syntax_error(source, broken.begin, broken.offset, broken.token, broken.expected)
            found = recovery.meet(broken, fault, misfit.block_begin)
            if found is None:
                return []
            at = reader.resume(broken, found)


def _finish(actions: Actions, items: list[Any]) -> MCModule:
    """The module of the parsed items. Raises MCIRError with the faults that were found."""
    faults = [fault for fault in actions.diagnostics if id(fault) not in actions.follow_ups] + actions.syntax_errors
    if faults:
        ordered = sorted(faults, key=lambda fault: fault.location.offset if fault.location else 0)
        raise MCIRError(ordered[:MAX_DIAGNOSTICS])
    return actions.module(items)
