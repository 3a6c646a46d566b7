"""From this room's plain answers to the protocol's types."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from mcir.lsp.checks import Problem
from mcir.lsp.commands import Lens
from mcir.lsp.completion import Candidate
from mcir.lsp.document import Document, Span
from mcir.lsp.hints import Hint
from mcir.lsp.outline import MODIFIERS, TOKEN_CLASSES, Coloured, Symbol
from mcir.lsp.signature import Signature

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
        tags=[lsp.DiagnosticTag.Unnecessary] if problem.unneeded else None,
    )


def to_completion(document: Document, candidate: Candidate, place: int) -> lsp.CompletionItem:
    """`place`: its number in the list, which an editor would else sort by the letters."""
    text = candidate.insert or candidate.label
    return lsp.CompletionItem(
        label=candidate.label,
        kind=lsp.CompletionItemKind[candidate.kind],
        detail=candidate.detail or None,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, candidate.doc) if candidate.doc else None,
        filter_text=candidate.label,
        sort_text=f"{int(not candidate.fits)}{place:06}",
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


def to_semantic_tokens(document: Document, tokens: Iterable[Coloured]) -> list[int]:
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
    return data


def to_hint(document: Document, hint: Hint) -> lsp.InlayHint:
    tooltip = lsp.MarkupContent(lsp.MarkupKind.Markdown, hint.tooltip)
    return lsp.InlayHint(to_position(document, hint.offset), hint.label, tooltip=tooltip, padding_left=True)


def to_lens(document: Document, uri: str, lens: Lens) -> lsp.CodeLens:
    command = lsp.Command(lens.title, lens.command, arguments=[uri, lens.line])
    return lsp.CodeLens(to_range(document, (lens.offset, lens.offset)), command)


def to_signature(found: Signature) -> lsp.SignatureHelp:
    parameters = [lsp.ParameterInformation(text, doc or None) for text, doc in found.parameters]
    doc = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.doc)
    # a number behind the last parameter: none is active
    active = len(parameters) if found.active is None else found.active
    return lsp.SignatureHelp([lsp.SignatureInformation(found.label, doc, parameters)], 0, active)


def to_selection(document: Document, spans: list[Span]) -> lsp.SelectionRange:
    """The innermost range, with those around it; what is no larger than the one inside is left out."""
    made: lsp.SelectionRange | None = None
    for span in reversed(spans):
        if made is None or to_range(document, span) != made.range:
            made = lsp.SelectionRange(to_range(document, span), made)
    return made or lsp.SelectionRange(to_range(document, (0, 0)))


def to_symbol_locations(document: Document, uri: str, symbols: list[Symbol], query: str) -> list[lsp.SymbolInformation]:
    """The graphs and regions whose names hold the letters of `query` in this order."""
    found = []
    waiting = list(reversed(symbols))
    while waiting:
        symbol = waiting.pop()
        waiting += reversed([child for child in symbol.children if child.kind != "node"])
        letters = iter(symbol.name.lower())
        if all(letter in letters for letter in query.lower()):
            where = to_location(document, uri, symbol.name_span)
            found.append(lsp.SymbolInformation(where, symbol.name, _SYMBOL_KINDS[symbol.kind]))
    return found
