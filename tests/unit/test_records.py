"""`mcir-opt --diagnostics=json`: one object a line with every key, places and ends that are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcir.location import Location, Source
from mcir.tools import opt
from mcir.tools.records import diagnostic_record
from tests.unit.tool_harness import run

KEYS = ["severity", "rule", "message", "hint", "file", "line", "column", "end", "notes"]
GRAPH = "graph @g(%x: tensor<4xfp16>) {\n  %y = neg %x : tensor<4xfp16>\n  return %y\n}\n"


def records(*argv: object, stdin: str = "", code: int = 1) -> list[dict[str, Any]]:
    ran = run(opt.main, "--diagnostics=json", *argv, stdin=stdin)
    assert ran.code == code
    return [json.loads(line) for line in ran.err.splitlines()]


def test_every_key_is_there_and_the_range_is_that_of_the_word(tmp_path: Path) -> None:
    path = tmp_path / "in.mcir"
    path.write_text(GRAPH.replace("neg %x :", "negg %zz :"))
    unknown, undefined = sorted(records(path), key=lambda record: record["column"])
    assert list(unknown) == KEYS
    assert (unknown["severity"], unknown["file"], unknown["hint"]) == ("error", str(path), "did you mean 'neg'?")
    assert (unknown["line"], unknown["column"], unknown["end"]) == (2, 8, {"line": 2, "column": 12})
    assert (undefined["column"], undefined["end"]["column"]) == (13, 16)
    assert unknown["notes"] == [] and unknown["rule"] == ""


def test_rules_and_ranges_of_the_verifier() -> None:
    (found,) = records(stdin=GRAPH.replace("neg %x : tensor<4xfp16>", "neg %x : tensor<8xfp16>"))
    assert (found["rule"], found["line"], found["column"]) == ("type.result", 2, 17)
    assert found["end"] == {"line": 2, "column": 31}


def test_notes_have_places() -> None:
    (found,) = records(stdin=GRAPH.replace("%y = neg", "%x = neg").replace("return %y", "return %x"))
    (note,) = found["notes"]
    assert list(note) == ["message", "file", "line", "column", "end"]
    assert (note["message"], note["line"], note["column"], note["end"]["column"]) == ("first defined here", 1, 10, 12)


def test_lines_are_those_of_the_file_in_every_piece() -> None:
    first, second = records("--split-input-file", stdin=f"{GRAPH}// -----\n{GRAPH}return\n// -----\n  oops\n")
    assert [(one["line"], one["column"]) for one in (first, second)] == [(10, 1), (12, 3)]
    assert second["end"] == {"line": 12, "column": 7}


def test_what_has_no_place_has_null() -> None:
    (missing,) = records("no-such-file.mcir")
    assert [missing[key] for key in ("file", "line", "column", "end")] == [None] * 4
    assert "no such file" in missing["message"]


@pytest.mark.parametrize("argv", [["--no-such-flag"], ["--streaming-lowering=tile-q=1"], ["a", "b"]])
def test_bad_usage_is_an_object_too(argv: list[str]) -> None:
    (found,) = records(*argv, code=2)
    assert found["severity"] == "error" and found["message"]


def test_remarks_come_as_objects_with_the_same_places() -> None:
    region = (
        "execution @r(%Q: tensor<8x4xfp16>, %K: tensor<8x4xfp16>, %V: tensor<8x4xfp16>) -> (%O: tensor<8x4xfp16>)\n"
        '    attributes {pattern = "scaled_dot_product_attention", has_mask = false} {\n}\n'
    )
    (remark,) = records("--remarks", "--streaming-lowering", stdin=region, code=0)
    assert set(KEYS) < set(remark)
    assert (remark["severity"], remark["pass"], remark["status"]) == ("remark", "streaming-lowering", "lowered")
    assert (remark["line"], remark["end"]) == (1, {"line": 1, "column": 10})
    assert records("--streaming-lowering", stdin=region, code=0) == []


def test_text_stays_the_default() -> None:
    bad = GRAPH.replace("neg", "negg")
    plain = run(opt.main, stdin=bad).err
    assert plain.startswith("<stdin>:2:8: error: ") and plain == run(opt.main, "--diagnostics=text", stdin=bad).err
    assert run(opt.main, "--diagnostics=xml").code == 2


def test_an_end_never_lies_before_its_begin_or_behind_the_text() -> None:
    from mcir.diagnostics import Diagnostic

    source = Source("f", 'a\n%"x y"')
    for offset, end in ((0, {"line": 1, "column": 2}), (2, {"line": 2, "column": 7}), (8, {"line": 2, "column": 7})):
        assert diagnostic_record(Diagnostic("m", Location(source, offset)))["end"] == end
