"""Streams of messages for the language server: what editors send in a hurry, and what no editor should send."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from random import Random
from typing import Any
from urllib.parse import unquote

from tests.endurance import seeds
from tests.endurance.text_mutators import CHARACTERS, ESCAPES, NUMBERS, mutated

URI = "file:///model.mcir"
URIS = (
    URI,
    URI,
    URI,
    URI,
    URI,
    "file:///other.mcir",
    "untitled:1",
    "file:///never%20opened.mcir",
    "",
    "file:///%ff",
    "mcir:é",
)
AT_PLACE = ("hover", "definition", "references", "documentHighlight", "prepareRename", "rename", "completion")
WHOLE = (
    "formatting",
    "documentSymbol",
    "semanticTokens/full",
    "foldingRange",
    "codeAction",
    "rangeFormatting",
    "nonsense",
)
WAIT = 60.0  # seconds for the answers to a stream
_LAST = 10**9  # the id of the last request
_UNOPENED = tuple(f"Error in server: KeyError: {unquote(uri)!r}" for uri in URIS)
_FAULTS_OF_OURS = (-32603, -32001)  # internal error, unknown error


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _message(method: str, params: Any, number: int | None = None) -> bytes:
    record = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        record["id"] = number
    return frame(json.dumps(record).encode())


def stream(random: Random) -> list[bytes]:
    """One session: begin, open, a mixture of edits and requests; `serve` adds the end."""
    encodings = random.choice((None, ["utf-8"], ["utf-16"], ["utf-32"], ["utf-8", "utf-16"]))
    general = {} if encodings is None else {"positionEncodings": encodings}
    start = {"processId": None, "rootUri": None, "capabilities": {"general": general}}
    messages = [_message("initialize", start, 0), _message("initialized", {})]
    texts = dict.fromkeys(URIS, "")
    version = 0
    for number in range(1, random.choice((10, 40, 80))):
        uri, choice = random.choice(URIS), random.random()
        version += random.choice((1, 1, 1, 0, 5))
        if number == 1 or choice < 0.08:
            texts[uri] = text = _text(random)
            messages.append(_message("textDocument/didOpen", {"textDocument": {
                "uri": uri, "languageId": "mcir", "version": version, "text": text}}))  # fmt: skip
        elif choice < 0.4:
            texts[uri], change = _edited(random, texts[uri])
            messages.append(_message("textDocument/didChange", {
                "textDocument": {"uri": uri, "version": version}, "contentChanges": change}))  # fmt: skip
        elif choice < 0.43:
            messages.append(_message("textDocument/didClose", {"textDocument": {"uri": uri}}))
        elif choice < 0.9:
            messages.append(_request(random, uri, texts[uri], number))
        else:
            messages.append(_nonsense(random, number))
    return messages


def _text(random: Random) -> str:
    text = seeds.pick_text(random)
    if random.random() < 0.6:
        text = mutated(random, random.choice(("characters", "tokens", "lines", "meaning")), text)
    if random.random() < 0.1:
        text = text.replace("\n", random.choice(("\r\n", "\r", "\u2028\n")))
    return text.encode("utf-8", "replace").decode()


def _edited(random: Random, text: str) -> tuple[str, list[Any]]:
    """A text and the change that makes it: the whole text, or (as the server asked not to) a range."""
    if random.random() < 0.15:
        return text, [
            {
                "range": {"start": _position(random, text), "end": _position(random, text)},
                "text": random.choice(("x", "\n", "🙂")),
            }
        ]
    at = random.randrange(len(text) + 1)
    new = random.choice(
        (
            random.choice(CHARACTERS),
            random.choice(ESCAPES),
            random.choice(NUMBERS),
            "%",
            "@",
            '"',
            "{",
            "}",
            "\n",
            " = softmax %",
        )
    )
    text = text[:at] + new + text[at + random.choice((0, 0, 1, 30, 2000)) :]
    return text, [] if random.random() < 0.02 else [{"text": text}]


def _position(random: Random, text: str) -> dict[str, int]:
    if random.random() < 0.15:
        return {"line": random.choice((0, 10**6, 2**31 - 1)), "character": random.choice((0, 10**6, 2**31 - 1))}
    lines = text.split("\n")
    line = random.randrange(len(lines))
    return {"line": line, "character": random.randrange(len(lines[line]) + 2)}


def _request(random: Random, uri: str, text: str, number: int) -> bytes:
    method = random.choice(AT_PLACE + WHOLE)
    params: dict[str, Any] = {"textDocument": {"uri": uri}}
    if method in AT_PLACE:
        params["position"] = _position(random, text)
    if method == "references":
        params["context"] = {"includeDeclaration": random.random() < 0.5}
    if method == "rename":
        params["newName"] = random.choice(
            ("z", "%z", "", "a b", '"', "\\u{d800}", "é", "return", "x" * 2000, "\n", "%", "Q")
        )
    if "ormatting" in method:
        params["options"] = {"tabSize": random.choice((0, 2, 2**31 - 1)), "insertSpaces": True}
    if method == "codeAction":
        place = {"start": _position(random, text), "end": _position(random, text)}
        said = random.choice(
            (
                "unknown op 'sofmax'\nhint: did you mean 'softmax'?",
                "",
                "hint: did you mean ''?",
                "did you mean 'x'?",
                "x\nhint: write it as 0x...",
            )
        )
        params |= {"range": place, "context": {"diagnostics": [{"range": place, "message": said}]}}
    return _message(f"textDocument/{method}", params, number)


def _nonsense(random: Random, number: int) -> bytes:
    choices = (
        frame(b"{"), frame(b""), frame(b"[]"), frame(b"null"), frame(b"\xff\xfe"), frame(b'"x"'), frame(b"{}"),
        frame(b'{"jsonrpc": "2.0"}'), frame(b'{"jsonrpc": "1.0", "method": "x"}'), b"Garbage: 1\r\n", b"\r\n",
        frame(b'{"jsonrpc": "2.0", "id": 7, "result": 1}'),
        frame(b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 3}}'),
        frame(b'{"jsonrpc": "2.0", "method": "$/setTrace", "params": {"value": "verbose"}}'),
        frame(b"[" * 500 + b"]" * 500),
        _message("textDocument/didChange", {"textDocument": {}}), _message("textDocument/didOpen", None),
        _message("textDocument/didOpen", {}),
        _message("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": -1, "character": -5}}),
        _message("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": "x"}}),
        _message("textDocument/hover", None),
        _message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, number),
        _message("workspace/didChangeConfiguration", {"settings": None}),
        _message("textDocument/didSave", {"textDocument": {"uri": URI}}),
        _message("nonsense/method", {"a": 1}),
        _message("textDocument/didClose", {"textDocument": {"uri": "file:///no"}}),
    )  # fmt: skip
    return random.choice(choices)


# -- the session ------------------------------------------------------------------------------------------


def converse(messages: list[bytes]) -> tuple[list[dict[str, Any]], str, int]:
    """What a server answers to these messages and then the end, what it says on standard error, its exit code."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mcir.tools.lsp", "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    whole = b"".join([*messages, _message("shutdown", None, _LAST), frame(b'{"jsonrpc": "2.0", "method": "exit"}')])
    watch = threading.Timer(WAIT, process.kill)
    watch.start()
    try:
        out, err = process.communicate(whole)
    finally:
        watch.cancel()
    return _answers(out), err.decode("utf-8", "replace"), process.returncode


