"""The protocol: pygls answers requests with what the other files of this room find."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

import mcir
from mcir.lsp.checks import check_document
from mcir.lsp.completion import complete
from mcir.lsp.document import Document
from mcir.lsp.fixes import fix
from mcir.lsp.formatting import formatting
from mcir.lsp.hover import hover
from mcir.lsp.outline import coloured_tokens, document_symbols, folds
from mcir.lsp.protocol import (
    LEGEND,
    to_completion,
    to_diagnostic,
    to_location,
    to_offset,
    to_range,
    to_semantic_tokens,
    to_symbol,
)
from mcir.lsp.rename import RenameRefused, rename, rename_target

_LEAST_DELAY, _LONGEST_DELAY = 0.1, 2.0  # seconds of quiet before a text that is typed is checked
_TRIGGERS = ["%", "@", '"', "<", "-"]


class _Placed(Protocol):
    """A request that asks about a place in a text."""

    text_document: lsp.TextDocumentIdentifier
    position: lsp.Position


class McirServer(LanguageServer):
    """Keeps the documents as they were understood last, and checks them once typing pauses."""

    def __init__(self) -> None:
        # whole texts: pygls counts lines as Python does, which for some characters is not as the protocol does
        super().__init__("mcir-lsp", mcir.__version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._documents: dict[str, Document] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._delay = _LEAST_DELAY

    def document(self, uri: str) -> Document:
        """The text at `uri` as the editor has it now."""
        open_text = self.workspace.get_text_document(uri)
        known = self._documents.get(uri)
        if known is None or known.version != open_text.version:
            encoding = self.server_capabilities.position_encoding or lsp.PositionEncodingKind.Utf16
            name = open_text.filename or uri
            known = Document(name, open_text.source, open_text.version, lsp.PositionEncodingKind(encoding).value)
            self._documents[uri] = known
        return known

    def at(self, params: _Placed) -> tuple[Document, int]:
        """The document of a request and the offset that it asks about."""
        document = self.document(params.text_document.uri)
        return document, to_offset(document, params.position)

    def check_soon(self, uri: str) -> None:
        """Checks a text when nothing has been typed for a moment: the longer a check takes, the longer."""
        self.forget_check(uri)
        self._waiting[uri] = asyncio.get_running_loop().call_later(self._delay, self.check, uri)

    def check(self, uri: str) -> None:
        """Checks a text now and tells the editor."""
        self.forget_check(uri)
        begin = time.perf_counter()
        document = self.document(uri)
        found = [to_diagnostic(document, uri, problem) for problem in check_document(document)]
        self._delay = min(_LONGEST_DELAY, max(_LEAST_DELAY, 2 * (time.perf_counter() - begin)))
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, document.version))

    def forget_check(self, uri: str) -> None:
        if (waiting := self._waiting.pop(uri, None)) is not None:
            waiting.cancel()

    def close(self, uri: str) -> None:
        """Forgets a text; what was shown of it goes."""
        self.forget_check(uri)
        self._documents.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def make_server() -> McirServer:
    """A server with every feature, ready for `start_io`."""
    server = McirServer()
    for register in (_synchronise, _navigate, _write, _overview):
        register(server)
    return server


def _synchronise(server: McirServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        server.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        server.check_soon(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _navigate(server: McirServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def on_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document, offset = server.at(params)
        found = hover(document, offset)
        if found is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text), to_range(document, found.span))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        document, offset = server.at(params)
        found = document.place_at(offset)
        target = found[1].name.definition if found is not None else None
        if found is None or target is None:
            return None
        base = found[0].base
        return to_location(document, params.text_document.uri, (base + target.start, base + target.end))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document, offset = server.at(params)
        found = document.place_at(offset)
        if found is None:
            return []
        chunk, place = found
        asked = [at for at in place.name.places if params.context.include_declaration or not at.defines]
        spans = sorted((chunk.base + at.start, chunk.base + at.end) for at in asked)
        return [to_location(document, params.text_document.uri, span) for span in spans]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def on_highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document, offset = server.at(params)
        found = document.place_at(offset)
        base = found[0].base if found is not None else 0
        kinds = {True: lsp.DocumentHighlightKind.Write, False: lsp.DocumentHighlightKind.Read}
        places = found[1].name.places if found is not None else []
        return [
            lsp.DocumentHighlight(to_range(document, (base + at.start, base + at.end)), kinds[at.defines])
            for at in places
        ]


def _write(server: McirServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        document, offset = server.at(params)
        target = rename_target(document, offset)
        if target is None:
            return None
        return lsp.PrepareRenamePlaceholder(range=to_range(document, target[0]), placeholder=target[1])

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def on_rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        document, offset = server.at(params)
        try:
            edits = rename(document, offset, params.new_name)
        except RenameRefused as refused:
            raise JsonRpcInvalidParams(str(refused)) from None
        changes = [lsp.TextEdit(to_range(document, span), text) for span, text in edits]
        return lsp.WorkspaceEdit(changes={params.text_document.uri: changes})

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        document = server.document(params.text_document.uri)
        return [lsp.TextEdit(to_range(document, span), text) for span, text in formatting(document)]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def on_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        document = server.document(uri)
        actions = []
        for shown in params.context.diagnostics:
            span = to_offset(document, shown.range.start), to_offset(document, shown.range.end)
            found = fix(document, span, shown.message)
            if found is not None:
                edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(shown.range, found[1])]})
                title = f"Write {found[1]}"
                actions.append(lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, [shown], edit=edit))
        return actions

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=_TRIGGERS))
    def on_completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document, offset = server.at(params)
        return [to_completion(document, candidate) for candidate in complete(document, offset)]


def _overview(server: McirServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = server.document(params.text_document.uri)
        return [to_symbol(document, symbol) for symbol in document_symbols(document)]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def on_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        document = server.document(params.text_document.uri)
        return to_semantic_tokens(document, coloured_tokens(document))

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def on_folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        document = server.document(params.text_document.uri)
        ranges = [to_range(document, span) for span in folds(document)]
        return [lsp.FoldingRange(start_line=found.start.line, end_line=found.end.line) for found in ranges]
