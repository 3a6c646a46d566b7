"""Mistakes of newcomers, most of them from MLIR or Python: each is shown where it is, with what would mend it."""

from __future__ import annotations

import pytest

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.location import Source
from mcir.parser import parse_module, parse_with_lark
from mcir.syntax import actions, values
from mcir.verifier import verify_module

HEAD = "graph @g(%x: tensor<4x8xfp16>) {\n"
TAIL = "\n  return %y\n}\n"

# A statement -> where the faults are, and how the hint of the first begins.
STATEMENTS: list[tuple[str, str, str]] = [
    ("  return %x", "3:3 3:10", "a graph has one return, at its end"),
    ("  return %x\n  %y = neg %x : tensor<4x8xfp16>", "3:3", "a graph has one return, at its end"),
    ("  return\n  %y, %z = neg %x : tensor<4x8xfp16>", "3:10", "a graph has one return, at its end"),
    ("  %xx = neg %x : tensor<4x8xfp16>\n  %y = neg %X : tensor<4x8xfp16>", "3:12", "did you mean '%x'?"),
    ("  %y = NEG %x : tensor<4x8xfp16>", "2:8", "did you mean 'neg'?"),
    ("  %y = reshape %x : tensor<8x4xfp16>", "2:3", "write {shape = [8, 4]}"),
    ('  %y = "neg"(%x) : (tensor<4x8xfp16>) -> tensor<4x8xfp16>', "2:13",
     "operands and attributes of a node stand without "),
    ('  %0 = "x"() : () -> ()', "2:11 3:10", "operands and attributes of a node stand without "),
    ("  %y = arith.addf %x, %x : tensor<4x8xfp16>", "2:8", "did you mean 'add'?"),
    ("  %y = neg %x : tensor<4x8xf32>", "2:28", "did you mean 'fp32'?"),
    ("  %y = neg %x : tensor<4x8xfloat32>", "2:28", "did you mean 'fp32'?"),
    ("  %y = neg %x : tensor<4x8xfloat>", "2:28", "did you mean 'fp32'?"),
    ("  %y = neg %x : !tensor<4x8xfp16>", "2:17", "a type is written tensor<4x8xfp16>"),
    ("  %y = neg %x : memref<4x8xfp16>", "2:17", "a type is written tensor<4x8xfp16>"),
    ("  %y = neg %x : Tensor<4x8xfp16>", "2:17", "a type is written tensor<4x8xfp16>"),
    ("  %y = neg %x : fp16", "2:17", "a type is written tensor<4x8xfp16>"),
    ("  %y neg %x : tensor<4x8xfp16>", "2:3", "a node that begins with results is written `%x ="),
    ("  y = neg %x : tensor<4x8xfp16>", "2:5", "values begin with %: %y = ..."),
    ("  %y = neg x : tensor<4x8xfp16>", "2:3", "write the `: type`; as an operand, 'x' is %x"),
    ("  %y = softmax %x {axis = -1, k = 'a'} : tensor<4x8xfp16>", "2:35", 'strings stand in double quotes: "..."'),
    ("  %y = neg %x : tensor<4x8xfp16>;", "2:33", "a statement ends where the next begins: leave th"),
    ("  # c\n  %y = neg %x : tensor<4x8xfp16>", "2:3", "comments begin with //"),
    ("  /* c */\n  %y = neg %x : tensor<4x8xfp16>", "2:3", "comments begin with //"),
    ("  -- c\n  %y = neg %x : tensor<4x8xfp16>", "2:3", "comments begin with //"),
    ("  %y = neg %x \uff1a tensor<4x8xfp16>", "2:15", "this is FULLWIDTH COLON (U+FF1A): write :"),
    ("  %y = add %x\uff0c %x : tensor<4x8xfp16>", "2:14", "this is FULLWIDTH COMMA (U+FF0C): write ,"),
    ("  %y = softmax %x {axis = -1, k = \u201ca\u201d} : tensor<4x8xfp16>", "2:35",
     'this is LEFT DOUBLE QUOTATION MARK (U+201C): write "'),
    ("  %y =\xa0neg %x : tensor<4x8xfp16>", "2:7", "this is NO-BREAK SPACE (U+00A0), which cannot be"),
    ("  %y = neg %x\u200b : tensor<4x8xfp16>", "2:14", "this is ZERO WIDTH SPACE (U+200B), which cannot "),
    ("  %y = softmax %x {axis = \u22121} : tensor<4x8xfp16>", "2:27", "this is MINUS SIGN (U+2212): write -"),
    ("  %y = softmax %x {axis = -1 : tensor<4x8xfp16>", "2:30", "a '}' is missing before the ':'"),
    ("  %y = transpose %x {perm = [1, 0} : tensor<8x4xfp16>", "2:34", "a ']' is missing before this"),
    ("  %y = neg %x : tensor<4x8xfp16", "3:3", "a '>' is missing before this"),
    ("  %y = neg %x : tensor<sx8xfp16>", "2:24", "a size is a number, a name in parentheses or ?: "),
    ("  %y = neg %x : tensor<seqx8xfp16>", "2:24", "a size is a number, a name in parentheses or ?: "),
    ("  %y = neg %x : tensor<4x%sxfp16>", "2:26", "a named size stands in parentheses: (s)x"),
    ("  %y = neg %x : tensor<-1x8xfp16>", "2:24", "a size that is not known is written ?x"),
    ("  %y = neg %x : tensor<Nonex8xfp16>", "2:24", "a size is a number, a name in parentheses or ?: "),
    ("  %y = neg %x : tensor<[4, 8], fp16>", "2:24", "sizes have an x behind each, the element type st"),
    ("  %y = neg %x : tensor<4, 8, fp16>", "2:24", "sizes have an x behind each, the element type st"),
    ("  %y = neg %x : tensor<4*8*fp16>", "2:24", "sizes have an x behind each, the element type st"),
    ("  %y = neg %x : tensor<4 x 8 x fp16>", "2:24", "sizes have an x behind each, the element type st"),
    ("  %y = neg %x : tensor<4x8>", "2:26", "the element type is missing: tensor<4x8xfp16>"),
    ("  %y = neg %x : tensor<4X8xfp16>", "2:24", "sizes have an x behind each, the element type st"),
    ("  %y = neg %x : tensor<4\xd78\xd7fp16>", "2:24", "sizes have an x behind each, the element type st"),
    ("  %y = neg %x : tensor<4x8xfp61>", "2:28", "did you mean 'fp64'?"),
    ("  %y = neg %x : tensor<4x8xfp16, sharde>", "2:34", "did you mean 'shared'?"),
    ("  %y = neg %x : tensor<4x8xfp16, L1>", "2:35", "a residency is global, shared or register"),
    ("  %y = neg %x : tensor<4x8xfp16, smem>", "2:34", "did you mean 'shared'?"),
    ("  %y = neg %x : tensor<4x8xfp16, #enc>", "2:34", "a type has no encoding: only a residency may sta"),
    ("  %y = reduce_sum %x {axes = [1], keepdims = True} : tensor<4x1xfp16>", "2:46",
     "true and false are written in small letters"),
    ("  %y = softmax %x {axis = None} : tensor<4x8xfp16>", "2:27", "an attribute that has no value is left out"),
    ("  %y = mask %x {kind = causal} : tensor<4x8xfp16>", "2:24", 'strings stand in double quotes: "..."'),
    ("  %y = softmax %x {axis: -1} : tensor<4x8xfp16>", "2:24", "attributes are written `key = value`"),
    ("  %y = softmax %x {axis = -1 : i64} : tensor<4x8xfp16>", "2:30",
     "the value of an attribute has no type of its own"),
    ("  %y = transpose %x {perm = dense<[1, 0]>} : tensor<8x4xfp16>", "2:29", "a list is written [1, 0]"),
    ("  %y = transpose %x {perm = (1, 0)} : tensor<8x4xfp16>", "2:29", "a list is written [1, 0]"),
    ("  %y = softmax %x tensor<4x8xfp16>", "2:3", "write `: type` after the node, one type per result"),
    ("  %y = softmax %x axis = -1 : tensor<4x8xfp16>", "2:3 2:24",
     "write `: type` after the node, one type per result"),
    ("  %y = softmax(%x) {axis = -1} : tensor<4x8xfp16>", "2:15", "operands and attributes of a node stand without "),
    ("  %y = softmax(%x, axis=-1)", "2:15", "operands and attributes of a node stand without "),
    ("  %y = neg %x", "2:3", "write `: type` after the node, one type per result"),
    ("  %y = neg %x -> tensor<4x8xfp16>", "2:15", "the result type is written with a colon: `: tens"),
    ("  %y = neg %x : (tensor<4x8xfp16>) -> tensor<4x8xfp16>", "2:17",
     "only the types of the results stand behind the ':'"),
    ("  %y = add %x %x : tensor<4x8xfp16>", "2:15", "operands have a comma between them"),
    ("  %y = add %x, %x, : tensor<4x8xfp16>", "2:20", "a comma stands between operands only: leave the "),
    ("  %y = softmax %x {axis = -1,} : tensor<4x8xfp16>", "2:30", "a comma stands between entries only: leave the l"),
    ("  %y = transpose %x {perm = [1, 0,]} : tensor<8x4xfp16>", "2:35",
     "a comma stands between entries only: leave the l"),
    ("  %y = neg add %x, %x : tensor<4x8xfp16>", "2:3", "each node has a line of its own, and its results"),
    ("  %y = mul %x, 2.0 : tensor<4x8xfp16>", "2:16", "operands are values: %c = constant {value = 2.0}"),
    ("  $y = neg %x : tensor<4x8xfp16>", "2:3", "values begin with %: %y"),
    ("  %y:2 = split %x {axis = 0, sizes = [2, 2]} : tensor<2x8xfp16>, tensor<2x8xfp16>", "2:3",
     "results are listed by name: %a, %b = op ..."),
    ("^bb0:\n  %y = neg %x : tensor<4x8xfp16>", "2:1", "a graph has no blocks: leave the label out"),
    ("  %y = neg %x : tensor<4x8xfp16> loc(unknown)", "2:37", "source locations are not part of the language"),
    ("  %y = softcap %x {cap = .5} : tensor<4x8xfp16>", "2:26", "a number begins with a digit, or with - and a di"),
    ("  %y = reshape %x {shape = [1_000]} : tensor<1000xfp16>", "2:29", "numbers are written without _"),
]  # fmt: skip

