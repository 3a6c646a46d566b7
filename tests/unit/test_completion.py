"""Shell completion: what the shells themselves make of the scripts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mcir.passes import registered_passes
from mcir.tools import opt
from tests.unit.tool_harness import TOOLS, run


def completed(script: str, words: list[str], folder: Path, function: str = "_mcir_opt") -> list[str]:
    """What bash offers for the last of `words`, which are split as bash splits them."""
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f'COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; {function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def fish(tool: str, line: str, folder: Path) -> list[str]:
    """What fish offers at the end of `line`, without the descriptions."""
    (folder / ".script").write_text(script(tool, "fish"))
    done = subprocess.run(
        [_shell("fish"), "--no-config", "-c", f"source .script; complete -C '{line}'"], cwd=folder,
        env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / ".data")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return [offer.split("\t")[0] for offer in done.stdout.splitlines()]


def script(tool: str, shell: str) -> str:
    return run(TOOLS[tool], f"--print-completion={shell}").out


def _function(tool: str) -> str:
    return "_" + tool.replace("-", "_")


def _shell(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name}")
    return path


@pytest.fixture(scope="module")
def bash() -> str:
    _shell("bash")
    return script("mcir-opt", "bash")


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


@pytest.mark.parametrize("tool", TOOLS)
def test_every_flag_of_the_help_is_offered(tool: str, tmp_path: Path) -> None:
    offered = {word.rstrip("=") for word in completed(script(tool, "bash"), [tool, "-"], tmp_path, _function(tool))}
    assert _flags_of_help(tool) <= offered
    assert not {"-h", "--no-verify-each"} & offered


@pytest.mark.parametrize("tool", TOOLS)
def test_bash_completes_in_a_real_command_line(tool: str, tmp_path: Path) -> None:
    """The script is loaded as `source <(...)` and bash itself finds the function of the command."""
    bash = _shell("bash")
    ask = f"""
        source {tmp_path}/script
        spec=$(complete -p {tool}); function=${{spec##*-F }}; function=${{function%% *}}
        COMP_WORDS=({tool} --vers); COMP_CWORD=1; $function; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    (tmp_path / "script").write_text(script(tool, "bash"))
    done = subprocess.run([bash, "-c", ask], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("--version\n", "")


@pytest.mark.parametrize("tool", TOOLS)
def test_fish_offers_every_flag_of_the_help(tool: str, tmp_path: Path) -> None:
    offered = fish(tool, f"{tool} -", tmp_path)
    assert _flags_of_help(tool) <= {word.rstrip("=") for word in offered}


def test_fish_offers_values_and_files(tmp_path: Path) -> None:
    (tmp_path / "a.mcir").write_text("")
    assert fish("mcir-opt", "mcir-opt --target gfx", tmp_path) == ["gfx942", "gfx950"]
    assert "--dump=outline" in fish("mcir-opt", "mcir-opt --dump=o", tmp_path)
    assert fish("mcir-translate", "mcir-translate --target=gfx", tmp_path) == ["--target=gfx942", "--target=gfx950"]
    assert fish("mcir-opt", "mcir-opt -o ", tmp_path) == ["a.mcir"]
    assert fish("mcir-lsp", "mcir-lsp ", tmp_path) == []


def _flags_of_help(tool: str) -> set[str]:
    lines = [line for line in run(TOOLS[tool], "--help").out.splitlines() if line.startswith("  -")]
    assert lines
    return {line.split()[0].split("=")[0].split("[")[0] for line in lines}


@pytest.mark.parametrize("tool", TOOLS)
def test_zsh_takes_the_script(tool: str) -> None:
    made = script(tool, "zsh")
    assert made.startswith(f"#compdef {tool}\n")
    # a stand-in that shows each specification as _arguments gets it
    stand_in = """
        compdef() { :; }
        _arguments() { shift; for spec in "$@"; do print -r -- "$spec"; done; }
    """
    done = subprocess.run(
        [_shell("zsh"), "-f", "-c", f"{stand_in}\n{made}\n_{tool}"], capture_output=True, text=True, check=True
    )
    specs = done.stdout.splitlines()
    assert done.stderr == ""
    named = {re.split(r"[\[=+]", spec[1:])[0] for spec in specs}
    assert _flags_of_help(tool) <= named
    if tool == "mcir-opt":
        assert any(spec.startswith("*--dump=-[print the tree") and spec.endswith(":(tree outline)") for spec in specs)
        assert any(spec.startswith("*-o+[") and spec.endswith(":FILE:_files") for spec in specs)
        assert "*--verify-roundtrip[check that print and parse give the module back]" in specs


def test_unknown_shells_are_refused() -> None:
    ran = run(opt.main, "--print-completion=tcsh")
    assert (ran.code, ran.out) == (2, "")
    assert "bash, zsh, fish" in ran.err
