"""The search itself: it finds faults that are planted, makes them small, and in the time of CI finds no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from mcir.tools import diff, fmt, opt
from tests.endurance import guided, seeds
from tests.endurance.campaign import Campaign
from tests.endurance.case import INPUT, Case, load, save
from tests.endurance.fuzz import KINDS, make_case
from tests.endurance.runner import run_case
from tests.endurance.shrink import ddmin, shrink

GRAPH = b"""\
graph @g(%x: tensor<4xfp16>) {
  %y = neg %x : tensor<4xfp16>
  %z = exp %y : tensor<4xfp16>
  return %z
}
"""
COUNT = 600  # cases in CI: some ten seconds on two cores


def case(*argv: str, tool: str = "mcir-opt", data: bytes = GRAPH, kind: str = "meaning") -> Case:
    return Case(kind, tool, [*argv, INPUT], {INPUT: data, "other.mcir": data})


def test_the_search_finds_nothing(tmp_path: Path) -> None:
    campaign = Campaign(seed=1, jobs=2)
    campaign.run(count=COUNT)
    shown = campaign.report()
    if campaign.faults:
        paths = campaign.write_faults(tmp_path, 5.0)
        shown += "".join(f"\npython -m tests.endurance --replay {path}" for path in paths)
    assert not campaign.faults, shown
    assert campaign.cases.total() == COUNT
    assert {kind for kind, _, _ in campaign.cases} == set(KINDS)


def test_a_case_is_the_same_whoever_makes_it(tmp_path: Path) -> None:
    for number in range(60):
        made = make_case(5, number)
        assert made == make_case(5, number)
        save(made, tmp_path / "case.json", "a fault\nof two lines")
        assert load(tmp_path / "case.json") == made
    assert make_case(5, 1) != make_case(6, 1)


def test_one_tool_or_kind_may_be_asked_for() -> None:
    assert {make_case(1, number, tool="mcir-diff").tool for number in range(30)} == {"mcir-diff"}
    assert {make_case(1, number, kind="onnx bytes").kind for number in range(5)} == {"onnx bytes"}


def test_generated_modules_do_not_depend_on_their_order() -> None:
    first, other, again = (seeds.generated(number, Random(7)) for number in (3, seeds.CASES, 3))
    assert first == again != other


# -- planted faults: (what is replaced, by what, the case, what the search says) ------------------------------


def _raise(*_: object) -> None:
    raise ZeroDivisionError("oh")


def _hang(*_: object) -> None:
    while True:
        pass


def _leave(*_: object) -> str:
    Path("x.tmp").write_text("")
    return GRAPH.decode()


PLANTED: dict[str, tuple[object, str, Callable[..., object], Case, str]] = {
    "an exception": (opt, "process_chunk", _raise, case(), "ZeroDivisionError at mcir/tools/opt.py _run"),
    "a hang": (opt, "process_chunk", _hang, case(), "takes more than 0.3 s"),
    "a left file": (opt, "join_outputs", _leave, case(), "a file is left over"),
    "no output": (opt, "join_outputs", lambda _: "graph", case(), "the output does not parse"),
    "another spelling": (opt, "join_outputs", lambda outputs: "\n" + outputs[0], case(),
    "the output prints differently"),
    "an invalid output": (
        opt, "join_outputs", lambda outputs: outputs[0].replace("4xfp16>) {", "5xfp16>) {"), case(),
        "the output is not valid",
    ),
    "a changed graph": (
        opt, "join_outputs", lambda outputs: outputs[0].replace("exp", "tanh"), case("--attention-pattern"),
        "the graphs changed",
    ),
    "an exit code without reason": (opt, "_report", lambda *_: False, case(), "exit code 1 without an error"),
    "an odd exit code": (opt, "EXIT_GOOD", 3, case(), "exit code 3"),
    "a fault without place": (
        opt, "process_chunk", lambda *_: opt.ChunkResult(diagnostics=[opt.Diagnostic("bad")]), case(data=b"graph"),
        "no error has a place",
    ),
    "a difference from itself": (diff, "_lines", lambda *_: "x", case("other.mcir", tool="mcir-diff"),
    "a module differs from itself"),
    "a changed input": (opt, "join_outputs", lambda _: Path(INPUT).write_bytes(b"") or "", case(),
    "an input was changed"),
    "a bug that is admitted": (
        fmt, "format_text", lambda *_: (_ for _ in ()).throw(fmt.MCIRError("this is a bug in MCIR")),
        case(tool="mcir-fmt"), "says 'bug in MCIR'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, attribute, planted, shown, expected = PLANTED[name]
    assert run_case(shown)[1] == "" or name == "a fault without place"
    monkeypatch.setattr(module, attribute, planted)
    found = run_case(shown, seconds=0.3)[1]
    assert found.startswith(expected), found


def test_a_region_that_is_not_its_graph_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = seeds.attention(0, Random(1)).encode()
    attention = case("--attention-pattern", "--streaming-lowering", data=text)
    assert run_case(attention)[1] == ""
    known = opt.join_outputs
    monkeypatch.setattr(opt, "join_outputs", lambda outputs: known(outputs).replace("scale = ", "scale = 1"))
    assert "is not what its graph is" in run_case(attention)[1] or "not valid" in run_case(attention)[1]


def test_a_fault_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    known = opt.process_chunk

    def fail_on_exp(chunk: opt.Source, *rest: object) -> object:
        if "exp" in chunk.text:
            raise KeyError("exp")
        return known(chunk, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(opt, "process_chunk", fail_on_exp)
    big = case("--attention-pattern", "--remarks", data=GRAPH + b"// a comment\ngraph @h() { return }\n")
    small = shrink(big, lambda shown: "KeyError" in run_case(shown)[1], 20)
    assert small.argv == [INPUT] and small.files == {INPUT: b"exp"}
    assert ddmin(list(range(50)), lambda kept: {7, 31} <= set(kept)) == [7, 31]


def test_the_guided_search(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What it calls with each text; the search itself needs atheris."""
    guided.run_text(GRAPH)
    assert [guided.mutate(GRAPH, 50, number) for number in (1, 1)] == [guided.mutate(GRAPH, 50, 1)] * 2
    assert len({guided.mutate(GRAPH, 500, number) for number in range(20)}) > 15
    monkeypatch.setattr(opt, "process_chunk", _raise)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        guided.run_text(GRAPH)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert guided.main() == 2 and capsys.readouterr().err.startswith("skipped: atheris is not installed")


def test_a_worker_that_dies_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter is killed in the middle of a case: the campaign says so and goes on with the next."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if 'tests.endurance.worker' in ' '.join(sys.orig_argv) and sys.argv[2:3] == ['0']: os.kill(os.getpid(), 9)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    campaign = Campaign(seed=3, kind="characters")
    campaign.run(count=4)
    assert campaign.cases.total() == 4
    assert [head.partition(": ")[2] for head in campaign.faults] == ["kills the process: exit code -9"]