# Whole texts, as above.
TEXTS: list[tuple[str, str, str]] = [
    ("func.func @main(%a: tensor<4x8xfp16>) -> tensor<4x8xfp16> {\n  %y = neg %a : tensor<4x8xfp16>\n"
     "  return %y : tensor<4x8xfp16>\n}\n", "1:1 3:13",
     "a file is a list of graphs and regions: graph @n"),
    ("func @main(%arg0: tensor<4x8xfp16>) {\n  return %arg0\n}\n", "1:1",
     "a file is a list of graphs and regions: graph @n"),
    ("module {\n graph @g() { return }\n}\n", "1:1", "a file is a list of graphs and execution regions"),
    ("graph @g\uff08%x: tensor<4x8xfp16>) {\n return %x\n}\n", "1:9",
     "this is FULLWIDTH LEFT PARENTHESIS (U+FF08): write ("),
    ("graph @g(%x: tensor<4x8xfp16> {\n  return %x\n}\n", "1:31", "a ')' is missing before this"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n}\n", "3:1",
     "a graph ends with `return %x, ...`, also where i"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n  return(%y)\n}\n", "3:9",
     "values stand without parentheses: `return %x, %y`"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n  return %y : tensor<4x8xfp16>\n}\n", "3:13",
     "`return` has no types: they stand where the valu"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n  retrun %y\n}\n", "4:1",
     "did you mean 'return'?"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n  ret %y\n}\n", "4:1",
     "did you mean 'return'?"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n  func.return %y\n}\n", "4:1",
     "did you mean 'return'?"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n  yield %y\n}\n", "4:1",
     "did you mean 'return'?"),
    ("grpah @g(%x: tensor<4x8xfp16>) {\n return %x\n}\n", "1:1", "did you mean 'graph'?"),
    ("Graph @g(%x: tensor<4x8xfp16>) {\n return %x\n}\n", "1:1", "did you mean 'graph'?"),
    ("graph g(%x: tensor<4x8xfp16>) {\n return %x\n}\n", "1:7", "names of graphs and regions begin with @: @g"),
    ("graph @g {\n return\n}\n", "1:10", "parameters stand in parentheses, also where ther"),
    ("graph @g(%x: tensor<4x8xfp16>) -> tensor<4x8xfp16> {\n return %x\n}\n", "1:32",
     "a graph has no result types: `return` says what "),
    ("graph @g(%x) {\n return %x\n}\n", "1:12", "a parameter is written %x: tensor<4x8xfp16>"),
    ("graph @g(x: tensor<4x8xfp16>) {\n return %x\n}\n", "1:10", "values begin with %: %x"),
    ("graph @g(%x = tensor<4x8xfp16>) {\n return %x\n}\n", "1:13", "a parameter is written %x: tensor<4x8xfp16>"),
    ("exection @e(%x: tensor<4x8xfp16>) {\n}\n", "1:1", "did you mean 'execution'?"),
    ("region @e(%x: tensor<4x8xfp16>) {\n}\n", "1:1", "a region is of a kind: execution @name, streamin"),
    ('execution @e {\n streaming @s attributes {stream_axis = "sequence"} {\n'
     " tiel @t attributes {tile_m = 1, tile_n = 1, tile_k = 1} {\n }\n }\n}\n", "3:2 3:58",
     "did you mean 'tile'?"),
    ("tile @e {tile_m = 1} {\n}\n", "1:17", "attributes of a graph or region are written: att"),
    ("tile @e attribute {tile_m = 1} {\n}\n", "1:9", "did you mean 'attributes'?"),
    ("graph @g(%x: tensor<4x8xfp16>) {\ntile @t {\n}\n  %y = neg %x : tensor<4x8xfp16>\n return %y\n}\n", "2:1",
     "they are: x, repeats?"),
    ("graph @g(%x: tensor<4x8xfp16>) {\n  %y = neg %x : tensor<4x8xfp16>\n  return %y#0\n}\n", "3:12",
     "each result has a name of its own: %a, %b = op ..."),
    ("#map = affine_map<(d0) -> (d0)>\ngraph @g() {\n return\n}\n", "1:1", "comments begin with //"),
    ('{"graph": {}}', "1:1", "a file is a list of graphs and regions: graph @n"),
    ("import torch\n", "1:1", "a file is a list of graphs and regions: graph @n"),
]  # fmt: skip


