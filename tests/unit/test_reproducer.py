"""Crash reproducers: what is written when a pass fails, that it fails in the same way, and passes from plugins."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mcir.location import Source
from mcir.module import MCModule
from mcir.passes import ModulePass, base, register_pass
from mcir.passes.manager import PassCrash
from mcir.passes.pipeline import parse_pipeline
from mcir.tools import console, plugins, reduce
from mcir.tools.configuration import configuration_flags, configuration_line, read_configured, split_configuration
from mcir.tools.opt import main
from mcir.tools.opt_options import read_options
from tests.unit.tool_harness import Ran, run

ROOT = Path(__file__).parent.parent.parent
FAULTY = ROOT / "tests" / "lit" / "process" / "Inputs" / "faulty_passes.py"
OWN = ROOT / "examples" / "own_pass.py"
ATTENTION = (ROOT / "examples" / "attention.mcir").read_text(encoding="utf-8")
HEAD = "// configuration: "
SHOWN = str(FAULTY).removeprefix(f"{os.getcwd()}{os.sep}")
CRASH_LINE = 1 + FAULTY.read_text(encoding="utf-8").splitlines().index(
    '                    raise IndexError(f"cannot take {node.name}")'
)

GRAPH = """\
// above
graph @g(%x: tensor<4x8xfp32>) {
  %same = identity %x : tensor<4x8xfp32>
  %n = neg %same : tensor<4x8xfp32>
  %y = exp %n : tensor<4x8xfp32> // kept
  return %y
}
"""
TIDY = GRAPH.replace("  %same = identity %x : tensor<4x8xfp32>\n", "").replace("%same", "%x")


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes that are registered from here on are gone after the test."""
    monkeypatch.setattr(base, "_PASSES", base.registered_passes())
    monkeypatch.setattr(plugins, "_loaded", set())


@pytest.fixture
def faulty(registry: None) -> Iterator[str]:
    """The flag that brings the faulty passes."""
    yield f"--load-pass-plugin={FAULTY}"


def crashed(*argv: object, stdin: str = "") -> PassCrash:
    with pytest.raises(PassCrash) as raised:
        run(main, *argv, stdin=stdin)
    return raised.value


