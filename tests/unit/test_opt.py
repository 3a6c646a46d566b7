"""mcir-opt: flags, chunks, reports and files, through `main`."""

from __future__ import annotations

import io
import json
import os
import stat
from pathlib import Path

import pytest

from mcir import __version__
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.tools import report, watchers
from mcir.tools.opt import main
from mcir.tools.opt_options import EVERY, read_options
from tests.unit.tool_harness import run

GRAPH = "graph @g(%x: tensor<4xfp16>) {\n  %y = neg %x : tensor<4xfp16>\n  return %y\n}\n"
BAD_TYPE = GRAPH.replace("neg %x : tensor<4x", "neg %x : tensor<5x")
SYNTAX = "graph @g(%x: tensor<4xfp16>) {\n  return\n"
REGION = """\
execution @attention_region(%Q: tensor<16x8xfp16>, %K: tensor<12x8xfp16>, %V: tensor<12x8xfp16>)
    -> (%O: tensor<16x8xfp16>)
    attributes {pattern = "scaled_dot_product_attention"} {
}
"""


def test_a_module_is_printed_as_the_printer_prints_it() -> None:
    ran = run(main, stdin=GRAPH)
    assert (ran.code, ran.out, ran.err) == (0, print_module(parse_module(GRAPH)), "")
    assert run(main, "-", stdin=GRAPH).out == ran.out


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.mcir"
    path.write_text(GRAPH)
    assert run(main, path).out == GRAPH
    assert run(main, "--", path).out == GRAPH


def test_an_empty_text_is_an_empty_module() -> None:
    assert (run(main).code, run(main).out) == (0, "")


def test_errors_name_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "in.mcir"
    path.write_text(BAD_TYPE)
    ran = run(main, path)
    assert ran.code == 1 and ran.out == ""
    assert ran.err.splitlines()[0] == (
        f"{path}:2:17: error: the result of 'neg' is tensor<4xfp16>, not tensor<5xfp16> [type.result]"
    )


# -- passes -----------------------------------------------------------------------------------------


def pipeline(*argv: str) -> str:
    """What --dump-pass-pipeline says of the options, without defaults."""
    ran = run(main, *argv, "--dump-pass-pipeline")
    assert ran.code == 0
    return ran.err.strip()


def test_pass_flags_keep_their_order() -> None:
    assert [p.name for p in read_options(["--canonicalize", "--streaming-lowering"]).passes] == [
        "canonicalize", "streaming-lowering",
    ]  # fmt: skip
    names = [p.name for p in read_options(["--streaming-lowering", "--canonicalize", "--canonicalize"]).passes]
    assert names == ["streaming-lowering", "canonicalize", "canonicalize"]


@pytest.mark.parametrize(
    "argv",
    [
        ["--streaming-lowering=tile-m=64 tile-n=32"],
        ["--streaming-lowering={tile-m=64 tile-n=32}"],
        ["--streaming-lowering", "--tile-m=64", "--tile-n=32"],
        ["--streaming-lowering=tile-m=64", "--tile-n", "32"],
        ["--pass-pipeline=streaming-lowering{tile-m=64 tile-n=32}"],
        ["--pass-pipeline", "streaming-lowering{tile-m=64,tile-n=32}"],
        ["--pass-pipeline=streaming-lowering", "--tile-m=64", "--tile-n=32"],
    ],
)
def test_the_ways_to_give_a_pass_its_options(argv: list[str]) -> None:
    (made,) = read_options(argv).passes
    assert (getattr(made, "tile_m"), getattr(made, "tile_n"), getattr(made, "tile_k")) == (64, 32, 64)  # noqa: B009
    assert pipeline(*argv).startswith("streaming-lowering{tile-m=64 tile-n=32 tile-k=64 ")


def test_an_option_flag_counts_for_the_last_pass_before_it() -> None:
    first, second = read_options(["--streaming-lowering", "--tile-m=8", "--streaming-lowering", "--tile-m=4"]).passes
    assert (getattr(first, "tile_m"), getattr(second, "tile_m")) == (8, 4)  # noqa: B009


def test_a_pipeline_may_stand_between_flags() -> None:
    text = pipeline("--canonicalize", "--pass-pipeline=streaming-lowering,canonicalize", "--streaming-lowering")
    assert [part.split("{")[0] for part in text.split(",")] == [
        "canonicalize", "streaming-lowering", "canonicalize", "streaming-lowering",
    ]  # fmt: skip


