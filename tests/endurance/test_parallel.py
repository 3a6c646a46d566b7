"""Side by side and again: many processes, hash seeds and threads give the same bytes as one run."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mcir.diagnostics import MCIRError
from mcir.parser import parse_module
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from mcir.verifier import verify_module
from tests.endurance.seeds import MODELS, ROOT, lowered, texts

GRAPH = str(ROOT / "examples" / "grouped_query.mcir")
MODEL = str(MODELS / "silero_vad_op18.onnx")
COMMANDS: dict[str, list[str]] = {
    "opt": [GRAPH, "--attention-pattern", "--streaming-lowering", "--remarks", "--memory-report"],
    "run": [GRAPH, "--size=batch=1,seq=3,past=4"],
    "translate": ["--import-onnx", MODEL],
    "fmt": ["--check", GRAPH],
    "diff": [GRAPH, str(ROOT / "examples" / "attention.mcir")],
    "reduce": ["--test=grep -q softmax", "--max-tests=6", GRAPH],
}


def start(tool: str, seed: int | str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"mcir.tools.{tool}", *COMMANDS[tool]]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


@pytest.mark.parametrize("tool", COMMANDS)
def test_processes_side_by_side_under_other_hash_seeds(tool: str) -> None:
    """Eight at once, each under a hash seed of its own, write what one alone writes."""
    alone = start(tool, 0)
    expected = (*alone.communicate(timeout=100), alone.returncode)
    assert expected[0] and b"internal" not in expected[1]
    together = [start(tool, seed) for seed in ("random", "random", 1, 2, 3, 4, 5, 6)]
    for process in together:
        assert (*process.communicate(timeout=200), process.returncode) == expected


def _in_threads(work: Callable[[int], object], count: int = 4) -> list[object]:
    """What `work` gives in threads that begin at once."""
    found: list[object] = [None] * count
    gate = threading.Barrier(count)

    def run(number: int) -> None:
        gate.wait()
        try:
            found[number] = work(number)
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    known = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(known)
    return found


def _whole_way(text: str) -> str:
    """Text, module, passes, text; or the errors."""
    try:
        module = parse_module(text)
    except MCIRError as error:
        return str(error)
    faults = [fault.render() for fault in verify_module(module)]
    if any(fault.severity == "error" for fault in verify_module(module)):
        return "\n".join(faults)
    return print_module(run_streaming_lowering_pass(run_attention_pattern_pass(module)))


@pytest.mark.parametrize("bad", [False, True], ids=["good", "bad"])
def test_threads_do_not_meet(bad: bool) -> None:
    """Four threads go the whole way over different texts: each finds what it finds alone."""
    chosen = [text for text in texts()[:60:4] if len(text) < 5000] + lowered()[:6]
    if bad:
        chosen = [text.replace("= matmul", "= matmal").replace("perm = [", "perm = [[", 1) for text in chosen]
    alone = [_whole_way(text) for text in chosen]

    def work(number: int) -> list[str]:
        order = list(range(number, len(chosen))) + list(range(number))
        found = dict.fromkeys(range(len(chosen)), "")
        for at in order:
            found[at] = _whole_way(chosen[at])
        return [found[at] for at in range(len(chosen))]

    assert _in_threads(work) == [alone] * 4


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was_after_parsing_in_threads(enabled: bool) -> None:
    text = "".join(f"graph @g{at}() {{ return }}\n" for at in range(300))
    known = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        for _ in range(10):
            _in_threads(lambda number: parse_module(text if number % 2 else text + "graph @g0(") and None)
            assert gc.isenabled() == enabled
    finally:
        (gc.enable if known else gc.disable)()


@pytest.mark.parametrize("work", ["parse", "pass"])
def test_who_finds_the_collector_paused_leaves_it_alone(work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread parses and ends in between: what it switched on again must not be switched off for ever."""
    module = parse_module("graph @g() { return }")
    known = gc.isenabled()
    gc.enable()
    try:
        monkeypatch.setattr(gc, "isenabled", lambda: False)  # as the other thread left it for a moment
        parse_module("graph @g() { return }") if work == "parse" else run_attention_pattern_pass(module)
        monkeypatch.undo()
        assert gc.isenabled()
    finally:
        (gc.enable if known else gc.disable)()


def test_two_importers_side_by_side(tmp_path: Path) -> None:
    from mcir.importers.onnx import import_onnx

    expected = print_module(import_onnx(MODEL))
    assert _in_threads(lambda _: print_module(import_onnx(MODEL)), 2) == [expected] * 2
