"""Faults that the search found, each with what is right instead."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, TypeProto, ValueInfoProto, helper

from mcir.diagnostics import MCIRError
from mcir.importers.onnx import read_onnx
from mcir.tools import fmt, lsp, opt, translate
from tests.endurance import lsp_streams
from tests.unit.onnx_samples import graph, imported, model, one_node, ops, tensor, value
from tests.unit.tool_harness import run

HEADS = [value(name, (1, 6, 8)) for name in "qkv"]


# -- ONNX ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attrs",
    [{"num_heads": 0}, {"num_heads": -2}, {"num_heads": 2.0}, {"num_heads": "two"}, {},
     {"num_heads": 2, "scale": "x"}, {"num_heads": 2, "scale": 1}, {"num_heads": 2, "unidirectional": 1.0},
     {"num_heads": 2, "mask_filter_value": [1.0]}],
)  # fmt: skip
def test_fused_attention_with_attributes_of_no_meaning_stays_opaque(attrs: dict[str, object]) -> None:
    made = imported(
        one_node("MultiHeadAttention", HEADS, domain="com.microsoft", results=[value("y", (1, 6, 8))], **attrs)
    )
    assert ops(made) == ["com.microsoft.MultiHeadAttention"]


@pytest.mark.parametrize("sizes", [[8, 8], [8, 8, 9], [-8, 16, 16], [8.0, 8.0, 8.0]])
def test_hidden_sizes_that_are_not_those_of_the_weights(sizes: list[object]) -> None:
    operands = [value("x", (1, 6, 8)), value("w", (8, 24))]
    made = imported(
        one_node(
            "Attention",
            operands,
            domain="com.microsoft",
            results=[value("y", (1, 6, 8))],
            num_heads=2,
            qkv_hidden_sizes=sizes,
        )
    )
    assert ops(made) == ["com.microsoft.Attention"]


@pytest.mark.parametrize("shapes", [[(1, 6, 8), (8,), (8,)], [(1, 6, 8), (6, 8), (1, 6, 8)], [(1, 2, 6, 4), (), (1,)]])
def test_fused_attention_of_ranks_without_meaning(shapes: list[tuple[int, ...]]) -> None:
    operands = [value(name, shape) for name, shape in zip("qkv", shapes, strict=True)]
    made = imported(
        one_node("MultiHeadAttention", operands, domain="com.microsoft", results=[value("y", (1, 6, 8))], num_heads=2)
    )
    assert ops(made) == ["com.microsoft.MultiHeadAttention"]


@pytest.mark.parametrize("shapes", [[(1, 6, 8), ()], [(1, 6, 8), (24,)], [(6, 8), (8, 24)], [(1, 2, 6, 8), (8, 24)]])
def test_projected_attention_of_ranks_without_meaning(shapes: list[tuple[int, ...]]) -> None:
    operands = [value(name, shape) for name, shape in zip("xw", shapes, strict=True)]
    results = [value("y", (1, 6, 8))]
    made = imported(one_node("Attention", operands, domain="com.microsoft", results=results, num_heads=2))
    assert ops(made) == ["com.microsoft.Attention"]


@pytest.mark.parametrize("location", ["d" * 400, "a\0b", "", ".", "missing"])
def test_external_data_where_no_file_can_be(location: str, tmp_path: Path) -> None:
    body = graph(
        [helper.make_node("MatMul", ["x", "w"], ["o"])], [value("x", (2, 4))], ["o"], [tensor("w", np.ones((4, 2)))]
    )
    body.initializer[0].ClearField("raw_data")
    body.initializer[0].data_location = TensorProto.EXTERNAL
    body.initializer[0].external_data.add(key="location", value=location)
    path = tmp_path / "m.onnx"
    path.write_bytes(model(body).SerializeToString())
    read = read_onnx(path)
    assert read.missing == ["w"] and ops(read.module.graphs[0]) == ["matmul"]


@pytest.mark.parametrize(
    ("places", "dims"),
    [([1, 8], [2, 4]), ([-1, 2], [2, 4]), ([[0, 0], [2, 0]], [2, 4]), ([0, 1], [2**40]), ([0, 1], [2**62, 4])],
)
def test_sparse_elements_outside_of_their_tensor(places: list[object], dims: list[int]) -> None:
    sparse = helper.make_sparse_tensor(tensor("", [5.0, 6.0]), tensor("", places, np.int64), dims)
    with pytest.raises(MCIRError):
        imported(one_node("Constant", [], sparse_value=sparse))


@pytest.mark.parametrize("data", [b"\1\2\3", b"", b"\0" * 8])
def test_constant_of_shape_with_a_damaged_value(data: bytes) -> None:
    damaged = TensorProto(data_type=TensorProto.FLOAT, dims=[1], raw_data=data)
    with pytest.raises(MCIRError):
        imported(one_node("ConstantOfShape", [tensor("s", [2, 3], np.int64)], value=damaged))


@pytest.mark.parametrize("names", [("", "w"), ("w", ""), ("o", "o2")])
def test_outputs_and_sparse_weights_have_names_of_their_own(names: tuple[str, str]) -> None:
    sparse = helper.make_sparse_tensor(tensor(names[1], [5.0]), tensor("", [1], np.int64), [2])
    body = graph([helper.make_node("Neg", ["x"], ["o"])], [value("x", (2,))], [names[0] or ValueInfoProto()])
    body.sparse_initializer.extend([sparse] * (2 if names == ("o", "o2") else 1))
    with pytest.raises(MCIRError, match="no name"):
        imported(model(body))


def test_a_path_of_external_data_that_is_no_text(tmp_path: Path) -> None:
    body = graph([helper.make_node("Neg", ["w"], ["o"])], [], ["o"], [tensor("w", np.ones(2))])
    body.initializer[0].ClearField("raw_data")
    body.initializer[0].data_location = TensorProto.EXTERNAL
    body.initializer[0].external_data.add(key="location", value="LOCATION")
    path = tmp_path / "m.onnx"
    path.write_bytes(model(body).SerializeToString().replace(b"LOCATION", b"\xff\xfeCATION"))
    assert read_onnx(path).missing == ["w"]


@pytest.mark.parametrize("step", [1, -1])
def test_sizes_below_zero_are_open(step: int) -> None:
    """onnx's own inference of Slice ends the process; exporters write -1 for an open size."""
    bounds = [tensor(name, [number], np.int64) for name, number in (("s", 3), ("e", -9), ("a", 1), ("st", step))]
    source = one_node("Slice", [value("x", (2, -1)), *bounds])
    before = source.SerializeToString()
    made = imported(source)
    assert made.inputs[0].shape == (2, None) and not isinstance(made.outputs[0].shape[1], int)
    assert source.SerializeToString() == before


