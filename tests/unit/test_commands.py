"""What all commands have in common: where their input comes from."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from mcir.tools import fmt, opt, reduce, run, translate
from tests.unit import tool_harness

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
