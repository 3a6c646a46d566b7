"""The language server through its real protocol: a process, spoken to by pygls' client."""

from __future__ import annotations

import asyncio
import sys

import pytest

pytest.importorskip("pygls.lsp.client", reason="the language server needs pygls (extra `lsp`)")
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from mcir.tools.fmt import format_text
from tests.unit.lsp_editor import TEXT, URI, Editor, Session, session

__all__ = ["session"]  # pytest finds the fixture here


def test_diagnostics_while_typing(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        assert [shown.severity for shown in await editor.open(TEXT)] == []
        wrong = TEXT.replace("matmul %P", "matmull %P").replace("[1, 0]", "[1, 1]").replace("%Q, %Kt :", "%Q, %KT :")
        shown = await editor.type(wrong)
        assert [editor.slice(one.range) for one in shown] == ["%KT", "matmull"]
        assert all(one.severity == lsp.DiagnosticSeverity.Error and one.source == "mcir" for one in shown)
        assert "did you mean '%Kt'?" in shown[0].message
        (perm,) = await editor.type(TEXT.replace("[1, 0]", "[1, 1]"))
        assert (perm.code, editor.slice(perm.range)) == ("type.result", "%K")
        broken = TEXT.replace("transpose %K", "transpose %K,").replace("%P, %V :", "%P, %V {axis = } :")
        shown = await editor.type(broken)
        assert [one.range.start.line for one in shown] == [2, 5]
        assert all("expected" in one.message for one in shown)

    session(talk)


def test_hints_are_quick_fixes(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        wrong = TEXT.replace("matmul %P", "matmull %P").replace("(%Q: tensor<4x8xfp16>,", "(%Q: tensor<4x8xf16>,")
        shown = await editor.open(wrong)
        document = lsp.TextDocumentIdentifier(URI)
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(12, 0))
        only = [lsp.CodeActionKind.QuickFix]
        params = lsp.CodeActionParams(document, whole, lsp.CodeActionContext(shown, only))
        actions = await editor.client.text_document_code_action_async(params)
        assert [action.title for action in actions] == ["Write fp16", "Write matmul"]
        edits = [edit for action in actions for edit in action.edit.changes[URI]]
        assert editor.edited(edits) == TEXT

    session(talk)


def test_notes_are_related_information(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        (twice,) = await editor.open(TEXT.replace("%O = matmul", "%P = matmul").replace("return %O", "return %P"))
        assert "defined twice" in twice.message
        (note,) = twice.related_information
        assert (note.message, editor.slice(note.location.range)) == ("first defined here", "%P")

    session(talk)


def test_each_module_of_a_file_has_its_faults(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        one = "graph @g(%x: tensor<2xfp16>) {\n  return %y\n}\n"
        shown = await editor.open(one + "// -----\n" + one)
        assert [(found.range.start.line, editor.slice(found.range)) for found in shown] == [(1, "%y"), (5, "%y")]

    session(talk)


def test_remarks_are_hints(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        graph = TEXT[: TEXT.index("execution")].replace("%V {", "%V{")
        (formed,) = await editor.open(graph)
        assert formed.severity == lsp.DiagnosticSeverity.Hint
        apart = graph.replace(
            "%O = matmul %P, %V : tensor<4x8xfp16>",
            "%R = neg %P : tensor<4x4xfp16>\n  %O = add %R, %P : tensor<4x4xfp16>",
        )
        (declined,) = await editor.type(apart)
        assert declined.severity == lsp.DiagnosticSeverity.Information
        assert declined.message.startswith("not fused: ")

    session(talk)


def test_hover(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open(TEXT)

        async def text(mark: str, inside: int = 0) -> str:
            found = await editor.client.text_document_hover_async(lsp.HoverParams(**editor.at(mark, inside)))
            return found.contents.value if found is not None else ""

        value = await text('%"🙂" {axis')
        assert '%"🙂": tensor<4x4xfp16>' in value
        assert "32 bytes in global memory, 2 an element" in value
        assert "result of `matmul`" in value
        op = await text("softmax")
        assert "softmax (x) -> (out)" in op and "axis?: int = -1" in op and "exp(x - max)" in op
        assert "graph @attention(%Q: tensor<4x8xfp16>, %K" in await text("@attention, nodes", 3)
        assert "16 bits" in await text("fp16")
        assert await text("// é") == ""
        await editor.type(TEXT.replace("%Q: tensor<4x8xfp16>", "%Q: tensor<(seq)x8xfp16>"))
        assert "16*seq bytes" in await text("%Q")

    session(talk)


def test_definition_and_references(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open(TEXT)

        async def defined(mark: str, inside: int = 0) -> lsp.Location | None:
            return await editor.client.text_document_definition_async(lsp.DefinitionParams(**editor.at(mark, inside)))

        found = await defined('%"🙂" {axis', 2)
        assert (found.range.start, editor.slice(found.range)) == (editor.place('%"🙂" ='), '%"🙂"')
        assert (await defined("@attention, nodes")).range.start == editor.place("@attention")
        assert (await defined('"weights"]')).range.start == editor.place("@weights")
        assert (await defined('"Kt"', 1)).range.start == editor.place("%Kt")
        # a region's input is the value of that name in its graph
        assert (await defined("%Q: tensor<4x8xfp16>) ->")).range.start == editor.place("%Q")
        assert await defined("softmax") is None
        context = lsp.ReferenceContext(include_declaration=False)
        params = lsp.ReferenceParams(context, **editor.at("%Kt"))
        places = await editor.client.text_document_references_async(params)
        assert [editor.slice(place.range) for place in places] == ["%Kt", '"Kt"']

    session(talk)


def test_rename(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open(TEXT)

        async def renamed(mark: str, new: str) -> str:
            params = lsp.RenameParams(new_name=new, **editor.at(mark, 1))
            edit = await editor.client.text_document_rename_async(params)
            return editor.edited(list(edit.changes[URI]))

        assert await renamed('%"🙂" =', "scores") == TEXT.replace('%"🙂"', "%scores").replace('"🙂"', '"scores"')
        assert await renamed("%Kt", "K t") == TEXT.replace("%Kt", '%"K t"').replace('"Kt"', '"K t"')
        assert await renamed("@attention", "@a") == TEXT.replace("@attention", "@a")
        assert await renamed("@weights", "w") == TEXT.replace("@weights", "@w").replace('"weights"', '"w"')
        assert await renamed("%Q", "%q") == TEXT.replace("%Q", "%q")
        for mark, new in (("%Kt", "P"), ("%Kt", "weights"), ("@attention", "fused"), ("%Kt", ""), ("%Q", "V")):
            with pytest.raises(JsonRpcException, match=r"taken|not empty"):
                await renamed(mark, new)
        ready = await editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**editor.at("%Kt", 1)))
        assert (ready.placeholder, editor.slice(ready.range)) == ("Kt", "Kt")

    session(talk)


def test_outline_and_folding(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open(TEXT)
        document = lsp.TextDocumentIdentifier(URI)
        graph, region = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
        assert [child.name for child in graph.children] == ["Kt", "🙂", "weights", "O"]
        assert [child.detail for child in graph.children][2] == "softmax, tensor<4x4xfp16>"
        assert (graph.range.start.line, graph.range.end.line, region.name) == (1, 7, "fused")
        folds = await editor.client.text_document_folding_range_async(lsp.FoldingRangeParams(document))
        assert [(fold.start_line, fold.end_line) for fold in folds] == [(1, 7), (9, 11)]

    session(talk)


def test_formatting_is_that_of_mcir_fmt(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        ugly = TEXT.replace("  %P = softmax", "%P   =   softmax").replace("return %O\n", "return   %O // out\n")
        await editor.open(ugly)
        options = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
        params = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(URI), options)
        edits = await editor.client.text_document_formatting_async(params)
        assert editor.edited(list(edits)) == format_text(ugly)
        await editor.type(format_text(ugly))
        assert not await editor.client.text_document_formatting_async(params)
        await editor.type(TEXT.replace("return", "retrun %"))
        assert not await editor.client.text_document_formatting_async(params)

    session(talk)


def test_completion(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open("")
        node = "graph @g(%x: tensor<4x8xfp16>, %y: tensor<4x8xfp16>) {{\n  %z = {}\n  %w = neg %x\n  return %z\n}}\n"

        async def offered(line: str) -> list[str]:
            return await editor.labels(node.format(line))

        ops = await offered("ma|")
        assert {"matmul", "softmax", "mask"} <= set(ops) and not {"load_tile", "return"} & set(ops)
        assert await offered("add %x, |") == ["%y", "%x"]
        assert await offered("softmax %x {|}") == ["axis = "]
        assert await offered("gelu %x {approximate = |}") == ['"none"', '"tanh"']
        assert await offered("reduce_max %x {axes = [0], keepdims = |}") == ["true", "false"]
        assert await offered("transpose %x {perm = [1, 0]} : |") == ["tensor<8x4xfp16>", "tensor<"]
        assert "bf16" in await offered("neg %x : tensor<4x(n)xb|")
        assert await offered("neg %x : tensor<4xfp16, |>") == ["global", "shared", "register"]
        assert await editor.labels("|") == ["graph", "execution"]
        assert "--streaming-lowering" in await editor.labels("// RUN: mcir-opt %s --str|")
        assert await editor.labels("// of graphs --str|") == []
        region = TEXT.replace("{\n}\n", "{\n  streaming @s {\n    tile @t {\n      |\n    }\n  }\n}\n")
        tile = await editor.labels(region)
        assert {"load_tile", "add"} <= set(tile) and not {"matmul", "return"} & set(tile)
        assert await editor.labels(region.replace("|", "%q = load_tile {source = |}")) == ['"Q"']
        assert await editor.labels(region.replace("|", "store_tile %q {target = |}")) == ['"O"']
        assert await editor.labels(TEXT.replace("graph = @attention", "graph = |")) == ["@attention"]

    session(talk)


def test_semantic_tokens(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        legend = editor.capabilities.semantic_tokens_provider.legend.token_types
        await editor.open(TEXT)
        params = lsp.SemanticTokensParams(lsp.TextDocumentIdentifier(URI))
        data = (await editor.client.text_document_semantic_tokens_full_async(params)).data
        found, line, column = [], 0, 0
        for at in range(0, len(data), 5):
            step, shift, length, kind, _ = data[at : at + 5]
            line, column = line + step, shift if step else column + shift
            span = lsp.Range(lsp.Position(line, column), lsp.Position(line, column + length))
            found.append((editor.slice(span), legend[kind]))
        assert found[:3] == [(TEXT.split("\n")[0], "comment"), ("graph", "keyword"), ("@attention", "class")]
        scores = found.index(('%"🙂"', "variable"))
        assert found[scores + 1] == ("matmul", "function")
        assert ("perm", "property") in found and ("fp16", "type") in found and ("%Q", "parameter") in found

    session(talk)


def test_agreed_encoding_is_used() -> None:
    async def whole() -> None:
        editor = Editor()
        capabilities = await editor.start([lsp.PositionEncodingKind.Utf8])
        assert capabilities.position_encoding == lsp.PositionEncodingKind.Utf8
        (shown,) = await editor.open('graph @"é"(%x: tensor<2xfp16>) { return %y }')
        assert shown.range.start.character == 41  # é is two bytes
        assert await editor.stop() == 0

    asyncio.run(asyncio.wait_for(whole(), 30))


def test_without_pygls_the_tool_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from mcir.tools import lsp as tool
    from tests.unit.tool_harness import run

    monkeypatch.setitem(sys.modules, "mcir.lsp.server", None)
    ran = run(tool.main)
    assert (ran.code, ran.out) == (1, "")
    assert "mcir[lsp]" in ran.err