@pytest.mark.parametrize("where", ["initializer", "attribute", "sparse"])
def test_a_tensor_of_a_size_below_zero(where: str) -> None:
    source = one_node("Add", [value("x", (2,)), tensor("w", [1.0, 2.0])])
    if where == "initializer":
        source.graph.initializer[0].dims[0] = -2
    elif where == "attribute":
        source.graph.node[0].attribute.append(helper.make_attribute("t", tensor("", [1.0])))
        source.graph.node[0].attribute[0].t.dims[0] = -1
    else:
        sparse = helper.make_sparse_tensor(tensor("v", [5.0]), tensor("", [1], np.int64), [2])
        sparse.dims[0] = -2
        source.graph.sparse_initializer.append(sparse)
    with pytest.raises(MCIRError, match="has a negative size"):
        imported(source)


def test_a_size_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(MCIRError, match=r"is no size of a dimension"):
        imported(one_node("Neg", [value("x", (2, 2**62))]))
    assert imported(one_node("Neg", [value("x", (2, 10**18 - 1))])).inputs[0].shape == (2, 10**18 - 1)


def test_a_type_that_is_no_tensor_is_kept_as_text() -> None:
    source = one_node("Foo", [value("x", (2,))], domain="mine", results=[value("y", (2,))])
    kind = TypeProto()
    kind.sequence_type.elem_type.tensor_type.elem_type = TensorProto.FLOAT
    source.graph.node[0].attribute.append(AttributeProto(name="t", type=AttributeProto.TYPE_PROTO, tp=kind))
    (node,) = imported(source).nodes
    assert "sequence_type" in node.attrs["t"] and "elem_type: 1" in node.attrs["t"]


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_operators_with_operands_left_out(count: int) -> None:
    """ONNX counts operands that are left out; MCIR does not."""
    names = ["a", "b", "c", ""][:count]
    operands = [tensor(name, number, np.int64) if name else None for number, name in enumerate(names)]
    operands = [*operands[:count], *[None] * (3 - count)]
    source = one_node("Range", operands, results=[value("y", (None,), TensorProto.INT64)])
    try:
        assert ops(imported(source)) == ["onnx.Range"]
    except MCIRError as error:
        assert "the_node" in str(error)


def test_a_shape_with_more_elements_than_axes_can_be() -> None:
    """Expand by a shape of 2^40 numbers: no list of so many sizes is made."""
    source = one_node("Expand", [value("x", (2,)), value("s", (2**40,), TensorProto.INT64)])
    with pytest.raises(MCIRError, match="rank"):
        imported(source)


def test_a_name_in_a_function_that_is_no_text() -> None:
    inner = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    call = helper.make_node("Twice", ["x"], ["o"], name="call", domain="mine")
    whole = model(graph([call], [value("x", (2,))], [value("o", (2,))]), functions=[inner], mine=1)
    data = whole.SerializeToString().replace(b"Add", b"A\xffd")
    with pytest.raises(MCIRError, match=r"no UTF-8: b'A\\xffd'"):
        imported(ModelProto.FromString(data))


# -- texts --------------------------------------------------------------------------------------------------