def serve(messages: list[bytes]) -> str:
    """The fault that a server shows when it is sent these messages and then the end; empty for none."""
    answers, said, code_at_end = converse(messages)
    if code_at_end == -9:
        return f"the server does not end within {WAIT} s\n{said[-2000:]}"
    if "Traceback" in said:
        return f"a traceback\n{said[-3000:]}"
    for answer in answers:
        code = answer.get("error", {}).get("code")
        if code in _FAULTS_OF_OURS:
            return f"internal error: {answer['error'].get('message', '')[:200]}\n{said[-3000:]}"
        if answer.get("method") == "window/showMessage":
            message = answer["params"]["message"]
            # a change of a text that was never opened; no JSON
            if message not in _UNOPENED and all(map(_is_json, messages)):
                return f"shows an error: {message[:200]}\n{said[-3000:]}"
    if code_at_end != 0:
        return f"exit code {code_at_end}\n{said[-2000:]}"
    asked = _asked(messages) | {_LAST}
    missing = asked - {answer.get("id") for answer in answers if "method" not in answer}
    if missing:
        return f"requests without answer\n{sorted(missing)}\n{said[-2000:]}"
    return ""


def _answers(data: bytes) -> list[dict[str, Any]]:
    found, at = [], 0
    while match := re.compile(rb"(?:[^\r\n]+\r\n)*?Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n").match(data, at):
        at = match.end() + int(match[1])
        found.append(json.loads(data[match.end() : at]))
    return found


def _is_json(message: bytes) -> bool:
    try:
        return json.loads(message.partition(b"\r\n\r\n")[2] or b"{}") is not None
    except ValueError:
        return False


def _asked(messages: list[bytes]) -> set[int]:
    """The ids of the well-formed requests."""
    ids = set()
    for message in messages:
        try:
            record = json.loads(message.partition(b"\r\n\r\n")[2])
        except ValueError:
            continue
        if isinstance(record, dict) and "method" in record and isinstance(record.get("id"), int):
            ids.add(record["id"])
    return ids
