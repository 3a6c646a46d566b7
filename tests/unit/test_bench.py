"""tests/bench: its graph is valid and round-trips, its table and JSON come out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcir.parser import parse_module
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from mcir.verifier import verify_module
from tests.bench.__main__ import main
from tests.bench.inputs import mcir_text, mlir_text


@pytest.mark.parametrize(
    ("kind", "asked", "nodes", "attentions"),
    [
        ("blocks", 1, 5, 1), ("blocks", 25, 25, 5), ("blocks", 1001, 1005, 201),
        ("model", 1, 97, 1), ("model", 300, 372, 4),
    ],
)
def test_inputs(kind: str, asked: int, nodes: int, attentions: int) -> None:
    text = mcir_text(asked, kind)
    module = parse_module(text)
    assert len(module.graphs[0].nodes) == nodes
    assert verify_module(module) == []
    assert print_module(module) == text
    assert mlir_text(asked, kind).count('"bench.') == nodes
    regions = run_streaming_lowering_pass(run_attention_pattern_pass(module)).regions
    assert [len(list(region.walk())) for region in regions] == [3] * attentions


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kinds", "blocks", "--sizes", "25", "--rounds", "1", "--json", str(tmp_path / "out.json")]) == 0
    shown = capsys.readouterr().out
    assert "blocks: 25 nodes" in shown and "streaming-lowering" in shown and "error at the end" in shown
    written = json.loads((tmp_path / "out.json").read_text())
    assert all(name in shown for name in written["absent"])
    (result,) = written["results"]
    assert result["facts"] == {"nodes": 25, "regions": 5, "faults": 0, "round trip": True, "error found": True}
    assert 0 < result["seconds"]["mcir-opt"][0] < 60
    assert result["stages"].keys() >= {"start", "parse", "verify streams", "parse by Lark alone", "error at the end"}


def test_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main(["--growth", "--sizes", "25", "1000", "--kinds", "model", "--rounds", "1", "--json", str(out)]) == 0
    assert "1,000" in capsys.readouterr().out
    (growth,) = json.loads(out.read_text())["growth"]
    assert growth["kind"] == "model" and growth["sizes"].keys() == {"25", "1000"}
    (run,) = growth["sizes"]["1000"]
    assert run["facts"]["error found"] and run["megabytes"]["parse"] > 0
