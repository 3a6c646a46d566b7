"""How tools report: text, JSON and SARIF from one implementation; colour where it is wanted."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from mcir.tools.report import use_colour
from tests.unit.tool_harness import TOOLS, Ran, run

BROKEN = "graph @g(%x: tensor<4xfp16>) {\n  %x = neg %x : tensor<4xfp16>\n  %y = neg %x ) \n  return %y\n}\n"
PLACES = [(2, 3), (3, 15)]
# Every tool that reads a module -> its words before the file.
READERS = {
    "mcir-opt": [], "mcir-fmt": ["--check"], "mcir-run": [], "mcir-diff": [__file__], "mcir-translate": ["--dot"],
}  # fmt: skip


def report(tool: str, style: str, folder: Path, *more: str) -> Ran:
    path = folder / "in put.mcir"
    path.write_text(BROKEN)
    words = [str(path) if word == __file__ else word for word in READERS[tool]]
    return run(TOOLS[tool], f"--diagnostics={style}", *more, *words, path)


@pytest.mark.parametrize("tool", READERS)
def test_every_tool_writes_the_same_records(tool: str, tmp_path: Path) -> None:
    ran = report(tool, "json", tmp_path)
    records = [json.loads(line) for line in ran.err.splitlines()]
    assert ran.code != 0
    assert [(record["line"], record["column"]) for record in records] == PLACES
    assert records == [json.loads(line) for line in report("mcir-opt", "json", tmp_path).err.splitlines()]


@pytest.mark.parametrize("tool", READERS)
def test_every_tool_writes_a_sarif_log(tool: str, tmp_path: Path) -> None:
    """Held against the required properties, enumerations and types of the schema of SARIF 2.1.0."""
    ran = report(tool, "sarif", tmp_path)
    log = json.loads(ran.err)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json")
    assert set(log) == {"$schema", "version", "runs"} and len(log["runs"]) == 1
    (made,) = log["runs"]
    assert set(made) == {"tool", "columnKind", "results"} and made["columnKind"] == "unicodeCodePoints"
    driver = made["tool"]["driver"]
    assert driver["name"] == tool and re.fullmatch(r"\d+\.\d+\.\d+", driver["version"])
    assert len(made["results"]) == 2
    for result, (line, column) in zip(made["results"], PLACES, strict=True):
        assert set(result) <= {"level", "message", "locations", "ruleId", "relatedLocations"}
        assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("/in%20put.mcir")
        region = place["region"]
        assert (region["startLine"], region["startColumn"]) == (line, column)
        assert (region["endLine"], region["endColumn"]) > (line, column)
        assert all(type(number) is int and number > 0 for number in region.values())
    (related,) = made["results"][0]["relatedLocations"]
    assert related["message"]["text"] == "first defined here"
    assert related["physicalLocation"]["region"]["startLine"] == 1


def test_the_reducer_reports_alike(tmp_path: Path) -> None:
    path = tmp_path / "in.mcir"
    path.write_text("graph @g() { return }\n")
    ran = run(TOOLS["mcir-reduce"], "--diagnostics=json", "--test=no-such-command", path)
    assert ran.code == 1 and "cannot run the test" in json.loads(ran.err)["message"]
    assert run(TOOLS["mcir-reduce"], "--diagnostics=json", "--test=true", path).err == ""  # no summary among records


def test_sarif_names_rules_and_takes_remarks() -> None:
    good = BROKEN.replace("%x = neg", "%a = neg").replace(" ) ", " : tensor<4xfp16>")
    wrong = json.loads(run(TOOLS["mcir-opt"], "--diagnostics=sarif", stdin=good.replace("<4x", "<5x", 1)).err)
    assert {result["ruleId"] for result in wrong["runs"][0]["results"]} == {"type.result"}
    (rule,) = wrong["runs"][0]["tool"]["driver"]["rules"]
    assert rule["id"] == "type.result" and rule["shortDescription"]["text"].startswith("The result types")
    flags = ["--attention-pattern", "--remarks"]
    (result,) = json.loads(run(TOOLS["mcir-opt"], "--diagnostics=sarif", *flags, stdin=good).err)["runs"][0]["results"]
    assert (result["level"], result["ruleId"]) == ("note", "no-softmax")
    assert json.loads(run(TOOLS["mcir-opt"], "--diagnostics=sarif", stdin=good).err)["runs"][0]["results"] == []


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("style", ["json", "sarif"])
def test_bad_usage_is_reported_in_the_form_asked_for(tool: str, style: str) -> None:
    ran = run(TOOLS[tool], f"--diagnostics={style}", "--no-such-flag")
    record = json.loads(ran.err)
    text = record["message"] if style == "json" else record["runs"][0]["results"][0]["message"]["text"]
    assert ran.code == 2 and "unknown option --no-such-flag" in text
    assert "sarif" in run(TOOLS[tool], "--diagnostics=xml").err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# What is asked for, the variables -> whether text on a terminal is coloured, and on a pipe.
COLOURS: list[tuple[str, dict[str, str], bool, bool]] = [
    ("auto", {}, True, False),
    ("auto", {"NO_COLOR": "1"}, False, False),
    ("auto", {"NO_COLOR": ""}, True, False),
    ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
    ("auto", {"FORCE_COLOR": "1"}, True, True),
    ("auto", {"FORCE_COLOR": "0"}, True, False),
    ("auto", {"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True, True),
    ("auto", {"CLICOLOR": "0"}, False, False),
    ("auto", {"TERM": "dumb"}, False, False),
    ("always", {"NO_COLOR": "1"}, True, True),
    ("never", {"FORCE_COLOR": "1"}, False, False),
]


@pytest.mark.parametrize(("wanted", "variables", "terminal", "pipe"), COLOURS)
def test_who_decides_on_colour(
    wanted: str, variables: dict[str, str], terminal: bool, pipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (use_colour(Terminal(), wanted), use_colour(io.StringIO(), wanted)) == (terminal, pipe)


@pytest.mark.parametrize("tool", READERS)
def test_colour_on_request(tool: str, tmp_path: Path) -> None:
    plain = report(tool, "text", tmp_path, "--color=never").err
    coloured = report(tool, "text", tmp_path, "--color=always").err
    assert "\033" not in plain and re.sub(r"\033\[[0-9;]*m", "", coloured) == plain != coloured
    assert "\033" not in report(tool, "json", tmp_path, "--color=always").err


def test_files_that_are_no_text_say_what_reads_them(tmp_path: Path) -> None:
    for data, word in (
        (b"\x08\x08\x12\x07pytorch:\xff", "--import-onnx"),
        (b"\x08\x08\x12\x07pytorch", "--import-onnx"),
        ("graph".encode("utf-16"), "UTF-16"),
    ):
        path = tmp_path / "model"
        path.write_bytes(data)
        assert word in run(TOOLS["mcir-opt"], path).err
