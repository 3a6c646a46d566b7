"""Shell completion: what the shells themselves make of the scripts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mcir.passes import registered_passes
from mcir.tools import fmt, opt
from tests.unit.tool_harness import run


def completed(script: str, words: list[str], folder: Path, function: str = "_mcir_opt") -> list[str]:
    """What bash offers for the last of `words`, which are split as bash splits them."""
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f'COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture(scope="module")
def bash() -> str:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    return run(opt.main, "--print-completion=bash").out


def test_bash_offers_flags_values_and_files(bash: str, tmp_path: Path) -> None:
    (tmp_path / "a.mcir").write_text("")
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "sub").mkdir()
    assert completed(bash, ["mcir-opt", "--dum"], tmp_path) == ["--dump", "--dump-pass-pipeline"]
    assert completed(bash, ["mcir-opt", "--diag"], tmp_path) == ["--diagnostics="]
    assert completed(bash, ["mcir-opt", "--tile"], tmp_path) == ["--tile-m=", "--tile-n=", "--tile-k="]
    assert completed(bash, ["mcir-opt", "--dump", "="], tmp_path) == ["tree", "outline"]
    assert completed(bash, ["mcir-opt", "--dump", "=", "o"], tmp_path) == ["outline"]
    assert completed(bash, ["mcir-opt", "--target", "gfx"], tmp_path) == ["gfx942", "gfx950"]
    assert completed(bash, ["mcir-opt", "--dump=o"], tmp_path) == ["--dump=outline"]  # where `=` splits no words
    assert set(completed(bash, ["mcir-opt", "--print-ir-after", "="], tmp_path)) == set(registered_passes())
    assert completed(bash, ["mcir-opt", ""], tmp_path) == ["a.mcir", "sub"]
    assert completed(bash, ["mcir-opt", "a.mcir", "-o", "b"], tmp_path) == ["b.txt"]


def test_every_flag_of_the_help_is_offered(bash: str, tmp_path: Path) -> None:
    offered = {word.rstrip("=") for word in completed(bash, ["mcir-opt", "-"], tmp_path)}
    helped = {line.split()[0].split("=")[0].split("[")[0] for line in _flag_lines(run(opt.main, "--help").out)}
    assert helped <= offered
    assert not {"-h", "--no-verify-each"} & offered


def _flag_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("  -")]


def test_small_tools_have_scripts_too(tmp_path: Path) -> None:
    script = run(fmt.main, "--print-completion=bash").out
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    assert completed(script, ["mcir-fmt", "--ch"], tmp_path, "_mcir_fmt") == ["--check"]


def test_zsh_takes_the_script() -> None:
    script = run(opt.main, "--print-completion=zsh").out
    assert script.startswith("#compdef mcir-opt\n")
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("there is no zsh")
    # a stand-in that checks each specification as _arguments splits it
    stand_in = """
        compdef() { :; }
        _arguments() { shift; for spec in "$@"; do print -r -- "$spec"; done; }
    """
    done = subprocess.run(
        [zsh, "-f", "-c", f"{stand_in}\n{script}\n_mcir-opt"], capture_output=True, text=True, check=True
    )
    specs = done.stdout.splitlines()
    assert done.stderr == ""
    assert any(spec.startswith("*--dump=-[print the tree") and spec.endswith(":(tree outline)") for spec in specs)
    assert any(spec.startswith("*-o+[") and spec.endswith(":FILE:_files") for spec in specs)
    assert "*--verify-roundtrip[check that print and parse give the module back]" in specs


def test_unknown_shells_are_refused() -> None:
    ran = run(opt.main, "--print-completion=fish")
    assert (ran.code, ran.out) == (2, "")
    assert "bash, zsh" in ran.err
