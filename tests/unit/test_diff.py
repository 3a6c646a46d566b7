"""mcir-diff: what is reported, with which reason; nothing for equal structure, something for any other."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcir.analysis.difference import compare_modules
from mcir.analysis.reduction import REDUCTIONS, Reduction
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.regions import Region
from mcir.samples import build_attention_module, build_attention_semantic_graph
from mcir.tools.diff import main
from mcir.types import Symbol
from mcir.values import MCValue
from tests.support.strategies import modules
from tests.unit.tool_harness import Ran, run

T = "tensor<4x4xfp32>"
BASE = f"""graph @g(%x: {T}, %y: {T}) {{
  %S = matmul %x, %y : {T}
  %n = neg %S : {T}
  %P = softmax %n {{axis = -1}} : {T}
  %e = exp %S : {T}
  %z = add %P, %e : {T}
  return %z
}}
"""


def reasons(left: str, right: str) -> list[str]:
    found = compare_modules(parse_module(left), parse_module(right))
    return [f"{each.kind} {each.where} {each.subject}: {each.reason}" for each in found]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("%S", "%scores", ["renamed @g %S: is %scores now"]),
        ("%y", "%k", ["renamed @g %y: input is %k now"]),
        ("axis = -1", "axis = 0", ["changed @g %P: attribute axis = -1 is 0 now"]),
        (" {axis = -1}", "", ["changed @g %P: attribute axis = -1 is gone"]),
        ("= neg %S", "= neg %S {a = [1]}", ["changed @g %n: attribute a = [1] is new"]),
        ("exp %S", "exp %n", ["changed @g %e: operand 1 %S is %n now"]),
        ("= neg", "= abs", ["changed @g %n: op neg is abs now"]),
        ("= neg %S", "= neg @minus %S", ["renamed @g %n: the node is @minus now"]),
        ("return %z", "return %z, %e", ["changed  @g: returned values (%z) are (%z, %e) now"]),
        ("return %z", "return %e", ["changed  @g: returned value 1 %z is %e now"]),
        ("@g", "@h", ["renamed  @g: is @h now"]),
        (
            "%y: tensor<4x4",
            "%y: tensor<4x5",
            ["changed @g %y: input of type tensor<4x4xfp32> has tensor<4x5xfp32> now"],
        ),
        (
            "%e = exp %S : tensor<4x4",
            "%e = exp %S : tensor<4x?",
            ["changed @g %e: %e of type tensor<4x4xfp32> has tensor<4x?xfp32> now"],
        ),
        (f"  %n = neg %S : {T}\n", "", ["removed @g %n: %n = neg %S : " + T, "changed @g %P: operand 1 %n is %S now"]),
        ("// none", "", []),
    ],
)  # fmt: skip
def test_one_change_gives_one_reason(old: str, new: str, expected: list[str]) -> None:
    changed = BASE.replace(old, new)
    if not new and "neg" in old:
        changed = changed.replace("%n", "%S")
    assert reasons(BASE, changed) == expected


def test_removed_and_added_mirror_each_other() -> None:
    more = BASE.replace("  return", f"  %w = abs %z : {T}\n  return")
    assert reasons(BASE, more) == [f"added @g %w: %w = abs %z : {T}"]
    assert reasons(more, BASE) == [f"removed @g %w: %w = abs %z : {T}"]


def test_a_moved_node_is_the_one_that_moved() -> None:
    lines = BASE.splitlines(keepends=True)
    moved = "".join([*lines[:2], lines[4], lines[2], lines[3], *lines[5:]])
    assert reasons(BASE, moved) == ["moved @g %e: stands elsewhere among its neighbours"]


def test_a_chain_of_renamed_values_is_followed_past_a_changed_node() -> None:
    other = BASE
    for name in "SnPez":
        other = other.replace(f"%{name}", f"%{name}2")
    assert reasons(BASE, other) == [f"renamed @g %{name}: is %{name}2 now" for name in "SnPez"]
    assert "changed @g %P: attribute axis = -1 is 0 now" in reasons(BASE, other.replace("axis = -1", "axis = 0"))
    assert len(reasons(BASE, other.replace("axis = -1", "axis = 0"))) == 6


def test_comments_blanks_and_attribute_order_make_no_difference() -> None:
    left = BASE.replace("{axis = -1}", "{a = 1, b = 2.5}")
    right = "// said\n" + left.replace("{a = 1, b = 2.5}", "{b = 2.50, a = 0x1}").replace("  ", "\n  ")
    assert reasons(left, right) == []
    assert reasons(left, left.replace("a = 1", "a = 1.0")) == ["changed @g %P: attribute a = 1 is 1.0 now"]
    assert reasons(left, left.replace("a = 1", "a = true")) == ["changed @g %P: attribute a = 1 is true now"]


LONG = (
    '[{kind = "scale", value = 0.125, note = "a first entry that is long"}, '
    '{kind = "causal", offset = 0}, {kind = "x"}]'
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"causal"', '"window"', 'a[1].kind = "causal" is "window" now'),
        ("0.125", "0.25", "a[0].value = 0.125 is 0.25 now"),
        (", offset = 0", "", "a[1].offset = 0 is gone"),
        ("offset = 0", 'offset = 0, "o p" = [1]', 'a[1]."o p" = [1] is new'),
        ('{kind = "causal", offset = 0}, ', "", 'a[1] = {kind = "causal", offset = 0} is gone'),
        ("[{", '[{kind = "new"}, {', 'a[0] = {kind = "new"} is new'),
        ('"x"}]', '"x"}, 7, 8]', "a[3] = 7 is new; a[4] = 8 is new"),
        ('"causal", offset = 0', "1, offset = 2", 'a[1].kind = "causal" is 1 now; a[1].offset = 0 is 2 now'),
        (LONG, "7", 'a = [{kind = "scale", value = 0.125, note = "a first entry that ... is 7 now'),
        (LONG, '"s"', 'a = [{kind = "scale", value = 0.125, note = "a first entry that ... is "s" now'),
        ("[{", f"[{', '.join('1' * 99)}, {{", "; ".join(f"a[{at}] = 1 is new" for at in range(8)) + "; and more"),
    ],
)  # fmt: skip
def test_of_a_long_attribute_the_entries_are_told_that_differ(old: str, new: str, expected: str) -> None:
    left = BASE.replace("{axis = -1}", f"{{a = {LONG}}}")
    assert reasons(left, left.replace(old, new)) == [f"changed @g %P: attribute {expected}"]


def test_of_long_strings_the_place_is_told_where_they_part() -> None:
    left = BASE.replace("{axis = -1}", f'{{a = "{"s" * 200}b{"t" * 200}"}}')
    part = "s" * 30, "t" * 29
    expected = f"...{part[0]}b{part[1]}... is ...{part[0]}c{part[1]}... now"
    assert reasons(left, left.replace("sbt", "sct")) == [
        f"changed @g %P: attribute a = {expected}"
    ]


def test_regions_and_what_is_in_them() -> None:
    left = print_module(build_attention_module())
    assert reasons(left, left) == []
    right = left.replace("tile_m = 128", "tile_m = 64").replace("q_tile_loop", "loop").replace("%score_frag", "%s")
    assert reasons(left, right) == [
        "renamed @q_tile_loop %score_frag: is %s now",
        "renamed  @q_tile_loop: is @loop now",
        "changed  @q_tile_loop: attribute tile_m = 128 is 64 now",
    ]


def test_graphs_and_regions_added_removed_and_moved() -> None:
    one, two = BASE, BASE.replace("@g", "@h").replace("exp", "tanh")
    three = "graph @k(%x: tensor<fp32>) {\n  return %x\n}\n"
    assert reasons(one + two, two + one) == ["moved  @g: stands elsewhere among the graphs"]
    assert reasons(one + three, one) == ["removed  @k: graph of 0 nodes, on the left only"]
    assert reasons(one, one + two) == ["added  @h: graph of 5 nodes, on the right only"]
    assert reasons(one + one, one + one) == []


@given(modules())
def test_a_module_does_not_differ_from_itself(module: MCModule) -> None:
    assert compare_modules(module, parse_module(print_module(module))) == []


@given(modules(), modules())
def test_no_difference_means_equal_but_for_comments(left: MCModule, right: MCModule) -> None:
    same = _bare(left) == _bare(right)
    assert (not compare_modules(left, right)) == same
    assert (not compare_modules(right, left)) == same


@given(modules(), st.sampled_from([each for each in REDUCTIONS if each.name != "comments"]), st.data())
def test_every_small_change_is_seen(module: MCModule, reduction: Reduction, data: st.DataObject) -> None:
    count = reduction.parts(module)
    smaller = parse_module(print_module(module))
    if count:
        reduction.without(smaller, {data.draw(st.integers(0, count - 1))})
    smaller = parse_module(print_module(smaller))
    assert (not compare_modules(module, smaller)) == (_bare(module) == _bare(smaller))
    assert (not compare_modules(smaller, module)) == (_bare(module) == _bare(smaller))


def _bare(module: MCModule) -> MCModule:
    """A copy without comments."""
    copy = parse_module(print_module(module))
    copy.comments = None
    for holder in [*copy.graphs, *copy.walk()]:
        holder.comments = None
        for node in holder.nodes:
            node.comments = None
    return copy


def test_cost_is_near_to_linear() -> None:
    def seconds(count: int) -> float:
        nodes = [f"  %v{at + 1} = neg %v{at} : tensor<fp32>" for at in range(count)]
        text = "graph @g(%v0: tensor<fp32>) {\n" + "\n".join(nodes) + f"\n  return %v{count}\n}}\n"
        left, right = parse_module(text), parse_module(text.replace("%v", "%w"))
        begin = time.process_time()
        assert len(compare_modules(left, right)) == count + 1
        return time.process_time() - begin

    seconds(500)
    assert seconds(16_000) < 40 * max(seconds(2000), 1e-3)


# Values that are named anew


def numbered(ops: list[str]) -> str:
    """A chain of ops whose values have numbers for names, as many exporters write it."""
    lines = [f"  %{at + 1} = {op} %{at} : {T}" for at, op in enumerate(ops)]
    return "\n".join([f"graph @g(%0: {T}) {{", *lines, f"  return %{len(ops)}", "}", ""])


OPS = ["neg", "exp", "abs", "tanh", "exp", "sqrt", "neg", "abs"] * 3


@pytest.mark.parametrize("at", [0, 1, 5, 12, 23, 24])
def test_a_node_that_was_inserted_is_all_that_is_told_beside_the_names(at: int) -> None:
    left, right = numbered(OPS), numbered([*OPS[:at], "erf", *OPS[at:]])
    for old, new, kind in ((left, right, "added"), (right, left, "removed")):
        found = compare_modules(parse_module(old), parse_module(new))
        assert [each.kind for each in found if each.kind not in ("renamed", "changed")] == [kind]
        # the node behind it takes another operand, or it is another one that is returned
        assert next(each.reason for each in found if each.kind == "changed").startswith(("operand 1", "returned value"))
        assert len(found) <= len(OPS) - at + 2
        bare = compare_modules(parse_module(old), parse_module(new), names=False)
        assert sorted(each.kind for each in bare) == sorted([kind, "changed"])


def renamed_anew(module: MCModule, prefix: str) -> MCModule:
    """A copy in which every value, node, graph and region has a name by its place."""
    copy = parse_module(print_module(module))
    tops = [*copy.graphs, *copy.walk()]
    symbols = {top.name: f"{prefix}_top{at}" for at, top in enumerate(tops)}
    for at, top in enumerate([*copy.graphs, *copy.regions]):
        inner = list(top.walk()) if isinstance(top, Region) else [top]
        seen: dict[int, MCValue] = {}
        for holder in inner:
            for value in [*holder.inputs, *holder.outputs, *(out for node in holder.nodes for out in node.outputs)]:
                seen.setdefault(id(value), value)
        for number, value in enumerate(seen.values()):
            value.name = f"{prefix}_{at}_{number}"
        for holder in inner:
            for number, node in enumerate(holder.nodes):
                node.name = node.outputs[0].name if node.outputs else f"{prefix}_{holder.name}_n{number}"
    for holder in tops:
        holder.name = symbols[holder.name]
        for attrs in [holder.attrs, *(node.attrs for node in holder.nodes)]:
            attrs.update({key: _renamed(value, symbols) for key, value in attrs.items()})
    return copy


def _renamed(value: Any, symbols: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(each, symbols) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, symbols) for each in value]
    return Symbol(symbols.get(value.name, value.name)) if isinstance(value, Symbol) else value


@given(modules())
def test_other_names_alone_are_no_difference_where_names_are_ignored(module: MCModule) -> None:
    other = renamed_anew(module, "z")
    assert compare_modules(module, other, names=False) == []
    assert compare_modules(other, module, names=False) == []


@given(modules(), st.sampled_from([each for each in REDUCTIONS if each.name != "comments"]), st.data())
def test_every_small_change_is_seen_without_names(module: MCModule, reduction: Reduction, data: st.DataObject) -> None:
    smaller = parse_module(print_module(module))
    if count := reduction.parts(module):
        reduction.without(smaller, {data.draw(st.integers(0, count - 1))})
    smaller = parse_module(print_module(smaller))
    if _bare(renamed_anew(module, "z")) != _bare(renamed_anew(smaller, "z")):
        assert compare_modules(module, smaller, names=False)
        assert compare_modules(smaller, module, names=False)


def test_attributes_that_hold_names_follow_them() -> None:
    left = print_module(MCModule(build_attention_module().regions, [build_attention_semantic_graph()]))
    right = left
    for old, new in (("Q", "query"), ("O", "out"), ("P", "probs"), ("score_frag", "s"), ("Q_tile", "qt")):
        right = re.sub(rf'%{old}\b', f"%{new}", right).replace(f'"{old}"', f'"{new}"')
    assert left != right
    one, two = parse_module(left), parse_module(right)
    assert compare_modules(one, two, names=False) == []
    assert compare_modules(one, two)
    other = parse_module(right.replace('source = "query"', 'source = "K"'))
    assert [each.reason for each in compare_modules(one, other, names=False)] == [
        'attribute source = "query" is "K" now'
    ]


# The tool


def diff(tmp_path: Path, left: str, right: str, *flags: str) -> Ran:
    (tmp_path / "a.mcir").write_text(left)
    (tmp_path / "b.mcir").write_text(right)
    return run(main, *flags, tmp_path / "a.mcir", tmp_path / "b.mcir")


def test_text_output_and_exit_codes(tmp_path: Path) -> None:
    ran = diff(tmp_path, BASE, BASE.replace("axis = -1", "axis = 0").replace("return %z", "return %e"))
    assert ran.code == 1
    assert ran.out == (
        "in @g\n"
        "  ~ %P: changed: attribute axis = -1 is 0 now  (line 4 -> 4)\n"
        "~ @g: changed: returned value 1 %z is %e now  (line 1 -> 1)\n"
    )
    same = diff(tmp_path, BASE, "// other\n" + BASE)
    assert (same.code, same.out, same.err) == (0, "", "")
    quiet = diff(tmp_path, BASE, BASE.replace("neg", "abs"), "--quiet")
    assert (quiet.code, quiet.out) == (1, "")


def test_json_output(tmp_path: Path) -> None:
    ran = diff(tmp_path, BASE, BASE.replace("%n", "%m"), "--json")
    record = json.loads(ran.out)
    assert record == {
        "kind": "renamed", "subject": "%n", "where": "@g", "reason": "is %m now",
        "left": {"file": str(tmp_path / "a.mcir"), "line": 3, "column": 3},
        "right": {"file": str(tmp_path / "b.mcir"), "line": 3, "column": 3},
    }  # fmt: skip


def test_one_side_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a.mcir").write_text(BASE)
    assert run(main, tmp_path / "a.mcir", "-", stdin=BASE).code == 0
    assert run(main, "-", tmp_path / "a.mcir", stdin=BASE.replace("neg", "abs")).code == 1


def test_bad_input_and_bad_usage(tmp_path: Path) -> None:
    bad = diff(tmp_path, BASE, "graph @g(\n")
    assert (bad.code, bad.out) == (2, "")
    assert "b.mcir:" in bad.err
    absent = run(main, tmp_path / "a.mcir", tmp_path / "absent.mcir")
    assert absent.code == 2
    assert "no such file" in absent.err
    for argv in (["a"], ["a", "b", "c"], ["-", "-"], ["--josn", "a", "b"]):
        ran = run(main, *argv)
        assert ran.code == 2
        assert ran.err.startswith("mcir-diff: error: ")
    assert run(main, "--help").out.startswith("usage: mcir-diff")


def test_many_new_names_are_counted(tmp_path: Path) -> None:
    left, right = numbered(OPS), numbered(OPS).replace("%", "%v")
    ran = diff(tmp_path, left, right)
    assert ran.out.count("renamed: is") == 10
    assert ran.out.endswith("  ~ renamed: 15 more (--all shows each)\n")
    assert diff(tmp_path, left, right, "--all").out.count("renamed: is") == 24
    assert len(diff(tmp_path, left, right, "--json").out.splitlines()) == 25
    same = diff(tmp_path, left, right, "--ignore-names")
    assert (same.code, same.out) == (0, "")


def test_colour_on_a_terminal_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcir.tools.diff.use_colour", lambda *_: True)
    assert "\033[33m  ~ %n: changed: op neg is abs now" in diff(tmp_path, BASE, BASE.replace("neg", "abs")).out
