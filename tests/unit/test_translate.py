"""mcir-translate: its command line, its outputs, its errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mcir.parser import parse_module
from mcir.tools.translate import main
from tests.unit.onnx_samples import one_node, tensor, value
from tests.unit.tool_harness import run

WEIGHT = np.random.default_rng(5).standard_normal((32, 32)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """x times a weight."""
    file = tmp_path / "model.onnx"
    onnx.save(one_node("MatMul", [value("x", ["n", 32]), tensor("w", WEIGHT)]), file)
    return file


TEXT = """\
graph @g(%x: tensor<(n)x32xfp32>) attributes {opset = {onnx = 17}} {
  %w = parameter : tensor<32x32xfp32>
  %y = matmul @the_node %x, %w : tensor<(n)x32xfp32>
  return %y
}
"""


def test_onnx_to_standard_output(path: Path) -> None:
    done = run(main, "--import-onnx", path)
    assert (done.code, done.out, done.err) == (0, TEXT, "")


def test_onnx_to_files(path: Path, tmp_path: Path) -> None:
    out, weights = tmp_path / "out.mcir", tmp_path / "w.npz"
    done = run(main, "--import-onnx", path, "-o", out, f"--weights={weights}")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert out.read_text() == TEXT
    with np.load(weights) as arrays:
        assert arrays.files == ["w"]
        np.testing.assert_array_equal(arrays["w"], WEIGHT)


def test_weights_of_types_that_numpy_lacks_are_stored_as_fp32(tmp_path: Path) -> None:
    import ml_dtypes

    model, weights = tmp_path / "m.onnx", tmp_path / "w.npz"
    onnx.save(one_node("Identity", [tensor("w", WEIGHT, ml_dtypes.bfloat16)], 19), model)
    assert run(main, "--import-onnx", model, f"--weights={weights}").code == 0
    with np.load(weights) as arrays:
        assert arrays["w"].dtype == np.float32
        np.testing.assert_array_equal(arrays["w"], WEIGHT.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_missing_external_data_is_a_warning(path: Path, tmp_path: Path) -> None:
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="w.data", size_threshold=0)
    (tmp_path / "w.data").unlink()
    done = run(main, "--import-onnx", path, "-o", tmp_path / "o.mcir", f"--weights={tmp_path / 'w.npz'}")
    assert done.code == 0
    assert "warning: no data for w: the external data file is not there" in done.err


def test_options_reach_the_import(path: Path, tmp_path: Path) -> None:
    full = run(main, "--import-onnx", path, "--constant-limit=0")
    assert "parameter" in full.out
    attention = tmp_path / "a.onnx"
    operands = [value(name, [1, 2, 4, 8]) for name in "qkv"]
    onnx.save(one_node("Attention", operands, 23), attention)
    assert '"onnx.Attention"' in run(main, "--import-onnx", attention, "--keep-attention").out
    expanded = run(main, "--import-onnx", attention).out
    assert '"onnx.Attention"' not in expanded
    assert sum(node.op == "matmul" for node in parse_module(expanded).graphs[0].nodes) == 2
    celu = tmp_path / "c.onnx"
    onnx.save(one_node("Celu", [value("x", [3])]), celu)
    assert '"onnx.Celu"' in run(main, "--import-onnx", celu).out
    assert '"onnx.Celu"' not in run(main, "--import-onnx", celu, "--expand-functions").out


def test_a_failed_run_leaves_an_older_output_as_it_was(tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.onnx", tmp_path / "out.mcir"
    bad.write_bytes(b"\x08\x08\x3a")
    out.write_text("older")
    done = run(main, "--import-onnx", bad, "-o", out)
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert "is not an ONNX model" in done.err
    assert out.read_text() == "older"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["bad.onnx", "out.mcir"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["m.onnx"], "which translation? --import-onnx"),
        (["--import-onnx", "a", "b"], "one input too many: 'b'"),
        (["--import-onx", "m.onnx"], "did you mean '--import-onnx'?"),
        (["--import-onnx", "m.onnx", "-o", "x", "--weights=x"], "two outputs go to x"),
    ],
)
def test_bad_usage(argv: list[str], message: str) -> None:
    done = run(main, *argv)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--import-onnx"], "an ONNX model is binary: give the path of a file"),
        (["--import-onnx", "-"], "an ONNX model is binary: give the path of a file"),
        (["--import-onnx", "none.onnx"], "no such file: none.onnx"),
        (["--import-onnx", "none.onnx", "--constant-limit=many"], "--constant-limit takes a number, not 'many'"),
    ],
)
def test_bad_input(argv: list[str], message: str) -> None:
    done = run(main, *argv)
    assert (done.code, done.out) == (1, "")
    assert message in done.err


def test_help_fits_a_tall_screen() -> None:
    done = run(main, "--help")
    assert done.code == 0
    assert "--import-onnx" in done.out
    assert len(done.out.splitlines()) < 60
