"""Passes and ops of one's own: what the pass manager holds them to, and who is named where one fails."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from mcir.module import MCModule
from mcir.ops import definition
from mcir.parser import parse_module
from mcir.passes import ModulePass, Statistic, base, option, register_pass
from mcir.passes import manager as manager_module
from mcir.passes.manager import BrokenModule, MCIRPassManager
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.samples import build_attention_module
from mcir.tools import console, plugins
from mcir.tools.opt import main

GRAPH = """\
graph @g(%x: tensor<4x8xfp32>) {
  %y = trilu %x : tensor<4x8xfp32>
  return %y
}
"""


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes and ops that are registered from here on are gone after the test."""
    monkeypatch.setattr(base, "_PASSES", base.registered_passes())
    monkeypatch.setattr(definition, "_REGISTRY", dict(definition._REGISTRY))
    monkeypatch.setattr(plugins, "_loaded", set())


@dataclass
class Meddle(ModulePass):
    """Does to the first graph what it is told; not registered."""

    name: ClassVar[str] = "meddle"
    summary: ClassVar[str] = "changes graphs without saying so"

    how: str = "nothing"

    def run(self, module: MCModule) -> MCModule:
        graph = module.graphs[0]
        if self.how == "attribute":
            graph.nodes[0].attrs["k"] = 3
        elif self.how == "rename":
            graph.name = "h"
        elif self.how == "add":
            module.graphs += parse_module(GRAPH.replace("@g", "@more")).graphs
        elif self.how == "remove":
            module.graphs.clear()
        elif self.how == "comment":
            graph.comments = None
        elif self.how == "copy":
            return parse_module(GRAPH)
        return module


class Told(Meddle):
    changes_graphs: ClassVar[bool] = True


# -- graphs are kept --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message", "before", "after"),
    [
        ("attribute", "changed graph @g", "%y = trilu %x : tensor<4x8xfp32>",
         "%y = trilu %x {k = 3} : tensor<4x8xfp32>"),
        ("rename", "took away graph @g", "graph @g(%x: tensor<4x8xfp32>) {", "(nothing)"),
        ("remove", "took away graph @g", "graph @g(%x: tensor<4x8xfp32>) {", "(nothing)"),
        ("add", "added graph @more", "(nothing)", "graph @more(%x: tensor<4x8xfp32>) {"),
    ],
)  # fmt: skip
def test_a_pass_that_changes_graphs_must_say_so(how: str, message: str, before: str, after: str) -> None:
    with pytest.raises(BrokenModule) as raised:
        MCIRPassManager([Meddle(how)]).run(parse_module(GRAPH))
    (fault,) = raised.value.diagnostics
    assert raised.value.pass_name == "meddle"
    assert fault.message == f"the pass meddle {message} without saying that it changes graphs"
    assert [note.message for note in fault.notes] == [f"before: {before}", f"after: {after}"]
    assert fault.hint.endswith("changes_graphs: ClassVar[bool] = True")
    MCIRPassManager([Told(how)]).run(parse_module(GRAPH))
    MCIRPassManager([Meddle(how)], verify_each=False).run(parse_module(GRAPH))


def test_comments_belong_to_a_graph() -> None:
    with pytest.raises(BrokenModule, match="meddle changed graph @g"):
        MCIRPassManager([Meddle("comment")]).run(parse_module(f"// of g\n{GRAPH}"))


def test_graphs_that_are_the_same_are_kept() -> None:
    MCIRPassManager([Meddle(), Meddle("copy")]).run(parse_module(GRAPH))


def test_the_built_in_passes_cost_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager_module, "_graph_texts", lambda module: pytest.fail("compared"))
    MCIRPassManager([StreamingLowering()]).run(build_attention_module())


def test_what_a_pass_gives_back_is_a_module() -> None:
    @dataclass
    class Forget(Meddle):
        def run(self, module: MCModule) -> MCModule:
            return None  # type: ignore[return-value]

    for verify_each in (True, False):
        with pytest.raises(BrokenModule, match="the pass meddle gave back NoneType, not a module") as raised:
            MCIRPassManager([Forget(), Told()], verify_each).run(parse_module(GRAPH))
        assert raised.value.diagnostics[0].hint.endswith("return module")


# -- options ----------------------------------------------------------------------------------------


def test_options_without_a_dataclass_are_refused() -> None:
    class Annotated(ModulePass):
        name: ClassVar[str] = "annotated"
        summary: ClassVar[str] = ""
        most: int = 8

    class WithHelp(ModulePass):
        name, summary = "with-help", ""
        most = option(8, "so many")

    for cls in (Annotated, WithHelp):
        with pytest.raises(ValueError, match=r"^most is no option of pass .* yet: write @dataclass between"):
            register_pass(cls)
    assert register_pass(dataclass(Annotated)) is Annotated


def test_a_pass_without_options_needs_no_dataclass() -> None:
    @register_pass
    class Plain(ModulePass):
        name = "plain"
        summary: str = ""
        changes_graphs: ClassVar[bool] = True
        seen: Statistic = Statistic("nodes seen")

    assert base.find_pass("plain") is Plain


