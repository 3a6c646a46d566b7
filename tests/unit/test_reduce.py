"""mcir-reduce: smallest inputs, the exit rule of the script, and what bad scripts and inputs give."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcir.analysis import reduction
from mcir.analysis.reduction import REDUCTIONS, Reducer, Reduction
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.samples import build_attention_module, build_attention_semantic_graph
from mcir.tools.reduce import main
from mcir.verifier import verify_module
from tests.support.strategies import modules
from tests.unit.tool_harness import run

ATTENTION = print_module(MCModule(build_attention_module().regions, [build_attention_semantic_graph()]))


def reduced(text: str, *words: str, **options: bool) -> str:
    return Reducer(lambda candidate: all(word in candidate for word in words), **options).reduce(text)


def test_one_node_of_a_graph_is_left_and_its_operands_become_inputs() -> None:
    text = reduced(ATTENTION, "= softmax")
    module = parse_module(text)
    assert module.regions == []
    assert [node.op for node in module.graphs[0].nodes] == ["softmax"]
    assert len(module.graphs[0].inputs) == 1
    assert module.graphs[0].outputs == []
    assert module.graphs[0].nodes[0].attrs == {}


def test_two_nodes_that_belong_together_stay() -> None:
    nodes = parse_module(reduced(ATTENTION, "= matmul", "= softmax")).graphs[0].nodes
    assert sorted(node.op for node in nodes) == ["matmul", "softmax"]


def test_a_node_is_passed_by() -> None:
    text = "graph @g(%x: tensor<fp32>) {\n" + "".join(
        f"  %v{at} = neg %{'x' if not at else f'v{at - 1}'} : tensor<fp32>\n" for at in range(9)
    )
    text += '  "sink" @sink %v8\n  return\n}\n'

    def fed_by_input(candidate: str) -> bool:
        graph = next(iter(parse_module(candidate).graphs), None)
        sinks = [node for node in graph.nodes if node.op == "sink"] if graph is not None else []
        return graph is not None and bool(sinks and sinks[0].inputs) and [v.name for v in graph.inputs] == ["x"]

    assert Reducer(fed_by_input).reduce(text) == 'graph @g(%x: tensor<fp32>) {\n  "sink" @sink %x\n  return\n}\n'


def test_a_nested_region_keeps_its_parents_only() -> None:
    module = parse_module(reduced(ATTENTION, "update_softmax", valid=False))
    assert module.graphs == []
    assert [region.kind for region in module.walk()] == ["execution", "streaming", "tile"]
    assert [node.op for region in module.walk() for node in region.nodes] == ["update_softmax"]
    assert all(not region.attrs for region in module.walk())


def test_a_valid_input_stays_valid_unless_told_otherwise() -> None:
    text = "graph @g(%x: tensor<2xfp32>) {\n  %y = softcap %x {cap = 2.0} : tensor<2xfp32>\n  return %y\n}\n"
    assert "{cap = 2.0}" in reduced(text, "softcap")
    assert "cap = " not in reduced(text, "softcap", valid=False)


def test_entries_of_nested_attributes_go_one_by_one() -> None:
    text = 'graph @g() attributes {a = {b = [1, {c = 2}, "keep"], d = 1}} {\n  return\n}\n'
    assert reduced(text, '"keep"') == 'graph @g() attributes {a = {b = ["keep"]}} {\n  return\n}\n'


def test_text_that_cannot_be_parsed_is_reduced_by_lines() -> None:
    text = ATTENTION + "this is no MCIR\n" + ATTENTION
    assert reduced(text, "no MCIR") == "no MCIR"


def test_a_text_interesting_for_its_spelling_is_reduced_by_lines() -> None:
    text = "// a\n// b\n" + ATTENTION.replace("%P = softmax", "%P   =   softmax")
    assert reduced(text, "%P   =   softmax") == "%P   =   softmax"


def test_an_input_that_is_not_interesting_is_refused() -> None:
    with pytest.raises(MCIRError, match="does not find the input interesting"):
        reduced(ATTENTION, "absent")


def test_the_number_of_tests_is_limited_and_the_best_so_far_kept() -> None:
    reducer = Reducer(lambda candidate: "= softmax" in candidate, max_tests=4)
    assert len(reducer.reduce(ATTENTION)) < len(ATTENTION)
    assert reducer.tests == 4


def test_few_tests_are_needed_for_many_nodes() -> None:
    nodes = "".join(f"  %v{at} = neg %x : tensor<fp32>\n" for at in range(2000))
    text = f"graph @g(%x: tensor<fp32>) {{\n{nodes}  %e = exp %x : tensor<fp32>\n  return\n}}\n"
    reducer = Reducer(lambda candidate: "= exp" in candidate)
    assert reducer.reduce(text).count("\n") == 4
    assert reducer.tests < 40


@given(modules(), st.sampled_from(REDUCTIONS), st.data())
def test_every_step_leaves_a_module_that_parses(module: MCModule, step: Reduction, data: st.DataObject) -> None:
    module = parse_module(print_module(module))
    count = step.parts(module)
    chosen = data.draw(st.sets(st.integers(0, count - 1))) if count else set()
    text = print_module(module)
    step.without(module, chosen)
    smaller = parse_module(print_module(module))
    assert print_module(smaller) == print_module(module)
    if not chosen:
        assert print_module(module) == text


def test_all_parts_of_the_attention_module_may_go() -> None:
    assert reduced(ATTENTION) == ""
    assert {step.name for step in reduction.REDUCTIONS} >= {"nodes", "attributes", "nested regions"}


def test_sizes_become_small_together() -> None:
    text = ATTENTION.replace("<1024x64xfp16>", "<(seq)x64xfp16>")
    small = reduced(ATTENTION, "= matmul %Q, %Kt", "= transpose %K")
    assert "1024" not in small and "64" not in small
    assert reduced("graph @g(%x: tensor<4x(n)x?xfp32>) {\n  return\n}\n", "%x") == (
        "graph @g(%x: tensor<1x1x1xfp32>) {\n  return\n}\n"
    )
    shaped = "graph @g(%x: tensor<6x4xfp32>) {\n  %y = reshape %x {shape = [4, 6]} : tensor<4x6xfp32>\n  return\n}\n"
    assert "reshape %x {shape = [1, 1]} : tensor<1x1xfp32>" in reduced(shaped, "reshape")
    assert len(reduced(text, "%Kt")) < len(text)


WORDS = st.lists(st.sampled_from(["= softmax", "= matmul", "%V", "attributes", "tile @", "{", "= transpose", "tile_m"]))


@given(WORDS, st.booleans())
def test_no_single_part_of_what_is_left_may_go(words: list[str], valid: bool) -> None:
    def interesting(text: str) -> bool:
        return all(word in text for word in words)

    reducer = Reducer(interesting, valid)
    best = reducer.reduce(ATTENTION)
    for step in REDUCTIONS:
        for part in range(step.parts(parse_module(best))):
            module = parse_module(best)
            step.without(module, {part})
            text = print_module(module)
            smaller = (len(text), text) < (len(best), best)
            assert not (smaller and interesting(text) and (not valid or not list(_errors(text)))), (step.name, best)


def _errors(text: str) -> list[Diagnostic]:
    return [found for found in verify_module(parse_module(text)) if found.severity == "error"]


def test_text_that_is_no_module_is_reduced_to_words() -> None:
    text = ATTENTION + "graph @g( sofmax, and more\n" + ATTENTION
    assert reduced(text, "graph @", "sofmax") == "graph @sofmax"


# The tool


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "test.py"
    path.write_text("import sys\nsys.exit('= softmax' not in open(sys.argv[1]).read())\n")
    return path


@pytest.fixture
def attention(tmp_path: Path) -> Path:
    path = tmp_path / "attention.mcir"
    path.write_text(ATTENTION)
    return path


def test_the_script_gets_the_candidate_and_exit_code_0_is_interesting(script: Path, attention: Path) -> None:
    ran = run(main, "--test", f"{sys.executable} -S {script}", "--max-tests", "12", attention)
    assert ran.code == 0
    assert "= softmax" in ran.out
    assert len(ran.out) < len(ATTENTION)
    assert ran.err.startswith("mcir-reduce: ")
    assert attention.read_text() == ATTENTION


def test_the_result_goes_to_a_file_quietly(tmp_path: Path, attention: Path) -> None:
    script = tmp_path / "yes.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    out = tmp_path / "out.mcir"
    ran = run(main, "--test", script, "-o", out, "--quiet", attention)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert out.read_text() == ""


def test_an_interrupt_writes_the_best_so_far(monkeypatch: pytest.MonkeyPatch, attention: Path) -> None:
    asked = []

    def interesting(text: str) -> bool:
        if not text:
            return False
        asked.append(text)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr("mcir.tools.reduce.script_test", lambda *_: interesting)
    ran = run(main, "--test", "x", attention)
    assert ran.code == 130
    assert ran.out == asked[1]


def test_a_test_that_hangs_is_not_interesting(tmp_path: Path, attention: Path) -> None:
    script = tmp_path / "hang.sh"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    ran = run(main, "--test", script, "--timeout", "0.05", attention)
    assert ran.code == 1
    assert "does not find the input interesting" in ran.err


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["--test", "/nonexistent/script", "IN"], 1, "cannot run the test /nonexistent/script: No such file"),
        (["--test", "false", "IN"], 1, "does not find the input interesting"),
        (["--test", "true", "absent.mcir"], 1, "no such file"),
        (["IN"], 2, "--test must name the script"),
        (["--test", "", "IN"], 2, "--test must name the script"),
        (["--test", "'", "IN"], 2, "--test must name the script"),
        (["--test", "true", "--max-tests", "many", "IN"], 2, "--max-tests takes a number"),
        (["--test", "true", "--timeout", "-1", "IN"], 2, "--timeout takes a number"),
        (["--test", "true", "IN", "more"], 2, "one input too many"),
    ],
)
def test_bad_input_and_bad_usage(argv: list[str], code: int, message: str, attention: Path) -> None:
    ran = run(main, *(str(attention) if word == "IN" else word for word in argv))
    assert ran.code == code
    assert message in ran.err
    assert ran.out == ""


def test_what_a_script_started_ends_with_it(tmp_path: Path, attention: Path) -> None:
    script = tmp_path / "hang.sh"
    script.write_text(f"#!/bin/sh\nsleep 61 &\necho $! > {tmp_path}/pid\nsleep 62\n")
    script.chmod(0o755)
    assert run(main, "--test", script, "--timeout", "0.5", attention).code == 1
    pid = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 10
    while (gone := not _runs(pid)) is False and time.monotonic() < end:
        time.sleep(0.01)
    assert gone


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def test_a_script_that_does_not_always_say_the_same(tmp_path: Path, attention: Path) -> None:
    script = tmp_path / "flaky.sh"
    script.write_text(f"#!/bin/sh\necho >> {tmp_path}/calls\ntest $(wc -l < {tmp_path}/calls) -le 2\n")
    script.chmod(0o755)
    ran = run(main, "--test", script, attention)
    assert ran.code == 0
    assert "warning: the test does not always say the same" in ran.err and "--repeat" in ran.err
    script.write_text(f"#!/bin/sh\necho >> {tmp_path}/calls\ntest $(($(wc -l < {tmp_path}/calls) % 2)) -eq 0\n")
    steady = run(main, "--test", script, "--repeat", "2", attention)
    assert (steady.code, steady.out) == (0, "")
    assert "warning" not in steady.err


def test_the_input_is_never_written(script: Path, attention: Path) -> None:
    ran = run(main, "--test", f"{sys.executable} -S {script}", "-o", attention, attention)
    assert ran.code == 2
    assert "-o names the input itself" in ran.err
    assert attention.read_text() == ATTENTION


def test_progress_is_told_on_a_terminal(script: Path, attention: Path) -> None:
    told: list[str] = []
    reducer = Reducer(lambda text: "= softmax" in text, progress=told.append)
    reducer.reduce(ATTENTION)
    assert told[:2] == ["graphs and regions", "nodes"] and "sizes to 1" in told