def test_an_error_at_the_end_of_the_text_as_json() -> None:
    ran = run(opt.main, "--diagnostics=json", stdin="graph @g() {")
    (line,) = ran.err.splitlines()
    assert ran.code == 1 and json.loads(line)["end"] == {"line": 1, "column": 13}


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_account_of_a_region_that_moves_nothing(form: str) -> None:
    empty = "tile @t attributes {tile_m = 16, tile_n = 16, tile_k = 16} {}"
    text = f'execution @r() {{ streaming @s attributes {{stream_axis = "sequence"}} {{ {empty} }} }}'
    ran = run(translate.main, f"--memory-report={form}", "-", stdin=text)
    assert ran.code == 0 and "error" not in ran.err


def test_a_text_that_changes_while_it_is_formatted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.mcir"
    path.write_text("graph @g() { return }")
    known = fmt.format_text

    def edited(text: str, name: str) -> str:
        path.write_text("// of the other editor\ngraph @h() { return }")
        return known(text, name)

    monkeypatch.setattr(fmt, "format_text", edited)
    ran = run(fmt.main, path)
    assert ran.code == 1 and "changed while it was formatted" in ran.err
    assert path.read_text() == "// of the other editor\ngraph @h() { return }"


@pytest.mark.parametrize("argv",
[["--load-pass-plugin=a\0b"], ["--crash-reproducer=a\0b", "x"], ["--crash-reproducer=x", "a\0b"]])
def test_paths_that_no_file_can_have(argv: list[str]) -> None:
    known = set(sys.modules)
    ran = run(opt.main, *argv)
    assert ran.code in (1, 2) and "error: " in ran.err
    assert not [name for name in set(sys.modules) - known if "plugin" in name and "mcir.tools" not in name]


def test_every_tool_is_a_module_that_runs() -> None:
    """`python -m mcir.tools.run` did nothing, and said so to nobody."""
    for path in sorted(Path(opt.__file__).parent.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert ("def console_main" in text) == ("console_main()\n" in text.partition("__main__")[2]), path.name


# -- the language server ------------------------------------------------------------------------------------


def test_the_server_without_streams_of_its_own() -> None:
    ran = run(lsp.main)
    assert ran.code == 1 and "needs open standard streams" in ran.err


def _sent(*messages: bytes) -> list[bytes]:
    start = lsp_streams._message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0)
    return [start, lsp_streams._message("initialized", {}), *messages]


def test_what_no_editor_should_send_is_answered_or_passed_over() -> None:
    place = {"textDocument": {"uri": "file:///never.mcir"}, "position": {"line": 0, "character": 3}}
    negative = {"textDocument": {"uri": "file:///never.mcir"}, "position": {"line": -1, "character": 3}}
    frame, message = lsp_streams.frame, lsp_streams._message
    fault = lsp_streams.serve(
        _sent(
            message("textDocument/hover", place, 1), message("textDocument/hover", negative, 2),
            message("textDocument/hover", None, 3),
            message("textDocument/rename", {**place, "newName": "x"}, 4), message("textDocument/didOpen", {}),
            message("no/such", {}, 5),
            frame(b"[]"), frame(b"null"), frame(b"{}"), frame(b"{"), frame(b"\xff"), b"Garbage: 1\r\n",
            message("textDocument/completion", place, 6),
            message("textDocument/semanticTokens/full", {"textDocument": {"uri": ""}}, 7),
        )
    )  # fmt: skip
    assert fault == ""


def test_another_text_under_the_same_version() -> None:
    """Some editors count badly; what is shown is of the text that came last."""

    def document(text: str) -> dict[str, object]:
        return {"uri": "file:///a.mcir", "languageId": "mcir", "version": 1, "text": text}

    messages = _sent(
        lsp_streams._message("textDocument/didOpen", {"textDocument": document("graph @g() { return }")}),
        lsp_streams._message("textDocument/documentSymbol", {"textDocument": {"uri": "file:///a.mcir"}}, 1),
        lsp_streams._message("textDocument/didChange", {
            "textDocument": {"uri": "file:///a.mcir", "version": 1},
            "contentChanges": [{"text": "graph @h() { return }"}]}),
        lsp_streams._message("textDocument/documentSymbol", {"textDocument": {"uri": "file:///a.mcir"}}, 2),
    )  # fmt: skip
    answers = {answer["id"]: answer for answer in lsp_streams.converse(messages)[0] if "result" in answer}
    assert [answers[number]["result"][0]["name"] for number in (1, 2)] == ["g", "h"]


def test_the_end_comes_while_a_check_is_due() -> None:
    """A text changed a moment before: its check would be told to a stream that is closed."""
    text = {"uri": "file:///a.mcir", "languageId": "mcir", "version": 1, "text": "graph @g() { return }"}
    changes = [
        lsp_streams._message("textDocument/didChange", {
            "textDocument": {"uri": "file:///a.mcir", "version": number}, "contentChanges": [{"text": "graph @h("}]})
        for number in range(2, 30)
    ]  # fmt: skip
    opened = lsp_streams._message("textDocument/didOpen", {"textDocument": text})
    assert lsp_streams.serve(_sent(opened, *changes)) == ""
