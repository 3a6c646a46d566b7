"""The reader by tables against Lark alone: the same model or the same faults, on any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcir.diagnostics import MCIRError
from mcir.location import Source
from mcir.module import MCModule
from mcir.parser import parse_module, parse_with_lark
from mcir.syntax import fast, generate, tables
from mcir.syntax.actions import Actions

TEXTS = [
    """// head
graph @att(%Q: tensor<9x64xfp16>, %"K/x": tensor<(batch)x?x64xfp16>) attributes {a = 1, b = [1.5, {c = nan}]} { // h
  %Kt = "transpose" %"K/x" {perm = [1, 0]} : tensor<64x1024xfp16> // trailing
  // lead
  "my.op"
  %a, %b = "split" @both %Kt {sizes = [0x10, -3], on = true} : tensor<64xfp16>, tensor<64xfp16, shared>
  "sink" @s %a, %b
  %"o p" = "add" %a, // middle
      %b : tensor<fp32>
  // tail
  return %"o p", %a // ret
} // close
""",
    """execution @attention_region(%Q: tensor<8x4xfp16>) -> (%O: tensor<8x4xfp16>)
    attributes {pattern = "p", graph = @g, t = tensor<4xi8>} {
  streaming @s attributes {stream_axis = "sequence"} {
    %x = "f" : tensor<("a b")x4xbf16, register>
    tile @t attributes {tile_m = 1} { %y = "g" %x, %Q {k = "q\\"\\u{1f}"} : tensor<fp64> } // end
    tile @u {
    }
  }
}
execution @r { } graph @g() { return }
""",
    'graph @x() { "a" {k = ' + "[" * 6 + "]" * 6 + "} return }",
]
# Statements that stand in any order below: values that are used above their definition, in their own node, and twice.
LINES = ["  %a = neg %b : tensor<4xfp32>", "  %b = neg %x : tensor<4xfp32>", "  %c = add %c, %a : tensor<4xfp32>",
         "  %b, %d = \"f\" %c, %b", "  %d = neg %b : tensor<4xfp32> 7", "  \"g\" %d, %b", "  return %a"]  # fmt: skip
PIECES = [*"%@{}[]()<>,:=\"\\/ \n\rx1.-?", "//", "->", "graph @g() {", "return", "tile @t {", "%a =", "tensor<", "fp16",
          "attributes", "nan", "true", '"s"', "// c\n", "-----", "\0", "é"]  # fmt: skip


def outcome(parse: object, text: str) -> tuple[MCModule | None, list[str]]:
    try:
        return parse(text), []  # type: ignore[operator]
    except MCIRError as error:
        return None, [fault.render() for fault in error.diagnostics]


def by_lark(text: str) -> MCModule:
    return parse_with_lark(Source("<string>", text))


def assert_same(text: str) -> None:
    assert outcome(parse_module, text) == outcome(by_lark, text)


@pytest.mark.parametrize("text", TEXTS)
def test_given_texts_read_alike(text: str) -> None:
    model, faults = outcome(parse_module, text)
    assert model is not None, faults
    assert_same(text)


@pytest.mark.parametrize("results", ["%b, %c", '%b, %"c"', '%"b, %c"', '%"b", %c', "%b, %b", "%b,%c", "%b, %a"])
def test_several_results_take_no_single_type(results: str) -> None:
    """Not even where a line above had the same type: the names would be taken for one name."""
    lines = [f'  {names} = "f" : tensor<4xfp32>\n' for names in ("%a", results)]
    text = f"graph @g() {{\n{''.join(lines)}  return %a\n}}\n"
    model, faults = outcome(parse_module, text)
    assert_same(text)
    if results == '%"b, %c"':
        assert model is not None and [value.name for value in model.graphs[0].nodes[1].outputs] == ["b, %c"]
    else:
        assert "2 results but 1 result type" in faults[0] or "defined twice" in faults[0]


def test_a_node_is_underlined_alike_wherever_it_stands() -> None:
    """Whether one like it stands above, from which its parts are known, or not."""
    lines = [f'  %{name} = "f" : tensor<4xfp32>\n' for name in ("aa", "bb", "aa", "bb")]
    _, faults = outcome(parse_module, f"graph @g() {{\n{''.join(lines)}  return\n}}\n")
    assert [fault.count("\n    ^^^^^") for fault in faults] == [2, 2]
    assert [line.count("^") for fault in faults for line in fault.splitlines() if "^" in line] == [5] * 4


@given(st.lists(st.sampled_from(LINES), max_size=12), st.booleans())
def test_statements_in_any_order_read_alike(lines: list[str], in_region: bool) -> None:
    body = "\n".join(lines)
    if in_region:
        head, _, inner = (part + "\n" for part in body.partition("  return %a"))
        assert_same(f"execution @e() {{\n{head}  tile @t {{\n{inner}  }}\n{head}}}\n")
    else:
        assert_same(f"graph @g(%x: tensor<4xfp32>) {{\n{body}\n}}\n")


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 6)))
        text = text[:at] + draw(st.sampled_from(["", text[at:end] * 2, *PIECES])) + text[end:]
    return text


@settings(max_examples=max(300, settings.default.max_examples), suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_mutated_texts_read_alike(text: str) -> None:
    assert_same(text)


def test_every_cut_of_a_text_reads_alike() -> None:
    for text in TEXTS:
        for match in re.finditer(r"\S+", text):
            assert_same(text[: match.end()])


def test_tables_are_those_of_the_grammar() -> None:
    assert fast.tables_fit(), "run python -m mcir.syntax.generate"
    assert generate.TABLES.read_text(encoding="utf-8") == generate.generate()


def test_without_tables_lark_reads_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "tables_fit", lambda: False)
    monkeypatch.setattr(tables, "ROWS", [])
    for text in TEXTS:
        assert parse_module(text) == by_lark(text)


def test_plain_lines_need_no_lark(monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXTS[1]
    source = Source("<string>", text)
    actions = Actions()
    items = fast.Reader(source, actions).items()
    assert actions.diagnostics == []
    assert actions.module(items) == by_lark(text)
