"""mcir-run: exit codes, outputs, archives in and out, and one clear error for each bad input."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from mcir.interpreter.npz import adopt, read_npz, write_npz
from mcir.printer import print_module
from mcir.tools.run import main
from mcir.values import MCValue
from tests.unit.attention_samples import SAMPLES, sample_module
from tests.unit.mutants import attr

ADD = "graph @g(%x: tensor<2x3xfp32>, %y: tensor<2x3xfp32>) {\n  %z = add %x, %y : tensor<2x3xfp32>\n  return %z\n}\n"


def run(*argv: str, stdin: str = "") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(argv, io.StringIO(stdin), out, err), out.getvalue(), err.getvalue()


@pytest.fixture
def sample(tmp_path: Path) -> str:
    path = tmp_path / "sample.mcir"
    path.write_text(print_module(sample_module(SAMPLES["causal"])))
    return str(path)


def test_runs_a_graph_on_given_arrays(tmp_path: Path) -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)
    np.savez(tmp_path / "in.npz", x=x, y=y)
    code, out, err = run("-", "--inputs", str(tmp_path / "in.npz"), "--output", str(tmp_path / "out.npz"), stdin=ADD)
    assert (code, out, err) == (0, "%z: tensor<2x3xfp32> min 1 mean 3.5 max 6\n", "")
    with np.load(tmp_path / "out.npz") as stored:
        assert stored.files == ["z"]
        assert np.array_equal(stored["z"], x + y)


def test_draws_and_says_so_and_a_seed_decides(tmp_path: Path) -> None:
    first = run("-", "--seed", "3", "-o", str(tmp_path / "a.npz"), stdin=ADD)
    again = run("-", "--seed", "3", "-o", str(tmp_path / "b.npz"), stdin=ADD)
    assert first == again
    assert first[1].startswith("drawn from seed 3: %x, %y\n%z: tensor<2x3xfp32> min ")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert run("-", "--seed", "4", stdin=ADD)[1] != first[1]


def test_inputs_of_several_files(tmp_path: Path) -> None:
    for name in ("x", "y"):
        np.savez(tmp_path / f"{name}.npz", **{name: np.ones((2, 3), np.float32)})
    files = ["--inputs", str(tmp_path / "x.npz"), "--inputs", str(tmp_path / "y.npz")]
    text = "graph @g(%x: tensor<2x3xfp32>, %y: tensor<2x3xfp32>) { %z = add %x, %y : tensor<2x3xfp32> return %z }"
    assert run(*files, stdin=text) == (0, "%z: tensor<2x3xfp32> min 2 mean 2 max 2\n", "")
    code, out, err = run(*files, "--inputs", str(tmp_path / "x.npz"), stdin=text)
    assert (code, out) == (1, "")
    assert "'x' is given by an earlier file already" in err


def test_absent_weights_are_drawn_beside_given_inputs(tmp_path: Path) -> None:
    text = ADD.replace(", %y: tensor<2x3xfp32>", "").replace("{\n", "{\n  %y = parameter : tensor<2x3xfp32>\n", 1)
    np.savez(tmp_path / "in.npz", x=np.zeros((2, 3), np.float32))
    code, out, _ = run("-", "--inputs", str(tmp_path / "in.npz"), stdin=text)
    assert code == 0
    assert out.startswith("drawn from seed 0: %y\n")


def test_graph_and_region_give_the_same(sample: str) -> None:
    graph = run(sample, "--mode", "algebraic")
    region = run(sample, "--mode", "algebraic", "--only", "@attention_region")
    assert graph[0] == region[0] == 0
    assert graph[1] == region[1]


def test_a_graph_with_its_regions_in_place(sample: str, tmp_path: Path) -> None:
    """--lowered runs the region instead of the nodes it covers: a wrong region shows in the graph's output."""
    right = run(sample, "--mode", "algebraic")
    assert run(sample, "--mode", "algebraic", "--lowered") == right
    wrong = tmp_path / "wrong.mcir"
    wrong.write_text(Path(sample).read_text().replace('mask = "causal", offset = 6', 'mask = "causal", offset = 5'))
    assert run(str(wrong), "--mode", "algebraic") == right
    code, out, _ = run(str(wrong), "--mode", "algebraic", "--lowered")
    assert code == 0
    assert out != right[1]


