"""Colours of editors: the same classes as the grammar's own tokens, by Pygments and by VS Code's tokenizer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from mcir.editors import textmate
from mcir.editors.highlight import CLASSES, named_terminals, rules
from mcir.location import Source
from mcir.lsp.tolerant import Token, read_tokens
from mcir.syntax import tables
from mcir.syntax.grammar import plain_parser
from mcir.tools.opt_chunk import split_source

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "grammar" / "vscode"
FILES = sorted([*ROOT.glob("tests/lit/**/*.mcir"), *ROOT.glob("examples/**/*.mcir")])
EVERYTHING = """\
// all terminals, and words that look like others
graph @"a b"(%x: tensor<4x?x(seq)x("s 1")x8xfp16>, %"é 🙂": tensor<fp32>) attributes {graph = @g, tile = -0x1F} {
  %a, %"b c" = "onnx.Split" @s %x {true = false, inf = -inf,
      x = [1, 2.5e-3, nan, "//", @y, {k = tensor<2xi8>}]} : tensor<2xi1>, tensor<i64>
  %y = tile %a {"odd key" = true} : tensor<2xu8, shared>   // ends a line
  return %y, %a
}
execution @r() -> (%o: tensor<2xbf16>) { streaming @s { tile @t attributes {tile_m = 1} { store_tile @o %o } } }
"""


def test_no_terminal_is_forgotten() -> None:
    terminals = {terminal.name for terminal in plain_parser().terminals} - {"WHITESPACE"}
    assert set(CLASSES) == terminals
    assert named_terminals() == terminals - {"RESULTS"}  # its values are coloured one by one


def test_rules_have_a_class_for_each_group() -> None:
    for state, ordered in rules().items():
        for rule in ordered:
            assert re.compile(rule.pattern).groups == len(rule.classes), (state, rule)


def expected_classes(text: str) -> list[str]:
    """For each character the class of the grammar's token there; "" outside of tokens."""
    classes = [""] * len(text)
    base = 0
    for chunk in split_source(Source("", text)):
        base = _line_start(text, chunk.first_line)
        for token in read_tokens(chunk.text).tokens:
            for start, end, name in _pieces(chunk.text, token):
                classes[base + start : base + end] = [name] * (end - start)
    return classes


def _line_start(text: str, line: int) -> int:
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1])


def _pieces(text: str, token: Token) -> Iterator[tuple[int, int, str]]:
    if token.type == "RESULTS":
        for match in re.finditer(rf"(//[^\n]*)|({tables.TERMINALS['VALUE']})|(,)|(=)", text[token.start : token.end]):
            name = ("comment", "value", "punctuation", "operator")[(match.lastindex or 1) - 1]
            yield token.start + match.start(), token.start + match.end(), name
        return
    name = {"BODY": "punctuation", "END_BODY": "punctuation", "ERROR": "?"}.get(token.type) or CLASSES[token.type]
    if token.type == "STRING" and re.search(r"=[ \t]*\Z", text[: token.start]) and "%" in text[: token.start]:
        before = text[: token.start].rstrip(" \t=")
        name = "op" if re.search(rf"{tables.TERMINALS['VALUE']}\Z", before) else name
    if token.type == "STRING" and re.match(r"[ \t]*=", text[token.end :]):
        name = "key"
    yield token.start, token.end, name


def differences(text: str, found: list[str]) -> list[tuple[str, str, str]]:
    """Words whose class is not the grammar's."""
    wanted = expected_classes(text)
    return [
        (text[max(0, at - 20) : at + 20], wanted[at], found[at])
        for at, char in enumerate(text)
        if wanted[at] not in ("", "?") and wanted[at] != found[at] and char not in " \t\r\n"
    ]


# -- Pygments ----------------------------------------------------------------------------------


