"""One run of a tool: its command line, its files and its standard input; written to a file, it can be run again."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path

INPUT = "in.mcir"
LSP = "mcir-lsp"


@dataclass
class Case:
    """A run. kind: how it was made. files: those of its folder. messages: what a language client sends."""

    kind: str
    tool: str
    argv: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    messages: list[bytes] = field(default_factory=list)

    def size(self) -> int:
        """How much there is to read for whoever looks at the case."""
        return sum(map(len, (*self.files.values(), self.stdin, *self.messages))) + sum(map(len, self.argv))


def save(case: Case, path: Path, fault: str) -> None:
    """Writes a case with the fault that it shows."""
    record = {
        "fault": fault.splitlines(), "kind": case.kind, "tool": case.tool, "argv": [repr(word) for word in case.argv],
        "files": {name: _coded(data) for name, data in case.files.items()},
        "stdin": _coded(case.stdin), "messages": [_coded(data) for data in case.messages],
    }  # fmt: skip
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")


def load(path: Path) -> Case:
    """The case in a file that `save` wrote."""
    import ast

    record = json.loads(path.read_text(encoding="utf-8"))
    return Case(
        record["kind"], record["tool"], [ast.literal_eval(word) for word in record["argv"]],
        {name: _decoded(data) for name, data in record["files"].items()},
        _decoded(record["stdin"]), [_decoded(data) for data in record["messages"]],
    )  # fmt: skip


def _coded(data: bytes) -> str:
    """Text stays readable; bytes that are none are base64 behind a mark."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "\0" + base64.b64encode(data).decode()
    return "\0" + base64.b64encode(data).decode() if text.startswith("\0") else text


def _decoded(text: str) -> bytes:
    return base64.b64decode(text[1:]) if text.startswith("\0") else text.encode("utf-8")