def test_streaming_lowering_by_flag() -> None:
    ran = run(main, "--streaming-lowering=tile-m=4 tile-n=2", "--dump=outline", stdin=REGION)
    assert ran.code == 0
    assert ran.out == (
        "ExecutionRegion(attention_region)\n  StreamingRegion(attention_stream)\n    TileRegion(q_tile_loop)\n"
        "      load_tile(Q)\n      load_tile(K)\n      load_tile(V)\n      compute_score\n      update_softmax\n"
        "      accumulate_output\n      store_tile(O)\n"
    )
    tree = run(main, "--streaming-lowering=tile-m=4 tile-n=2", "--dump", stdin=REGION)
    assert "attrs: tile_m=4, tile_n=2, tile_k=8" in tree.out and "Q_tile[4,8]:fp16@shared" in tree.out


# -- usage ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--stremaing-lowering"], "unknown option --stremaing-lowering: did you mean '--streaming-lowering'?"),
        (["--my-own-pass"], "unknown option --my-own-pass: a pass of your own? --load-pass-plugin=FILE loads it\n"),
        (["--my-own-pass=k=1"], "unknown option --my-own-pass: a pass of your own? --load-pass-plugin=FILE loads it\n"),
        (["-my_pass"], "unknown option -my_pass\n"),
        (["--DUMP"], "unknown option --DUMP: did you mean '--dump'?"),
        (["-dump"], "unknown option -dump: did you mean '--dump'?"),
        (["--dump=tre"], "--dump cannot be 'tre': did you mean 'tree'?"),
        (["--dump=xyz"], "--dump cannot be 'xyz': it is one of tree, outline"),
        (["--timing=maybe"], "--timing cannot be 'maybe': it is one of text, json"),
        (["--verify-each=maybe"], "--verify-each takes true or false, not 'maybe'"),
        (["-o"], "-o needs a value: -o FILE"),
        (["--pass-pipeline"], "--pass-pipeline needs a value: --pass-pipeline=TEXT"),
        (["a.mcir", "b.mcir"], "one input at a time, got 2: a.mcir, b.mcir"),
        (["--tile-m=4"], "--tile-m is an option of --streaming-lowering, which must stand before it"),
        (["--streaming-lowering", "--tile-m=x"], "option 'tile-m' of streaming-lowering must be an integer, not 'x'"),
        (["--print-ir-after=streaming"], "--print-ir-after: unknown pass 'streaming': "),
        (["--streaming-lowering=tile-x=3"], "streaming-lowering has no option 'tile-x'"),
        (["--pass-pipeline=nonsense"], "unknown pass 'nonsense'"),
        (["--pass-pipeline="], "expected the name of a pass, got the end"),
        (["--\udc80"], "unknown option --\\udc80"),
    ],
)
def test_bad_usage_is_status_2_and_says_what(argv: list[str], message: str) -> None:
    ran = run(main, *argv, stdin=GRAPH)
    assert ran.code == 2 and ran.out == ""
    assert message in ran.err


def test_help_fits_two_screens_and_names_every_pass() -> None:
    ran = run(main, "--help")
    lines = ran.out.splitlines()
    assert ran.code == 0 and len(lines) <= 75 and max(map(len, lines)) <= 110
    for word in ("--streaming-lowering", "tile-m=128", "--verify-diagnostics", "examples:", "exit status"):
        assert word in ran.out
    assert run(main, "-h").out == ran.out


def test_version_and_passes() -> None:
    assert run(main, "--version").out == f"mcir-opt {__version__}\n"
    listed = run(main, "--list-passes").out
    assert "streaming-lowering" in listed and "  tile-m=128" in listed and "  lse=false" in listed


# -- split input and diagnostics --------------------------------------------------------------------


def test_split_input_goes_on_after_a_bad_chunk() -> None:
    ran = run(main, "--split-input-file", stdin=f"{GRAPH}// -----\n{SYNTAX}// -----\n{GRAPH}")
    assert ran.code == 1
    assert ran.out == f"{GRAPH}\n// -----\n\n{GRAPH}"
    assert "<stdin>:7:" in ran.err and ran.err.count("error:") == 1


def test_lines_of_a_chunk_are_lines_of_the_file() -> None:
    ran = run(main, "--split-input-file", stdin=f"{GRAPH}\n// -----\n\n{BAD_TYPE}")
    assert "<stdin>:9:17: error:" in ran.err
    assert "\n    %y = neg %x : tensor<5xfp16>\n" in ran.err


def test_split_output_is_a_fixed_point() -> None:
    once = run(main, "--split-input-file", stdin=f"// -----\n{GRAPH}// -----\n{GRAPH}  // -----\t\n").out
    assert run(main, "--split-input-file", stdin=once).out == once
    assert once.count("// -----") == 3


def test_a_mark_is_a_comment_without_the_flag() -> None:
    text = f"{GRAPH}\n// -----\n{GRAPH.replace('@g', '@h')}"
    ran = run(main, stdin=text)
    assert ran.code == 0 and "// -----\ngraph @h" in ran.out


def announced(comment: str, text: str = BAD_TYPE) -> str:
    return text.replace("  %y", f"  // {comment}\n  %y")


