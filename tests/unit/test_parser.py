"""What the parser makes of a text, and what it says of a wrong one."""

from __future__ import annotations

import time

import pytest

from mcir.diagnostics import MCIRError
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.syntax.actions import MAX_DIAGNOSTICS
from mcir.syntax.automaton import Stack
from mcir.types import MAX_ATTRIBUTE_DEPTH, Symbol, TensorType

GRAPH = "graph @g() {{ {} return }}"


def faults(text: str) -> list[str]:
    with pytest.raises(MCIRError) as caught:
        parse_module(text, "f.mcir")
    return [fault.render() for fault in caught.value.diagnostics]


def attribute(text: str) -> object:
    return parse_module(GRAPH.format(f'"a" {{k = {text}}}')).graphs[0].nodes[0].attrs["k"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("-17", -17),
        ("0x1F", 31),
        ("-0x1f", -31),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("-inf", float("-inf")),
        ('"a\\"b\\\\\\n\\u{1F600}"', 'a"b\\\n\U0001f600'),
        ("[]", []),
        ("{}", {}),
        ('[1, [2.0, {x = "y", "odd key" = false}]]', [1, [2.0, {"x": "y", "odd key": False}]]),
        ("@f", Symbol("f")),
        ('@"f g"', Symbol("f g")),
        ("tensor<4x?x(n)xfp16, shared>", TensorType((4, None, "n"), "fp16", "shared")),
        ('tensor<("s0 + 1")xi1>', TensorType(("s0 + 1",), "i1")),
        ("tensor<fp64>", TensorType((), "fp64")),
    ],
)
def test_attribute_values(text: str, value: object) -> None:
    found = attribute(text)
    assert found == value
    assert type(found) is type(value)


def test_floats_and_integers_stay_apart() -> None:
    assert print_module(parse_module(GRAPH.format('"a" {a = 1.0, b = 1, c = -0.0, d = nan, e = 1e300}'))) == (
        'graph @g() {\n  "a" @a {a = 1.0, b = 1, c = -0.0, d = nan, e = 1e+300}\n  return\n}\n'
    )


def test_a_node_without_anything_leaves_the_next_line_alone() -> None:
    graph = parse_module('graph @g(%x: tensor<fp32>) {\n  "f"\n  %y = "g" %x : tensor<fp32>\n  return %y }').graphs[0]
    assert [(node.name, len(node.inputs), len(node.outputs)) for node in graph.nodes] == [("f", 0, 0), ("y", 1, 1)]


def test_nodes_without_result_and_name_get_free_ones() -> None:
    graph = parse_module('graph @g(%x: tensor<fp32>) { "f" "f" %x "h" @f_1 return }').graphs[0]
    assert [node.name for node in graph.nodes] == ["f", "f_2", "f_1"]
    assert graph.inputs[0].consumers == ["f_2"]


def test_keywords_do_not_glue() -> None:
    assert "unknown op 'streamingsv'" in faults("execution @x { streamingsv @s { } }")[0]
    assert "unexpected 'graphs'" in faults("graphs @x() { return }")[0]


def test_deep_regions_cost_no_stack() -> None:
    depth = 20_000
    text = "execution @x { " * depth + "}" * depth
    module = parse_module(text)
    assert sum(1 for _ in module.walk()) == depth
    assert module == parse_module(text)
    printed = print_module(module)
    assert len(printed) < 300 * depth  # and no more text than that: the indentation ends somewhere
    assert print_module(parse_module(printed)) == printed


@pytest.mark.parametrize(
    ("levels", "good"), [(MAX_ATTRIBUTE_DEPTH, True), (MAX_ATTRIBUTE_DEPTH + 1, False), (10_000, False)]
)
def test_attributes_nest_only_so_deep(levels: int, good: bool) -> None:
    text = GRAPH.format('"a" {k = ' + "[" * levels + "]" * levels + "}")
    if good:
        assert print_module(parse_module(text)).count("[") == levels
    else:
        assert faults(text)[0].startswith("f.mcir:1:") and "nests deeper than 64 levels" in faults(text)[0]


