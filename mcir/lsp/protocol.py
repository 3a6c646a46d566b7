"""From this room's plain answers to the protocol's types."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from mcir.lsp.checks import Problem
from mcir.lsp.completion import Candidate
from mcir.lsp.document import Document, Span
from mcir.lsp.outline import MODIFIERS, TOKEN_CLASSES, Coloured, Symbol

LEGEND = lsp.SemanticTokensLegend(token_types=list(TOKEN_CLASSES), token_modifiers=list(MODIFIERS))
_SYMBOL_KINDS = {
    "graph": lsp.SymbolKind.Module,
    "execution": lsp.SymbolKind.Class,
    "streaming": lsp.SymbolKind.Namespace,
    "tile": lsp.SymbolKind.Namespace,
    "node": lsp.SymbolKind.Function,
}


def to_position(document: Document, offset: int) -> lsp.Position:
    line, character = document.positions.position(offset)
    return lsp.Position(line, character)


def to_range(document: Document, span: Span) -> lsp.Range:
    return lsp.Range(to_position(document, span[0]), to_position(document, span[1]))


def to_offset(document: Document, position: lsp.Position) -> int:
    return document.positions.offset(position.line, position.character)


def to_location(document: Document, uri: str, span: Span) -> lsp.Location:
    return lsp.Location(uri, to_range(document, span))


def to_diagnostic(document: Document, uri: str, problem: Problem) -> lsp.Diagnostic:
    related = [
        lsp.DiagnosticRelatedInformation(to_location(document, uri, span), message) for span, message in problem.related
    ]
    return lsp.Diagnostic(
        range=to_range(document, problem.span),
        message=problem.message,
        severity=lsp.DiagnosticSeverity(problem.severity),
        code=problem.rule or None,
        source="mcir",
        related_information=related or None,
    )


def to_completion(document: Document, candidate: Candidate) -> lsp.CompletionItem:
    text = candidate.insert or candidate.label
    return lsp.CompletionItem(
        label=candidate.label,
        kind=lsp.CompletionItemKind[candidate.kind],
        detail=candidate.detail or None,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, candidate.doc) if candidate.doc else None,
        filter_text=candidate.label,
        text_edit=lsp.TextEdit(to_range(document, candidate.span), text),
    )


def to_symbol(document: Document, symbol: Symbol) -> lsp.DocumentSymbol:
    """The symbol and all in it; regions nest as deep as the text, so nothing recurses."""
    made: dict[int, lsp.DocumentSymbol] = {}
    stack = [symbol]
    order = []
    while stack:
        order.append(stack.pop())
        stack += order[-1].children
    for one in reversed(order):
        made[id(one)] = lsp.DocumentSymbol(
            name=one.name,
            detail=one.detail,
            kind=_SYMBOL_KINDS[one.kind],
            range=to_range(document, one.span),
            selection_range=to_range(document, one.name_span),
            children=[made[id(child)] for child in one.children],
        )
    return made[id(symbol)]


def to_semantic_tokens(document: Document, tokens: Iterable[Coloured]) -> lsp.SemanticTokens:
    """Five numbers a token, each place relative to the token before, as the protocol has it."""
    numbers = {name: at for at, name in enumerate(TOKEN_CLASSES)}
    data: list[int] = []
    last_line = last_column = 0
    for token in tokens:
        line, column = document.positions.position(token.start)
        length = document.positions.position(token.end)[1] - column
        step = column - last_column if line == last_line else column
        data += [line - last_line, step, length, numbers[token.kind], int(token.declares)]
        last_line, last_column = line, column
    return lsp.SemanticTokens(data=data)
