"""A peer's truth: the node tests that come with the `onnx` package, run through importer and interpreter.

Each case is a model of one operator (or of that operator's body in simpler ones) with inputs and expected
outputs. What MCIR has a type and an operation for must give the expected outputs; what it has not is named
below, and every operator that the importer maps must have a case that was compared.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.case import node as node_cases

from mcir.diagnostics import MCIRError
from mcir.importers.onnx import import_onnx
from mcir.importers.onnx_table import mapped_operators
from mcir.interpreter.graph import run_graph
from mcir.ops import lookup
from mcir.verifier import check_module

# What cases contain that MCIR has no operation for, so that they do not run.
OPAQUE = {
    "onnx.Dropout",  # with its mask, or in training
    "onnx.IsInf",  # of one sign only
    "onnx.Pad",  # by reflection, repetition or wrapping; of some axes only
}
OPAQUE_IN_BODIES = {
    "onnx.Loop",  # Range
    "onnx.ReduceMean",  # over axes that are computed: RMSNormalization
    "onnx.Size",  # LayerNormalization
}

# Why the importer may refuse a case; the last holds for bodies only, where no rank is written.
REFUSALS = ("which MCIR does not have", "MCIR has tensors only", "_expanded_function_")

# Operands that are attributes in MCIR: constants in real models, inputs of the model in these cases.
ATTRIBUTES = ("axes", "axis")

OPERATORS = sorted(
    {name for domain, name in mapped_operators() if not domain} - {"SimplifiedLayerNormalization"}  # not of ONNX itself
)


@lru_cache(maxsize=1)
def _cases() -> dict[str, list[Any]]:
    """All cases of each operator.

    `collect_testcases` makes those of all 200 operators in 8 seconds, so only the files that are needed are imported.
    """
    wanted = {operator.lower() for operator in OPERATORS}
    with np.errstate(all="ignore"):
        for file in pkgutil.iter_modules(node_cases.__path__):
            if file.name.replace("_", "").removesuffix("op") in wanted:
                importlib.import_module(f"{node_cases.__name__}.{file.name}")
    table: dict[str, list[Any]] = {}
    operator_of = {case.name: case.model.graph.node[-1].op_type for case in node_cases._NodeTestCases}
    for case in node_cases._NodeTestCases:
        plain = case.name.partition("_expanded")[0]
        table.setdefault(operator_of[plain], []).append(case)
    return table


def _array(given: Any) -> Any:
    return numpy_helper.to_array(given) if isinstance(given, TensorProto) else np.asarray(given)


def _prepared(case: Any) -> tuple[ModelProto, dict[str, Any], list[Any]]:
    """The model as MCIR can take it, its inputs by name, and the expected outputs."""
    model = ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    ((inputs, outputs),) = case.data_sets
    arrays = {value.name: _array(given) for value, given in zip(graph.input, inputs, strict=True)}
    for value in [value for value in graph.input if value.name in ATTRIBUTES]:
        graph.initializer.append(numpy_helper.from_array(arrays.pop(value.name), value.name))
        graph.input.remove(value)
    if [node.op_type for node in graph.node] == ["LayerNormalization"]:
        # mean and deviation are results that MCIR's layer_norm has not
        del graph.node[0].output[1:], graph.output[1:]
    return model, arrays, list(map(_array, outputs))[: len(graph.output)]


def _comparable(array: Any) -> Any:
    return array if array.dtype.kind in "biu" else array.astype("float64")


def _compare(case: Any) -> bool:
    """Runs and compares a case; False if it is one of those that cannot be run."""
    model, arrays, expected = _prepared(case)
    try:
        module = import_onnx(model)
    except MCIRError as error:
        assert any(reason in str(error) for reason in REFUSALS), error
        return False
    check_module(module)
    graph = module.graphs[0]  # further ones are bodies of loops, which are opaque
    opaque = {node.op for node in graph.nodes if lookup(node.op) is None}
    assert opaque <= (OPAQUE | OPAQUE_IN_BODIES if "_expanded" in case.name else OPAQUE)
    if opaque:
        return False
    results = run_graph(graph, arrays)
    for value, truth in zip(graph.outputs, expected, strict=True):
        answer = results[value.name]
        assert answer.dtype == truth.dtype
        np.testing.assert_allclose(
            _comparable(answer), _comparable(truth), rtol=case.rtol, atol=case.atol, err_msg=case.name, strict=True
        )
    return True


@pytest.mark.parametrize("operator", OPERATORS)
def test_cases_of_the_operator(operator: str) -> None:
    compared = [case.name for case in _cases()[operator] if _compare(case)]
    assert compared
