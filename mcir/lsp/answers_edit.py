"""Requests that change the text or show another one: rename, formatting, quick fixes, commands."""

from __future__ import annotations

import asyncio
import os
from typing import Any
from urllib.request import pathname2url

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from mcir.lsp.commands import COMMANDS, CommandFailed, Shown, lenses, show
from mcir.lsp.document import Document, Span
from mcir.lsp.fixes import fixes
from mcir.lsp.formatting import formatting
from mcir.lsp.protocol import to_lens, to_offset, to_range
from mcir.lsp.rename import RenameRefused, rename, rename_target
from mcir.lsp.server import McirServer


def register(server: McirServer) -> None:
    """Enters rename, formatting, quick fixes and commands."""
    _rename(server)
    _format(server)
    _act(server)
    _command(server)


def _rename(server: McirServer) -> None:
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


def _format(server: McirServer) -> None:
    def edits(uri: str, span: lsp.Range | None = None) -> list[lsp.TextEdit]:
        document = server.document(uri)
        part = (to_offset(document, span.start), to_offset(document, span.end)) if span is not None else None
        return [lsp.TextEdit(to_range(document, where), text) for where, text in formatting(document, part)]

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return edits(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    def on_range_formatting(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
        return edits(params.text_document.uri, params.range)


def _act(server: McirServer) -> None:
    kinds = [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds))
    def on_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        document = server.document(uri)
        begin, end = to_offset(document, params.range.start), to_offset(document, params.range.end)
        wanted = params.context.only or kinds
        actions = []
        if any(_covers(kind, lsp.CodeActionKind.QuickFix) for kind in wanted):
            for shown in params.context.diagnostics:
                span = to_offset(document, shown.range.start), to_offset(document, shown.range.end)
                for fix in fixes(document, span, shown.message):
                    edit = _edit(document, uri, [(fix.span, fix.text)])
                    actions.append(lsp.CodeAction(fix.title, lsp.CodeActionKind.QuickFix, [shown], edit=edit))
        if any(_covers(kind, lsp.CodeActionKind.SourceFixAll) for kind in wanted):
            every = _all_fixes(document, (begin, end))
            if every:
                title = f"Fix all that has a known fix ({len(every)})"
                edit = _edit(document, uri, every)
                actions.append(lsp.CodeAction(title, lsp.CodeActionKind.SourceFixAll, edit=edit))
        return actions


def _covers(asked: str, kind: str) -> bool:
    """Whether a kind of action, or the family it names, takes in `kind`."""
    return kind == asked or kind.startswith(f"{asked}.")


def _all_fixes(document: Document, span: Span) -> list[tuple[Span, str]]:
    """The first fix of each problem that has one; of two for one place the first."""
    found: list[tuple[Span, str]] = []
    for problem in document.problems:
        fix = next(iter(fixes(document, problem.span, problem.message)), None)
        if fix is not None and not problem.unneeded and all(_apart(fix.span, other) for other, _ in found):
            found.append((fix.span, fix.text))
    return found


def _apart(left: Span, right: Span) -> bool:
    return left[1] <= right[0] or right[1] <= left[0]


def _edit(document: Document, uri: str, edits: list[tuple[Span, str]]) -> lsp.WorkspaceEdit:
    return lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(to_range(document, span), text) for span, text in edits]})


def _command(server: McirServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def on_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        document = await server.settled(uri)
        return [to_lens(document, uri, lens) for lens in lenses(document)]

    async def run(command: str, given: tuple[Any, ...]) -> dict[str, str]:
        passes = command == "mcir.runPasses"
        kinds: tuple[type, ...] = (str, str, int) if passes else (str, int)
        if not _fits(given, kinds):
            wanted = "[uri, pipeline, line?]" if passes else "[uri, line?]"
            raise JsonRpcInvalidParams(f"{command} takes the arguments {wanted}")
        pipeline = given[1] if passes else ""
        line = given[-1] if len(given) == len(kinds) else 0
        try:
            shown = show(command, server.document(given[0]), line, pipeline)
        except CommandFailed as failed:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, str(failed)))
            raise JsonRpcInvalidParams(str(failed)) from None
        return {"title": shown.title + shown.ending, "text": shown.text, "uri": await _present(server, shown)}

    def enter(command: str) -> None:
        @server.command(command)
        async def on_command(*given: Any) -> dict[str, str]:
            return await run(command, given)

    for command in COMMANDS:
        enter(command)


def _fits(given: tuple[Any, ...], kinds: tuple[type, ...]) -> bool:
    """Whether the arguments are of these kinds; the last may be left out."""
    enough = len(kinds) - 1 <= len(given) <= len(kinds)
    return enough and all(type(value) is kind for value, kind in zip(given, kinds, strict=False))


async def _present(server: McirServer, shown: Shown) -> str:
    """Asks an editor that can to show the text as a file; the file's uri, else an empty string."""
    window = server.client_capabilities.window
    if window is None or window.show_document is None or not window.show_document.support:
        return ""
    path = os.path.join(server.folder(), shown.title + shown.ending)
    with open(path, "w", encoding="utf-8") as file:
        file.write(shown.text)
    uri = f"file:{pathname2url(path)}" if os.name == "nt" else f"file://{pathname2url(path)}"
    params = lsp.ShowDocumentParams(uri, external=shown.ending == ".html", take_focus=True)
    await asyncio.wait_for(server.window_show_document_async(params), timeout=10)
    return uri
