"""Exported programs of real attention code: valid, equal to torch, their attentions found and proved."""

# ruff: noqa: E402  (what follows the first line needs torch)
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'mcir[torch]'")

from mcir.importers.torch_export import read_exported_program
from mcir.importers.torch_values import array_of
from mcir.interpreter.check import check_module as prove
from mcir.interpreter.graph import run_graph
from mcir.parser import parse_module
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from mcir.verifier import verify_module
from tests.unit.torch_modules import SAMPLES, Sample

FORMS = {"as exported": lambda program: program, "core aten": lambda program: program.run_decompositions()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SAMPLES)
def test_equal_to_torch_and_proved(name: str, form: str) -> None:
    sample = SAMPLES[name]
    program, inputs, expected = sample.program()
    imported = read_exported_program(FORMS[form](program))
    module = imported.module
    assert verify_module(module) == []
    assert parse_module(print_module(module)) == module
    graph = module.graphs[0]
    assert [node.op for node in graph.nodes if "." in node.op] == []
    given = {value.name: array_of(item) for value, item in zip(graph.inputs, inputs, strict=True)}
    outputs = run_graph(graph, {**given, **imported.weights})
    wanted = list(expected) if isinstance(expected, tuple) else [expected]
    for value, item in zip(graph.outputs, wanted, strict=False):
        close(outputs[value.name], item, sample)
    found = run_attention_pattern_pass(module)
    assert len(found.regions) == sample.attentions
    results = prove(run_streaming_lowering_pass(found))
    assert [result.status for result in results] == ["proved"] * sample.attentions, results


def close(result: Any, item: Any, sample: Sample) -> None:
    wanted = array_of(item)
    assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    limit = sample.tolerance
    np.testing.assert_allclose(result.astype(float), wanted.astype(float), rtol=limit, atol=limit)
