"""The import of exported programs: names, inputs and outputs, weights, opaque calls, bodies, errors, the tool."""

# ruff: noqa: E402  (what follows the first line needs torch)
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'mcir[torch]'")

import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim, export

from mcir.diagnostics import MCIRError
from mcir.importers import from_exported_program
from mcir.importers.torch_export import read_exported_program
from mcir.interpreter.graph import run_graph, run_nodes
from mcir.interpreter.numerics import Numerics
from mcir.parser import parse_module
from mcir.passes.attention_pattern import AttentionPattern, run_attention_pattern_pass
from mcir.printer import print_module
from mcir.tools.translate import main as translate
from mcir.verifier import verify_module
from tests.unit.tool_harness import run
from tests.unit.torch_modules import SAMPLES, Static, Vit


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 3))
        self.register_buffer("shift", torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("unused", torch.zeros(4))

    def forward(self, x: Tensor, count: int) -> tuple[Any, ...]:
        return x @ self.weight.t() + self.shift[:2] * count, count, None


SCALED = """\
graph @main(%x: tensor<(s77)x3xfp32>) {
  %p_weight = parameter : tensor<2x3xfp32>
  %b_shift = constant {value = [1.0, 2.0, 3.0]} : tensor<3xfp32>
  %t = transpose %p_weight {perm = [1, 0]} : tensor<3x2xfp32>
  %matmul = matmul %x, %t : tensor<(s77)x2xfp32>
  %slice_1 = slice %b_shift {starts = [0], ends = [2], axes = [0]} : tensor<2xfp32>
  %mul_constant = constant {value = 3.0} : tensor<fp32>
  %mul = mul %slice_1, %mul_constant : tensor<2xfp32>
  %add = add %matmul, %mul : tensor<(s77)x2xfp32>
  %number = constant {value = 3} : tensor<i64>
  return %add, %number
}
"""


def scaled_program() -> Any:
    shapes = {"x": {0: Dim("rows", max=99)}, "count": None}
    return export(Scaled(), (torch.randn(4, 3), 3), dynamic_shapes=shapes)


def test_names_weights_and_constants() -> None:
    """A parameter is a weight also if all its elements are equal; a small buffer keeps its data, an unread one goes."""
    imported = read_exported_program(scaled_program())
    assert print_module(imported.module) == SCALED
    assert list(imported.weights) == ["p_weight"]
    np.testing.assert_array_equal(imported.weights["p_weight"], np.ones((2, 3), np.float32))
    assert imported.missing == []


def test_a_limit_makes_buffers_weights() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("keep", torch.ones(20, 20, dtype=torch.bool).tril())

        def forward(self, x: Tensor) -> Tensor:
            return x.masked_fill(self.keep, 0.0)

    program = export(Masked(), (torch.randn(20, 20),))
    assert from_exported_program(program).graphs[0].nodes[0].op == "constant"
    imported = read_exported_program(program, constant_limit=100)
    assert imported.module.graphs[0].nodes[0].op == "parameter"
    np.testing.assert_array_equal(imported.weights["b_keep"], np.tril(np.ones((20, 20), bool)))


def test_changed_buffers_are_returned_after_the_outputs() -> None:
    module, inputs = Static(), SAMPLES["static cache"].inputs()
    imported = read_exported_program(export(module, inputs))
    graph = imported.module.graphs[0]
    names = [value.name for value in graph.outputs]
    assert list(graph.attrs["updates"].items()) == [(names[1], "b_keys"), (names[2], "b_values")]
    given = {name: item.numpy() for name, item in zip("qkv", inputs, strict=True)}
    results = run_graph(graph, {**given, **{name: array.copy() for name, array in imported.weights.items()}})
    module(*inputs)
    np.testing.assert_array_equal(results[names[1]], module.keys.numpy())
    np.testing.assert_array_equal(results[names[2]], module.values.numpy())


def test_changed_inputs_are_returned_after_the_outputs() -> None:
    class Adds(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            x.add_(y)
            return x.sum()

    graph = from_exported_program(export(Adds(), (torch.ones(3), torch.ones(3)))).graphs[0]
    assert graph.attrs["updates"] == {"add": "x"}
    results = run_graph(graph, {name: np.ones(3, np.float32) for name in "xy"})
    assert [float(results[value.name].sum()) for value in graph.outputs] == [6.0, 6.0]


def test_sizes_known_at_run_time() -> None:
    class Sized(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> tuple[Any, ...]:
            rows, columns = x.shape
            grown = torch.cat([x, y]).view(columns, rows + y.shape[0])
            middle = torch.zeros(rows * 2, columns // 2) + rows
            return grown, middle, x.expand(2, rows, columns), torch.arange(rows + 1), x[: rows - 1], rows * columns

    m, n, k = (Dim(name, min=4, max=99) for name in "mnk")
    dims = {"x": {0: m, 1: n}, "y": {0: k, 1: n}}
    module = from_exported_program(export(Sized(), (torch.randn(4, 6), torch.randn(7, 6)), dynamic_shapes=dims))
    assert verify_module(module) == []
    assert parse_module(print_module(module)) == module
    for rows, columns, more in ((4, 6, 7), (5, 9, 4)):
        inputs = (torch.randn(rows, columns), torch.randn(more, columns))
        graph = module.graphs[0]
        results = run_graph(graph, {name: item.numpy() for name, item in zip("xy", inputs, strict=True)})
        for value, wanted in zip(graph.outputs, Sized()(*inputs), strict=True):
            np.testing.assert_array_equal(results[value.name], np.asarray(wanted))


def test_numbers_and_sizes_may_be_returned_twice() -> None:
    class Numbers(nn.Module):
        def forward(self, x: Tensor) -> tuple[Any, ...]:
            return x.shape[0], x.shape[0], 3, True, x, x

    module = from_exported_program(export(Numbers(), (torch.ones(4),), dynamic_shapes={"x": {0: Dim("n", max=9)}}))
    assert verify_module(module) == []
    graph = module.graphs[0]
    results = run_graph(graph, {"x": np.ones(5, np.float32)})
    assert [results[value.name].tolist() for value in graph.outputs] == [5, 5, 3, True, [1.0] * 5, [1.0] * 5]


def test_an_integer_input_is_a_tensor_of_rank_0() -> None:
    class Counts(nn.Module):
        def forward(self, x: Tensor, count: int) -> Tensor:
            return x * count

    program = export(Counts(), (torch.ones(3), 5), dynamic_shapes={"x": None, "count": Dim.DYNAMIC})
    graph = from_exported_program(program).graphs[0]
    assert [(value.name, value.shape, value.dtype) for value in graph.inputs][1] == ("count", (), "i64")
    results = run_graph(graph, {"x": np.ones(3, np.float32), "count": np.asarray(7)})
    np.testing.assert_array_equal(results[graph.outputs[0].name], np.full(3, 7, np.float32))


def test_an_opaque_call_keeps_its_arguments() -> None:
    torch.manual_seed(1)
    module, image = Vit().eval(), torch.randn(2, 3, 8, 12)
    imported = read_exported_program(export(module, (image,)))
    graph = imported.module.graphs[0]
    patch = next(node for node in graph.nodes if node.op == "aten.conv2d")
    assert patch.attrs == {"stride": [4, 4], "operands": ["input", "weight", "bias"]}
    assert [value.name for value in patch.inputs] == ["image", "p_patch_weight", "p_patch_bias"]
    assert len(run_attention_pattern_pass(imported.module).regions) == 1
    with torch.no_grad():
        given = {**imported.weights, patch.outputs[0].name: module.patch(image).numpy()}
        expected = module(image).numpy()
    nodes = [node for node in graph.nodes if node.op not in ("parameter", "aten.conv2d")]
    result = graph.outputs[0].name
    np.testing.assert_allclose(run_nodes(nodes, given, Numerics("typed"), {}, [result])[result], expected, atol=1e-5)


def test_opaque_arguments_of_all_kinds() -> None:
    class Odd(nn.Module):
        def forward(self, x: Tensor, i: Tensor) -> tuple[Tensor, ...]:
            values, places = x.topk(2, largest=False)
            put = x.new_zeros(3, 4).index_put((i, i), x[0, :2], accumulate=True)
            return values, places, put, x[:, None].expand(3, 2, 4)[:, i % 2, i]

    graph = from_exported_program(export(Odd(), (torch.randn(3, 4), torch.tensor([0, 2])))).graphs[0]
    opaque = {node.op: node for node in graph.nodes if "." in node.op}
    assert opaque["aten.topk"].attrs == {"k": 2, "dim": -1, "largest": False, "operands": ["self"]}
    assert len(opaque["aten.topk"].outputs) == 2
    put = opaque["aten.index_put"].attrs
    assert put == {"accumulate": True, "operands": ["self", "indices[0]", "indices[1]", "values"]}
    assert opaque["aten.index.Tensor"].attrs["operands"] == ["self", "indices[1]", "indices[2]"]


def test_bodies_of_an_operator_are_graphs() -> None:
    class Either(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.cond(x.sum() > 0, lambda x: (x @ x.t()).softmax(-1) @ x, lambda x: x * 2, (x,))

    module = from_exported_program(export(Either(), (torch.randn(3, 4),)))
    assert verify_module(module) == []
    assert parse_module(print_module(module)) == module
    cond = next(node for node in module.graphs[0].nodes if node.op == "higher_order.cond")
    bodies = [cond.attrs["arg1"].name, cond.attrs["arg2"].name]
    assert [graph.name for graph in module.graphs[1:]] == bodies
    assert [node.op for node in module.graphs[2].nodes] == ["constant", "mul"]
    assert len(run_attention_pattern_pass(module).regions) == 1


def test_blocks_without_gradients_are_part_of_the_graph() -> None:
    class Quiet(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            with torch.no_grad():
                y = x * 2
            return y + 1

    graph = from_exported_program(export(Quiet(), (torch.randn(3),))).graphs[0]
    assert [node.op for node in graph.nodes] == ["constant", "mul", "constant", "add"]


def test_attention_left_opaque_gets_a_remark() -> None:
    class Drops(nn.Module):
        def forward(self, q: Tensor) -> Tensor:
            return F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)

    detector = AttentionPattern()
    detector(from_exported_program(export(Drops(), (torch.randn(2, 3, 4),))))
    assert [(remark.rule, remark.op) for remark in detector.remarks] == [
        ("fused-op", "aten.scaled_dot_product_attention"),
    ]


class Complex(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.view_as_real(torch.view_as_complex(x) * 2)


@pytest.mark.parametrize(
    ("program", "message", "rule"),
    [
        (lambda: "program.pt2 as text", "no such file: program.pt2 as text", "torch-program"),
        (lambda: nn.Linear(2, 2), "expected an ExportedProgram, got Linear", "torch-program"),
        (
            lambda: export(Complex(), (torch.randn(3, 2),)),
            "'view_as_complex' has element type complex64, which MCIR does not have", "torch-type",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_imported(program: Any, message: str, rule: str) -> None:
    with pytest.raises(MCIRError) as caught:
        read_exported_program(program())
    assert [(item.message, item.rule) for item in caught.value.diagnostics] == [(message, rule)]


def test_the_program_stays_as_it_is() -> None:
    program = export(Static(), SAMPLES["static cache"].inputs())
    before = str(program.graph)
    from_exported_program(program)
    assert str(program.graph) == before


def test_the_tool(tmp_path: Path) -> None:
    path, weights = tmp_path / "p.pt2", tmp_path / "w.npz"
    torch.export.save(scaled_program(), path)
    done = run(translate, "--import-torch", path, f"--weights={weights}")
    assert (done.code, done.out, done.err) == (0, SCALED, "")
    with np.load(weights) as arrays:
        assert arrays.files == ["p_weight"]


def test_the_tool_refuses_other_files(tmp_path: Path) -> None:
    path = tmp_path / "p.pt2"
    path.write_bytes(b"no archive")
    done = run(translate, "--import-torch", path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {path} is not an exported program: ")