def pygments_classes(text: str) -> list[str]:
    lexer = pytest.importorskip("mcir.editors.pygments_lexer", reason="Pygments is not installed")
    names: dict[object, set[str]] = {}
    for name, kind in lexer.TOKENS.items():
        names.setdefault(kind, set()).add(name)
    found, wanted = [""] * len(text), expected_classes(text)
    for start, kind, word in lexer.McirLexer().get_tokens_unprocessed(text):
        for at in range(start, start + len(word)):
            same = names.get(kind, {""})  # some classes have one colour in Pygments
            found[at] = wanted[at] if wanted[at] in same else sorted(same)[0]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_pygments_agrees_with_the_grammar(path: Path) -> None:
    lexer = pytest.importorskip("mcir.editors.pygments_lexer", reason="Pygments is not installed")
    from pygments.token import Error

    text = path.read_text(encoding="utf-8")
    errors = [word for _, kind, word in lexer.McirLexer().get_tokens_unprocessed(text) if kind is Error]
    assert (errors, differences(text, pygments_classes(text))) == ([], [])


def test_pygments_knows_everything() -> None:
    assert differences(EVERYTHING, pygments_classes(EVERYTHING)) == []
    assert not read_tokens(EVERYTHING).faults


def test_pygments_finds_the_plugin() -> None:
    pytest.importorskip("pygments", reason="Pygments is not installed")
    declared = [entry.value for entry in entry_points(group="pygments.lexers") if entry.name == "mcir"]
    if not declared:
        pytest.skip("mcir is not installed, so it has no entry points")
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename

    assert get_lexer_by_name("mcir").name == get_lexer_for_filename("a.mcir").name == "MCIR"


# -- TextMate ----------------------------------------------------------------------------------


def test_textmate_grammar_is_made_from_the_present_grammar() -> None:
    assert textmate.FILE.read_text(encoding="utf-8") == textmate.textmate_grammar()