def faults(text: str) -> list[Diagnostic]:
    try:
        return verify_module(parse_module(text, "f"))
    except MCIRError as error:
        return error.diagnostics


def places(found: list[Diagnostic]) -> str:
    return " ".join(str(fault.location).removeprefix("f:") for fault in found)


CASES = [(HEAD + text + TAIL, *rest) for text, *rest in STATEMENTS] + TEXTS


@pytest.mark.parametrize(("text", "where", "hint"), CASES, ids=[f"{at}" for at in range(len(CASES))])
def test_a_mistake_is_shown_with_what_mends_it(text: str, where: str, hint: str) -> None:
    found = faults(text)
    assert places(found) == where
    assert hint and found[0].hint.startswith(hint)
    assert not any("'_" in fault.message for fault in found)  # the grammar's own names of terminals


def test_both_readers_say_the_same_of_all_mistakes() -> None:
    for text, _, _ in CASES:
        try:
            parse_with_lark(Source("f", text))
        except MCIRError as error:
            assert [fault.render() for fault in error.diagnostics] == [fault.render() for fault in faults(text)]


def test_line_ends_tabs_and_marks_do_no_harm() -> None:
    text = HEAD + "\t%y = neg %x : tensor<4x8xfp16>" + TAIL
    assert faults(text) == faults(text.replace("\n", "\r\n")) == faults(text.replace("\n", "\r")) == []
    (fault,) = faults(text.replace("neg", "ngg"))
    assert fault.render().splitlines()[1:3] == ["  \t%y = ngg %x : tensor<4x8xfp16>", "  \t     ^^^"]
    assert "U+FEFF" in faults("\ufeff" + text)[0].hint  # tools drop a byte order mark before they parse


