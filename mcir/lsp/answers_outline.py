"""Requests about a whole text: symbols, colours, folding, hints."""

from __future__ import annotations

from lsprotocol import types as lsp

from mcir.lsp.document import Document
from mcir.lsp.hints import inlay_hints
from mcir.lsp.outline import coloured_tokens, document_symbols, folds
from mcir.lsp.protocol import LEGEND, to_hint, to_offset, to_range, to_semantic_tokens, to_symbol, to_symbol_locations
from mcir.lsp.server import McirServer


def register(server: McirServer) -> None:
    """Enters symbols, semantic tokens, folding and inlay hints."""
    _symbols(server)
    _colours(server)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    async def on_folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        document = await server.settled(params.text_document.uri)
        found = []
        for span, kind in folds(document):
            lines = to_range(document, span)
            found.append(lsp.FoldingRange(lines.start.line, lines.end.line, kind=lsp.FoldingRangeKind(kind)))
        return found

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def on_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        document = await server.settled(params.text_document.uri)
        span = to_offset(document, params.range.start), to_offset(document, params.range.end)
        return [to_hint(document, hint) for hint in inlay_hints(document, span)]


def _symbols(server: McirServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def on_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = await server.settled(params.text_document.uri)
        return [to_symbol(document, symbol) for symbol in document_symbols(document)]

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def on_workspace(params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        """Graphs and regions of the open texts whose names hold the letters that are asked for."""
        return [
            found
            for uri, document in server.documents.items()
            for found in to_symbol_locations(document, uri, document_symbols(document), params.query)
        ]


def _colours(server: McirServer) -> None:
    sent: dict[str, tuple[str, list[int]]] = {}  # by uri: the last answer and its id
    count = 0

    def answer(uri: str, document: Document) -> lsp.SemanticTokens:
        nonlocal count
        count += 1
        data = to_semantic_tokens(document, coloured_tokens(document))
        sent[uri] = str(count), data
        return lsp.SemanticTokens(data, str(count))

    options = lsp.SemanticTokensRegistrationOptions(
        LEGEND, range=True, full=lsp.SemanticTokensFullDelta(delta=True), document_selector=None
    )

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, options)
    async def on_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        uri = params.text_document.uri
        return answer(uri, await server.settled(uri))

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, options)
    async def on_delta(params: lsp.SemanticTokensDeltaParams) -> lsp.SemanticTokens | lsp.SemanticTokensDelta:
        uri = params.text_document.uri
        document = await server.settled(uri)
        known, old = sent.get(uri, ("", []))
        new = answer(uri, document)
        if known != params.previous_result_id:
            return new
        return lsp.SemanticTokensDelta(_changed(old, list(new.data)), new.result_id)

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, options)
    async def on_part(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        document = await server.settled(params.text_document.uri)
        begin, end = to_offset(document, params.range.start), to_offset(document, params.range.end)
        return lsp.SemanticTokens(to_semantic_tokens(document, coloured_tokens(document, (begin, end))))


def _changed(old: list[int], new: list[int]) -> list[lsp.SemanticTokensEdit]:
    """The one edit that makes `new` of `old`; none where nothing changed."""
    most = min(len(old), len(new))
    begin = next((at for at in range(most) if old[at] != new[at]), most)
    back = next((at for at in range(most - begin) if old[-1 - at] != new[-1 - at]), most - begin)
    if len(old) == len(new) == begin:
        return []
    return [lsp.SemanticTokensEdit(begin, len(old) - begin - back, new[begin : len(new) - back])]
