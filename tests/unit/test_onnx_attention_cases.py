"""ONNX's own Attention cases, expanded by ONNX's own bodies, give the outputs that ONNX expects."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from onnx.backend.test.case import node as node_cases

from mcir.importers.onnx import import_onnx
from mcir.interpreter.graph import run_graph
from mcir.verifier import check_module

# Relative and absolute; those of 16 bits are what frameworks allow each other.
TOLERANCE = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}

OPERATORS = ("Attention", "RotaryEmbedding")


@lru_cache(maxsize=1)
def cases() -> dict[str, list[Any]]:
    """The cases of each operator as one node, not as its body."""
    with np.errstate(all="ignore"):
        from onnx.backend.test.case.node import attention, rotaryembedding  # noqa: F401  (importing makes the cases)
    table: dict[str, list[Any]] = {operator: [] for operator in OPERATORS}
    for case in node_cases._NodeTestCases:
        nodes = case.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in table:
            table[nodes[0].op_type].append(case)
    return table


def array(given: Any) -> Any:
    return numpy_helper.to_array(given) if hasattr(given, "dims") else np.asarray(given)


@pytest.mark.parametrize("operator", OPERATORS)
def test_expanded_cases_give_what_onnx_expects(operator: str) -> None:
    ran = 0
    for case in cases()[operator]:
        module = import_onnx(case.model, expand_functions=operator != "Attention")  # that one is by default
        check_module(module)
        graph = module.graphs[0]
        assert all("." not in node.op for node in graph.nodes), case.name
        ((inputs, outputs),) = case.data_sets
        given = {value.name: array(item) for value, item in zip(graph.inputs, inputs, strict=True)}
        for result, expected in zip(run_graph(graph, given).values(), map(array, outputs), strict=True):
            limit = TOLERANCE[str(expected.dtype)]
            assert result.dtype == expected.dtype, case.name
            np.testing.assert_allclose(
                result.astype(float), expected.astype(float), rtol=limit, atol=limit, err_msg=case.name
            )
        ran += 1
    assert ran >= (8 if operator == "RotaryEmbedding" else 90)


def test_kept_they_are_one_opaque_node() -> None:
    for operator, found in cases().items():
        for case in found:
            graph = import_onnx(case.model, keep_attention=True).graphs[0]
            assert [node.op for node in graph.nodes] == [f"onnx.{operator}"]
            kept = {attribute.name for attribute in case.model.graph.node[0].attribute}
            assert kept <= set(graph.nodes[0].attrs)