# Text -> where the (first) fault stands, and words of its message and hint.
WRONG: list[tuple[str, str, list[str]]] = [
    ("graph", "1:6", ["unexpected end of the text", "a name such as @x"]),
    ("module { }", "1:1", ["unexpected 'module'", "there is no module keyword"]),
    ("\0", "1:1", ["unexpected character \\x00"]),
    ("# x", "1:1", ["comments begin with //"]),
    ("graph @x(%a: tensor<4xf16>) { return }", "1:23", ["unknown element type 'f16'", "did you mean 'fp16'?"]),
    ("graph @x(%a: tensor<4xfp16, sharde>) { return }", "1:29", ["unknown residency", "did you mean 'shared'?"]),
    ("graph @x() { %y = matmull : tensor<fp32> return }", "1:19", ["unknown op 'matmull'", "did you mean 'matmul'?"]),
    ("graph @x(%query: tensor<fp32>) { return %quer }", "1:41", ["is not defined here", "did you mean '%query'?"]),
    ("graph @x(%a: tensor<fp32>, %a: tensor<fp32>) { return }", "1:28", ["%a is defined twice", "first defined here"]),
    ('graph @x() { "a" {k = 1, k = 2} return }', "1:26", ["attribute 'k' is given twice"]),
    ('graph @x() { "a" {k = "abc} return }', "1:23", ["unterminated string, expected an attribute value"]),
    ('graph @x() { "a" {k: 1} return }', "1:20", ["attributes are written `key = value`"]),
    ('graph @x() { %a, %b = "q" : tensor<fp32> return }', "1:14", ["2 results but 1 result type"]),
    ("graph @x() { %a relu %b return }", "1:14", ["unexpected '%a'", "`%x = op ...`"]),
    ('graph @"\\q"() { return }', "1:7", ["unknown escape '\\q'", "escapes are"]),
    ("graph @é() { return }", "1:7", ["stands in quotes"]),
    ('graph @""() { return }', "1:7", ["a name is empty"]),
    ('graph @x() { "a" {k = ' + "9" * 5000 + "} return }", "1:23", ["more than 4000 digits", "write it as 0x..."]),
    ("graph @x(%a: tensor<9999999999999999999xfp16>) { return }", "1:21", ["more than 18 digits"]),
    ("graph @x()\r\n{\r\n%a = \"q\" : tensor<fp33>\r\n return }", "3:19", ["unknown element type 'fp33'"]),
    ("graph @x() { return } junk", "1:23", ["unexpected 'junk'"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "words"), WRONG, ids=[text[:30] for text, _, _ in WRONG])
def test_faults_say_where_and_what(text: str, place: str, words: list[str]) -> None:
    first = faults(text)[0]
    assert first.startswith(f"f.mcir:{place}: error: ")
    for word in words:
        assert word in first
    lines = first.splitlines()
    caret = lines[2]
    assert caret.strip(" ^") == "" and caret.index("^") - 2 <= 120


def test_independent_faults_are_all_told_in_order() -> None:
    found = faults("graph @x(%a: tensor<4xf16>) {\n  %y = rely %a : tensor<4xfp32>\n  return %z\n}")
    assert [text.split(" error:")[0] for text in found] == ["f.mcir:1:23:", "f.mcir:2:8:", "f.mcir:3:10:"]


def test_a_name_that_is_missing_is_told_once() -> None:
    assert len(faults('graph @x() { "a" %z, %z "b" %z return %z }')) == 1


LATE = """graph @x(%a: tensor<fp32>) {
  %b = neg %later : tensor<fp32>
  %c = neg %later : tensor<fp32>
  %later = neg %a : tensor<fp32>
  return %later
}
"""


def test_a_use_above_the_definition_is_one_fault_that_shows_it() -> None:
    (found,) = faults(LATE)
    assert found.startswith("f.mcir:2:12: error: value %later is not defined here\n")
    assert "\nf.mcir:4:3: note: defined here, below its use\n" in found
    assert found.endswith("\n  hint: a value is defined above its uses: move its node up")
    again = LATE.replace("  return", "  %later = neg %a : tensor<fp32>\n  return")
    first, second = faults(again)
    assert first == found
    assert second.startswith("f.mcir:5:3: error: value %later is defined twice\n")
    assert "\nf.mcir:4:3: note: first defined here\n" in second


def test_a_node_that_uses_its_own_result() -> None:
    (found,) = faults("graph @x() {\n  %b = neg %b : tensor<fp32>\n  return\n}")
    assert found.startswith("f.mcir:2:12: error: value %b is not defined here\n")
    assert "\nf.mcir:2:3: note: defined here, by the node that uses it\n" in found


def test_a_definition_in_a_broken_statement_is_not_shown() -> None:
    """Not even where the node is read before its error is met; the names in it count as defined from then on."""
    text = LATE.replace("neg %a : tensor<fp32>\n", "neg %a : tensor<fp32> 7\n")
    first, second = faults(text)
    assert first.startswith("f.mcir:2:12: error: value %later is not defined here\n") and "note" not in first
    assert second.startswith("f.mcir:4:34: error: unexpected '7'")


def test_a_definition_in_a_region_below_serves_that_region_only() -> None:
    nodes = "      %z = neg %y : tensor<fp32>\n      %y = neg %x : tensor<fp32>\n"
    tile = f"  streaming @s {{\n    tile @t {{\n{nodes}    }}\n"
    text = f"execution @e(%x: tensor<fp32>) -> (%o: tensor<fp32>) {{\n{tile}    %w = neg %y : tensor<fp32>\n  }}\n}}\n"
    first, second = faults(text)
    assert "4:16: error: value %y is not defined here" in first and "5:7: note: defined here, below" in first
    assert "7:14: error: value %y is not defined here" in second and "note" not in second


def test_no_more_than_a_hundred_faults() -> None:
    assert len(faults("graph @x() { " + " ".join(f'"a" %z{i}' for i in range(500)) + " return }")) == 100


def test_a_long_line_is_cut_to_a_window() -> None:
    text = "graph @x() { " + '"a" ' * 5000 + "$ return }"
    rendered = faults(text)[0].splitlines()
    assert len(rendered[1]) <= 2 + 120 + 6
    assert rendered[1].startswith("  ...") and rendered[1][rendered[2].index("^")] == "$"


def test_a_missing_quote_in_megabytes_is_found_at_once() -> None:
    assert "unterminated string" in faults('graph @x() { "a" {k = "' + "a\\" * 2_000_000)[0]


def test_a_chunk_counts_its_lines_from_the_file() -> None:
    with pytest.raises(MCIRError, match=r"f\.mcir:12:1: error"):
        parse_module("\n%", "f.mcir", first_line=11)


def test_comments_stay_with_what_they_belong_to() -> None:
    text = """// of the graph
graph @g(%x: tensor<fp32>) { // ends the head
  // of the node
  %y = neg %x : tensor<fp32> // ends the node
  // before the brace
  return %y
} // ends the graph

// of the region
execution @e(%x: tensor<fp32>) {
  // inside
} // ends the region

// last
"""
    module = parse_module(text)
    assert print_module(module) == text
    graph = module.graphs[0]
    assert graph.comments is not None and graph.nodes[0].comments is not None
    assert graph.comments.before == [" of the graph"] and graph.comments.after == " ends the head"
    assert graph.nodes[0].comments.before == [" of the node"] and graph.nodes[0].comments.after == " ends the node"
    assert graph.comments.inside == [" before the brace"] and graph.comments.close == " ends the graph"
    assert module.comments is not None and module.comments.inside == [" last"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_comment(end: str) -> None:
    text = end.join(
        ["// a", "graph @g() { // b", "  %x, // c", '  %y = "f" : tensor<i1>, tensor<i1>', "  return", "} // d"]
    )
    graph = parse_module(text).graphs[0]
    assert graph.comments is not None and graph.comments.before == [" a"]
    assert [value.name for value in graph.nodes[0].outputs] == ["x", "y"]
    assert "\r" not in print_module(parse_module(text))


@pytest.mark.parametrize(
    "text",
    [
        "graph @g(%x: // a\n tensor<i1>) { %y = not // b\n %x // c\n : tensor<i1>"
        " return // d\n %y // e\n } // f\n // g",
        'graph @g() { %a, // one\n %"//b" = "f" // two\n : tensor<fp32>, tensor<fp32> return }',
        'graph @g() { "f" {a = [1, // x\n 2]} return }',
    ],
)
def test_no_comment_is_lost_wherever_it_stands(text: str) -> None:
    import re

    written = re.findall(r"(?<!\")// ?(\w+)", text)
    printed = print_module(parse_module(text))
    assert sorted(re.findall(r"(?<!\")// ?(\w+)", printed)) == sorted(written)
    assert print_module(parse_module(printed)) == printed


# A text with several syntax errors -> where all faults stand. Every other line is sound, so that nothing else is told.
NEG = ": tensor<4xfp16>"
SEVERAL: list[tuple[str, list[str], list[str]]] = [
    ("nodes", [f"%a = neg %x, {NEG}", f"%b = neg %a {NEG}", f"%c = neg %b {{k = }} {NEG}", "return %c"],
     ["2:14", "4:18"]),
    ("other faults between", [f"%a = neg %x ) {NEG}", f"%b = rely %a {NEG}", f"%c = neg %d {NEG}", "return %a ;"],
     ["2:13", "3:6", "4:10", "5:11"]),
    ("other faults of a broken node", [f"%a = rely %y {{k = tensor<4xf16>, 3}} {NEG}", "return %a"], ["2:34"]),
    ("a brace that stays open", [f"%a = neg %x {{k = [1, {{j = 2 {NEG}", f"%b = neg %a {NEG}", "return %b"], ["2:29"]),
    ("a string that stays open", [f'%a = neg %x {{k = "abc}} {NEG}', f"%b = neg %a {NEG}", "return %b"], ["2:18"]),
    ("a broken return", [f"%a = neg %x {NEG}", "return %a %a"], ["3:11"]),
    ("a return in the middle", ["return %x", f"%a = neg %x {NEG}", "return %a"], ["3:1"]),
    ("a brace too many", [f"%a = neg %x {NEG}", "}", f"%b = neg %a {NEG}", "return %b"], ["3:1"]),
    ("no return", [f"%a = neg %x {NEG}"], ["3:1"]),
    ("a result that is lost", [f"a = neg %x {NEG}", f"%b = neg %a {NEG}", "return %b"], ["2:3"]),
    ("a quoted name that is lost", [f'%"a b" = neg %x ) {NEG}', f'%b = neg %"a b" {NEG}', "return %b"], ["2:17"]),
    ("a name defined again", [f"%a = neg %x ) {NEG}", f"%a = neg %x {NEG}", "return %a"], ["2:13"]),
    ("a region in a graph", ["tile @t {", f"%a = neg %x {NEG}", "}", "return %a"], ["3:1"]),
    ("the end of a line", ["%a = neg %x", "%b = = neg %a", "return %x ) }"], ["2:1", "3:6", "4:11"]),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "places"), [case[1:] for case in SEVERAL], ids=[case[0] for case in SEVERAL])
def test_several_syntax_errors_and_nothing_that_only_follows(lines: list[str], places: list[str]) -> None:
    graph = "\n".join(["graph @g(%x: tensor<4xfp16>) {", *lines, "}"])
    whole = f"\ngraph @h(%y: tensor<4xfp16>) {{\n%z = rely %y {NEG}\nreturn %z\n}}\n"
    found = [text.split(" error:")[0] for text in faults(graph + whole)]
    assert found == [f"f.mcir:{place}:" for place in [*places, f"{len(lines) + 4}:6"]]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("graph @a(%x tensor<fp32>) {\n return %x }\ngraph @b(%x: tensor<fp32) {\n return %y }",
         ["1:13", "3:25", "4:9"]),
        ("graph @a() { return\ngraph @b() { return\ngraph @c() { return }", ["2:1", "3:1"]),
        ("execution @a(%x) {\n tile @b {\n %y = = } }\ngraph g() { return }", ["1:16", "3:7", "4:7"]),
        ("tile @a {\n tile @b { %x = }\n tile @c attributes {k = } { %x = } }", ["2:17", "3:26", "3:35"]),
        ("grpah @a(%x: tensor<fp32>) {\n %y = = \n return %x }\n junk graph @b() { return )}", ["1:1", "2:7", "4:27"]),
        ("graph @a() { return } }\n}\n junk", ["1:23"]),
        ("graph @a() { \"f\" {k = 1 return }", ["1:25"]),
        ("graph @a(", ["1:10"]),
        ("", []),
    ],
)  # fmt: skip
def test_heads_and_ends(text: str, places: list[str]) -> None:
    if not places:
        assert parse_module(text).graphs == []
        return
    assert [fault.split(" error:")[0] for fault in faults(text)] == [f"f.mcir:{place}:" for place in places]


