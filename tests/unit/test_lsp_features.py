"""The language server through its real protocol: hints, signatures, fixes, colours, commands."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls.lsp.client", reason="the language server needs pygls (extra `lsp`)")
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from mcir.lsp.hints import brief_bytes
from mcir.parser import parse_module
from mcir.tools.fmt import format_text
from tests.unit.lsp_editor import TEXT, URI, Editor, Session, session

__all__ = ["session"]  # pytest finds the fixture here

DOCUMENT = lsp.TextDocumentIdentifier(URI)
GRAPH = TEXT[TEXT.index("graph") : TEXT.index("execution")]


# -- hints, signatures, completion -------------------------------------------------------------


def test_inlay_hints_show_bytes_and_verdicts(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        sizes = GRAPH.replace("x8x", "x(d)x").replace("<8x", "<(d)x")
        await editor.open(sizes)

        async def hints(span: lsp.Range) -> list[tuple[int, str]]:
            found = await editor.client.text_document_inlay_hint_async(lsp.InlayHintParams(DOCUMENT, span))
            return [(hint.position.line, hint.label) for hint in found]

        found = await hints(editor.whole())
        assert found[:4] == [(1, "8*d bytes"), (2, "32 bytes"), (3, "32 bytes"), (4, "8*d bytes")]
        assert [(line, label.split(":")[0]) for line, label in found[4:]] == [(3, "attention formed")]
        assert (await hints(lsp.Range(lsp.Position(2, 0), lsp.Position(2, 5))))[:1] == [(2, "32 bytes")]
        await editor.type(GRAPH.replace("  return %O", "  %R = neg %P : tensor<4x4xfp16>\n  return %O, %R"))
        (line, label), *_ = [hint for hint in await hints(editor.whole()) if hint[1].startswith("not fused: ")]
        assert line == 5 and len(label) <= 70  # at the second use, which is the reason

    session(talk)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2**21, "2 MiB"),
     (3 * 2**30, "3 GiB"), (2**70, "1048576 PiB")],
)  # fmt: skip
def test_bytes_in_brief(count: int, text: str) -> None:
    assert brief_bytes(count) == text


def test_signature_help_follows_the_cursor(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        async def at(line: str) -> tuple[str, str] | None:
            text = f"graph @g(%x: tensor<4x8xfp16>, %y: tensor<4x8xfp16>) {{\n  %z = {line}\n  return %z\n}}\n"
            await editor.open(text.replace("|", ""))
            where = lsp.Position(1, 7 + line.index("|"))
            found = await editor.client.text_document_signature_help_async(lsp.SignatureHelpParams(DOCUMENT, where))
            if found is None:
                return None
            (shown,) = found.signatures
            labels = [*(parameter.label for parameter in shown.parameters), ""]
            named = labels[found.active_parameter]
            assert named in shown.label
            return shown.label, named

        assert await at("add |") == ("add lhs, rhs -> out", "lhs")
        assert await at("add %x, |") == ("add lhs, rhs -> out", "rhs")
        assert await at("add %x, %y, |") == ("add lhs, rhs -> out", "")
        assert (await at("matmul %x, %y {transpose_a = true, |}"))[1] == "transpose_b?: bool = false"
        assert await at("softmax %x {|}") == ("softmax x {axis?: int = -1} -> out", "axis?: int = -1")
        assert (await at("softmax %x {axis = |}"))[1] == "axis?: int = -1"
        assert (await at("concat %x, %y, |"))[1].endswith("...")
        assert await at("neg %x : |") is None
        assert await at('"opaque" %x |') is None

    session(talk)


def test_values_whose_type_the_op_takes_come_first(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open("")
        text = (
            "graph @g(%x: tensor<4x8xfp16>, %w: tensor<8x2xfp16>, %n: tensor<3xfp32>) {\n"
            "  %y = neg %x : tensor<4x8xfp16>\n  %z = LINE\n  return %z\n}\n"
        )

        async def order(line: str) -> list[str]:
            labels = await editor.labels(text.replace("LINE", line))
            params = lsp.CompletionParams(DOCUMENT, lsp.Position(2, 7 + line.index("|")))
            found = await editor.client.text_document_completion_async(params)
            assert [item.text_edit.new_text for item in found] == labels
            return [item.label for item in sorted(found, key=lambda item: item.sort_text)]

        assert await order("matmul %x, |") == ["%w", "%y", "%n", "%x"]
        assert await order("add %x, |") == ["%y", "%x", "%n", "%w"]
        assert await order("neg |") == ["%y", "%n", "%w", "%x"]

    session(talk)


def test_hover_tells_the_rule_that_is_broken_and_what_an_attribute_may_be(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        wrong = GRAPH.replace("%P = softmax", '%X = mask %"🙂" {kind = "causal"} : tensor<4x9xfp16>\n  %P = softmax')
        shown = await editor.open(wrong)
        assert [one.code for one in shown] == ["type.result"]

        async def text(mark: str, inside: int = 0) -> str:
            found = await editor.client.text_document_hover_async(lsp.HoverParams(**editor.at(mark, inside)))
            return found.contents.value if found is not None else ""

        rule = "`type.result`: The result types are those that the op's type rule gives."
        assert await text("4x9x") == rule and "%X: tensor<4x9xfp16>" in await text("%X")
        assert rule not in await text("%Kt")
        assert '`"causal"`, `"window"`' in await text("kind =", 1)
        region = TEXT.replace("graph = @attention,", 'graph = @attention, modifiers = [{op = "scale", value = 2.0}],')
        await editor.type(region)
        assert "its constant operand" in await text("value = 2.0", 2)

    session(talk)


# -- fixes -------------------------------------------------------------------------------------


async def titles_and_text(editor: Editor, shown: list[lsp.Diagnostic], kind: str) -> list[tuple[str, str]]:
    context = lsp.CodeActionContext(shown, [lsp.CodeActionKind(kind)])
    actions = await editor.client.text_document_code_action_async(
        lsp.CodeActionParams(DOCUMENT, editor.whole(), context)
    )
    return [(action.title, editor.edited(list(action.edit.changes[URI]))) for action in actions]


@pytest.mark.parametrize(
    ("right", "wrong", "title"),
    [
        ("{axis = -1}", "{axs = -1}", "Write axis"),
        ("@weights %", '@weights %"🙂" {x = "a"} : tensor<1xi8>\n  %P = softmax %', ""),
        (": tensor<8x4xfp16>", ": tensor<4x8xfp16>", "Write tensor<8x4xfp16>"),
        ("%Q, %Kt :", "%Q, %KT :", "Write %Kt"),
        ("xfp16>, %K:", "xf16>, %K:", "Write fp16"),
    ],
)
def test_a_fix_mends_the_text(session: Session, right: str, wrong: str, title: str) -> None:
    async def talk(editor: Editor) -> None:
        assert right in GRAPH
        shown = await editor.open(GRAPH.replace(right, wrong, 1))
        found = await titles_and_text(editor, shown, "quickfix")
        if title:
            assert (title, GRAPH) in found

    session(talk)


def test_a_choice_and_a_removal(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        text = GRAPH.replace("%P = softmax", '%X = mask %"🙂" {kind = "windo"} : tensor<4x4xfp16>\n  %P = softmax')
        shown = await editor.open(text)
        found = await titles_and_text(editor, shown, "quickfix")
        assert found[0] == ('Write "window"', text.replace('"windo"', '"window"'))
        assert {title for title, _ in found} >= {'Write "causal"', 'Write "window"'}
        dead = await editor.type(text.replace('"windo"', '"causal"'))
        (unneeded,) = [one for one in dead if one.tags]
        assert list(unneeded.tags) == [lsp.DiagnosticTag.Unnecessary]
        assert (unneeded.severity, unneeded.message) == (lsp.DiagnosticSeverity.Hint, "leads to no output of the graph")
        assert await titles_and_text(editor, [unneeded], "quickfix") == [("Remove this node", GRAPH)]

    session(talk)


def test_everything_is_fixed_at_once(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        wrong = GRAPH.replace("matmul %P", "matmull %P").replace("xfp16>, %K:", "xf16>, %K:")
        shown = await editor.open(wrong)
        assert await titles_and_text(editor, shown, "source.fixAll") == [("Fix all that has a known fix (2)", GRAPH)]
        assert not await titles_and_text(editor, shown, "refactor")
        await editor.type(GRAPH)
        assert not await titles_and_text(editor, [], "source.fixAll")

    session(talk)


# -- parts of a text ---------------------------------------------------------------------------


def test_a_part_is_formatted(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        ugly = GRAPH.replace("%P = softmax", "%P   =   softmax").replace("%O = matmul", "%O   =   matmul")
        await editor.open(ugly)
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        place = editor.place("%O ")
        params = lsp.DocumentRangeFormattingParams(DOCUMENT, lsp.Range(place, place), options)
        edits = await editor.client.text_document_range_formatting_async(params)
        assert editor.edited(list(edits)) == GRAPH.replace("%P = softmax", "%P   =   softmax")
        whole = await editor.client.text_document_formatting_async(lsp.DocumentFormattingParams(DOCUMENT, options))
        assert editor.edited(list(whole)) == format_text(ugly) and len(whole) == 3

    session(talk)


def test_tokens_of_a_part_and_of_a_change(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open(GRAPH)
        full = await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(DOCUMENT))
        line = lsp.Range(lsp.Position(3, 0), lsp.Position(3, 4))
        part = await editor.client.text_document_semantic_tokens_range_async(
            lsp.SemanticTokensRangeParams(DOCUMENT, line)
        )
        assert list(part.data[:5]) == [3, 2, 2, 2, 1]  # %P on the fourth line, a variable where it is defined
        await editor.type(GRAPH.replace("softmax", "exp"))
        params = lsp.SemanticTokensDeltaParams(DOCUMENT, full.result_id)
        delta = await editor.client.text_document_semantic_tokens_full_delta_async(params)
        data = list(full.data)
        for edit in delta.edits:
            data[edit.start : edit.start + edit.delete_count] = edit.data or []
        now = await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(DOCUMENT))
        assert data == list(now.data) and len(delta.edits) == 1 and len(delta.edits[0].data) < 10
        stale = lsp.SemanticTokensDeltaParams(DOCUMENT, "of another time")
        assert (await editor.client.text_document_semantic_tokens_full_delta_async(stale)).data == now.data

    session(talk)


def test_selection_grows_and_comments_fold(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open("// one\n// two\n" + GRAPH)
        params = lsp.SelectionRangeParams(DOCUMENT, [editor.place("softmax", 2)])
        (found,) = await editor.client.text_document_selection_range_async(params)
        texts = []
        while found is not None:
            span = found.range
            texts.append(editor.slice(span) if span.start.line == span.end.line else span.start.line)
            found = found.parent
        assert texts[0] == "softmax" and texts[1].startswith("%P = softmax") and texts[2:] == [2, 0]
        folds = await editor.client.text_document_folding_range_async(lsp.FoldingRangeParams(DOCUMENT))
        assert [(fold.start_line, fold.end_line, fold.kind) for fold in folds] == [
            (2, 8, "region"), (0, 1, "comment"),
        ]  # fmt: skip
        symbols = await editor.client.workspace_symbol_async(lsp.WorkspaceSymbolParams("atn"))
        assert [(symbol.name, symbol.location.range.start) for symbol in symbols] == [
            ("attention", editor.place("@attention"))
        ]

    session(talk)


# -- commands ----------------------------------------------------------------------------------


def test_lenses_run_commands_that_show_what_becomes_of_a_module(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        two = GRAPH + "// -----\n" + GRAPH.replace("attention", "second")
        await editor.open(two)
        lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(DOCUMENT))
        assert [(lens.range.start.line, lens.command.title) for lens in lenses[:3]] == [
            (0, "Lowered form"), (0, "Memory"), (0, "Picture"),
        ]  # fmt: skip

        async def run(command: str, *arguments: Any) -> dict[str, str]:
            params = lsp.ExecuteCommandParams(command, arguments=list(arguments))
            return dict(await editor.client.workspace_execute_command_async(params))

        lens = lenses[3]
        lowered = await run(lens.command.command, *lens.command.arguments)
        module = parse_module(lowered["text"])
        assert [graph.name for graph in module.graphs] == ["second"]
        assert [region.kind for region in module.walk()] == ["execution", "streaming", "tile"]
        assert lowered["title"] == "model.lowered.mcir"
        assert "op by op" in (await run("mcir.showMemory", URI))["text"]
        assert (await run("mcir.showPicture", URI, 0))["text"].startswith("<!DOCTYPE html>")
        assert "softmax" in (await run("mcir.runPasses", URI, "canonicalize,dead-node-elimination"))["text"]
        for arguments, reason in (
            ((URI, "canonicalise"), "did you mean 'canonicalize'"),
            ((URI,), "takes the arguments"),
            ((5, "cse"), "takes the arguments"),
            (("file:///other.mcir", "cse"), "is not open"),
        ):
            with pytest.raises(JsonRpcException, match=reason):
                await run("mcir.runPasses", *arguments)
        await editor.type(GRAPH.replace("%P = softmax", "%P = exp").replace(" {axis = -1}", ""))
        with pytest.raises(JsonRpcException, match="no attention was found"):
            await run("mcir.showMemory", URI)
        await editor.type(GRAPH.replace("softmax", "sofmax"))
        with pytest.raises(JsonRpcException, match="line 4: unknown op 'sofmax'"):
            await run("mcir.showLowered", URI)

    session(talk)


def test_an_editor_that_can_is_asked_to_show_the_file() -> None:
    async def whole() -> None:
        editor = Editor()
        asked: list[lsp.ShowDocumentParams] = []

        @editor.client.feature(lsp.WINDOW_SHOW_DOCUMENT)
        def show(params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
            asked.append(params)
            return lsp.ShowDocumentResult(True)

        window = lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(True))
        await editor.start(capabilities=lsp.ClientCapabilities(window=window))
        await editor.open(GRAPH)
        for command in ("mcir.showLowered", "mcir.showPicture"):
            await editor.client.workspace_execute_command_async(lsp.ExecuteCommandParams(command, [URI]))
        assert [bool(shown.external) for shown in asked] == [False, True]
        path = Path(asked[0].uri.removeprefix("file://"))
        assert "streaming @" in path.read_text()
        assert await editor.stop() == 0
        assert not path.parent.exists()

    asyncio.run(asyncio.wait_for(whole(), 60))
