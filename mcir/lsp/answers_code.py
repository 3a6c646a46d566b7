"""Requests about what stands at one place: hovers, definitions, references, signatures, completion."""

from __future__ import annotations

from lsprotocol import types as lsp

from mcir.lsp.completion import complete
from mcir.lsp.hover import hover
from mcir.lsp.outline import selections
from mcir.lsp.protocol import to_completion, to_location, to_offset, to_range, to_selection, to_signature
from mcir.lsp.server import McirServer
from mcir.lsp.signature import signature

_TRIGGERS = ["%", "@", '"', "<", "-"]


def register(server: McirServer) -> None:
    """Enters hover, definition, references, highlights, signature, completion and selection."""

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

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=_TRIGGERS))
    def on_completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document, offset = server.at(params)
        return [to_completion(document, found, at) for at, found in enumerate(complete(document, offset))]

    options = lsp.SignatureHelpOptions(trigger_characters=[" ", ","], retrigger_characters=["{", "="])

    @server.feature(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, options)
    def on_signature(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        document, offset = server.at(params)
        found = signature(document, offset)
        return to_signature(found) if found is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_SELECTION_RANGE)
    def on_selection(params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange]:
        document = server.document(params.text_document.uri)
        offsets = (to_offset(document, position) for position in params.positions)
        return [to_selection(document, list(selections(document, offset))) for offset in offsets]
