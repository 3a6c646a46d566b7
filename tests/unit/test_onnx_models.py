"""Real exports come in: valid, printed and read back, every node there under its name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import pytest

from mcir.importers.onnx import read_onnx
from mcir.interpreter.graph import run_graph
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.verifier import verify_module

MODELS = Path(__file__).parents[1] / "models"

# file: opaque operators
OPAQUE = {
    "bert.dynamo_sdpa_op23": {"onnx.Attention": 2},
    "gpt2.legacy17_sdpa": {},
    "llama.dynamo_sdpa_dyn": {},
    "ppocrv4_rec": {
        "onnx.AveragePool": 1, "onnx.BatchNormalization": 6, "onnx.Conv": 38, "onnx.GlobalAveragePool": 2,
        "onnx.HardSigmoid": 2,
    },
    "silero_vad_op18": {"onnx.Conv": 12, "onnx.If": 1, "onnx.Pad": 2},
    "swin.dynamo_eager": {"onnx.Conv": 1},
    "t5.dynamo_eager_dyn": {},
}  # fmt: skip


def onnx_nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    bodies = [item.g for node in graph.node for item in node.attribute if item.HasField("g")]
    return [*graph.node, *(node for body in bodies for node in onnx_nodes(body))]


@pytest.mark.parametrize("name", OPAQUE)
def test_a_real_export_comes_in_whole(name: str) -> None:
    path = MODELS / f"{name}.onnx"
    module = read_onnx(path, keep_attention=True).module
    assert verify_module(module) == []
    assert parse_module(print_module(module)) == module
    nodes = [node for graph in module.graphs for node in graph.nodes]
    assert Counter(node.op for node in nodes if "." in node.op) == OPAQUE[name]
    source = onnx.load(path)
    by_name = {node.name: node for node in nodes}
    for node in onnx_nodes(source.graph):
        made = by_name[node.name or node.output[0]]
        assert made.outputs[0].name == node.output[0]
    main = module.graphs[0]
    assert [item.name for item in main.outputs] == [item.name for item in source.graph.output]


def test_named_sizes_of_a_real_export() -> None:
    main = read_onnx(MODELS / "llama.dynamo_sdpa_dyn.onnx").module.graphs[0]
    assert {item.name: item.shape for item in main.inputs}["input_ids"] == ("s10", "s12")
    softmax = next(node for node in main.nodes if node.op == "softmax")
    assert softmax.outputs[0].shape[1] == 4  # heads


def test_ranks_of_a_model_whose_shapes_are_computed() -> None:
    main = read_onnx(MODELS / "ppocrv4_rec.onnx").module.graphs[0]
    softmaxes = [node for node in main.nodes if node.op in ("softmax", "log_softmax")]
    assert [len(node.outputs[0].shape) for node in softmaxes] == [4, 4, 3]


def test_a_real_export_runs_as_onnx_runs_it() -> None:
    path = MODELS / "gpt2.legacy17_sdpa.onnx"
    imported = read_onnx(path)
    main = imported.module.graphs[0]
    rng = np.random.default_rng(3)
    sizes = {"batch": 2, "seq": 6}
    feeds = {}
    for item in main.inputs:
        shape = [sizes[dim] if isinstance(dim, str) else dim for dim in item.shape]
        is_float = item.dtype == "fp32"
        feeds[item.name] = (rng.standard_normal(shape) / 8).astype(np.float32) if is_float else np.ones(shape, np.int64)
    expected = onnx.reference.ReferenceEvaluator(onnx.load(path)).run(None, feeds)
    result = run_graph(main, feeds | dict(imported.weights))
    for array, want in zip(result.values(), expected, strict=True):
        np.testing.assert_allclose(array, want, rtol=1e-5, atol=1e-5)
