"""A client of the language server: pygls' own, over standard input and output of a real process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

pygls_client = pytest.importorskip("pygls.lsp.client", reason="the language server needs pygls (extra `lsp`)")
from lsprotocol import types as lsp  # noqa: E402

URI = "file:///model.mcir"
TEXT = """\
// é🙂 counts as one and two UTF-16 code units
graph @attention(%Q: tensor<4x8xfp16>, %K: tensor<4x8xfp16>, %V: tensor<4x8xfp16>) {
  %Kt = transpose %K {perm = [1, 0]} : tensor<8x4xfp16>
  %"🙂" = matmul %Q, %Kt : tensor<4x4xfp16>
  %P = softmax @weights %"🙂" {axis = -1} : tensor<4x4xfp16>
  %O = matmul %P, %V : tensor<4x8xfp16>
  return %O
}

execution @fused(%Q: tensor<4x8xfp16>) -> (%O: tensor<4x8xfp16>)
    attributes {graph = @attention, nodes = ["Kt", "🙂", "weights"]} {
}
"""


class Editor:
    """A client with what a test needs of one."""

    def __init__(self) -> None:
        self.client = pygls_client.LanguageClient("test", "1")
        self.shown: dict[int | None, list[lsp.Diagnostic]] = {}
        self.came = asyncio.Event()
        self.version = 0
        self.text = ""

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: lsp.PublishDiagnosticsParams) -> None:
            self.shown[params.version] = list(params.diagnostics)
            self.came.set()

    async def start(
        self,
        encodings: list[lsp.PositionEncodingKind] | None = None,
        capabilities: lsp.ClientCapabilities | None = None,
    ) -> lsp.ServerCapabilities:
        await self.client.start_io(sys.executable, "-m", "mcir.tools.lsp", "--stdio")
        capabilities = capabilities or lsp.ClientCapabilities()
        capabilities.general = lsp.GeneralClientCapabilities(position_encodings=encodings)
        result = await self.client.initialize_async(
            lsp.InitializeParams(capabilities=capabilities)
        )
        self.client.initialized(lsp.InitializedParams())
        self.capabilities = result.capabilities
        return result.capabilities

    async def stop(self) -> int:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        process = self.client._server
        code = await asyncio.wait_for(process.wait(), 20)
        await self.client.stop()
        return int(code)

    async def open(self, text: str) -> list[lsp.Diagnostic]:
        """Opens a text and gives what is shown of it."""
        self.text, self.version = text, self.version + 1
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(URI, "mcir", self.version, text))
        )
        return await self.diagnostics()

    def close(self) -> None:
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(URI)))

    async def type(self, text: str) -> list[lsp.Diagnostic]:
        """The text becomes another one."""
        self.text, self.version = text, self.version + 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self.version, URI),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return await self.diagnostics()

    async def change(
        self, changes: list[lsp.TextDocumentContentChangePartial], text: str
    ) -> list[lsp.Diagnostic]:  # fmt: skip
        """Changes in part, which make the text `text`."""
        self.text, self.version = text, self.version + 1
        identifier = lsp.VersionedTextDocumentIdentifier(self.version, URI)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, list(changes)))
        return await self.diagnostics()

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        while self.version not in self.shown:
            self.came.clear()
            await asyncio.wait_for(self.came.wait(), 20)
        return self.shown[self.version]

    def place(self, mark: str, inside: int = 0) -> lsp.Position:
        """The position `inside` characters into the first `mark` of the text."""
        before = self.text[: self.text.index(mark) + inside]
        line = before.rsplit("\n", 1)[-1]
        return lsp.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    def at(self, mark: str, inside: int = 0) -> dict[str, Any]:
        return {"text_document": lsp.TextDocumentIdentifier(URI), "position": self.place(mark, inside)}

    def slice(self, span: lsp.Range) -> str:
        """The text of a range, counted in UTF-16."""
        lines = self.text.split("\n")
        assert span.start.line == span.end.line
        units = lines[span.start.line].encode("utf-16-le")
        return units[2 * span.start.character : 2 * span.end.character].decode("utf-16-le")

    def edited(self, edits: list[lsp.TextEdit]) -> str:
        """The text with edits made, last first."""
        text = self.text
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)

        def offset(position: lsp.Position) -> int:
            line = text[starts[position.line] :].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
            return starts[position.line] + len(line)

        spans = [(offset(edit.range.start), offset(edit.range.end), edit.new_text) for edit in edits]
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def whole(self) -> lsp.Range:
        return lsp.Range(lsp.Position(0, 0), lsp.Position(self.text.count("\n") + 1, 0))

    async def labels(self, text: str) -> list[str]:
        """What is offered at the bar in `text`, as the texts that would be written."""
        await self.type(text.replace("|", ""))
        before = text[: text.index("|")]
        position = lsp.Position(before.count("\n"), len(before.rsplit("\n", 1)[-1]))
        params = lsp.CompletionParams(lsp.TextDocumentIdentifier(URI), position)
        found = await self.client.text_document_completion_async(params)
        return [item.text_edit.new_text for item in found]


Session = Callable[[Callable[[Editor], Awaitable[None]]], None]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Runs talks, one after the other, with one server, which must end well."""
    loop = asyncio.new_event_loop()
    editor = Editor()
    loop.run_until_complete(editor.start())

    def run(talk: Callable[[Editor], Awaitable[None]]) -> None:
        loop.run_until_complete(asyncio.wait_for(talk(editor), 60))
        editor.close()

    yield run
    assert loop.run_until_complete(editor.stop()) == 0
    loop.close()
