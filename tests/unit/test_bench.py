"""tests/bench: its graph is valid and round-trips, its table and JSON come out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.verifier import verify_module
from tests.bench.__main__ import main
from tests.bench.inputs import mcir_text, mlir_text


@pytest.mark.parametrize(("asked", "nodes"), [(1, 5), (25, 25), (1001, 1005)])
def test_inputs(asked: int, nodes: int) -> None:
    text = mcir_text(asked)
    module = parse_module(text)
    assert len(module.graphs[0].nodes) == nodes
    assert verify_module(module) == []
    assert print_module(module) == text
    assert mlir_text(asked).count('"bench.') == nodes


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sizes", "25", "--rounds", "1", "--json", str(tmp_path / "out.json")]) == 0
    shown = capsys.readouterr().out
    assert "25 nodes" in shown and "streaming-lowering" in shown
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert result["facts"] == {"nodes": 25, "regions": 5, "faults": 0, "round trip": True}
    assert 0 < result["seconds"]["mcir-opt"][0] < 60
