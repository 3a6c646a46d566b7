"""A peer's own tests: ONNX's Attention cases, as one operator and expanded, are proved and give what ONNX expects.

A case is "proved" (every attention in it is found, lowered, proved, and the graph with its regions in place gives
ONNX's outputs), "declined" (with the detector's reason) or "failed". Declined is what hands out its scores or
probabilities, since a stream never has them as a whole. None may fail.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from onnx.backend.test.case import node as node_cases

from mcir.importers.onnx import import_onnx
from mcir.interpreter.check import LEVELS, check_module
from mcir.interpreter.lowered import run_lowered
from mcir.passes.attention_pattern import AttentionPattern
from mcir.passes.streaming_lowering import StreamingLowering

# Relative and absolute: what frameworks allow each other.
TOLERANCE = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


@lru_cache(maxsize=1)
def attention_cases() -> dict[str, Any]:
    """ONNX's cases by name."""
    with np.errstate(all="ignore"):
        from onnx.backend.test.case.node import attention  # noqa: F401  (importing makes the cases)
    return {case.name: case for case in node_cases._NodeTestCases if case.name.startswith("test_attention")}


def array(given: Any) -> Any:
    return numpy_helper.to_array(given) if hasattr(given, "dims") else np.asarray(given)


@lru_cache(maxsize=1024)
def outcome(name: str) -> tuple[str, str]:
    """("proved" | "declined" | "failed", why) of a case."""
    case = attention_cases()[name]
    module = import_onnx(case.model, expand_functions=True)
    pattern, lowering = AttentionPattern(), StreamingLowering(tile_m=3, tile_n=4, tile_k=5)
    module = lowering(pattern(module))
    refused = [remark for remark in (*pattern.remarks, *lowering.remarks) if remark.status in ("declined", "refused")]
    # The two forms of a case differ in names: one of them is proved at every level.
    levels = LEVELS[:2] if name.endswith("_expanded") else LEVELS
    results = check_module(module, levels)
    wrong = [str(result) for result in results if result.status != "proved"] or _differences(case, module)
    if wrong:
        return "failed", wrong[0]
    if refused:
        return "declined", f"{refused[0].rule}: {refused[0].message}"
    return ("proved", "") if results else ("failed", "no softmax was found")


def _differences(case: Any, module: Any) -> list[str]:
    """The outputs in which the graph with its regions in place differs from what ONNX expects."""
    graph = module.graphs[0]
    found = []
    for inputs, outputs in case.data_sets:
        given = {value.name: array(item) for value, item in zip(graph.inputs, inputs, strict=True)}
        results = run_lowered(module, graph, given)
        for (name, result), expected in zip(results.items(), map(array, outputs), strict=True):
            limit = TOLERANCE[str(expected.dtype)]
            if not np.allclose(result.astype(float), expected.astype(float), rtol=limit, atol=limit, equal_nan=True):
                found.append(f"output {name} differs")
    return found


@pytest.mark.parametrize("name", sorted(attention_cases()))
def test_case_is_proved_or_rightly_declined(name: str) -> None:
    status, why = outcome(name)
    hands_out_scores = "qk_matmul_output" in [value.name for value in attention_cases()[name].model.graph.output]
    assert status == ("declined" if hands_out_scores else "proved"), why


def test_the_table_of_all_cases() -> None:
    """What the installed package has: more proved than any fuser forms, and both forms of a case agree."""
    counts = Counter(outcome(name)[0] for name in attention_cases())
    assert counts["failed"] == 0
    assert counts["proved"] > 3 * counts["declined"]
    pairs = [(name, f"{name}_expanded") for name in attention_cases() if f"{name}_expanded" in attention_cases()]
    assert len(pairs) > 80
    assert all(outcome(one)[0] == outcome(other)[0] for one, other in pairs)
