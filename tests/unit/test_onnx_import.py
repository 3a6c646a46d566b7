"""What an ONNX graph becomes: names, types, constants, opaque nodes, bodies, functions, order."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mcir.graph import SemanticGraph
from mcir.importers.onnx import read_onnx
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.types import Symbol, TensorType
from tests.unit.onnx_samples import (
    FLOAT,
    INT64,
    graph,
    imported,
    model,
    node_of,
    one_node,
    ops,
    read,
    run,
    tensor,
    value,
)

node = helper.make_node


def shapes(main: SemanticGraph) -> dict[str, tuple[int | str | None, ...]]:
    return {name: item.shape for name, item in main.values().items()}


# Names


def test_names_are_kept_to_the_letter() -> None:
    source = model(
        graph(
            [node("Relu", ["/in put.1"], ["a/b:0"], name="/model/Relu #1"), node("Relu", ["a/b:0"], ["out"])],
            [value("/in put.1", [2])], ["out"], name="torch-jit 你好",
        )
    )  # fmt: skip
    result = read(source)
    main = result.module.graphs[0]
    assert main.name == "torch-jit 你好"
    assert [item.name for item in main.nodes] == ["/model/Relu #1", "out"]
    assert list(main.values()) == ["/in put.1", "a/b:0", "out"]
    assert parse_module(print_module(result.module)) == result.module


def test_nodes_of_one_name_and_names_that_are_taken_get_a_number() -> None:
    chain = [
        node("Relu", ["x"], ["a"], name="same"),
        node("Relu", ["a"], ["b"], name="same"),
        node("Relu", ["b"], ["c"]),  # would be called c by default
        node("Relu", ["c"], ["d"], name="c"),
    ]
    assert [item.name for item in imported(model(graph(chain, [value("x", [2])], ["d"]))).nodes] == [
        "same", "same_1", "c_1", "c",
    ]  # fmt: skip


def test_values_that_a_rule_adds_do_not_take_a_name_of_the_model() -> None:
    nodes = [
        node("Gemm", ["a", "b", "c"], ["y"], name="gemm"),
        node("Relu", ["y"], ["y_matmul"]),
    ]
    main = imported(model(graph(nodes, [value("a", [2, 3]), value("b", [3, 4]), value("c", [4])], ["y_matmul"])))
    assert [(item.name, item.op, item.outputs[0].name) for item in main.nodes] == [
        ("y_matmul_1", "matmul", "y_matmul_1"), ("gemm", "add", "y"), ("y_matmul", "relu", "y_matmul"),
    ]  # fmt: skip


def test_a_graph_without_a_name_is_called_like_its_file(tmp_path: object) -> None:
    source = one_node("Relu", [value("x", [2])])
    source.graph.name = ""
    path = f"{tmp_path}/my model.onnx"
    onnx.save(source, path)
    assert read_onnx(path).module.graphs[0].name == "my model"
    assert read_onnx(source).module.graphs[0].name == "main"


def test_the_operator_sets_are_recorded() -> None:
    main = imported(one_node("FastGelu", [value("x", [2])], 18, "com.microsoft"))
    assert main.attrs == {"opset": {"onnx": 18, "com.microsoft": 1}}


# Types


def test_named_sizes_are_shared_and_unnamed_ones_are_open() -> None:
    nodes = [node("Add", ["x", "y"], ["z"])]
    inputs = [value("x", ["batch", "s0 + 1", 4]), value("y", ["batch", None, 4])]
    assert shapes(imported(model(graph(nodes, inputs, ["z"]))))["x"] == ("batch", "s0 + 1", 4)
    for unnamed in ("?", "-1"):  # how other exporters write an open size
        main = imported(model(graph(nodes, [value("x", [unnamed, 4]), value("y", [unnamed, 4])], ["z"])))
        assert shapes(main)["x"] == (None, 4)


@pytest.mark.parametrize(
    ("code", "dtype"),
    [(TensorProto.FLOAT16, "fp16"), (TensorProto.BFLOAT16, "bf16"), (TensorProto.FLOAT8E4M3FN, "fp8e4m3"),
     (TensorProto.FLOAT8E5M2, "fp8e5m2"), (TensorProto.DOUBLE, "fp64"), (TensorProto.BOOL, "i1"),
     (TensorProto.UINT16, "u16"), (TensorProto.INT8, "i8")],
)  # fmt: skip
def test_element_types(code: int, dtype: str) -> None:
    assert imported(one_node("Identity", [value("x", [2], code)], 19)).outputs[0].dtype == dtype


def test_operators_win_over_annotations_that_contradict_them() -> None:
    nodes = [node("MatMul", ["a", "b"], ["c"]), node("Relu", ["c"], ["d"])]
    source = model(
        graph(nodes, [value("a", [2, 3]), value("b", [3, 4])], [value("d", [7, 7])], stated=[value("c", [2, 5])])
    )
    assert shapes(imported(source)) == {"a": (2, 3), "b": (3, 4), "c": (2, 4), "d": (2, 4)}


def test_annotations_give_what_operators_unknown_to_onnx_leave_open() -> None:
    nodes = [node("Magic", ["x"], ["m"], domain="my.ops"), node("Softmax", ["m"], ["y"])]
    source = model(graph(nodes, [value("x", [2])], ["y"], stated=[value("m", ["n", 5])]), my_ops=3)
    assert shapes(imported(source))["y"] == ("n", 5)


def test_a_rank_follows_from_the_length_of_a_shape_operand() -> None:
    nodes = [node("Reshape", ["x", "s"], ["r"]), node("Transpose", ["r"], ["t"]), node("MatMul", ["t", "w"], ["y"])]
    source = model(graph(nodes, [value("x", ["n", 6]), value("s", [3], INT64), value("w", [6, 5])], ["y"]))
    main = imported(source)
    assert [len(shapes(main)[name]) for name in "rty"] == [3, 3, 3]
    assert shapes(main)["y"][2] == 5
    assert not [dim for dim in shapes(main)["r"] if isinstance(dim, int)]
    assert ops(main) == ["reshape", "transpose", "matmul"]


def test_ranks_of_onnx_runtimes_operators_are_known() -> None:
    runtime = {"domain": "com.microsoft"}
    nodes = [
        node("SkipLayerNormalization", ["x", "skip", "g"], ["n"], **runtime),
        node("MultiHeadAttention", ["n", "n", "n"], ["a"], num_heads=2, **runtime),
        node("Relu", ["a"], ["y"]),
    ]
    inputs = [value("x", ["b", 5, 8]), value("skip", ["b", 5, 8]), value("g", [8])]
    main = imported(model(graph(nodes, inputs, ["y"]), com_microsoft=1), keep_attention=True)
    assert shapes(main)["n"] == ("b", 5, 8)
    assert shapes(main)["y"][:2] == ("b", 5)
    assert not isinstance(shapes(main)["y"][2], int)  # V may have another width than Q
    assert ops(main) == ["com.microsoft.SkipLayerNormalization", "com.microsoft.MultiHeadAttention", "relu"]


# Constants and weights

WEIGHT = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
TRIANGLE = np.where(np.tri(128, dtype=bool), 0, -np.inf).astype(np.float32)


@pytest.mark.parametrize(
    ("array", "kept"),
    [
        (np.float32(0.1), float(np.float32(0.1))),  # the double that the element exactly is
        (np.full((300, 300), 7, np.int32), 7),
        (np.full(5000, -0.0, np.float32), -0.0),
        (np.full(3, np.nan, np.float16), math.nan),
        (np.array([0.0, -0.0], np.float32), [0.0, -0.0]),  # equal numbers, but not one element
        (np.arange(2000), list(range(2000))),
        (TRIANGLE, TRIANGLE.reshape(-1).tolist()),
        (np.zeros((0, 4), np.float32), []),
        (np.array([True, False]), [True, False]),
        (np.array([2**64 - 1, 0], np.uint64), [2**64 - 1, 0]),
        (np.array([1.5, -2.0], ml_dtypes.bfloat16), [1.5, -2.0]),
        (np.array([448.0, 0.5], ml_dtypes.float8_e4m3fn), [448.0, 0.5]),
        (WEIGHT, None),
        (np.arange(40000), None),
    ],
)
def test_what_is_no_weight_keeps_its_data(array: np.ndarray, kept: object) -> None:
    source = one_node("Identity", [tensor("w", array, array.dtype)], 19)
    result = read(source)
    first = result.module.graphs[0].nodes[0]
    assert (first.name, first.outputs[0].shape) == ("w", array.shape)
    if kept is None:
        assert (first.op, first.attrs) == ("parameter", {})
        np.testing.assert_array_equal(result.weights["w"], array)
    else:
        assert first.op == "constant"
        assert repr(first.attrs["value"]) == repr(kept)
        assert not result.weights
    assert parse_module(print_module(result.module)) == result.module


def test_the_limit_can_be_set() -> None:
    source = one_node("Identity", [tensor("w", np.arange(100), np.int64)])
    assert read(source, constant_limit=99).module.graphs[0].nodes[0].op == "parameter"
    assert read(source, constant_limit=100).module.graphs[0].nodes[0].op == "constant"


@pytest.mark.parametrize(
    ("attrs", "type_", "kept"),
    [
        ({"value_float": 0.5}, TensorType((), "fp32"), 0.5),
        ({"value_ints": [3, 4]}, TensorType((2,), "i64"), [3, 4]),
        ({"value": tensor("t", [[1, 2]], np.int8)}, TensorType((1, 2), "i8"), [1, 2]),
    ],
)
def test_constant_nodes(attrs: dict[str, object], type_: TensorType, kept: object) -> None:
    only = imported(one_node("Constant", [], **attrs)).nodes[0]
    assert (only.name, only.op, only.attrs, only.outputs[0].type) == ("the_node", "constant", {"value": kept}, type_)


def test_sparse_tensors_are_made_dense() -> None:
    sparse = helper.make_sparse_tensor(tensor("", [5.0, 6.0]), tensor("", [1, 3], np.int64), [2, 2])
    assert node_of(imported(one_node("Constant", [], sparse_value=sparse)), "the_node").attrs["value"] == [0, 5, 0, 6]


def test_a_large_constant_node_is_a_parameter() -> None:
    result = read(one_node("Constant", [], value=tensor("t", WEIGHT)))
    assert result.module.graphs[0].nodes[0].op == "parameter"
    np.testing.assert_array_equal(result.weights["y"], WEIGHT)


def test_an_input_with_an_initializer_has_it_as_its_value() -> None:
    source = one_node("Add", [value("x", [2]), value("w", [2])])
    source.graph.initializer.append(tensor("w", [1.0, 2.0]))
    assert [item.name for item in imported(source).inputs] == ["x"]
    np.testing.assert_array_equal(run(source, np.float32([10, 20]))[0], [11, 22])


def test_an_initializer_that_nothing_reads_stays() -> None:
    source = one_node("Relu", [value("x", [2])])
    source.graph.initializer.append(tensor("spare", WEIGHT))
    assert ops(imported(source)) == ["relu"]
    assert [item.name for item in imported(source).nodes] == ["spare", "the_node"]


def test_external_data_may_be_absent(tmp_path: object) -> None:
    shape = tensor("s", [-1, 2], np.int64)
    nodes = [node("Add", ["x", "w"], ["a"]), node("Reshape", ["a", "s"], ["y"])]
    source = model(graph(nodes, [value("x", [64, 64])], ["y"], [tensor("w", WEIGHT), shape]))
    path = f"{tmp_path}/m.onnx"
    onnx.save(source, path, save_as_external_data=True, location="m.data", size_threshold=0)
    there = read_onnx(path)
    np.testing.assert_array_equal(there.weights["w"], WEIGHT)
    assert shapes(there.module.graphs[0])["y"] == (2048, 2)
    (tmp_path / "m.data").unlink()  # type: ignore[operator]
    gone = read_onnx(path)
    assert sorted(gone.missing) == ["s", "w"]
    assert not gone.weights
    assert shapes(gone.module.graphs[0])["y"] == (None, None)


# Opaque nodes


def test_an_opaque_node_keeps_all_attributes() -> None:
    attrs = {"i": 3, "f": 0.1, "s": "text", "b": b"\xff\x00", "is_": [1, 2], "fs": [0.5], "ss": ["a", "b"],
             "t": tensor("", [[1, 2]], np.int32), "e": helper.make_tensor_type_proto(FLOAT, [2, "n"])}  # fmt: skip
    source = one_node("Magic", [value("x", [2])], domain="my.ops", results=[value("y", ["n"])], **attrs)
    assert node_of(imported(source), "the_node").attrs == {
        "i": 3, "f": float(np.float32(0.1)), "s": "text", "b": {"bytes": "ff00"}, "is_": [1, 2], "fs": [0.5],
        "ss": ["a", "b"], "t": {"type": TensorType((1, 2), "i32"), "value": [1, 2]}, "e": TensorType((2, "n"), "fp32"),
    }  # fmt: skip


def test_a_weight_in_an_attribute_is_named() -> None:
    result = read(one_node("Magic", [], domain="my.ops", results=[value("y", [1])], w=tensor("", WEIGHT)))
    attrs = result.module.graphs[0].nodes[0].attrs
    assert attrs == {"w": {"type": TensorType((64, 64), "fp32"), "parameter": "the_node.w"}}
    np.testing.assert_array_equal(result.weights["the_node.w"], WEIGHT)


def test_left_out_operands_and_results_are_told_by_position() -> None:
    sample = [value("x", [1, 1, 4, 4]), None, value("scales", [4])]
    resize = node_of(imported(one_node("Resize", sample)), "the_node")
    assert [item.name for item in resize.inputs] == ["x", "scales"]
    assert resize.attrs["input_positions"] == [0, 2]
    normed = one_node("LayerNormalization", [value("x", [2, 4]), value("g", [4])], results=["y", "", "inv"])
    layer = node_of(imported(normed), "the_node")
    assert [item.name for item in layer.outputs] == ["y", "inv"]
    assert layer.attrs["output_positions"] == [0, 2]


def test_operators_that_onnx_does_not_know_are_kept() -> None:
    main = imported(one_node("SimplifiedThing", [value("x", [2])], results=[value("y", [2])]))
    assert ops(main) == ["onnx.SimplifiedThing"]


# Bodies


def branches() -> onnx.ModelProto:
    """y = cond ? relu(x + w) reshaped : x reshaped, with w, s and x from outside."""
    then = graph(
        [node("Add", ["x", "w"], ["t"], name="add"), node("Reshape", ["t", "s"], ["then_out"])], [], ["then_out"],
        [tensor("inner", WEIGHT)], name="then",
    )  # fmt: skip
    otherwise = graph([node("Reshape", ["x", "s"], ["else_out"])], [], ["else_out"], name="else")
    choice = node("If", ["cond"], ["y"], name="choice", then_branch=then, else_branch=otherwise)
    return model(
        graph(
            [choice], [value("cond", [], TensorProto.BOOL), value("x", [4, 64])], ["y"],
            [tensor("w", WEIGHT[:4]), tensor("s", [-1], np.int64)],
        )
    )  # fmt: skip


def test_the_branches_of_an_if_are_graphs_of_their_own() -> None:
    result = read(branches())
    main, otherwise, then = result.module.graphs  # in the order of the attributes
    assert [then.name, otherwise.name] == ["choice_then_branch", "choice_else_branch"]
    choice = node_of(main, "choice")
    assert choice.op == "onnx.If"
    assert choice.attrs == {
        "then_branch": Symbol("choice_then_branch"), "else_branch": Symbol("choice_else_branch"), "captured": 2,
    }  # fmt: skip
    assert [item.name for item in choice.inputs] == ["cond", "x", "w"]
    assert [item.name for item in then.inputs] == ["x", "w"]
    assert [item.name for item in otherwise.inputs] == ["x"]  # s became an attribute
    assert node_of(then, "then_out").attrs == {"shape": [-1]}
    assert then.outputs[0].shape == otherwise.outputs[0].shape == (256,)
    assert len(choice.outputs[0].shape) == 1
    assert list(result.weights) == ["choice_then_branch/inner"]
    assert parse_module(print_module(result.module)) == result.module


def test_bodies_in_bodies_capture_through_the_one_between() -> None:
    inner = graph([node("Neg", ["x"], ["i"])], [], ["i"], name="inner")
    other = graph([node("Identity", ["x"], ["j"])], [], ["j"], name="other")
    middle = graph([node("If", ["c"], ["m"], name="b", then_branch=inner, else_branch=other)], [], ["m"], name="mid")
    plain = graph([node("Relu", ["x"], ["p"])], [], ["p"], name="plain")
    outer = node("If", ["c"], ["y"], name="a", then_branch=middle, else_branch=plain)
    source = model(graph([outer], [value("c", [], TensorProto.BOOL), value("x", [3])], ["y"]))
    main, *bodies = read(source).module.graphs
    assert [item.name for item in node_of(main, "a").inputs] == ["c", "x", "c"]
    assert node_of(main, "a").attrs["captured"] == 2
    assert {body.name: [item.name for item in body.inputs] for body in bodies} == {
        "a_else_branch": ["x"], "a_then_branch": ["x", "c"], "b_then_branch": ["x"], "b_else_branch": ["x"],
    }  # fmt: skip
    assert node_of(main, "a").outputs[0].shape == (3,)


def test_the_body_of_a_loop_has_its_own_inputs_first() -> None:
    body = graph(
        [node("Identity", ["go"], ["go_on"]), node("Add", ["acc", "step"], ["acc_out"])],
        [value("i", [], INT64), value("go", [], TensorProto.BOOL), value("acc", [2])],
        [value("go_on", [], TensorProto.BOOL), value("acc_out", [2])], name="body",
    )  # fmt: skip
    loop = node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    source = model(graph([loop], [value("n", [], INT64), value("x", [2]), value("step", [2])], ["y"]))
    main, inside = read(source).module.graphs
    assert [item.name for item in node_of(main, "loop").inputs] == ["n", "x", "step"]
    assert node_of(main, "loop").attrs == {"body": Symbol("loop_body"), "input_positions": [0, 2], "captured": 1}
    assert [item.name for item in inside.inputs] == ["i", "go", "acc", "step"]
    assert [item.name for item in inside.outputs] == ["go_on", "acc_out"]


# Functions


def test_local_functions_are_inlined() -> None:
    twice = helper.make_function(
        "my", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    nodes = [node("Twice", ["x"], ["t"], domain="my"), node("Twice", ["t"], ["y"], domain="my")]
    source = model(graph(nodes, [value("x", [2])], ["y"]), functions=[twice], my=1)
    assert ops(imported(source)) == ["add", "add"]
    np.testing.assert_array_equal(run(source, np.float32([1, 2]))[0], [4, 8])


def attention(**attrs: object) -> onnx.ModelProto:
    operands = [value(name, [2, 3, size, 8]) for name, size in (("q", 4), ("k", 6), ("v", 6))]
    return one_node("Attention", operands, 23, **attrs)


@pytest.mark.parametrize("expand", [False, True])
def test_attention_is_expanded_unless_it_is_to_be_kept(expand: bool) -> None:
    kept = ops(imported(attention(is_causal=1), keep_attention=True, expand_functions=expand))
    assert kept == ["onnx.Attention"]
    expanded = ops(imported(attention(is_causal=1), expand_functions=expand))
    assert expanded.count("matmul") == 2
    assert "softmax" in expanded
    assert not [op for op in expanded if "." in op]


def test_expansion_enters_default_attributes_and_keeps_mapped_operators() -> None:
    main = imported(one_node("Celu", [value("x", [3])]), expand_functions=True)  # alpha is 1 by default
    assert not [op for op in ops(main) if "." in op]
    assert ops(imported(one_node("Softmax", [value("x", [3])]), expand_functions=True)) == ["softmax"]


# Order


def test_nodes_out_of_order_are_put_in_order_and_others_stay() -> None:
    nodes = [
        node("Relu", ["x"], ["first"]),
        node("Add", ["late", "first"], ["sum"]),
        node("Neg", ["x"], ["late"]),
        node("Abs", ["sum"], ["y"]),
    ]
    assert [item.name for item in imported(model(graph(nodes, [value("x", [2])], ["y"]))).nodes] == [
        "first", "late", "sum", "y",
    ]  # fmt: skip


def test_a_body_counts_as_reader_of_what_it_captures() -> None:
    then = graph([node("Neg", ["late"], ["t"])], [], ["t"], name="then")
    otherwise = graph([node("Abs", ["x"], ["e"])], [], ["e"], name="else")
    nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise), node("Relu", ["x"], ["late"])]
    source = model(graph(nodes, [value("c", [], TensorProto.BOOL), value("x", [2])], ["y"]))
    assert ops(imported(source)) == ["relu", "onnx.If"]


def test_the_model_that_is_given_stays_as_it_is() -> None:
    for source in (branches(), attention()):
        before = source.SerializeToString()
        read(source, expand_functions=True)
        assert source.SerializeToString() == before


def test_twenty_thousand_nodes_in_reverse_order() -> None:
    count = 20_000
    nodes = [node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)][::-1]
    main = imported(model(graph(nodes, [value("v0", [2])], [f"v{count}"])))
    assert [main.nodes[0].name, main.nodes[-1].name, len(main.nodes)] == ["v1", f"v{count}", count]
