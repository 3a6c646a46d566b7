"""All semantic ops together: their examples are real text, their names are the vocabulary, nothing imports NumPy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from mcir.ops import all_ops
from mcir.ops.definition import OPTIONAL, REQUIRED, OpDef
from mcir.parser import parse_module
from mcir.printer import print_node
from mcir.types import TensorType
from mcir.verifier import verify_module
from tests.unit.op_harness import numpy_dtype, proof_dtype, run, sample

SEMANTIC = [op for op in all_ops() if op.level == "semantic"]

POINTWISE = """
    add sub mul div pow mod min max neg abs sqrt reciprocal exp log tanh erf sigmoid sin cos floor ceil round sign relu
    gelu silu softplus elu isnan isinf not and or xor equal not_equal less less_equal greater greater_equal where cast
    clip softcap identity dropout
"""
LAYOUT = """
    transpose reshape expand repeat tile concat slice split squeeze unsqueeze gather gather_nd gather_elements flatten
    pad
"""
OTHER = """
    matmul einsum shape full range iota constant parameter reduce_max reduce_min reduce_sum reduce_mean reduce_prod
    cumsum softmax log_softmax layer_norm rms_norm mask trilu
"""


def example_graph(op: OpDef) -> str:
    """The op's example in a graph: its comment gives the operands' types."""
    line, _, operands = op.example.partition("//")
    return f"graph @example({operands.strip()}) {{\n  {line.strip()}\n  return\n}}\n"


@pytest.mark.parametrize("op", SEMANTIC, ids=lambda op: op.name)
def test_example_parses_verifies_and_prints_as_written(op: OpDef) -> None:
    module = parse_module(example_graph(op))
    assert [diagnostic.render() for diagnostic in verify_module(module)] == []
    (node,) = module.graphs[0].nodes
    assert node.op == op.name
    assert print_node(node) == op.example.partition("//")[0].strip()


# operands of examples that a random draw does not fit
FITTING = {"range": (0, 5, 2), "full": ([3, 8],)}


def _sized(type_: TensorType) -> TensorType:
    """The type with 5 for each size that is not known."""
    return TensorType(tuple(dim if isinstance(dim, int) else 5 for dim in type_.shape), type_.dtype)


@pytest.mark.parametrize("proof", [False, True], ids=["typed", "proof"])
@pytest.mark.parametrize("op", [op for op in SEMANTIC if op.evaluate is not None], ids=lambda op: op.name)
def test_example_runs(op: OpDef, proof: bool) -> None:
    """Each example gives arrays of its result types; in a proof every float is float64."""
    (node,) = parse_module(example_graph(op)).graphs[0].nodes
    arrays = [np.asarray(operand) for operand in FITTING.get(op.name, ())]
    arrays = arrays or [sample(_sized(value.type), seed, proof) for seed, value in enumerate(node.inputs)]
    texts = [f"{'x'.join(str(dim or '?') for dim in (*value.shape, value.dtype))}" for value in node.outputs]
    out = run(op.name, *arrays, result=texts, proof=proof, **node.attrs)
    for array, value in zip(out if isinstance(out, tuple) else (out,), node.outputs, strict=True):
        assert isinstance(array, np.ndarray)
        assert array.dtype == (proof_dtype if proof else numpy_dtype)(value.dtype)
        assert len(array.shape) == len(value.shape)
        assert all(dim in (None, size) for dim, size in zip(value.shape, array.shape, strict=True))


def test_vocabulary_is_complete() -> None:
    assert {op.name for op in SEMANTIC} == set(f"{POINTWISE} {LAYOUT} {OTHER}".split())


def test_traits_mark_the_families() -> None:
    def marked(trait: str) -> set[str]:
        return {op.name for op in SEMANTIC if trait in op.traits}

    assert marked("pointwise") == set(POINTWISE.split())
    assert marked("layout") == set(LAYOUT.split())
    assert marked("tile") == {*POINTWISE.split(), "mask", "constant"}
    assert marked("commutative") == {"add", "mul", "min", "max", "and", "or", "xor", "equal", "not_equal"}


def test_every_attribute_says_what_it_is_and_its_default_is_of_its_kind() -> None:
    for op in SEMANTIC:
        assert op.doc.endswith("."), op.name
        for attr in op.attrs:
            assert attr.doc, (op.name, attr.name)
            assert attr.default in (OPTIONAL, REQUIRED) or attr.problem(attr.default) is None, (op.name, attr.name)


def test_ops_import_no_numpy() -> None:
    code = "import sys, mcir.ops; sys.exit(any(name in sys.modules for name in ('numpy', 'onnx', 'ml_dtypes')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
