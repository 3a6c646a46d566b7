"""The tolerant reader and the index: Lark's tokens on whole texts, sense on broken ones, names everywhere."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark.exceptions import UnexpectedInput

from mcir.location import Source
from mcir.lsp.index import build_index
from mcir.lsp.positions import Positions
from mcir.lsp.tolerant import read_tokens
from mcir.module import MCModule
from mcir.printer import print_module
from mcir.syntax.grammar import plain_parser
from mcir.tools.opt_chunk import split_source
from tests.support.strategies import modules

ROOT = Path(__file__).parent.parent
FILES = sorted([*ROOT.glob("lit/**/*.mcir"), *ROOT.parent.glob("examples/**/*.mcir")])
LINES = ["  %y = neg %x : tensor<2xfp16>", "  %z = neg %y : tensor<2xfp16>", "  return %z"]
GRAPH = "\n".join(["graph @g(%x: tensor<2xfp16>) {", *LINES, "}", ""])


def lark_tokens(text: str) -> list[tuple[str, int, int]] | None:
    """What Lark's contextual lexer gives; None for a text that it refuses."""
    parser = plain_parser().parse_interactive(text)
    try:
        found = [(token.type, token.start_pos, token.end_pos) for token in parser.iter_parse()]
        parser.feed_eof()
    except UnexpectedInput:
        return None
    return found


def our_tokens(text: str) -> list[tuple[str, int, int]]:
    names = {"BODY": "LBRACE", "END_BODY": "RBRACE"}
    tokens = [token for token in read_tokens(text).tokens if token.type != "COMMENT"]
    return [(names.get(token.type, token.type), token.start, token.end) for token in tokens]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_tokens_of_files_are_larks(path: Path) -> None:
    for chunk in split_source(Source(path.name, path.read_text(encoding="utf-8"))):
        expected = lark_tokens(chunk.text)
        assert bool(read_tokens(chunk.text).faults) == (expected is None)
        if expected is not None:
            assert our_tokens(chunk.text) == expected


@given(modules())
def test_tokens_of_any_module_are_larks(module: MCModule) -> None:
    text = print_module(module)
    assert our_tokens(text) == lark_tokens(text)
    assert not read_tokens(text).faults


def words(text: str, *types: str) -> list[str]:
    return [text[token.start : token.end] for token in read_tokens(text).tokens if token.type in types]


# What is broken -> what replaces it, and at which text the faults are found.
BROKEN = [
    ("neg %x :", "neg %x, :", [":"]),
    (" : tensor<2xfp16>\n  %z", ",\n  %z", ["%z"]),
    ("neg %x : tensor<2xfp16>", "", ["%z"]),
    ("neg %x :", "neg %x {axis = -1 :", [":"]),
    ("neg %x :", "neg %x {axis == 1, b = 2} :", ["= 1"]),
    ("neg %x :", "neg %x ] :", ["]"]),
    ("  return %z\n", "", ["}"]),
    ("fp16>) {", "fp16 {", ["{"]),
    ("return %z\n}", "return %z", ["graph @h"]),
    ("return %z\n}", "return %z }}}", ["}}\n"]),
    ("graph @g(", "graph g(", ["g("]),
    ("neg %x", 'neg "%x', ['"%x']),
]


@pytest.mark.parametrize(("old", "new", "faults"), BROKEN, ids=[new.strip() or old for old, new, _ in BROKEN])
def test_reading_goes_on_behind_a_fault(old: str, new: str, faults: list[str]) -> None:
    text = GRAPH.replace(old, new, 1) + GRAPH.replace("@g", "@h")
    found = read_tokens(text).faults
    assert [text[fault.offset :].startswith(mark) for fault, mark in zip(found, faults, strict=True)] == [True] * len(
        faults
    )
    # the graph behind it is whole
    second = build_index(text).root.children[-1]
    assert (second.name, [node.name for node in second.children]) == ("h", ["y", "z"])
    # and so are the other lines of the broken one
    kept = [line.split(" =")[0].strip() for line in LINES[:2] if line in text[: text.index("@h")]]
    assert set(kept) <= {word.removesuffix(" =") for word in words(text[: text.index("@h")], "RESULTS")}


@given(modules(), st.data())
def test_any_broken_text_has_an_index(module: MCModule, data: st.DataObject) -> None:
    text = print_module(module)
    at = data.draw(st.integers(0, len(text)))
    junk = data.draw(st.sampled_from(["", "{", "}", "%", '"', "@x", " : ", "tensor<", "=", "\n", "//", "return"]))
    text = text[:at] + junk + text[at + data.draw(st.integers(0, 9)) :]
    index = build_index(text)
    for ordered in (index.places, index.reading.tokens):
        assert all(left.end <= right.start for left, right in pairwise(ordered))
    covered = sum(token.end - token.start for token in index.reading.tokens)
    blank = sum(char in " \t\r\n" for char in text)
    assert len(text) - blank <= covered <= len(text)


def test_cost_is_linear_also_where_the_text_is_broken() -> None:
    def seconds(count: int, text: str) -> float:
        text = text.replace("<many>", ", ".join(["%x"] * count))
        best = 100.0
        for _ in range(3):
            begin = time.process_time()
            read_tokens(text)
            best = min(best, time.process_time() - begin)
        return best

    unfinished = "graph @g(%x: tensor<fp16>) { concat <many>,\n  %y = neg"
    for text in (unfinished, "junk <many>", "graph @g() { neg : <many> = neg"):
        assert seconds(20_000, text) < 12 * seconds(4000, text)


def test_deep_regions_need_no_stack() -> None:
    depth = 5000
    text = "".join(f"tile @t{at} {{\n" for at in range(depth)) + "}" * depth
    index = build_index(text)
    assert len(list(index.root.walk())) == depth + 1
    assert index.root.children[0].end == len(text)


def test_positions_count_code_units_and_only_the_lines_of_the_protocol() -> None:
    text = "a🙂é\r\nb\u2028c\rd\n"
    for encoding, columns in (("utf-16", [0, 1, 3, 4]), ("utf-8", [0, 1, 5, 7]), ("utf-32", [0, 1, 2, 3])):
        positions = Positions(text, encoding)
        assert [positions.position(at) for at in range(4)] == [(0, column) for column in columns]
        assert [positions.offset(0, column) for column in columns] == [0, 1, 2, 3]
        assert positions.offset(0, 99) == 3
        assert positions.offset(9, 0) == len(text)
        assert positions.position(text.index("c"))[0] == 1
        assert positions.position(text.index("d")) == (2, 0)
    assert Positions(text).offset(0, 2) == 1  # inside of a pair: before it
