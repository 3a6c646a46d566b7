"""The pass manager and pipeline text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from mcir.diagnostics import MCIRError
from mcir.module import MCModule
from mcir.passes import ModulePass, Remark
from mcir.passes.manager import BrokenModule, MCIRPassManager, PassCrash, PassWatcher
from mcir.passes.pipeline import (
    build_pass,
    convert_option,
    option_fields,
    parse_options,
    parse_pipeline,
    print_pipeline,
)
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.samples import build_attention_module, build_attention_semantic_graph


@dataclass
class Rename(ModulePass):
    """Renames the first region; not registered."""

    name: ClassVar[str] = "rename"
    summary: ClassVar[str] = "renames the first region"

    to: str = "renamed"
    count: int = 1
    factor: float = 0.5
    loud: bool = False

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count must not be negative")

    def run(self, module: MCModule) -> MCModule:
        module.regions[0].name = self.to
        self.remarks.append(Remark(self.name, "renamed", self.to))
        return module


class Log(PassWatcher):
    def __init__(self) -> None:
        self.events: list[tuple[str, str, Any]] = []

    def before(self, name: str, module: Any) -> None:
        self.events.append(("before", name, module.regions[0].name))

    def after(self, name: str, module: Any) -> None:
        self.events.append(("after", name, module.regions[0].name))

    def done(self, module: Any) -> None:
        self.events.append(("done", "", module.regions[0].name))


def test_passes_run_in_order_and_are_watched() -> None:
    log = Log()
    manager = MCIRPassManager([Rename("a"), Rename("b")], watchers=[log])
    assert manager.run(build_attention_module()).regions[0].name == "b"
    assert log.events == [
        ("before", "rename", "attention_region"), ("after", "rename", "a"),
        ("before", "rename", "a"), ("after", "rename", "b"), ("done", "", "b"),
    ]  # fmt: skip
    assert [run.name for run in manager.runs] == ["rename", "rename"]
    assert all(run.seconds > 0 and run.verify_seconds > 0 for run in manager.runs)
    assert [remark.message for remark in manager.remarks] == ["a", "b"]


def test_a_second_run_starts_afresh() -> None:
    manager = MCIRPassManager([Rename("a")])
    manager.run(build_attention_module())
    manager.run(build_attention_module())
    assert len(manager.runs) == 1 and len(manager.remarks) == 1


def test_any_function_is_a_pass() -> None:
    # Design note, section 14: the first pass may take a graph and give a module.
    def wrap(graph: Any) -> MCModule:
        return MCModule(graphs=[graph])

    module = MCIRPassManager([wrap, lambda m: m]).run(build_attention_semantic_graph())
    assert [graph.name for graph in module.graphs] == ["attention"]


def test_a_pass_that_breaks_the_module_is_named() -> None:
    with pytest.raises(BrokenModule) as raised:
        MCIRPassManager([Rename("")]).run(build_attention_module())
    assert raised.value.pass_name == "rename"
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.rule == "region.name"
    assert "the pass rename left the module invalid" in diagnostic.notes[0].message


@dataclass
class Crash(Rename):
    """Raises what a faulty pass may raise."""

    name: ClassVar[str] = "crash"

    def run(self, module: MCModule) -> MCModule:
        super().run(module)
        raise {"key": KeyError("gone"), "memory": MemoryError(), "deep": RecursionError("deep")}[self.to]


def test_a_pass_that_crashes_is_named() -> None:
    manager = MCIRPassManager([Rename("a"), Crash("key")])
    with pytest.raises(PassCrash, match=r"^in the pass crash: KeyError: 'gone'$") as raised:
        manager.run(build_attention_module())
    assert raised.value.pass_name == "crash"
    assert isinstance(raised.value.__cause__, KeyError) and raised.value.error is raised.value.__cause__
    assert [run.name for run in manager.runs] == ["rename", "crash"]
    assert [remark.message for remark in manager.remarks] == ["a", "key"]
    with pytest.raises(PassCrash, match="in the pass crash: RecursionError: deep"):
        MCIRPassManager([Crash("deep")]).run(build_attention_module())


def test_a_function_that_crashes_is_named() -> None:
    def divide(module: MCModule) -> MCModule:
        raise ZeroDivisionError("by zero")

    with pytest.raises(PassCrash, match="in the pass divide: ZeroDivisionError: by zero"):
        MCIRPassManager([divide]).run(build_attention_module())


def test_a_lack_of_memory_is_no_fault_of_the_pass() -> None:
    with pytest.raises(MemoryError):
        MCIRPassManager([Crash("memory")]).run(build_attention_module())


def test_a_verifier_that_crashes_names_the_pass_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(module: MCModule) -> None:
        raise TypeError("unhashable")

    monkeypatch.setattr("mcir.passes.manager.verify_module", fail)
    with pytest.raises(PassCrash, match="in the verifier after the pass rename: TypeError: unhashable"):
        MCIRPassManager([Rename()]).run(build_attention_module())


def test_verify_each_can_be_switched_off() -> None:
    manager = MCIRPassManager([Rename("")], verify_each=False)
    assert manager.run(build_attention_module()).regions[0].name == ""
    assert manager.runs[0].verify_seconds == 0


def test_warnings_of_the_last_module_are_kept() -> None:
    module = build_attention_module()
    module.regions[0].attrs["modifiers"] = [{"op": "mask", "kind": "causal", "offset": 0, "fill": -1e9}]
    manager = MCIRPassManager([Rename("x")])
    manager.run(module)
    assert [warning.rule for warning in manager.warnings] == ["modifier.fill"]


def test_a_refusing_pass_leaves_its_remarks() -> None:
    @dataclass
    class Refuse(Rename):
        def run(self, module: MCModule) -> MCModule:
            super().run(module)
            raise MCIRError("no")

    manager = MCIRPassManager([Refuse("r")])
    with pytest.raises(MCIRError, match="no") as raised:
        manager.run(build_attention_module())
    assert [note.message for note in raised.value.diagnostics[0].notes] == ["the pass rename refused the module"]
    assert [remark.message for remark in manager.remarks] == ["r"] and len(manager.runs) == 1


# -- pipeline text --------------------------------------------------------------------------------


def test_pipeline_text_round_trips() -> None:
    text = "streaming-lowering{tile-m=64 tile-n=32},streaming-lowering"
    passes = parse_pipeline(text)
    assert passes == [StreamingLowering(tile_m=64, tile_n=32), StreamingLowering()]
    printed = print_pipeline(passes)
    assert printed.startswith("streaming-lowering{tile-m=64 tile-n=32 tile-k=64 ")
    assert parse_pipeline(printed) == passes
    assert print_pipeline(parse_pipeline(printed)) == printed


@pytest.mark.parametrize(
    "text",
    [
        " streaming-lowering { tile-m = 64 , tile-n=32 } ",
        'streaming-lowering{tile-m=64,tile-n=32}',
        'streaming-lowering{tile-m="64" tile-n=32}',
    ],
)  # fmt: skip
def test_pipeline_text_is_free_in_spaces_and_commas(text: str) -> None:
    assert parse_pipeline(text) == [StreamingLowering(tile_m=64, tile_n=32)]


def test_strings_with_spaces_are_quoted() -> None:
    (made,) = parse_pipeline('streaming-lowering{stream-axis="my \\"axis\\""}')
    assert isinstance(made, StreamingLowering) and made.stream_axis == 'my "axis"'
    assert parse_pipeline(print_pipeline([made])) == [made]
    empty = StreamingLowering(stream_axis="")
    assert parse_pipeline(print_pipeline([empty])) == [empty]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected the name of a pass, got the end"),
        ("streaming-lowerin", 1, "unknown pass 'streaming-lowerin'"),
        ("streaming-lowering,", 20, "expected the name of a pass, got the end"),
        ("streaming-lowering,,x", 20, "expected the name of a pass, got ','"),
        ("streaming-lowering{tile-x=1}", 20, "streaming-lowering has no option 'tile-x'"),
        ("streaming-lowering{tile-m=1 tile-m=2}", 29, "option 'tile-m' is given twice"),
        ("streaming-lowering{tile-m=abc}", 20, "option 'tile-m' of streaming-lowering must be an integer, not 'abc'"),
        ("streaming-lowering{tile-m}", 20, "option 'tile-m' of streaming-lowering needs a value"),
        ("streaming-lowering{tile-m=}", 27, "expected a value, got '}'"),
        ("streaming-lowering{tile-m=1", 28, "expected an option of streaming-lowering, got the end"),
        ("streaming-lowering{tile-m=1}}", 29, "expected the end, got '}'"),
        ('streaming-lowering{stream-axis="\\q"}', 32, "unknown escape '\\q'"),
        ("{}", 1, "expected the name of a pass, got '{'"),
    ],
)
def test_wrong_pipeline_text_is_pointed_at(text: str, column: int, message: str) -> None:
    with pytest.raises(MCIRError) as raised:
        parse_pipeline(text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == message
    assert str(diagnostic.location) == f"<pass-pipeline>:1:{column}"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("streaming-lowerin", "did you mean 'streaming-lowering'?"),
        ("streaming-lowering{tile_m=1}", "did you mean 'tile-m'?"),
        ("streaming-lowering{zzz=1}", "it has: tile-m, tile-n, tile-k, stream-axis"),
    ],
)
def test_near_names_are_suggested(text: str, hint: str) -> None:
    with pytest.raises(MCIRError) as raised:
        parse_pipeline(text)
    assert raised.value.diagnostics[0].hint.startswith(hint)


def test_options_alone_with_and_without_braces() -> None:
    wanted = StreamingLowering(tile_m=32)
    assert parse_options("streaming-lowering", "tile-m=32") == wanted
    assert parse_options("streaming-lowering", "{tile-m=32}") == wanted
    assert parse_options("streaming-lowering", "") == StreamingLowering()
    with pytest.raises(MCIRError, match="expected the end"):
        parse_options("streaming-lowering", "{tile-m=32} x")


def test_option_types_follow_the_defaults() -> None:
    assert list(option_fields(Rename)) == ["to", "count", "factor", "loud"]
    assert convert_option(Rename, "to", "1") == "1"
    assert convert_option(Rename, "count", "-3") == -3
    assert convert_option(Rename, "factor", "1e3") == 1000.0
    assert convert_option(Rename, "loud", None) is True and convert_option(Rename, "loud", "false") is False
    for key, text in (("loud", "yes"), ("count", "1.5"), ("factor", "x"), ("count", "9" * 5000)):
        with pytest.raises(ValueError, match=f"option '{key}' of rename must be"):
            convert_option(Rename, key, text)


def test_a_pass_may_refuse_its_options() -> None:
    assert build_pass(Rename, {"count": 2}) == Rename(count=2)
    with pytest.raises(MCIRError, match="rename: count must not be negative"):
        build_pass(Rename, {"count": -1})