@pytest.mark.parametrize(
    "text",
    [
        announced("expected-error@+1 {{the result of 'neg'}}"),
        announced("expected-error @below {{[type.result]}}"),
        announced("expected-error@below{{tensor<4xfp16>}}"),
        BAD_TYPE.replace("tensor<5xfp16>", "tensor<5xfp16> // expected-error {{not tensor<5xfp16>}}"),
        BAD_TYPE.replace("  return", "  // expected-error@-1 {{neg}}\n  return"),
        BAD_TYPE.replace("  return", "  // expected-error@above {{neg}}\n  return"),
    ],
)
def test_announced_errors_are_good(text: str) -> None:
    ran = run(main, "--verify-diagnostics", stdin=text)
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (announced("expected-error@below {{no such text}}"), 'expected error "no such text" was not produced'),
        (announced("expected-error@above {{neg}}"), 'expected error "neg" was not produced'),
        (announced("expected-warning@below {{neg}}"), 'expected warning "neg" was not produced'),
        (announced("expected-error@below {{neg}} expected-error@below {{neg}}"), 'expected error "neg" was not'),
        (announced("expected-error@unknown {{neg}}"), 'expected error "neg" was not produced'),
        (announced("expected-error@below {{neg}"), "this announcement cannot be read"),
        (announced("expected-error-re@below {{neg}}"), "this announcement cannot be read"),
        (BAD_TYPE, "unexpected error: the result of 'neg'"),
        (announced("expected-error@below {{neg}}", GRAPH), 'expected error "neg" was not produced'),
    ],
)
def test_announcements_are_held_one_to_one(text: str, complaint: str) -> None:
    ran = run(main, "--verify-diagnostics", stdin=text)
    assert ran.code == 1 and complaint in ran.err


def test_warnings_remarks_and_notes_can_be_announced() -> None:
    warned = GRAPH.replace("<4x", "<4x4x").replace("neg %x", 'mask %x {kind = "causal", fill = -1.0}')
    assert run(main, "--verify-diagnostics", stdin=announced("expected-warning@below {{-1.0}}", warned)).code == 0
    assert run(main, "--verify-diagnostics", stdin=warned).code == 1
    remarked = "// expected-remark@below {{lowered}}\n" + REGION
    assert run(main, "--verify-diagnostics", "--remarks", "--streaming-lowering", stdin=remarked).code == 0
    twice = f"// expected-note@below {{{{first used here}}}}\n{GRAPH}// expected-error@below {{{{is taken}}}}\n{GRAPH}"
    assert run(main, "--verify-diagnostics", stdin=twice).code == 0


def test_syntax_errors_can_be_announced_in_chunks() -> None:
    text = f"{GRAPH}// -----\n{SYNTAX}  // expected-error {{{{unexpected end of the text}}}}\n"
    assert run(main, "--verify-diagnostics", "--split-input-file", stdin=text).code == 0


# -- reports ----------------------------------------------------------------------------------------


def test_warnings_do_not_fail_and_come_once() -> None:
    text = GRAPH.replace("<4x", "<4x4x").replace("neg %x", 'mask %x {kind = "causal", fill = -1.0}')
    ran = run(main, "--streaming-lowering", "--streaming-lowering", stdin=text)
    assert ran.code == 0 and ran.err.count("warning:") == 1


def test_remarks_as_text_and_json() -> None:
    ran = run(main, "--streaming-lowering", "--remarks", stdin=REGION)
    assert ran.err.startswith("<stdin>:1:1: remark: streaming-lowering: lowered: ")
    assert run(main, "--streaming-lowering", stdin=REGION).err == ""
    lines = run(main, "--streaming-lowering", "--remarks=json", stdin=REGION).err.splitlines()
    (record,) = map(json.loads, lines)
    assert (record["pass"], record["status"], record["region"]) == ("streaming-lowering", "lowered", "attention_region")
    assert (record["severity"], record["file"], record["line"], record["column"]) == ("remark", "<stdin>", 1, 1)


def test_errors_are_json_too_where_remarks_are() -> None:
    (record,) = map(json.loads, run(main, "--remarks=json", stdin=BAD_TYPE).err.splitlines())
    assert (record["severity"], record["rule"], record["line"]) == ("error", "type.result", 2)


def test_modules_around_passes_are_printed() -> None:
    before = run(main, "--streaming-lowering", "--print-ir-before=streaming-lowering", stdin=REGION).err
    assert before == f"// -----// IR Dump Before streaming-lowering //----- //\n{print_module(parse_module(REGION))}\n"
    both = run(main, "--streaming-lowering", "--print-ir-before", "--print-ir-after", stdin=REGION).err
    assert both.startswith(before) and "IR Dump After streaming-lowering" in both and "load_tile" in both
    for flags in (["--print-ir-before-all", "--print-ir-after-all"], [f"--print-ir-before={'canonicalize'}"]):
        err = run(main, "--streaming-lowering", *flags, stdin=REGION).err
        assert (err == both) == (len(flags) == 2) and (err == "") == (len(flags) == 1)
    assert read_options(["--print-ir-after"]).print_after == {EVERY}