def test_no_fault_is_lost_for_one_that_was_dropped() -> None:
    """What only follows from a missing type is not told; a fault made later in the same place in memory is."""
    lines = [f'  %v{at} = add %p tensor<4xfp32>\n  "f" %lost{at}, %lost{at}b\n' for at in range(16)]
    with pytest.raises(MCIRError) as caught:
        parse_module(f"graph @g(%p: tensor<4xfp32>) {{\n{''.join(lines)}  return\n}}\n")
    told = [fault.message for fault in caught.value.diagnostics]
    for at in range(16):
        assert f"value %lost{at} is not defined here" in told
        assert f"value %lost{at}b is not defined here" in told


LINES = ["%v0 = nag0 %p : tensor<4xfp32>", "%v0 = neg %u0 : tensor<4xfp32>", '%v0 = "f" : tensor<4xfp990>',
         '%v0 = "f" : tensor<4xfp32, sharp>', '%v0 = "f"']  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_faults_that_are_not_shown_cost_nothing(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of 100,000 unknown ops would else have 100,000 names looked for that are near."""
    asked: list[str] = []
    for module in (actions, values):
        monkeypatch.setattr(module, "did_you_mean", lambda wrong, _: asked.append(wrong) or "")
    monkeypatch.setattr(actions, "_count_fault", lambda token, *_: asked.append(str(token)) or (token, "", ""))
    text = "".join(f"  {line.replace('0', str(at))}\n" for at in range(1000, 1400))
    with pytest.raises(MCIRError) as caught:
        parse_module(f"graph @g(%p: tensor<4xfp32>) {{\n{text}  return\n}}\n")
    assert len(caught.value.diagnostics) == actions.MAX_DIAGNOSTICS
    assert actions.MAX_DIAGNOSTICS <= len(asked) <= 2 * actions.MAX_DIAGNOSTICS


def test_a_statement_given_up_leaves_no_line_unfinished() -> None:
    """The rest of its line is read on: what is wrong there counts, for the fast reader as for Lark."""
    text = 'graph @g() {\n  %a = "f" \r6b} graph @h() { nag return }\n  nog\n'
    told = []
    for parse in (parse_module, lambda text: parse_with_lark(Source("<string>", text))):
        with pytest.raises(MCIRError) as caught:
            parse(text)
        told.append([fault.message for fault in caught.value.diagnostics])
    assert told[0] == told[1] and "unknown op 'nag'" in told[0]
