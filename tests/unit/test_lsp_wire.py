"""The language server at the level of messages: changes in part, bad messages, cancelled requests, long texts."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pygls.lsp.client", reason="the language server needs pygls (extra `lsp`)")
from lsprotocol import types as lsp

from mcir.lsp.wire import changed_text
from tests.unit.lsp_editor import TEXT, URI, Editor, Session, session

__all__ = ["session"]  # pytest finds the fixture here

GRAPH = TEXT[TEXT.index("graph") : TEXT.index("execution")]


def test_changes_in_part_count_in_code_units(session: Session) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open(GRAPH)
        at = editor.place('%"🙂" =')
        behind = lsp.Position(at.line, at.character + 5)  # two code units for the picture
        text = GRAPH.replace('%"🙂" =', "%S =").replace("%Q, %Kt :", "%Q, %KT :")
        operand = editor.place("%Kt :")
        end = lsp.Position(operand.line, operand.character + 3)
        changes = [
            lsp.TextDocumentContentChangePartial(lsp.Range(operand, end), "%KT"),
            lsp.TextDocumentContentChangePartial(lsp.Range(at, behind), "%S"),
        ]
        shown = await editor.change(changes, text)
        assert [editor.slice(one.range) for one in shown] == ["%KT", '%"🙂"']

    session(talk)


LINES = st.lists(st.text(st.sampled_from(list("ab🙂é\u2028\r\n")), max_size=6), max_size=4).map("".join)
PLACES = st.tuples(st.integers(-1, 5), st.integers(-1, 9))


@given(LINES, st.lists(st.tuples(PLACES, PLACES, LINES), max_size=4), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_changes_together_are_changes_one_by_one(text: str, edits: list[Any], encoding: str) -> None:
    changes = [
        lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(*start), lsp.Position(*end)), new)
        for start, end, new in edits
    ] if all(min(*start, *end) >= 0 for start, end, _ in edits) else []  # fmt: skip
    one_by_one = text
    for change in changes:
        one_by_one = changed_text(one_by_one, [change], encoding)
    assert changed_text(text, changes, encoding) == one_by_one


class Wire:
    """A server and the bytes to and from it."""

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "mcir.tools.lsp", stdin=-1, stdout=-1, stderr=-1
        )
        self.last = 0

    def send(self, message: Any) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def receive(self) -> dict[str, Any]:
        length = 0
        while (line := await self.process.stdout.readline()) != b"\r\n":
            assert line
            if line.startswith(b"Content-Length"):
                length = int(line.split(b":")[1])
        return json.loads(await self.process.stdout.readexactly(length))

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            answer = await self.receive()
            if answer.get("id") == self.last and "method" not in answer:
                return answer

    def tell(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})


BAD = [
    {}, [], {"textDocument": None}, {"textDocument": {"uri": 5}, "position": {"line": "x", "character": 1}},
    {"textDocument": {"uri": URI}, "position": {"line": -1, "character": -5}},
    {"textDocument": {"uri": "file:///other.mcir"}, "position": {"line": 0, "character": 1}},
]  # fmt: skip
FAR = {"textDocument": {"uri": URI}, "position": {"line": 10**9, "character": 10**9}}
REQUESTS = [
    "hover", "completion", "definition", "references", "rename", "prepareRename", "documentHighlight", "documentSymbol",
    "foldingRange", "formatting", "rangeFormatting", "codeAction", "codeLens", "semanticTokens/full", "inlayHint",
    "semanticTokens/full/delta", "semanticTokens/range", "signatureHelp", "selectionRange",
]  # fmt: skip


def test_every_request_has_an_answer_and_nothing_ends_the_server() -> None:
    async def whole() -> None:
        wire = Wire()
        await wire.start()
        await wire.ask("initialize", {"capabilities": {}})
        wire.tell("initialized", {})

        async def alive() -> bool:
            opened = {"uri": URI, "languageId": "mcir", "version": 1, "text": GRAPH}
            wire.tell("textDocument/didOpen", {"textDocument": opened})
            where = {"textDocument": {"uri": URI}, "position": {"line": 3, "character": 8}}
            return "softmax" in (await wire.ask("textDocument/hover", where))["result"]["contents"]["value"]

        assert await alive()
        for name in REQUESTS:
            for params in BAD:
                answer = await wire.ask(f"textDocument/{name}", params)
                about_text = "position" not in params or params["textDocument"].get("uri") != URI
                assert "error" in answer or not about_text, (name, params, answer)
                assert "traceback" not in json.dumps(answer)
        for name in ("hover", "completion", "definition"):
            assert "result" in await wire.ask(f"textDocument/{name}", FAR)
        for name in ("didChange", "didOpen", "didClose"):
            for params in [*BAD, None]:
                wire.tell(f"textDocument/{name}", params)
        part = {"range": {"start": {"line": 99, "character": 9}, "end": {"line": 0, "character": 0}}, "text": "x"}
        wire.tell("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [part]})
        wire.tell("textDocument/didChange", {"textDocument": {"uri": "f:/x", "version": 2}, "contentChanges": [part]})
        wire.tell("$/cancelRequest", {"id": 12345})
        for message in (b"{bad!", b"[]", b"5", b"{}", b"null", b"\xff\xfe", b'[{"jsonrpc": "2.0", "id": 1}]'):
            wire.send(message)
        wire.process.stdin.write(b"Content-Length: many\r\n\r\nrubbish\r\n\r\n")
        assert (await wire.ask("no/such", {}))["error"]["code"] == -32601
        assert await alive()
        assert (await wire.ask("shutdown", None))["result"] is None
        wire.tell("exit", None)
        assert await asyncio.wait_for(wire.process.wait(), 20) == 0
        assert b"Traceback" not in await wire.process.stderr.read()

    asyncio.run(asyncio.wait_for(whole(), 60))


def test_a_request_on_a_long_text_can_be_cancelled_and_ends_with_the_next_change() -> None:
    async def whole() -> None:
        wire = Wire()
        await wire.start()
        await wire.ask("initialize", {"capabilities": {}})
        nodes = "".join(f"  %v{at} = neg %x : tensor<4x8xfp16>\n" for at in range(8000))
        text = f"graph @g(%x: tensor<4x8xfp16>) {{\n{nodes}  return %v1\n}}\n"
        opened = {"uri": URI, "languageId": "mcir", "version": 1, "text": text}
        wire.tell("textDocument/didOpen", {"textDocument": opened})
        document = {"textDocument": {"uri": URI}}
        wire.send({"jsonrpc": "2.0", "id": "a", "method": "textDocument/semanticTokens/full", "params": document})
        wire.tell("$/cancelRequest", {"id": "a"})
        while (answer := await wire.receive()).get("id") != "a":
            pass
        assert answer["error"]["code"] == -32800  # cancelled
        wire.send({"jsonrpc": "2.0", "id": "b", "method": "textDocument/documentSymbol", "params": document})
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": GRAPH}]}
        wire.tell("textDocument/didChange", change)
        while (answer := await wire.receive()).get("id") != "b":
            pass
        assert answer["error"]["code"] == -32801  # the text was changed
        assert len((await wire.ask("textDocument/documentSymbol", document))["result"]) == 1
        wire.process.stdin.close()
        await asyncio.wait_for(wire.process.wait(), 20)

    asyncio.run(asyncio.wait_for(whole(), 60))


@pytest.mark.parametrize("wrong", ["", "x", "{ ", "%q, %r = "])
def test_a_text_of_50_000_nodes_is_checked_soon_also_when_it_is_broken(wrong: str) -> None:
    from mcir.lsp.checks import check_document
    from mcir.lsp.document import Document

    lines = [f"  %v{at + 1} = neg %v{at} : tensor<64x64xfp32>" for at in range(50_000)]
    lines[40_000] = lines[40_000].replace("neg ", f"{wrong}neg ")
    text = "\n".join(["graph @g(%v0: tensor<64x64xfp32>) {", *lines, "  return %v50000", "}", ""])
    begin = time.process_time()
    problems = check_document(Document("big.mcir", text))
    assert time.process_time() - begin < 1.5  # seconds; 0.3 to 0.5 where it was measured
    assert bool(problems) == bool(wrong) and len(problems) < 3