def test_print_after_change_is_silent_where_nothing_changed() -> None:
    flags = ["--streaming-lowering", "--streaming-lowering", "--print-ir-after-change"]
    assert run(main, *flags, stdin=REGION).err.count("IR Dump After") == 1


def test_verify_each_can_be_switched_off() -> None:
    for flags in (["--no-verify-each"], ["--verify-each=false"]):
        assert not read_options(flags).verify_each
    assert read_options(["--no-verify-each", "--verify-each"]).verify_each


def test_roundtrip_holds_and_a_wrong_printer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(main, "--verify-roundtrip", "--streaming-lowering", stdin=GRAPH + REGION).code == 0

    faults = {
        "is not equal to what its text parses to": lambda text: text.replace("neg", "exp"),
        "prints to a text that does not parse": lambda text: text.replace("{", "{{"),
    }
    for message, spoil in faults.items():
        monkeypatch.setattr(watchers, "print_module", lambda module, spoil=spoil: spoil(print_module(module)))
        ran = run(main, "--verify-roundtrip", stdin=GRAPH)
        assert ran.code == 1 and message in ran.err and "[roundtrip]" in ran.err
    texts = iter(["graph @a() {\n  return\n}\n", "graph @b() {\n  return\n}\n"])
    monkeypatch.setattr(watchers, "print_module", lambda module: next(texts))
    ran = run(main, "--verify-roundtrip", stdin=GRAPH)
    assert "<printed>:1:8: error: the input prints differently" in ran.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    err = Terminal()
    main([], io.StringIO(BAD_TYPE), io.StringIO(), err)
    assert "\033[1;31merror:\033[0m" in err.getvalue() and "\033[32m^" in err.getvalue()
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
        plain = Terminal()
        main([], io.StringIO(BAD_TYPE), io.StringIO(), plain)
        assert "\033" not in plain.getvalue()
        monkeypatch.delenv("NO_COLOR", raising=False)
    assert not report.use_colour(io.StringIO())


# -- output files -----------------------------------------------------------------------------------


def test_the_output_may_be_the_input(tmp_path: Path) -> None:
    path = tmp_path / "x.mcir"
    path.write_text(REGION)
    path.chmod(0o640)
    ran = run(main, path, "--streaming-lowering", "-o", path)
    assert (ran.code, ran.out) == (0, "")
    assert "load_tile" in path.read_text() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["x.mcir"]


def test_a_failed_run_leaves_the_older_output(tmp_path: Path) -> None:
    path = tmp_path / "out.mcir"
    path.write_text("older")
    for flags, text in (([], SYNTAX), ([], BAD_TYPE), (["--split-input-file"], f"{GRAPH}// -----\n{SYNTAX}")):
        assert run(main, *flags, "-o", path, stdin=text).code == 1
        assert path.read_text() == "older"


def test_a_new_output_has_the_usual_permissions(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        assert run(main, f"-o{tmp_path}/new.mcir", stdin=GRAPH).code == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new.mcir").stat().st_mode) == 0o640


def test_a_symlink_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "target.mcir").write_text("older")
    link = tmp_path / "link.mcir"
    link.symlink_to("target.mcir")
    assert run(main, "-o", link, stdin=GRAPH).code == 0
    assert link.is_symlink() and (tmp_path / "target.mcir").read_text() == GRAPH


def test_devices_are_written_in_place() -> None:
    assert run(main, "-o", "/dev/null", stdin=GRAPH).code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(
    ("name", "message"),
    [("no/such/out.mcir", "the folder does not exist"), (".", "it is a folder"), ("", "cannot write")],
)
def test_outputs_that_cannot_be_written(tmp_path: Path, name: str, message: str) -> None:
    target = str(tmp_path / name) if name else ""
    ran = run(main, f"-o={target}" if not name else "-o", *([target] if name else []), stdin=GRAPH)
    assert ran.code == 1 and message in ran.err


def test_a_read_only_output_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.mcir"
    path.write_text("older")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    ran = run(main, "-o", path, stdin=GRAPH)
    assert ran.code == 1 and "Permission denied" in ran.err and path.read_text() == "older"


def test_a_fault_while_writing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.mcir"
    path.write_text("older")

    def fail(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    ran = run(main, "-o", path, stdin=GRAPH)
    assert ran.code == 1 and "No space left on device" in ran.err
    assert os.listdir(tmp_path) == ["out.mcir"] and path.read_text() == "older"