def test_proves(sample: str) -> None:
    code, out, err = run("--check", sample)
    assert (code, err) == (0, "")
    assert out == "@attention_region: proved (exact, algebraic, typed), 12 cases\n"
    code, out, _ = run("--check", sample, "--json", "--level", "exact")
    assert code == 0
    assert json.loads(out) == {"regions": [
        {"region": "attention_region", "status": "proved", "levels": ["exact"], "cases": 7, "reason": "",
         "difference": None}]}  # fmt: skip


def test_a_difference_exits_with_1(tmp_path: Path) -> None:
    module = sample_module(SAMPLES["causal"])
    attr("score", offset=5)(module.regions[0])
    path = tmp_path / "wrong.mcir"
    path.write_text(print_module(module))
    code, out, _ = run("--check", str(path))
    assert code == 1
    assert out.startswith("@attention_region: failed: O[b = 0, h = 0, g = 0] row 0 (query tile 0), column ")
    code, out, _ = run("--check", str(path), "--json")
    difference = json.loads(out)["regions"][0]["difference"]
    assert (code, difference["row"], difference["output"], difference["inputs"]) == (1, 0, "O", "plain")


def test_not_provable_and_nothing_to_prove_exit_with_1() -> None:
    text = print_module(sample_module(SAMPLES["causal"])).replace("= softmax %", '= "onnx.Foo" %')
    code, out, _ = run("--check", "-", stdin=text)
    assert code == 1
    assert out == '@attention_region: not provable: not runnable: op "onnx.Foo"\n'
    code, out, err = run("--check", stdin=ADD)
    assert (code, out) == (1, "")
    assert err.startswith("error: nothing to prove: the module has no regions\n  hint: mcir-opt --attention-pattern")


USAGE = {
    "two inputs": (["a.mcir", "b.mcir"], "one input too many: 'b.mcir'"),
    "an unknown flag": (["-", "--chek"], "unknown option --chek: did you mean '--check'?"),
    "an unknown level": (["-", "--level", "exakt"], "unknown level 'exakt': did you mean 'exact'?"),
    "no level": (["-", "--level", ","], "--level names no level"),
    "an unknown mode": (["-", "--mode", "fast"], "--mode cannot be 'fast'"),
    "a seed that is no number": (["-", "--seed=-1"], "--seed takes a natural number, not '-1'"),
    "a size that is none": (["-", "--size", "n"], "--size takes NAME=N, not 'n'"),
    "a dim that is none": (["-", "--dim", "n"], "--dim takes NAME=N, not 'n'"),
    "a dim with check": (["-", "--check", "--dim=n=3"], "--check draws its own inputs"),
    "json without check": (["-", "--json"], "--json is for --check"),
    "lowered with check": (["-", "--check", "--lowered"], "--lowered is for runs"),
    "inputs with check": (["-", "--check", "--inputs", "x"], "--check draws its own inputs"),
}


@pytest.mark.parametrize("name", USAGE)
def test_bad_usage(name: str) -> None:
    argv, message = USAGE[name]
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert message in err


def test_sizes_that_are_missing_are_named_all_at_once() -> None:
    text = Path("examples/grouped_query.mcir").read_text()
    code, out, err = run("-", stdin=text)
    assert (code, out) == (1, "")
    assert err.count("error:") == 1 and "give the sizes (batch), (seq), (past)\n" in err
    assert "hint: --size batch=16,seq=16,past=16, or --inputs" in err
    code, out, err = run("-", "--size=batch=1,past=2", stdin=text)
    assert code == 1 and "give the size (seq)\n" in err and "hint: --size seq=16, or" in err
    odd = ADD.replace("2x", '("a b")x')
    assert "hint: --size 'a b=16', or --inputs" in run("-", stdin=odd)[2]


@pytest.mark.parametrize("flags", ["--size=n=3", "--dim n=3", "--dim=m=2 --dim=n=3", "--size=m=2 --dim=n=3"])
def test_sizes_are_given_by_either_flag(flags: str) -> None:
    code, out, err = run("-", *flags.split(), stdin=ADD.replace("2x", "(n)x"))
    assert (code, err) == (0, "")
    assert "%z: tensor<3x" in out


def test_help_fits_a_screen() -> None:
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: mcir-run")
    assert len(out.splitlines()) < 40


