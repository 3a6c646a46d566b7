"""A rename changes a name and nothing else: every name of real texts, also of lowered ones, takes a new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcir.lsp.document import Document
from mcir.lsp.names import Occurrence
from mcir.lsp.rename import Edit, RenameRefused, rename
from mcir.parser import parse_module
from mcir.passes.manager import MCIRPassManager
from mcir.passes.pipeline import parse_pipeline
from mcir.printer import print_module
from mcir.verifier import verify_module

ROOT = Path(__file__).parent.parent.parent
NOTE = """\
execution @r(%Q: tensor<8x4xfp16>, %K: tensor<8x4xfp16>, %V: tensor<8x4xfp16>) -> (%O: tensor<8x4xfp16>)
    attributes {pattern = "scaled_dot_product_attention", has_mask = false} {
}
"""


def lowered(text: str) -> str:
    passes = parse_pipeline("attention-pattern,streaming-lowering")
    return print_module(MCIRPassManager(passes).run(parse_module(text)))


def texts() -> dict[str, str]:
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.mcir"))}
    found["note"] = NOTE
    return {**found, **{f"{name}, lowered": lowered(text) for name, text in found.items()}}


TEXTS = texts()


def edited(text: str, edits: list[Edit]) -> str:
    for (start, end), new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize("name", TEXTS)
def test_every_name_can_be_another(name: str) -> None:
    text = TEXTS[name]
    document = Document(name, text)
    firsts: dict[int, Occurrence] = {}
    for place in document.chunks[0].index.places:
        firsts.setdefault(id(place.name), place)
    assert firsts
    rules = [found.rule for found in verify_module(parse_module(text))]
    for place in firsts.values():
        edits = rename(document, place.start, "new name")
        changed = edited(text, edits)
        assert [found.rule for found in verify_module(parse_module(changed))] == rules
        assert changed[place.start :].startswith(place.spelled("new name"))
        written = any(start == end for (start, end), _ in edits)  # a role that had to be written stays
        if not written:
            again = Document(name, changed)
            assert edited(changed, rename(again, place.start, place.name.text)) == text


def test_roles_by_name_are_written_out() -> None:
    document = Document("note", NOTE)
    changed = edited(NOTE, rename(document, NOTE.index("%K"), "key"))
    assert changed == NOTE.replace("%K", "%key").replace("has_mask = false", 'has_mask = false, k_name = "key"')


def test_nothing_to_rename_is_refused() -> None:
    with pytest.raises(RenameRefused, match="no name here"):
        rename(Document("note", NOTE), 0, "x")