def test_many_syntax_errors_cost_no_more_than_the_text() -> None:
    def seconds(text: str) -> float:
        begin = time.process_time()
        with pytest.raises(MCIRError) as caught:
            parse_module(text)
        assert len(caught.value.diagnostics) <= MAX_DIAGNOSTICS
        return time.process_time() - begin

    head, lines = "graph @g(%x: tensor<4xfp16>) {\n", f"%a = neg %x ) {NEG}\n"
    open_ends = (head + '"a' * 100_000, head + "%a, " * 50_000, "}\n" * 100_000)
    for text in (head + lines * 100_000, head * 100_000, *open_ends):
        assert seconds(text) < 5


def test_an_error_behind_many_nodes_is_found_by_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"%v{at + 1} = neg %v{at} {NEG}" for at in range(5000)]
    text = "\n".join(["graph @g(%v0: tensor<4xfp16>) {", *lines, "%w = neg )", f"%u = neg %v7 {NEG}", "return %w }"])
    tokens = 0
    feed = Stack.feed

    def counted(stack: Stack, terminal: str) -> bool:
        nonlocal tokens
        tokens += 1
        return feed(stack, terminal)

    monkeypatch.setattr(Stack, "feed", counted)
    assert len(faults(text)) == 1
    assert tokens < 50