BAD = {
    "missing file": (["nowhere.mcir"], "", "no such file: nowhere.mcir"),
    "two graphs": (["-"], ADD + ADD.replace("@g", "@h"), "the module has 2 graphs: @g, @h"),
    "nothing at all": (["-"], "// nothing\n", "the module has 0 regions"),
    "an unknown name": (["-", "--only", "gg"], ADD, "no graph or region is called 'gg'"),
    "an invalid module": (["-"], ADD.replace("return %z", "return %y2"), "error:"),
    "a named size": (["-"], ADD.replace("2x", "(n)x"), "--size n=16"),
    "an unknown size": (["-"], ADD.replace("2x", "?x"), "give it with --inputs"),
    "an opaque op": (["-"], ADD.replace("add %x", '"onnx.Foo" %x'), 'not runnable: op "onnx.Foo"'),
    "arrays too large": (["-", "--size", "n=99999999999"], ADD.replace("2x", "(n)x"), "the limit is 2048 MiB"),
    "scores in exact mode": (["-", "--mode", "exact"], ADD.replace("add %x, %y", "exp %x"), "are no integers"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    argv, text, message = BAD[name]
    code, out, err = run(*argv, stdin=text)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def _archive(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def _pickled() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.array([{}], dtype=object))
    return buffer.getvalue()


GOOD = write_npz({"x": np.zeros((2, 3), np.float32), "y": np.zeros((2, 3), np.float32)})
ARCHIVES = {
    "empty": (b"", "is no .npz archive"),
    "text": (b"hello", "is no .npz archive"),
    "an array, not an archive": (b"\x93NUMPY\x01\x00", "is no .npz archive"),
    "cut off": (GOOD[: len(GOOD) // 2], "cannot read"),
    "a flipped byte": (GOOD[:200] + bytes([GOOD[200] ^ 255]) + GOOD[201:], "cannot read"),
    "no array in it": (_archive(x=b"hello", y=b""), "'x' is no array"),
    "objects": (_pickled(), "cannot read"),
    "missing and extra": (write_npz({"x": np.zeros((2, 3), np.float32), "w": np.zeros(1)}), "missing array 'y'"),
    "a wrong dtype": (write_npz({n: np.zeros((2, 3)) for n in "xy"}), "has dtype float64, expected float32"),
    "a wrong shape": (write_npz({n: np.zeros((3, 2), np.float32) for n in "xy"}), "has shape [3, 2], expected [2, 3]"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_bad_archives(name: str, tmp_path: Path) -> None:
    data, message = ARCHIVES[name]
    (tmp_path / "in.npz").write_bytes(data)
    code, out, err = run("-", "--inputs", str(tmp_path / "in.npz"), "-o", str(tmp_path / "out.npz"), stdin=ADD)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "out.npz").exists()


def test_an_archive_that_unpacks_to_too_much(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(4 << 20))
    code, _, err = run("-", "--inputs", str(tmp_path / "bomb.npz"), "--memory-limit", "1", stdin=ADD)
    assert code == 1
    assert "unpacks to 4 MiB, the limit is 1 MiB" in err


def test_nan_and_infinity_are_legal_data(tmp_path: Path) -> None:
    x = np.array([[np.nan, np.inf, 1], [2, 3, 4]], np.float32)
    (tmp_path / "in.npz").write_bytes(write_npz({"x": x, "y": np.zeros((2, 3), np.float32)}))
    code, out, _ = run("-", "--inputs", str(tmp_path / "in.npz"), stdin=ADD)
    assert (code, out) == (0, "%z: tensor<2x3xfp32> min 1 mean 2.5 max 4, 1 NaN, 1 infinite\n")


def test_types_that_numpy_lacks_go_out_and_in_again() -> None:
    array = np.array([1.5, -2.25, 448.0])
    for name, dtype in (("bf16", ml_dtypes.bfloat16), ("fp8e4m3", ml_dtypes.float8_e4m3fn)):
        narrow = array.astype(dtype)
        stored = read_npz(write_npz({"a/b": narrow}), "x.npz")["a/b"]
        assert stored.dtype == np.float32
        value = MCValue("a/b", (3,), name)
        assert np.array_equal(adopt(stored, value), narrow)
        raw = narrow.view(f"V{narrow.dtype.itemsize}")
        assert np.array_equal(adopt(raw, value), narrow)
    kept = array.astype(np.float32)
    assert adopt(kept, MCValue("x", (3,), "fp16")) is kept  # a wrong type stays one, and is refused later