def notes(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", ()))


def error_messages(ran: Ran) -> list[str]:
    return [line.partition("error: ")[2] for line in ran.err.splitlines() if "error: " in line]


# -- what is written --------------------------------------------------------------------------------


def test_a_crash_leaves_the_module_before_the_pass_and_the_pass_alone(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    flags = [faulty, "--canonicalize", "--crash-on=op=exp", "--streaming-lowering", "--prove", "--dump=tree"]
    error = crashed(*flags, f"--crash-reproducer={path}", stdin=GRAPH)
    assert str(error) == "in the pass crash-on: IndexError: cannot take y"
    assert path.read_text() == f"{HEAD}--pass-pipeline='crash-on{{op=exp}}'\n{TIDY}"
    assert notes(error) == (
        f"remark: wrote {path}, a reproducer: the module before crash-on\n"
        f"  hint: run it: mcir-opt {faulty} --run-reproducer {path}"
    )
    again = crashed("--run-reproducer", path)
    assert str(again) == str(error) and notes(again) == ""


def test_a_broken_module_is_replayed_with_the_same_errors(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    ran = run(main, faulty, "--canonicalize", "--break-types", f"--crash-reproducer={path}", stdin=GRAPH)
    assert ran.code == 1 and ran.out == ""
    assert "<stdin>:4:3: error: 'neg' takes 1 operands, not 2 [node.inputs]" in ran.err
    assert "note: the pass break-types left the module invalid" in ran.err
    assert path.read_text() == f"{HEAD}--pass-pipeline=break-types\n{TIDY}"
    again = run(main, "--run-reproducer", path)
    assert again.code == 1 and f"{path}:4:3: error: 'neg' takes 1 operands, not 2 [node.inputs]" in again.err


def test_a_failed_proof_is_traced_to_its_pass(faulty: str, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    path = tmp_path / "r.mcir"
    small = ATTENTION.replace("1024", "64")
    pipeline = "attention-pattern,streaming-lowering,canonicalize,unscale,canonicalize"
    flags = [faulty, f"--pass-pipeline={pipeline}", "--prove", "--memory-report", "--strip-comments"]
    ran = run(main, *flags, f"--crash-reproducer={path}", stdin=small)
    assert ran.code == 1 and "the module before unscale" in ran.err
    line, rest = split_configuration(path.read_text())
    assert line == f"{HEAD}--pass-pipeline=unscale --prove\n" and "compute_score" in rest
    again = run(main, "--run-reproducer", path)
    assert again.code == 1 and "@attention_region: failed:" in again.err and "[proof]" in again.err


def test_an_input_that_fails_a_check_by_itself_needs_no_pass(registry: None, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    path = tmp_path / "r.mcir"
    lowered = run(main, "--attention-pattern", "--streaming-lowering", stdin=ATTENTION.replace("1024", "64")).out
    wrong = lowered.replace("compute_score @score %Q_tile, %K_tile {scale = 1.0", "compute_score @score %Q_tile, "
                            "%K_tile {scale = 2.0")  # fmt: skip
    assert wrong != lowered
    ran = run(main, "--canonicalize", "--canonicalize", "--prove", f"--crash-reproducer={path}", stdin=wrong)
    assert ran.code == 1 and "a reproducer: the module alone" in ran.err
    assert path.read_text() == f"{HEAD}--prove\n{wrong}"


def test_a_failed_round_trip_is_replayed(registry: None, tmp_path: Path) -> None:
    @register_pass
    @dataclass
    class Odd(ModulePass):
        """Leaves uses of values in front of their definitions, which no text can have."""

        name: ClassVar[str] = "odd"
        summary: ClassVar[str] = "turns graphs round"

        def run(self, module: MCModule) -> MCModule:
            module.graphs[0].nodes.reverse()
            return module

    path = tmp_path / "r.mcir"
    flags = ["--canonicalize", "--odd", "--canonicalize", "--verify-roundtrip", "--no-verify-each"]
    ran = run(main, *flags, f"--crash-reproducer={path}", stdin=GRAPH)
    assert ran.code == 1 and "error: the module after odd" in ran.err and "[roundtrip]" in ran.err
    line = path.read_text().splitlines()[0]
    assert line == f"{HEAD}--pass-pipeline=odd --verify-each=false --verify-roundtrip"
    again = run(main, "--run-reproducer", path)
    assert again.code == 1 and "error: the module after odd" in again.err


def test_tiles_that_do_not_fit_are_replayed_from_the_lowering(registry: None, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    flags = ["--attention-pattern", "--streaming-lowering", "--tile-m=1024", "--tile-n=1024", "--target=sm_80"]
    ran = run(main, *flags, "--canonicalize", f"--crash-reproducer={path}", stdin=ATTENTION)
    assert ran.code == 1
    line = path.read_text().splitlines()[0]
    assert line.startswith(f"{HEAD}--pass-pipeline='streaming-lowering{{tile-m=1024 tile-n=1024 ")
    assert line.endswith(" --target=sm_80")
    again = run(main, "--run-reproducer", path)
    assert again.code == 1 and error_messages(again) == error_messages(ran) != []


def test_a_refusal_is_replayed_too(registry: None, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    flags = ["--canonicalize", "--streaming-lowering", "--tile-m=0", f"--crash-reproducer={path}"]
    assert run(main, *flags, stdin=GRAPH).code == 1
    again = run(main, "--run-reproducer", path)
    assert again.code == 1 and "tile-m must be at least 1, got 0" in again.err


def test_what_is_wrong_with_the_input_needs_no_reproducer(registry: None, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    for text in (GRAPH.replace("neg %same : tensor<4x8", "neg %same : tensor<5x8"), "graph", "# no text"):
        ran = run(main, "--canonicalize", f"--crash-reproducer={path}", stdin=text)
        assert ran.code == 1 and "reproducer" not in ran.err and not path.exists()


def test_a_good_run_leaves_the_file_as_it_is(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    path.write_text("older")
    ran = run(main, faulty, "--canonicalize", "--crash-on=op=sin", f"--crash-reproducer={path}", stdin=GRAPH)
    assert (ran.code, ran.out, ran.err) == (0, TIDY, "") and path.read_text() == "older"


def test_a_crash_before_any_pass_has_the_input(
    registry: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(module: MCModule, read: bool = False) -> None:
        raise KeyError("verifier")

    path = tmp_path / "r.mcir"
    monkeypatch.setattr("mcir.tools.opt_chunk.verify_module", fail)
    with pytest.raises(KeyError) as raised:
        run(main, "--canonicalize", "--prove", f"--crash-reproducer={path}", stdin=GRAPH)
    assert path.read_text() == f"{HEAD.rstrip()}\n{GRAPH}" and "the module alone" in notes(raised.value)
    with pytest.raises(KeyError):
        run(main, "--run-reproducer", path)


def test_a_module_without_a_text_begins_further_up(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    flags = [faulty, "--canonicalize", "--unprintable", "--no-verify-each", f"--crash-reproducer={path}"]
    error = crashed(*flags, "--crash-on", stdin=GRAPH)
    assert path.read_text() == f"{HEAD}--pass-pipeline='unprintable,crash-on{{op=exp}}' --verify-each=false\n{TIDY}"
    assert "the module before unprintable and then crash-on" in notes(error)
    assert "note: the module before crash-on cannot be printed (TypeError: " in notes(error)
    assert str(crashed("--run-reproducer", path)) == str(error)
    with pytest.raises(TypeError) as raised:  # the module after the pass is what cannot be printed
        run(main, *flags, stdin=GRAPH)
    assert path.read_text() == f"{HEAD}--pass-pipeline=unprintable --verify-each=false\n{TIDY}"
    assert "the module before unprintable\n" in notes(raised.value)


def test_a_failure_that_needs_more_than_the_module_is_said_to(registry: None, tmp_path: Path) -> None:
    calls = []

    @register_pass
    @dataclass
    class Once(ModulePass):
        """Crashes the first time only."""

        name: ClassVar[str] = "once"
        summary: ClassVar[str] = "crashes once"

        def run(self, module: MCModule) -> MCModule:
            calls.append(module)
            if len(calls) == 1:
                raise ValueError("flaky")
            return module

    path = tmp_path / "r.mcir"
    error = crashed("--canonicalize", "--once", f"--crash-reproducer={path}", stdin=GRAPH)
    assert notes(error).startswith("warning: ") and "did not fail in the same way" in notes(error)
    assert path.read_text() == f"{HEAD}--pass-pipeline=once\n{TIDY}"


def test_state_that_the_text_does_not_hold_takes_the_passes_before_along(registry: None, tmp_path: Path) -> None:
    @register_pass
    @dataclass
    class Mark(ModulePass):
        """Marks the graph where no text can see it."""

        name: ClassVar[str] = "mark"
        summary: ClassVar[str] = "marks"

        def run(self, module: MCModule) -> MCModule:
            module.graphs[0].inputs[0].consumers.append("nobody")
            return module

    @register_pass
    @dataclass
    class Stumble(ModulePass):
        name: ClassVar[str] = "stumble"
        summary: ClassVar[str] = "crashes on marked graphs"

        def run(self, module: MCModule) -> MCModule:
            if "nobody" in module.graphs[0].inputs[0].consumers:
                raise ValueError("marked")
            return module

    path = tmp_path / "r.mcir"
    flags = ["--pass-pipeline=canonicalize,mark,stumble", "--no-verify-each", f"--crash-reproducer={path}"]
    error = crashed(*flags, stdin=GRAPH)
    assert "the module before mark and then stumble" in notes(error)
    assert path.read_text() == f"{HEAD}--pass-pipeline=mark,stumble --verify-each=false\n{TIDY}"


@pytest.mark.parametrize("raised", [MemoryError(), KeyboardInterrupt()])
def test_what_takes_too_long_is_not_run_again(registry: None, tmp_path: Path, raised: BaseException) -> None:
    calls = []

    @register_pass
    @dataclass
    class Endless(ModulePass):
        name: ClassVar[str] = "endless"
        summary: ClassVar[str] = "is stopped"

        def run(self, module: MCModule) -> MCModule:
            calls.append(module)
            raise raised

    path = tmp_path / "r.mcir"
    raised.__notes__ = []
    with pytest.raises(type(raised)) as stopped:
        run(main, "--canonicalize", "--endless", "--prove", f"--crash-reproducer={path}", stdin=GRAPH)
    assert len(calls) == 1 and path.read_text() == f"{HEAD}--pass-pipeline=endless --prove\n{TIDY}"
    assert f"remark: wrote {path}, a reproducer: the module before endless" in notes(stopped.value)


# -- several modules, places, exit codes ------------------------------------------------------------


def test_the_first_failing_module_of_a_split_input_is_written(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    good = GRAPH.replace("neg", "abs")
    text = "// -----\n".join([good, GRAPH.replace("@g", "@first"), GRAPH.replace("@g", "@second")])
    flags = [faulty, "--split-input-file", "--break-types", f"--crash-reproducer={path}"]
    ran = run(main, *flags, stdin=text)
    assert ran.code == 1 and ran.err.count(f"wrote {path}") == 1
    assert ran.err.count(f"remark: {path} replays the first failure only") == 1
    assert "@first" in path.read_text() and "@second" not in path.read_text() and "-----" not in path.read_text()
    assert run(main, "--run-reproducer", path).code == 1


def test_announced_errors_need_no_reproducer(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    text = GRAPH.replace("  %n", "  // expected-error@below {{takes 1 operands}}\n  %n")
    flags = [faulty, "--verify-diagnostics", "--break-types", f"--crash-reproducer={path}"]
    assert run(main, *flags, stdin=text).code == 0 and not path.exists()
    assert run(main, *flags, stdin=GRAPH).code == 1 and path.exists()


def test_a_place_that_cannot_be_written(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "no" / "r.mcir"
    ran = run(main, faulty, "--break-types", f"--crash-reproducer={path}", stdin=GRAPH)
    assert ran.code == 1 and ran.err.startswith("<stdin>:4:3: error: 'neg' takes 1")
    assert ran.err.endswith(f"error: no reproducer: cannot write {path}: the folder does not exist\n")
    error = crashed("--crash-on", f"--crash-reproducer={path}", stdin=GRAPH)
    assert notes(error) == f"error: no reproducer: cannot write {path}: the folder does not exist"


def test_an_older_file_is_replaced_as_a_whole_or_not_at_all(
    faulty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.mcir"
    path.write_text("older" * 1000)
    crashed(faulty, "--crash-on", f"--crash-reproducer={path}", stdin=GRAPH)
    assert path.read_text() == f"{HEAD}--pass-pipeline='crash-on{{op=exp}}'\n{GRAPH}"
    path.write_text("older")

    def fail(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    error = crashed("--crash-on", f"--crash-reproducer={path}", stdin=GRAPH)
    assert "no reproducer" in notes(error) and "No space left on device" in notes(error)
    assert path.read_text() == "older" and os.listdir(tmp_path) == ["r.mcir"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--crash-reproducer=-"], "--crash-reproducer needs a file of its own, not -"),
        (["--crash-reproducer"], "--crash-reproducer needs a value: --crash-reproducer=FILE"),
        (["./a.mcir", "--crash-reproducer=a.mcir"], "--crash-reproducer needs a file of its own, not the input"),
        (["-o", "b", "--crash-reproducer=./b"], "--crash-reproducer needs a file of its own, not the file of -o"),
        (["--run-reproducer", "--split-input-file"], "--run-reproducer runs one module"),
    ],
)
def test_bad_usage(argv: list[str], message: str) -> None:
    ran = run(main, *argv, stdin=GRAPH)
    assert ran.code == 2 and message in ran.err


def test_how_to_get_one_is_said_where_mcir_is_at_fault(faulty: str) -> None:
    offer = "remark: --crash-reproducer=FILE writes a small file that fails in this way"
    assert notes(crashed(faulty, "--crash-on", stdin=GRAPH)) == offer
    assert run(main, "--break-types", stdin=GRAPH).err.endswith(f"{offer}\n")
    refused = run(main, "--streaming-lowering", "--tile-m=0", stdin=GRAPH)
    assert refused.code == 1 and "reproducer" not in refused.err


def on_console(argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ran:
    monkeypatch.setattr(sys, "argv", ["mcir-opt", *argv])
    monkeypatch.delenv("MCIR_DEBUG", raising=False)
    code = console.run_console("mcir-opt", main)
    return Ran(code, *capsys.readouterr())


def test_the_console_says_which_pass_and_where_the_file_is(
    faulty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.mcir").write_text(GRAPH)
    path = tmp_path / "r.mcir"
    argv = [str(tmp_path / "in.mcir"), faulty, "--crash-on", f"--crash-reproducer={path}"]
    ran = on_console(argv, monkeypatch, capsys)
    assert ran.code == 70 and ran.out == ""
    said = f"the pass crash-on of {SHOWN} failed at {SHOWN}:{CRASH_LINE}: IndexError: cannot take y"
    assert ran.err.startswith(f"mcir-opt: error: {said}\n  this is a fault of the pass, not of the input; MCIR_DEBUG")
    assert "bug in MCIR" not in ran.err
    assert f"\nremark: wrote {path}, a reproducer: the module before crash-on\n" in ran.err
    again = on_console(["--run-reproducer", str(path)], monkeypatch, capsys)
    assert again.code == 70 and again.err.splitlines()[0] == ran.err.splitlines()[0]
    record: dict[str, Any] = json.loads(on_console([*argv, "--diagnostics=json"], monkeypatch, capsys).err)
    assert record["severity"] == "error" and record["message"] == said
    assert record["notes"][0]["message"].startswith(f"remark: wrote {path}")


def test_json_has_the_remark_of_a_broken_module(faulty: str, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    flags = [faulty, "--break-types", f"--crash-reproducer={path}", "--diagnostics=json"]
    records = [json.loads(line) for line in run(main, *flags, stdin=GRAPH).err.splitlines()]
    assert [record["severity"] for record in records] == ["error", "remark"]
    assert records[1]["message"].startswith(f"wrote {path}")


# -- running one ------------------------------------------------------------------------------------


def test_flags_count_behind_those_of_the_file(registry: None, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    path.write_text(f"{HEAD}--pass-pipeline='attention-pattern,streaming-lowering{{tile-m=16}}'\n{ATTENTION}")
    out = tmp_path / "out.mcir"
    ran = run(main, "--run-reproducer", path, "--dump=outline", "-o", out)
    assert (ran.code, ran.err) == (0, "") and "StreamingRegion" in out.read_text()
    printed = run(main, path, "--run-reproducer").out
    assert "tile_m = 16" in printed and "configuration" not in printed
    assert run(main, "--run-reproducer", stdin=path.read_text()).out == printed


def test_one_that_is_run_writes_one_that_is_equal(faulty: str, tmp_path: Path) -> None:
    first, second = tmp_path / "1.mcir", tmp_path / "2.mcir"
    crashed(faulty, "--canonicalize", "--crash-on", f"--crash-reproducer={first}", stdin=GRAPH)
    crashed("--run-reproducer", first, f"--crash-reproducer={second}")
    assert second.read_text() == first.read_text()
    crashed(first, "--canonicalize", "--crash-on", f"--crash-reproducer={second}")  # its head is a comment here
    assert second.read_text() == first.read_text()


def test_places_in_the_file_are_those_of_the_file(registry: None, tmp_path: Path) -> None:
    path = tmp_path / "r.mcir"
    path.write_text(f"// a\n\n{HEAD}--verify-roundtrip\n// b\n{GRAPH.replace('neg', 'neck')}")
    assert f"{path}:8:8: error: unknown op 'neck'" in run(main, "--run-reproducer", path).err


@pytest.mark.parametrize(
    ("line", "column", "message", "hint"),
    [
        ("--pass-pipeline='canonicalise'", 36, "unknown pass 'canonicalise'", "did you mean 'canonicalize'?"),
        ("--pass-pipeline=canonicalize{fold=1}", 48, "canonicalize has no option 'fold'", "it has: fold-limit"),
        ("--pass-pipeline=", 19, "expected the name of a pass, got the end", ""),
        ("--pass-pipeline='canonicalize", 35, "this quote is not closed", ""),
        ('--prove "', 27, "this quote is not closed", ""),
        ("--prov", 19, "a configuration cannot have '--prov'", "did you mean '--prove'?"),
        ("canonicalize", 19, "a configuration cannot have 'canonicalize'", "it may have: --pass-pipeline, "),
        ("--prove -o x", 27, "a configuration cannot have '-o'", "it may have: "),
        ("--prove --load-pass-plugin=x.py", 27, "a configuration cannot have '--load-pass-plugin'", ""),
        ("--crash-reproducer=x", 19, "a configuration cannot have '--crash-reproducer'", ""),
        ("--prove=maybe", 19, "--prove takes true or false, not 'maybe'", ""),
        ("--dump=forest", 19, "--dump cannot be 'forest'", ""),
        ("--target=sm_1", 19, "unknown target 'sm_1'", ""),
        ("--target", 19, "--target needs a value", ""),
    ],
)
def test_a_wrong_configuration_is_pointed_at(
    registry: None, tmp_path: Path, line: str, column: int, message: str, hint: str
) -> None:
    path = tmp_path / "r.mcir"
    path.write_text(f"{HEAD}{line}\n{GRAPH}")
    ran = run(main, "--run-reproducer", path)
    assert ran.code == 1 and ran.out == "" and ran.err.count("error:") == 1
    assert ran.err.startswith(f"{path}:1:{column}: error: {message}") and hint in ran.err


def test_a_missing_and_a_second_configuration(registry: None) -> None:
    ran = run(main, "--run-reproducer", stdin=GRAPH)
    assert ran.code == 1 and ran.err.startswith("<stdin>:1:1: error: this file has no configuration to run")
    assert "hint: a comment above the module must say: // configuration: --pass-pipeline='...'" in ran.err
    for text in ("", f"{GRAPH}{HEAD}--prove\n"):  # below the module it is a comment
        assert "has no configuration" in run(main, "--run-reproducer", stdin=text).err
    ran = run(main, "--run-reproducer", stdin=f"{HEAD}--prove\n{HEAD}\n{GRAPH}")
    assert ran.code == 1 and ran.err.startswith("<stdin>:2:18: error: a second configuration")


def test_an_unknown_pass_may_come_from_a_plugin(registry: None) -> None:
    ran = run(main, "--run-reproducer", stdin=f"{HEAD}--pass-pipeline=crash-on\n{GRAPH}")
    assert "note: if it comes from a plugin, name that with --load-pass-plugin=FILE" in ran.err


@pytest.mark.parametrize("value", ["it's", 'say "x"', "a b", "", "\\", "'\"' \n\t\u2028ü"])
def test_any_option_survives_its_line(registry: None, value: str) -> None:
    passes = parse_pipeline("streaming-lowering,canonicalize")
    passes[0].stream_axis = value  # type: ignore[attr-defined]
    flags = ["--no-verify-each", "--verify-roundtrip", "--strip-comments", "--prove", "--dump", "--memory-report=json"]
    given = read_options([*flags, "--target=sm_90", "--dim=a=1,b=2"])
    line = configuration_line(passes, configuration_flags(given))
    assert line.endswith("\n") and line.count("\n") == 1
    options, source = read_configured(Source("r", line + GRAPH), ["in.mcir"])
    assert options.passes == passes and source.text == f"\n{GRAPH}"
    options.passes, options.input = [], "-"
    assert options == given


# -- mcir-reduce ------------------------------------------------------------------------------------


def test_a_reproducer_is_reduced_below_its_configuration(faulty: str, tmp_path: Path) -> None:
    path, out = tmp_path / "r.mcir", tmp_path / "out.mcir"
    crashed(faulty, "--crash-on", f"--crash-reproducer={path}", stdin=GRAPH)
    script = tmp_path / "test.sh"
    command = f"{sys.executable} -m mcir.tools.opt {faulty} --run-reproducer"
    script.write_text(f'#!/bin/sh\n{command} "$1"; test $? -eq 70\n')
    script.chmod(0o755)
    ran = run(reduce.main, "--test", script, path, "-o", out)
    assert ran.code == 0 and ran.err.startswith("mcir-reduce: 8 to 5 lines in ")
    line, body = split_configuration(out.read_text())
    assert line == f"{HEAD}--pass-pipeline='crash-on{{op=exp}}'\n"
    assert body.splitlines()[1].startswith("  %y = exp %") and body.count("\n") == 4
    assert str(crashed("--run-reproducer", out)) == "in the pass crash-on: IndexError: cannot take y"


def test_a_configuration_below_other_comments_comes_first() -> None:
    assert split_configuration(f"// a\n{HEAD}--prove\n// b\n{GRAPH}") == (f"{HEAD}--prove\n", f"// a\n// b\n{GRAPH}")
    assert split_configuration(f"{HEAD}--prove") == (f"{HEAD}--prove\n", "")
    assert split_configuration(GRAPH) == ("", GRAPH)


# -- plugins ----------------------------------------------------------------------------------------


def test_the_example_is_a_plugin(registry: None) -> None:
    ran = run(main, "--load-pass-plugin", OWN, "--drop-identities", "--statistics", stdin=GRAPH)
    assert (ran.code, ran.out) == (0, TIDY) and "1  dropped  identity nodes dropped" in ran.err
    assert "--drop-identities" in run(main, "--help").out
    assert run(main, f"--load-pass-plugin={OWN}", "--pass-pipeline=drop-identities", stdin=GRAPH).out == TIDY


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory"),
        ("import mcir\n", "has no pass and no op: write @register_pass above the class of a pass"),
        ("x = 1\ndef f(:\n", "line 2: invalid syntax"),
        ("\n\nraise ValueError('oh')\n", "line 3: ValueError: oh"),
        ("import sys\nsys.exit(3)\n", "line 2: SystemExit: 3"),
        ("from mcir.passes.dce import *\nregister_pass(DeadNodeElimination)\n", "is defined twice"),
        (
            "from mcir.passes import *\n@register_pass\nclass P(ModulePass):\n  name = 'dump'\n  summary = ''\n",
            "a pass cannot be called dump: mcir-opt has an option of that name",
        ),
    ],
)
def test_what_is_no_plugin(registry: None, tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "plugin.py"
    if text is not None:
        path.write_text(text)
    ran = run(main, f"--load-pass-plugin={path}", stdin=GRAPH)
    assert ran.code == 2 and ran.out == "" and message in ran.err and "Traceback" not in ran.err


def test_a_plugin_needs_a_name_and_stands_before_two_dashes(registry: None) -> None:
    ran = run(main, "--load-pass-plugin")
    assert ran.code == 2 and "--load-pass-plugin needs a value: --load-pass-plugin=FILE" in ran.err
    assert "no such file" in run(main, "--", "--load-pass-plugin=x.py").err
