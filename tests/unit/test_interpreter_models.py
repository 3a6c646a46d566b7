"""A truth from outside: a model run by the interpreter against what PyTorch computed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcir.importers.onnx import read_onnx
from mcir.interpreter.check import check_module
from mcir.interpreter.graph import run_graph
from mcir.interpreter.lowered import regions_of, run_lowered
from mcir.interpreter.npz import write_npz
from mcir.module import MCModule
from mcir.passes.attention_pattern import AttentionPattern
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.printer import print_module
from mcir.tools.run import main

MODELS = Path(__file__).parents[1] / "models"
CLOSE = {"rtol": 1e-5, "atol": 1e-5}  # what frameworks allow each other in fp32


@pytest.fixture(scope="module")
def llama() -> dict[str, Any]:
    """The imported model, an array for each of its inputs and weights, and PyTorch's output."""
    imported = read_onnx(MODELS / "llama.full.onnx")
    graph = imported.module.graphs[0]
    with np.load(MODELS / "llama.full.npz") as stored:
        given = [stored[name] for name in stored.files if name.startswith("in")]
        expected = stored["out0"]
    inputs = {value.name: array for value, array in zip(graph.inputs, given, strict=True)}

    def fresh() -> MCModule:
        return read_onnx(MODELS / "llama.full.onnx").module

    return {"fresh": fresh, "module": imported.module, "arrays": inputs | dict(imported.weights), "expected": expected}


@pytest.mark.parametrize("mode", ["typed", "algebraic"])
def test_the_graph_gives_what_pytorch_gave(llama: dict[str, Any], mode: str) -> None:
    (found,) = run_graph(llama["module"].graphs[0], llama["arrays"], mode).values()
    np.testing.assert_allclose(found, llama["expected"], **CLOSE)


def test_so_does_the_model_with_its_attentions_streamed(llama: dict[str, Any]) -> None:
    """Both attentions run as streams with ragged tiles; they are proved besides."""
    module = StreamingLowering(tile_m=5, tile_n=3, tile_k=7)(AttentionPattern()(llama["fresh"]()))
    assert len(regions_of(module, module.graphs[0])) == 2
    (found,) = run_lowered(module, module.graphs[0], llama["arrays"]).values()
    np.testing.assert_allclose(found, llama["expected"], **CLOSE)
    assert [result.status for result in check_module(module)] == ["proved", "proved"]


def test_so_does_mcir_run_from_files(llama: dict[str, Any], tmp_path: Path) -> None:
    text, arrays, out = tmp_path / "llama.mcir", tmp_path / "in.npz", tmp_path / "out.npz"
    text.write_text(print_module(llama["module"]))
    arrays.write_bytes(write_npz(llama["arrays"]))
    stdout, stderr = io.StringIO(), io.StringIO()
    code = main([str(text), "--inputs", str(arrays), "--output", str(out)], io.StringIO(), stdout, stderr)
    assert (code, stderr.getvalue()) == (0, "")
    assert "drawn" not in stdout.getvalue()
    with np.load(out) as stored:
        (name,) = stored.files
        np.testing.assert_allclose(stored[name], llama["expected"], **CLOSE)


def test_without_its_weights_the_result_is_another(llama: dict[str, Any]) -> None:
    """The weights do matter: drawn ones give another output."""
    graph = llama["module"].graphs[0]
    inputs = {value.name: llama["arrays"][value.name] for value in graph.inputs}
    (found,) = run_graph(graph, inputs).values()
    assert found.shape == llama["expected"].shape
    assert not np.allclose(found, llama["expected"], rtol=0.1, atol=0.1)
