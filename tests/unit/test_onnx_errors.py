"""Bad ONNX input: one clear error each, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.importers.onnx import import_onnx
from tests.unit.onnx_samples import FLOAT, graph, model, one_node, tensor, value

node = helper.make_node
X = value("x", [2, 3])


def changed(change: Callable[[ModelProto], object]) -> ModelProto:
    """relu(x), with a change."""
    source = one_node("Relu", [X])
    change(source)
    return source


def of_nodes(*nodes: onnx.NodeProto, tensors: tuple[TensorProto, ...] = ()) -> ModelProto:
    return model(graph(nodes, [X], ["y"], tensors))


def recursive() -> ModelProto:
    body = [node("F", ["a"], ["b"], domain="my")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    function = helper.make_function("my", "F", ["a"], ["b"], body, opsets)
    return model(graph([node("F", ["x"], ["y"], domain="my")], [X], ["y"]), functions=[function], my=1)


def deep() -> ModelProto:
    source = of_nodes(node("Loop", ["", "", "x"], ["y"]))
    inner = source.graph.node[0]
    for _ in range(150):
        attribute = inner.attribute.add(name="body", type=onnx.AttributeProto.GRAPH)
        inner = attribute.g.node.add(op_type="Loop", output=["y"])
    return source


def wrong_kind() -> ModelProto:
    source = one_node("Softmax", [X])
    source.graph.node[0].attribute.append(helper.make_attribute("axis", "last"))
    return source


def short_data(source: ModelProto) -> None:
    source.graph.initializer.append(TensorProto(name="w", dims=[2], data_type=FLOAT, raw_data=b"\0" * 7))


def string_input(source: ModelProto) -> None:
    source.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING


def sequence_input(source: ModelProto) -> None:
    source.graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("x", FLOAT, [2]))


# what is wrong: (model, part of the message, rule)
FAULTS: dict[str, tuple[ModelProto, str, str]] = {
    "no graph": (ModelProto(ir_version=8), "it has no graph", "onnx-file"),
    "a newer IR version": (changed(lambda m: setattr(m, "ir_version", 999)), "IR version 999", "onnx-version"),
    "a newer operator set": (
        changed(lambda m: setattr(m.opset_import[0], "version", 999)), "operator set 999", "onnx-version"),
    "operator set 0": (
        changed(lambda m: setattr(m.opset_import[0], "version", 0)), "operator set 0", "onnx-version"),
    "a domain without a version": (
        of_nodes(node("Magic", ["x"], ["y"], domain="my.ops")), "no version of domain 'my.ops'", "onnx-version"),
    "a name defined twice": (
        of_nodes(node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"], name="again")),
        "'y' is defined twice, the second time by Abs 'again'", "onnx-names"),
    "an input defined again": (of_nodes(node("Relu", ["x"], ["x"])), "'x' is defined twice", "onnx-names"),
    "a name that nothing defines": (
        of_nodes(node("Add", ["x", "z"], ["y"], name="sum")), "Add 'sum' reads 'z', which nothing defines",
        "onnx-names"),
    "an output that nothing defines": (
        of_nodes(node("Relu", ["x"], ["z"])), "the graph's output list reads 'y', which nothing defines", "onnx-names"),
    "an input twice": (changed(lambda m: m.graph.input.append(X)), "graph input 'x' is there twice", "onnx-names"),
    "an initializer twice": (
        changed(lambda m: m.graph.initializer.extend([tensor("w", 1.0)] * 2)), "initializer 'w' is there twice",
        "onnx-names"),
    "a cycle": (
        of_nodes(node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Abs", ["b"], ["y"])),
        "the graph has a cycle through", "onnx-cycle"),
    "a node that reads itself": (of_nodes(node("Add", ["x", "y"], ["y"])), "cycle through Add 'y'", "onnx-cycle"),
    "a node without operator": (of_nodes(node("", ["x"], ["y"])), "has no operator", "onnx-node"),
    "too few operands": (of_nodes(node("MatMul", ["x"], ["y"])), "MatMul 'y' has 1 operands, not 2", "onnx-node"),
    "too many results": (
        of_nodes(node("Relu", ["x"], ["y", "z"])), "Relu 'y' has 2 results, not 1", "onnx-node"),
    "an attribute of the wrong kind": (wrong_kind(), "attribute 'axis' is not of kind INT", "onnx-node"),
    "a missing attribute": (
        of_nodes(node("Concat", ["x", "x"], ["y"])), "Concat 'y' needs the attribute 'axis'", "onnx-node"),
    "sizes that do not fit": (
        one_node("MatMul", [X, value("w", [5, 4])]), "MatMul 'the_node' does not fit its operands", "onnx-type"),
    "data that does not fit": (changed(short_data), "the data of 'w' does not fit its type", "onnx-data"),
    "text": (changed(string_input), "value 'x' has element type STRING", "onnx-type"),
    "a sequence": (changed(sequence_input), "value 'x' is a sequence", "onnx-type"),
    "a 4-bit weight": (
        one_node("Identity", [helper.make_tensor("w", TensorProto.INT4, [2], [1, -1])], 21),
        "value 'w' has element type INT4", "onnx-type"),
    "an input without rank": (one_node("Relu", [value("x", None)]), "value 'x' has no known rank", "onnx-type"),
    "a result without type": (
        one_node("Magic", [X], domain="my.ops"), "value 'y' has no type", "onnx-type"),
    "an attribute twice": (
        changed(lambda m: m.graph.node[0].attribute.extend([helper.make_attribute("a", 1)] * 2)),
        "Relu 'the_node': attribute 'a' is there twice", "onnx-node"),
    "a name that is no text": (
        ModelProto.FromString(one_node("Relu", [X]).SerializeToString().replace(b"the_node", b"the_\xff\xfe\xfde")),
        "a name of the model is no UTF-8", "onnx-names"),
    "a recursive function": (recursive(), "must not be recursive", "onnx-function"),
    "bodies nested too deep": (deep(), "nest deeper than 100 levels", "onnx-names"),
}  # fmt: skip


def refused(source: object) -> Diagnostic:
    with pytest.raises(MCIRError) as caught:
        import_onnx(source)  # type: ignore[arg-type]
    (only,) = caught.value.diagnostics
    return only


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_model_gets_one_error(name: str) -> None:
    source, message, rule = FAULTS[name]
    diagnostic = refused(source)
    assert message in diagnostic.message
    assert diagnostic.rule == rule


@pytest.mark.parametrize(
    ("data", "message", "hint"),
    [
        (b"", "the file is empty", ""),
        (b"graph @g() {\n}\n", "it does not parse as one", ""),
        (bytes(range(256)) * 20, "it does not parse as one", ""),
        (one_node("Relu", [X]).SerializeToString()[:-9], "it does not parse as one", "truncated"),
        (b"\x08\x08", "it has no graph", ""),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, data: bytes, message: str, hint: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    diagnostic = refused(path)
    assert message in diagnostic.message
    assert str(path) in diagnostic.message
    assert hint in diagnostic.hint


def test_every_truncation_of_a_model_is_refused_or_a_model(tmp_path: Path) -> None:
    data = one_node("Gemm", [X, tensor("b", np.ones((3, 2))), tensor("c", [1.0, 2.0])]).SerializeToString()
    path = tmp_path / "m.onnx"
    refusals = 0
    for length in range(len(data)):
        path.write_bytes(data[:length])
        try:
            import_onnx(path)
        except MCIRError as error:
            assert len(error.diagnostics) == 1
            refusals += 1
    assert refusals > len(data) * 0.9


def test_missing_files_and_folders(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.onnx").message
    assert "is a folder" in refused(tmp_path).message


def test_external_data_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 4096)
    (tmp_path / "model").mkdir()
    source = one_node("Identity", [tensor("w", np.zeros(1024))])
    path = tmp_path / "model" / "m.onnx"
    onnx.save(source, path, save_as_external_data=True, location="w.data", size_threshold=0)
    evil = onnx.load(path, load_external_data=False)
    evil.graph.initializer[0].external_data[0].value = "../secret"
    path.write_bytes(evil.SerializeToString())
    assert "the data of 'w' cannot be read" in refused(path).message


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    diagnostic = refused("m.onnx")
    assert "needs the package onnx" in diagnostic.message
    assert diagnostic.hint == "pip install 'mcir[onnx]'"