@pytest.mark.parametrize(("default", "got"), [(None, "has None"), ((1, 2), r"has \(1, 2\)")])
def test_options_are_what_a_command_line_can_give(default: object, got: str) -> None:
    @dataclass
    class Odd(ModulePass):
        name: ClassVar[str] = "odd"
        summary: ClassVar[str] = ""
        sizes: object = default

    with pytest.raises(ValueError, match=f"option sizes of pass odd needs a default that is an int, .*; it {got}"):
        register_pass(Odd)


# -- who failed -------------------------------------------------------------------------------------

PASS = """\
from dataclasses import dataclass
from mcir.passes import ModulePass, register_pass
@register_pass
@dataclass
class Own(ModulePass):
    name = "own"
    summary = "fails"
    changes_graphs = True
    def run(self, module):
        {body}
        return module
"""
OP = """\
from mcir.ops.definition import define

def _infer(ctx):
    return [ctx.operands[{operand}]]

define("twice", "x", "out", doc="2x.", example="%y = twice %x : tensor<4x8xfp32>", infer=_infer,
       evaluate=lambda ctx, x: x.nope)
"""


def fail(
    text: str, graph: str, flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> tuple[int, str]:  # fmt: skip
    """The exit code and what `mcir-opt` says in a folder with the plugin own.py."""
    (tmp_path / "own.py").write_text(text)
    (tmp_path / "in.mcir").write_text(graph)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MCIR_DEBUG", raising=False)
    monkeypatch.setattr(sys, "argv", ["mcir-opt", "in.mcir", "--load-pass-plugin=own.py", *flags])
    code = console.run_console("mcir-opt", main)
    said = capsys.readouterr()
    assert "Traceback" not in said.err and (code == 0 or said.out == "")
    return code, said.err or said.out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("int('x')", "failed at own.py:10: ValueError: invalid literal for int() with base 10: 'x'"),
        ("module.graphs[0].producers(1)", "failed at own.py:10: TypeError: "),
        ("module.graphs[0].nodes[0].op = []", "left a module that the verifier cannot take: TypeError: unhashable"),
    ],
)
def test_a_pass_of_ones_own_is_named_with_its_line(
    body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = fail(PASS.format(body=body), GRAPH, ["--own"], tmp_path, monkeypatch, capsys)
    assert code == 70 and err.startswith(f"mcir-opt: error: the pass own of own.py {said}")
    assert "\n  this is a fault of the pass, not of the input; MCIR_DEBUG=1 shows" in err and "bug in MCIR" not in err


def test_a_plugin_may_have_ops_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = GRAPH.replace("trilu", "twice")
    assert fail(OP.format(operand=0), twice, [], tmp_path, monkeypatch, capsys) == (0, twice)
    wrong = twice.replace("%y = twice %x : tensor<4x8xfp32>", "%y = twice %x : tensor<4x9xfp32>")
    code, err = fail(OP.format(operand=0), wrong, [], tmp_path, monkeypatch, capsys)
    assert code == 1 and "in.mcir:2:19: error: the result of 'twice' is tensor<4x8xfp32>" in err


def test_an_op_of_ones_own_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = GRAPH.replace("trilu", "twice")
    code, err = fail(OP.format(operand=1), graph, [], tmp_path, monkeypatch, capsys)
    assert code == 70
    assert err.startswith("mcir-opt: error: the op twice of own.py failed at own.py:4: IndexError: list index out of r")
    assert "\n  this is a fault of the op, not of the input" in err and "bug in MCIR" not in err


def test_a_fault_of_mcir_below_a_plugin_that_only_stands_by_is_that_of_mcir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: object, module: MCModule) -> MCModule:
        raise KeyError("gone")

    monkeypatch.setattr(StreamingLowering, "run", broken)
    code, err = fail(PASS.format(body=""), GRAPH, ["--own", "--streaming-lowering"], tmp_path, monkeypatch, capsys)
    assert code == 70 and err.startswith("mcir-opt: internal error in the pass streaming-lowering: KeyError: 'gone'\n")
    assert "this is a bug in MCIR" in err


def test_an_op_that_stands_with_those_of_mcir_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = {"__name__": "mcir.ops.twice"}  # as a new file of mcir/ops has it
    exec(compile(OP.format(operand=1), str(tmp_path / "mcir" / "ops" / "twice.py"), "exec"), twice)
    code, err = fail(PASS.format(body=""), GRAPH.replace("trilu", "twice"), [], tmp_path, monkeypatch, capsys)
    place = f"mcir{os.sep}ops{os.sep}twice.py:4"
    assert code == 70 and err.startswith(f"mcir-opt: internal error in the op twice at {place}: IndexError: list index")
    assert "this is a bug in MCIR" in err


def test_a_pass_of_ones_own_that_leaves_an_op_of_mcir_helpless_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def helpless(ctx: object) -> list[object]:
        raise KeyError("k")

    helpless.__module__ = "mcir.ops.mask"
    body = "module.graphs[0].nodes[0].op = 'helpless'"
    definition.define("helpless", "x", "out", doc="", example="", infer=helpless)  # type: ignore[arg-type]
    code, err = fail(PASS.format(body=body), GRAPH, ["--own"], tmp_path, monkeypatch, capsys)
    assert code == 70
    assert err.startswith("mcir-opt: error: the pass own of own.py left a module that the verifier cannot take: KeyErr")
