"""The server: the open texts, and when they are checked. The requests are answered in `answers_*.py`."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
import traceback
from typing import Protocol

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcContentModified, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

import mcir
from mcir.lsp.checks import ERROR, Problem, check_document
from mcir.lsp.document import Document
from mcir.lsp.protocol import to_diagnostic, to_offset
from mcir.lsp.wire import McirProtocol, changed_text, quiet_log

_LEAST_DELAY, _LONGEST_DELAY = 0.1, 1.0  # seconds of quiet before a text that is typed is checked
_LONG_TEXT = 200_000  # characters; what is asked of a longer text waits for quiet, too


class _Placed(Protocol):
    """A request that asks about a place in a text."""

    text_document: lsp.TextDocumentIdentifier
    position: lsp.Position


class McirServer(LanguageServer):
    """Keeps the documents as the editor has them, and checks them once typing pauses."""

    def __init__(self) -> None:
        super().__init__(
            "mcir-lsp", mcir.__version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental, protocol_cls=McirProtocol,
        )  # fmt: skip
        self.documents: dict[str, Document] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._delay = _LEAST_DELAY
        self._folder = ""

    # -- texts ---------------------------------------------------------------------------------

    def document(self, uri: str) -> Document:
        """The open text at `uri`. Raises JsonRpcInvalidParams if there is none."""
        known = self.documents.get(uri)
        if known is None:
            raise JsonRpcInvalidParams(f"{uri[:200]} is not open")
        return known

    def at(self, params: _Placed) -> tuple[Document, int]:
        """The document of a request and the offset that it asks about."""
        document = self.document(params.text_document.uri)
        return document, to_offset(document, params.position)

    async def settled(self, uri: str) -> Document:
        """The document, and if it is long, once typing pauses: for requests that read all of it.

        Raises JsonRpcContentModified if the text changes meanwhile. While it waits the request can be cancelled.
        """
        document = self.document(uri)
        if len(document.text) > _LONG_TEXT and not document.is_read:
            await asyncio.sleep(self._delay)
            if self.documents.get(uri) is not document:
                raise JsonRpcContentModified
        return document

    def open(self, uri: str, text: str, version: int | None) -> Document:
        """Keeps a text, in place of an older one."""
        name = uri.rsplit("/", 1)[-1] or uri
        encoding = self.server_capabilities.position_encoding or lsp.PositionEncodingKind.Utf16
        self.documents[uri] = Document(name, text, version, lsp.PositionEncodingKind(encoding).value)
        return self.documents[uri]

    def change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """What was typed enters the text; it is checked when nothing has been typed for a moment."""
        uri = params.text_document.uri
        old = self.documents.get(uri)
        if old is None:
            return
        text = changed_text(old.written, params.content_changes, old.encoding)
        self.open(uri, text, params.text_document.version)
        self.check_soon(uri)

    def close(self, uri: str) -> None:
        """Forgets a text; what was shown of it goes."""
        self.forget_check(uri)
        self.documents.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    # -- checks --------------------------------------------------------------------------------

    def check_soon(self, uri: str) -> None:
        """Checks a text when nothing has been typed for a moment: the longer a check takes, the longer."""
        self.forget_check(uri)
        self._waiting[uri] = asyncio.get_running_loop().call_later(self._delay, self.check, uri)

    def check(self, uri: str) -> None:
        """Checks a text now and tells the editor."""
        self.forget_check(uri)
        document = self.documents.get(uri)
        if document is None:
            return
        begin = time.perf_counter()
        document.problems = self._problems(document)
        self._delay = min(_LONGEST_DELAY, max(_LEAST_DELAY, (time.perf_counter() - begin) / 2))
        shown = [to_diagnostic(document, uri, problem) for problem in document.problems]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, document.version))
        self._refresh_hints()

    def _problems(self, document: Document) -> list[Problem]:
        """The problems; a fault of the checks themselves is one of them, so that the server lives on."""
        try:
            return check_document(document)
        except Exception as error:
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, traceback.format_exc()))
            message = f"mcir-lsp cannot check this text: {type(error).__name__}: {error}; this is a bug in MCIR"
            return [Problem((0, 0), ERROR, message)]

    def _refresh_hints(self) -> None:
        """Hints show remarks of the check, so an editor that can asks for them again."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None, lambda _done: None)

    def forget_check(self, uri: str) -> None:
        """Drops the check of a text that is still to come."""
        if (waiting := self._waiting.pop(uri, None)) is not None:
            waiting.cancel()

    # -- files that are shown ------------------------------------------------------------------

    def folder(self) -> str:
        """A folder for files that an editor is asked to show; it goes with the server."""
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="mcir-lsp-")
        return self._folder

    def end(self) -> None:
        """Nothing is checked any more, since nothing can be told; what was shown is removed."""
        for uri in list(self._waiting):
            self.forget_check(uri)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def make_server() -> McirServer:
    """A server with every feature, ready for `start_io`."""
    from mcir.lsp import answers_code, answers_edit, answers_outline

    quiet_log()
    server = McirServer()
    for register in (_synchronise, answers_code.register, answers_edit.register, answers_outline.register):
        register(server)
    return server


def _synchronise(server: McirServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        opened = params.text_document
        server.open(opened.uri, opened.text, opened.version)
        server.check(opened.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        server.change(params)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(lsp.SHUTDOWN)
    def shutdown(_params: None) -> None:
        server.end()

    @server.feature(lsp.EXIT)
    def leave(_params: None) -> None:
        server.end()
