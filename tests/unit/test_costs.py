"""What passes cost and count: --timing and --statistics, as text and as JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes import ModulePass, registered_passes
from mcir.passes.manager import MCIRPassManager, PassRun
from mcir.passes.pipeline import parse_pipeline
from mcir.passes.statistic import Statistic, StatisticBy
from mcir.tools.opt import main
from mcir.tools.statistics import Count, Statistics, counts_of
from mcir.tools.timing import Timing, timing_record, timing_text
from tests.unit.tool_harness import run

ROOT = Path(__file__).parent.parent.parent
ATTENTION = (ROOT / "examples" / "attention.mcir").read_text(encoding="utf-8")

UNTIDY = """\
graph @g(%x: tensor<4x8xfp32>) {
  %two = constant {value = 2.0} : tensor<fp32>
  %three = constant {value = 3.0} : tensor<fp32>
  %five = add %two, %three : tensor<fp32>
  %a = transpose %x {perm = [1, 0]} : tensor<8x4xfp32>
  %b = transpose %a {perm = [1, 0]} : tensor<4x8xfp32>
  %c = mul %b, %five : tensor<4x8xfp32>
  %d = mul %b, %five : tensor<4x8xfp32>
  %e = add %c, %d : tensor<4x8xfp32>
  %dead = exp %x : tensor<4x8xfp32>
  return %e
}
"""

REFUSED = """\
execution @r(%Q: tensor<8x4xfp32>, %K: tensor<8x4xfp32>, %V: tensor<8x4xfp32>) -> (%O: tensor<8x4xfp32>)
    attributes {pattern = "scaled_dot_product_attention", modifiers = [{op = "cast", dtype = "i8"}]} {
}
"""


@dataclass
class Counting(ModulePass):
    """Counts graphs and their ops; not registered."""

    name: ClassVar[str] = "counting"
    summary: ClassVar[str] = "counts"

    step: int = 1

    graphs = Statistic("graphs seen")
    ops = StatisticBy("op", "nodes seen")

    def run(self, module: MCModule) -> MCModule:
        with self.phase("walk"):
            self.graphs += self.step * len(module.graphs)
            self.ops.update(node.op for graph in module.graphs for node in graph.nodes)
        return module


class CountingMore(Counting):
    more = Statistic("declared below a pass that declares, too")


def counters(text: str, pipeline: str) -> list[dict[str, Any]]:
    """For each pass of the pipeline its counters by name: a number, or a dictionary."""
    ran = run(main, f"--pass-pipeline={pipeline}", "--statistics=json", stdin=text)
    assert ran.code == 0
    (record,) = map(json.loads, ran.err.splitlines())
    return [
        {counter["name"]: counter["by"] if counter["key"] else counter["value"] for counter in entry["counters"]}
        for entry in record["statistics"]
    ]


def test_a_counter_is_one_line_and_begins_at_zero_in_every_run() -> None:
    module = parse_module(UNTIDY)
    manager = MCIRPassManager([Counting(step=3)])
    for _ in range(2):
        manager.run(module)
        ops = Counter(constant=2, add=2, transpose=2, mul=2, exp=1)
        assert counts_of(manager.runs[0]) == [
            Count("graphs", "graphs seen", 3), Count("ops", "nodes seen", 9, "op", ops),
        ]  # fmt: skip
    assert [statistic.name for statistic in CountingMore.statistics()] == ["graphs", "ops", "more"]
    assert Counting.graphs.description == "graphs seen"
    assert Counting(step=3) == Counting(3), "counters are no options"


def test_what_a_pass_counted_stays_when_the_pass_runs_again() -> None:
    once = Counting()
    manager = MCIRPassManager([once, once])
    manager.run(parse_module(UNTIDY))
    assert [run.counters["graphs"] for run in manager.runs] == [1, 1]


def test_what_the_passes_count() -> None:
    names = "canonicalize,common-subexpression-elimination,dead-node-elimination"
    assert counters(UNTIDY, names) == [
        {
            "rewrites": {
                "transpose(transpose(x, p), q) -> transpose(x, p[q])": 1, "transpose(x) in order -> x": 1,
                "an op on constants -> constant": 1,
            },
            "folded": 1,
            "removed": 5,  # two transposes, two constants of the sum, and what was dead before
        },
        {"merged": 1},
        {"removed": 0},
    ]  # fmt: skip
    assert counters(UNTIDY, "dead-node-elimination,dead-node-elimination") == [{"removed": 1}, {"removed": 0}]
    assert counters(ATTENTION, "attention-pattern,attention-pattern,streaming-lowering") == [
        {"softmaxes": 1, "formed": 1, "declined": {}, "opaque": 0, "left_alone": 0},
        {"softmaxes": 0, "formed": 0, "declined": {}, "opaque": 0, "left_alone": 1},
        {"lowered": 1, "nodes": 7, "refused": {}},
    ]


def test_what_is_declined_and_refused_is_counted_by_rule() -> None:
    graph = "graph @{0}(%x: tensor<4x4xfp32>) {{\n  %y = softmax %x {{axis = -1}} : tensor<4x4xfp32>\n  return %y\n}}\n"
    opaque = 'graph @o(%x: tensor<4xfp32>) {\n  %y = "onnx.Attention" %x : tensor<4xfp32>\n  return %y\n}\n'
    (entry,) = counters(graph.format("a") + graph.format("b") + opaque, "attention-pattern")
    assert entry == {"softmaxes": 2, "formed": 0, "declined": {"no-contraction": 2}, "opaque": 1, "left_alone": 0}
    (entry,) = counters(REFUSED, "streaming-lowering")
    assert entry == {"lowered": 0, "nodes": 0, "refused": {"lowering.step": 1}}


def parsed_table(text: str) -> list[tuple[str, list[tuple[str, int, dict[str, int]]]]]:
    """The text of --statistics as data: (pass, [(counter, value, by)])."""
    lines = iter(text.splitlines())
    assert next(lines) == "statistics:"
    table: list[tuple[str, list[tuple[str, int, dict[str, int]]]]] = []
    for line in lines:
        if match := re.fullmatch(r"  (\S+)", line):
            table.append((match[1], []))
        elif match := re.fullmatch(r" {2,12}(\d+)  (\S+) .*", line):
            table[-1][1].append((match[2], int(match[1]), {}))
        else:
            match = re.fullmatch(r" +(\d+)  (.*)", line)
            assert match
            table[-1][1][-1][2][match[2]] = int(match[1])
    return table


def test_text_and_json_say_the_same() -> None:
    pipeline = "--pass-pipeline=" + ",".join([*registered_passes(), *registered_passes()])
    for text in (UNTIDY, ATTENTION):
        written = run(main, pipeline, "--statistics", stdin=text).err
        record = json.loads(run(main, pipeline, "--statistics=json", stdin=text).err)
        assert parsed_table(written) == [
            (entry["pass"], [(c["name"], c["value"], c["by"]) for c in entry["counters"]])
            for entry in record["statistics"]
        ]
        assert all(c["value"] == sum(c["by"].values()) for e in record["statistics"] for c in e["counters"] if c["key"])


def test_modules_of_a_split_input_are_added_up() -> None:
    text = f"{UNTIDY}// -----\n{UNTIDY}// -----\ngraph"
    ran = run(main, "--split-input-file", "--dead-node-elimination", "--statistics=json", stdin=text)
    (record,) = [json.loads(line) for line in ran.err.splitlines() if line.startswith("{")]
    assert ran.code == 1 and record["statistics"][0]["counters"][0]["value"] == 2


def test_what_ran_before_a_refusal_is_shown() -> None:
    flags = ["--dead-node-elimination", "--streaming-lowering", "--tile-m=0", "--canonicalize", "--statistics"]
    ran = run(main, *flags, stdin=UNTIDY)
    assert ran.code == 1 and [name for name, _ in parsed_table(ran.err[ran.err.index("statistics:") :])] == [
        "dead-node-elimination", "streaming-lowering",
    ]  # fmt: skip


def test_a_pass_without_counters_is_named() -> None:
    statistics = Statistics()
    statistics.add([PassRun("x")])
    assert statistics.text() == "statistics:\n  x (counts nothing)"
    assert statistics.record() == {"statistics": [{"pass": "x", "counters": []}]}


def test_the_list_of_passes_has_the_statistics() -> None:
    listed = run(main, "--list-passes").out
    for cls in registered_passes().values():
        for statistic in cls.statistics():
            assert statistic.description in listed


# -- timing -----------------------------------------------------------------------------------------


def leaves(phases: list[dict[str, Any]], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for phase in phases:
        name = f"{path}{phase['name']}"
        yield name, phase
        yield from leaves(phase["phases"], f"{name}/")


def timed(*argv: str, stdin: str = ATTENTION) -> dict[str, Any]:
    record = json.loads(run(main, *argv, "--timing=json", stdin=stdin).err.splitlines()[-1])
    timing = record["timing"]
    assert isinstance(timing, dict)
    return timing


def test_the_tree_of_phases() -> None:
    timing = timed("--attention-pattern", "--streaming-lowering", "--streaming-lowering", "--prove")
    assert [name for name, _ in leaves(timing["phases"])] == [
        "parse", "verify the input",
        "pipeline",
        "pipeline/attention-pattern", "pipeline/attention-pattern/run",
        "pipeline/attention-pattern/run/find", "pipeline/attention-pattern/run/form",
        "pipeline/attention-pattern/verify",
        *["pipeline/streaming-lowering", "pipeline/streaming-lowering/run", "pipeline/streaming-lowering/verify"] * 2,
        "prove", "print", "write", "rest",
    ]  # fmt: skip


def test_the_top_adds_up_and_no_part_exceeds_its_whole() -> None:
    timing = timed("--attention-pattern", "--streaming-lowering", "--verify-roundtrip")
    assert (timing["clock"], timing["unit"]) == ("wall", "s")
    assert sum(phase["seconds"] for phase in timing["phases"]) == pytest.approx(timing["total"], rel=1e-6)
    for _, phase in leaves(timing["phases"]):
        assert set(phase) == {"name", "seconds", "percent", "phases"}
        assert phase["percent"] == pytest.approx(phase["seconds"] / timing["total"] * 100, abs=0.051)
        assert sum(part["seconds"] for part in phase["phases"]) <= phase["seconds"] * 1.000001


def test_checks_around_passes_have_their_phase() -> None:
    names = [name for name, _ in leaves(timed("--streaming-lowering", "--verify-roundtrip")["phases"])]
    assert "round trip of the input" in names and "pipeline/streaming-lowering/watchers" in names
    names = [name for name, _ in leaves(timed("--streaming-lowering", "--no-verify-each")["phases"])]
    assert "pipeline/streaming-lowering/run" in names and "pipeline/streaming-lowering/verify" not in names


def test_the_modules_of_a_split_input_share_their_phases() -> None:
    once = timed("--attention-pattern")
    thrice = timed("--attention-pattern", "--split-input-file", stdin=f"{ATTENTION}// -----\n" * 2 + ATTENTION)
    assert [name for name, _ in leaves(thrice["phases"])] == [name for name, _ in leaves(once["phases"])]


def test_text_and_json_are_one_tree() -> None:
    timing = Timing()
    with timing.phase("parse"):
        pass
    timing.add_passes("pipeline", [PassRun("a", 1.0, 0.5, 0.25, {"find": 0.75}), PassRun("a", 2.0)])
    total = timing.total()
    total.seconds = 8.0
    assert timing_text(total).splitlines()[2:] == [
        "    0.0000 s    0.0 %  pipeline",
        "    1.7500 s   21.9 %    a",
        "    1.0000 s   12.5 %      run",
        "    0.7500 s    9.4 %        find",
        "    0.5000 s    6.2 %      verify",
        "    0.2500 s    3.1 %      watchers",
        "    2.0000 s   25.0 %    a",
        "    2.0000 s   25.0 %      run",
        "    0.0000 s    0.0 %  rest",
        "    8.0000 s  100.0 %  total",
    ]
    pipeline = timing_record(total)["timing"]["phases"][1]
    assert [phase["seconds"] for _, phase in leaves(pipeline["phases"])] == [1.75, 1.0, 0.75, 0.5, 0.25, 2.0, 2.0]


def test_a_run_that_fails_is_timed_too() -> None:
    ran = run(main, "--streaming-lowering", "--tile-m=0", "--timing", stdin=ATTENTION)
    assert ran.code == 1 and re.search(r"%    streaming-lowering\n", ran.err)
    assert "print" not in ran.err


def test_a_run_without_these_flags_does_not_import_them() -> None:
    script = (
        "import sys, io; from mcir.tools.opt import main; "
        "main(['--canonicalize'], io.StringIO(sys.argv[1]), io.StringIO(), sys.stderr); "
        "lazy = 'json', *(f'mcir.tools.{name}' for name in ('statistics', 'reproducer', 'configuration', 'plugins')); "
        "print([name for name in lazy if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script, UNTIDY], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_pipelines_make_fresh_counters() -> None:
    first, second = parse_pipeline("canonicalize,canonicalize")
    assert first.counters is not second.counters
