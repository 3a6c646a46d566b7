"""What all commands have in common: where their input comes from, and that the examples of their help run."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mcir.tools import fmt, opt, reduce, run, translate
from tests.support.sessions import NEEDS, ROOT, environment
from tests.unit import tool_harness
from tests.unit.tool_harness import TOOLS

TEXT = "graph @g(%x: tensor<4xfp32>) {\n  %y = neg %x : tensor<4xfp32>\n  return %y\n}\n"

# how each command that takes one input is called, without the input
READERS = {
    "mcir-opt": (opt.main, []),
    "mcir-run": (run.main, ["--seed", "1"]),
    "mcir-translate": (translate.main, ["--to-mlir"]),
    "mcir-fmt": (fmt.main, []),
    "mcir-reduce": (reduce.main, ["--test", "grep -q neg", "--quiet"]),
}


@pytest.mark.parametrize("name", READERS)
def test_without_a_file_standard_input_is_read(name: str, tmp_path: Path) -> None:
    main, words = READERS[name]
    path = tmp_path / "in.mcir"
    path.write_text(TEXT)
    from_stdin = tool_harness.run(main, *words, stdin=TEXT)
    assert from_stdin.code == 0
    assert from_stdin.err == ""
    assert tool_harness.run(main, *words, "-", stdin=TEXT) == from_stdin
    from_file = tool_harness.run(main, *words, path)
    assert (from_file.code, from_file.out) == (0, "" if name == "mcir-fmt" else from_stdin.out)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", READERS)
def test_who_waits_for_a_terminal_says_so(name: str) -> None:
    main, words = READERS[name]
    out, err = io.StringIO(), io.StringIO()
    assert main(words, _Terminal(TEXT), out, err) == 0
    assert err.getvalue() == f"{name}: reading standard input (Ctrl-D ends it; {name} --help shows the options)\n"


# what an example needs that a checkout does not have
ABSENT = {"model.pt2": "torch", "| mlir-opt": "mlir-opt", "mcir-lsp --stdio": "pygls"}


def examples(tool: str) -> list[str]:
    """The command lines of the last section of a help."""
    lines = tool_harness.run(TOOLS[tool], "--help").out.partition("\nexamples:\n")[2].splitlines()
    assert all(line.startswith("  # ") for line in lines[::2])
    assert max(map(len, lines)) <= 110
    return [line.strip() for line in lines[1::2]]


@pytest.mark.parametrize("tool", TOOLS)
def test_help_ends_in_examples_that_run(tool: str, tmp_path: Path) -> None:
    lines = examples(tool)
    assert 2 <= len(lines) <= 5
    assert all(re.search(rf"\b{tool}\b", line) or "> test.sh" in line for line in lines)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/models").symlink_to(ROOT / "tests/models")
    for line in lines:
        if all(NEEDS[need]() for text, need in ABSENT.items() if text in line):
            if "model.pt2" in line:
                _export(tmp_path / "model.pt2")
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, env=environment(), capture_output=True, text=True,
                check=False, timeout=120,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            assert not re.search(r"^(.*: )?(error|warning): ", done.stderr, re.MULTILINE), done.stderr


def _export(path: Path) -> None:
    import torch

    program = torch.export.export(torch.nn.Softmax(dim=-1), (torch.ones(2, 3),))
    torch.export.save(program, path)