@cache
def node() -> str:
    """Node with VS Code's tokenizer, from `npm install` in the extension's folder or from NODE_PATH."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no node to run VS Code's tokenizer")
    probe = [found, "-e", "require.resolve('vscode-textmate'); require.resolve('vscode-oniguruma')"]
    if subprocess.run(probe, cwd=EXTENSION, capture_output=True, check=False).returncode:
        pytest.skip("vscode-textmate is missing: npm install in grammar/vscode brings it")
    return found


def test_textmate_agrees_with_the_grammar(tmp_path: Path) -> None:
    sample = tmp_path / "everything.mcir"
    sample.write_text(EVERYTHING, encoding="utf-8")
    files = [sample, *FILES]
    command = [node(), str(EXTENSION / "test" / "tokenize.js"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, timeout=100)
    classes = {scope: name for name, scope in textmate.SCOPES.items()}
    for path, line in zip(files, done.stdout.splitlines(), strict=True):
        text = path.read_text(encoding="utf-8")
        lines, found = text.split("\n"), [""] * len(text)
        for row, start, end, scope in json.loads(line):
            units = lines[row].encode("utf-16-le")  # JavaScript counts so
            begin = _line_start(text, row + 1) + len(units[: 2 * start].decode("utf-16-le"))
            word = units[2 * start : 2 * end].decode("utf-16-le")
            found[begin : begin + len(word)] = [classes.get(scope, "")] * len(word)
        assert differences(text, found[: len(text)]) == [], path.name


# -- the extension -----------------------------------------------------------------------------


def test_files_of_the_extension_exist_and_name_the_language_alike() -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    (language,), (grammar,) = package["contributes"]["languages"], package["contributes"]["grammars"]
    for name in (package["main"], language["configuration"], grammar["path"]):
        assert (EXTENSION / name).is_file()
    json.loads((EXTENSION / language["configuration"]).read_text(encoding="utf-8"))
    assert (language["id"], grammar["language"], language["extensions"]) == ("mcir", "mcir", [".mcir"])
    assert grammar["scopeName"] == json.loads(textmate.textmate_grammar())["scopeName"]


def test_commands_of_the_extension_are_those_of_the_server() -> None:
    pytest.importorskip("pygls", reason="the language server needs pygls (extra `lsp`)")
    from mcir.lsp.commands import COMMANDS

    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    offered = {command["command"] for command in package["contributes"]["commands"]}
    assert offered == {*COMMANDS, "mcir.restartServer"}
    page = (EXTENSION.parent / "EDITORS.md").read_text(encoding="utf-8")
    assert all(f"| `{command}` |" in page for command in COMMANDS)


def test_pages_on_editors_hold_what_can_be_read() -> None:
    page = (EXTENSION.parent / "EDITORS.md").read_text(encoding="utf-8")
    (helix,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (language,) = tomllib.loads(helix)["language"]
    assert (language["file-types"], language["language-servers"]) == (["mcir"], ["mcir-lsp"])
    (emacs,) = re.findall(r"```elisp\n(.*?)```", page, re.DOTALL)
    assert emacs.count("(") == emacs.count(")")


def run_node(script: str, *arguments: str) -> dict[str, Any]:
    """What a script that is run by node prints as JSON."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no node to run the extension")
    command = [found, "-e", FAKES + script, str(EXTENSION / "extension.js"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env={**os.environ})
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


# Stands in for what an editor gives an extension.
FAKES = """
    const Module = require('module');
    const load = Module._load;
    const seen = { errors: [], sent: [] };
    let trouble;
    class LanguageClient {
      constructor(id, name, server, options) { Object.assign(seen, { id, server, options }); }
      async start() { seen.started = true; if (trouble) throw new Error(trouble); }
      stop() { seen.stopped = true; }
    }
    const workspace = { getConfiguration: () => ({ get: (key, fallback) => fallback }) };
    const window = {
      showErrorMessage: (text) => seen.errors.push(text),
      showInputBox: async () => 'cse',
      activeTextEditor: undefined,
    };
    const commands = { registerCommand: (name) => { seen.own = name; } };
    const fakes = { vscode: { commands, window, workspace }, 'vscode-languageclient/node': { LanguageClient } };
    Module._load = (name, ...rest) => fakes[name] || load(name, ...rest);
    const extension = require(process.argv[1]);
    const context = { subscriptions: [] };
"""


def test_extension_starts_the_server() -> None:
    seen = run_node("extension.activate(context); extension.deactivate(); console.log(JSON.stringify(seen));")
    assert seen["server"] == {"command": "mcir-lsp", "args": ["--stdio"]}
    assert seen["options"]["documentSelector"] == [{"language": "mcir"}]
    assert seen["started"] and seen["stopped"] and seen["own"] == "mcir.restartServer"


def test_extension_says_what_to_do_where_the_server_does_not_start() -> None:
    script = "trouble = 'ENOENT'; extension.activate(context).then(() => console.log(JSON.stringify(seen)));"
    (error,) = run_node(script)["errors"]
    assert "mcir-lsp does not start (ENOENT)" in error and "pip install 'mcir[lsp]'" in error


def test_extension_fills_in_what_the_palette_does_not_say() -> None:
    script = """
        extension.activate(context);
        const run = seen.options.middleware.executeCommand;
        const next = async (command, args) => { seen.sent.push([command, args]); };
        (async () => {
          await run('mcir.showLowered', [], next);
          const document = { languageId: 'mcir', uri: { toString: () => 'file:///a.mcir' } };
          window.activeTextEditor = { document, selection: { active: { line: 7 } } };
          await run('mcir.showLowered', ['file:///b.mcir', 3], next);
          await run('mcir.showPicture', [], next);
          await run('mcir.runPasses', [], next);
          console.log(JSON.stringify(seen));
        })();
    """
    seen = run_node(script)
    assert seen["errors"] == ["MCIR: open an MCIR file first."]
    assert seen["sent"] == [
        ["mcir.showLowered", ["file:///b.mcir", 3]],
        ["mcir.showPicture", ["file:///a.mcir", 7]],
        ["mcir.runPasses", ["file:///a.mcir", "cse", 7]],
    ]


def test_calls_of_the_extension_have_the_right_types() -> None:
    tsc = EXTENSION / "node_modules" / ".bin" / "tsc"
    if not tsc.exists():
        pytest.skip("typescript is missing: npm install in grammar/vscode brings it")
    npm = shutil.which("npm") or "npm"
    command = [npm, "run", "check"]
    done = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout
