"""How messages that are no good are answered, and how texts follow what is typed.

pygls drops a message whose parameters it cannot read: the client waits for ever. Here each request is answered. It
also counts lines as Python does; here texts are kept by the protocol's own count (`positions.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, lsp_method

from mcir.lsp.positions import Positions

_LONGEST_REASON = 300


class McirProtocol(LanguageServerProtocol):
    """Answers every request; the server keeps the texts."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The message that `data` is; None for one whose parameters are no good, which has its answer then."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), int | str):
                refused = JsonRpcException(_reason(error), error.code)
                self._send_response(data["id"], error=refused.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if message is None:
            return
        if not hasattr(message, "jsonrpc"):
            refused = JsonRpcInvalidRequest("a message is an object of JSON-RPC 2.0")
            self._send_response(None, error=refused.to_response_error())  # type: ignore[arg-type]
            return
        super().handle_message(message)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Any:
        """Hands the changes to the server, past the texts of pygls."""
        handler = self.fm.features.get(lsp.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None


def quiet_log() -> None:
    """What a client is told in an answer is not told again, with a traceback, on standard error."""
    for name in ("pygls.protocol.json_rpc", "pygls.protocol", "pygls.server", "pygls.io_", "pygls.feature_manager"):
        logging.getLogger(name).addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    message = record.getMessage()
    no_json = isinstance(error, ValueError) and message.startswith("Unable to handle message")
    told = isinstance(error, JsonRpcException) or no_json or "deserialize" in message
    return not told and record.levelno >= logging.ERROR


def _reason(error: JsonRpcException) -> str:
    cause = error.__cause__
    details = "; ".join(transform_error(cause)) if isinstance(cause, Exception) else ""
    return f"{error.message}: {details}"[:_LONGEST_REASON] if details else error.message


def changed_text(text: str, changes: Sequence[lsp.TextDocumentContentChangeEvent], encoding: str) -> str:
    """`text` after the changes, one after the other; each counts in the text that those before it left.

    The lines are counted anew only where a change reaches behind the one before: editors send those of one edit in
    many places from the back.
    """
    positions = Positions(text, encoding)
    counted = len(text)  # up to here `positions` is right
    for change in changes:
        if not isinstance(change, lsp.TextDocumentContentChangePartial):
            text, positions, counted = change.text, Positions(change.text, encoding), len(change.text)
            continue
        begin, end = (positions.offset(place.line, place.character) for place in (change.range.start, change.range.end))
        if max(begin, end) > counted or (max(begin, end) == counted and counted != len(text)):
            positions, counted = Positions(text, encoding), len(text)
            begin, end = (
                positions.offset(place.line, place.character) for place in (change.range.start, change.range.end)
            )
        begin, end = sorted((begin, end))
        text = text[:begin] + change.text + text[end:]
        counted = begin
    return text
