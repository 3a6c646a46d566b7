"""Every script in examples/ runs and prints what tests/data/examples says; every module goes through the passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mcir.parser import parse_module
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from mcir.samples import build_attention_semantic_graph
from mcir.verifier import verify_module

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
MODULES = sorted((ROOT / "examples").glob("*.mcir"))


def output(script: Path) -> str:
    ran = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script: Path) -> None:
    expected = DATA / "examples" / f"{script.stem}.txt"
    assert output(script) == expected.read_text(encoding="utf-8")


def test_both_attention_scripts_end_in_the_design_notes_dump() -> None:
    dump = (DATA / "attention.dump").read_text(encoding="utf-8")
    assert output(ROOT / "examples" / "flow.py") == dump
    assert output(ROOT / "examples" / "hand_built_attention.py").endswith("}\n\n" + dump)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module(path: Path) -> None:
    module = parse_module(path.read_text(encoding="utf-8"), path.name)
    assert verify_module(module) == []
    lowered = run_streaming_lowering_pass(run_attention_pattern_pass(module))
    assert verify_module(lowered) == []
    assert [region.kind for region in lowered.walk()] == ["execution", "streaming", "tile"]


def test_the_attention_module_is_the_sample() -> None:
    path = ROOT / "examples" / "attention.mcir"
    (graph,) = parse_module(path.read_text(encoding="utf-8"), path.name).graphs
    graph.comments = None
    assert graph == build_attention_semantic_graph()
    assert print_module(parse_module(path.read_text(encoding="utf-8"))) == path.read_text(encoding="utf-8")
