"""Single torch operators: imported as MCIR operations that give what torch gives, element types included."""

# ruff: noqa: E402  (what follows the first line needs torch)
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'mcir[torch]'")

import torch.nn.functional as F
from torch import Tensor

from mcir.importers.torch_export import read_exported_program
from mcir.importers.torch_values import array_of
from mcir.interpreter.graph import run_graph
from mcir.verifier import verify_module


class Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def floats(*shape: int, dtype: Any = torch.float32) -> Tensor:
    return torch.randn(shape).to(dtype)


def ints(*shape: int, dtype: Any = torch.int64, low: int = -5, high: int = 6) -> Tensor:
    return torch.randint(low, high, shape).to(dtype)


def with_dead_row() -> Tensor:
    """All of row 2 is -inf."""
    return floats(*X).index_fill(1, torch.tensor(2), float("-inf"))


def truths(*shape: int) -> Tensor:
    return torch.rand(shape) < 0.5


X, Y = (3, 4, 5), (4, 5)
HALF = torch.float16
aten = torch.ops.aten

# name: (function, inputs)
CASES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Tensor, ...]]]] = {
    # element types that torch promotes by itself
    "int + float": (lambda a, b: a + b, lambda: (ints(*X), floats(*Y))),
    "half + float": (lambda a, b: a * b, lambda: (floats(*X, dtype=HALF), floats(*Y))),
    "half + rank 0 float": (lambda a, b: a + b, lambda: (floats(*X, dtype=HALF), floats())),
    "int + number": (lambda a: a + 2.5, lambda: (ints(*X),)),
    "bool + int number": (lambda a: a + 1, lambda: (truths(*X),)),
    "bool + bool": (lambda a, b: a + b, lambda: (truths(*X), truths(*X))),
    "bool * bool": (lambda a, b: a * b, lambda: (truths(*X), truths(*X))),
    "bool * float": (lambda a, b: a * b, lambda: (truths(*X), floats(*X))),
    "int / int": (lambda a, b: a / b, lambda: (ints(*X), ints(*X, low=1))),
    "compare int with float number": (lambda a: a > 0.5, lambda: (ints(*X, low=0, high=2),)),
    "compare half with rank 0 float": (lambda a, b: a < b, lambda: (floats(*X, dtype=HALF), floats())),
    "compare i32 with i64": (lambda a, b: a <= b, lambda: (ints(*X, dtype=torch.int32), ints(*X))),
    "compare u8 with i8": (
        lambda a, b: a != b, lambda: (ints(*X, dtype=torch.uint8, low=0), ints(*X, dtype=torch.int8)),
    ),
    "compare bool with bool": (lambda a, b: (a == b, a < b), lambda: (truths(*X), truths(*X))),
    "compare with nan": (lambda a: (a != a, a == a, a >= a), lambda: (floats(*X).log(),)),
    "sum of bools": (lambda a: a.sum(-1), lambda: (truths(*X),)),
    "sum of i32": (lambda a: a.sum(), lambda: (ints(*X, dtype=torch.int32),)),
    "cumsum of bools": (lambda a: a.cumsum(-1), lambda: (truths(*X),)),
    "cat of two types": (lambda a, b: torch.cat([a, b], 1), lambda: (ints(*X), floats(*X))),
    "where of two types": (torch.where, lambda: (truths(*X), floats(*X), floats(*X, dtype=HALF))),
    "exp of ints": (lambda a: a.exp(), lambda: (ints(*X),)),
    "to": (lambda a: (a.to(HALF), a.long(), a.bool(), a.to(torch.float32)), lambda: (floats(*X),)),
    # pointwise
    "add with alpha": (lambda a, b: torch.add(a, b, alpha=3), lambda: (floats(*X), floats(*Y))),
    "sub with alpha": (lambda a, b: torch.sub(a, b, alpha=0.5), lambda: (floats(*X), floats(*Y))),
    "rsub": (lambda a: 1 - a, lambda: (floats(*X),)),
    "unary": (
        lambda a: (a.abs(), -a, a.sin(), a.cos(), a.tanh(), a.sigmoid(), a.erf(), a.ceil(), a.floor(), a.round()),
        lambda: (floats(*X),),
    ),
    "of positives": (lambda a: (a.sqrt(), a.rsqrt(), a.log(), a.reciprocal()), lambda: (floats(*X).abs() + 0.1,)),
    "activations": (
        lambda a: (F.relu(a), F.silu(a), F.gelu(a), F.gelu(a, approximate="tanh"), F.elu(a, 0.7), F.softplus(a)),
        lambda: (floats(*X) * 15,),
    ),
    "pow": (lambda a, b: (a**2, a**-0.5, 2**b, a**b), lambda: (floats(*X).abs() + 0.1, floats(*Y))),
    "pow of ints": (lambda a: a**2, lambda: (ints(*X),)),
    "remainder": (lambda a, b: (a % b, torch.fmod(a, b), a % 3), lambda: (floats(*X), floats(*X))),
    "floor division": (
        lambda a, b: (a // b, torch.div(a, b, rounding_mode="trunc")), lambda: (ints(*X), ints(*X, low=1)),
    ),
    "clamp": (
        lambda a: (a.clamp(-0.5, 0.5), a.clamp(min=0.1), a.clamp(max=0.1), a.clamp(0.5, -0.5), F.hardtanh(a)),
        lambda: (floats(*X),),
    ),
    "clamp by tensors": (lambda a, b: torch.clamp(a, min=b), lambda: (floats(*X), floats(*Y))),
    "clamp of ints": (lambda a: a.clamp(max=2), lambda: (ints(*X),)),
    "maximum": (lambda a, b: (torch.maximum(a, b), torch.minimum(a, b)), lambda: (floats(*X), floats(*Y))),
    "logical": (
        lambda a, b, c: (
            a & b, a | b, a ^ b, ~a, torch.logical_and(a, c), torch.logical_not(c), torch.logical_xor(a, c),
        ),
        lambda: (truths(*X), truths(*X), ints(*X, low=0, high=2)),
    ),
    "masked_fill": (
        lambda a, m: (a.masked_fill(m, float("-inf")), a.masked_fill(m, torch.tensor(2.0))),
        lambda: (floats(*X, dtype=HALF), truths(*Y)),
    ),
    "isnan": (lambda a: (a.isnan(), a.isinf()), lambda: (floats(*X).log(),)),
    "where with numbers": (
        lambda m, a: (torch.where(m, a, 0.0), torch.where(m, 1, a)), lambda: (truths(*X), floats(*X)),
    ),
    # products
    "products": (
        lambda a, b: (
            a @ b, torch.bmm(a, b), torch.mm(a[0], b[1]), torch.mv(a[0], b[0, :, 0]), torch.dot(a[0, 0], b[0, :, 0]),
        ),
        lambda: (floats(3, 4, 5), floats(3, 5, 2)),
    ),
    "matmul broadcast": (lambda a, b: (a @ b, b[0] @ a[0]), lambda: (floats(3, 4, 5), floats(5, 4))),
    "addmm": (
        lambda c, a, b: (torch.addmm(c, a, b), torch.addmm(c, a, b, beta=2, alpha=0.5), torch.addmm(c, a, b, beta=0)),
        lambda: (floats(6), floats(4, 5), floats(5, 6)),
    ),
    "baddbmm": (
        lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5, alpha=0.25),
        lambda: (floats(3, 4, 6), floats(3, 4, 5), floats(3, 5, 6)),
    ),
    "linear": (lambda a, w: F.linear(a, w), lambda: (floats(3, 4, 5), floats(6, 5))),
    "einsum": (lambda a, b: torch.einsum("bij, bkj -> ibk", a, b), lambda: (floats(3, 4, 5), floats(3, 2, 5))),
    # reductions and norms
    "reductions": (
        lambda a: (
            a.sum(), a.sum((0, 2)), a.mean(-1, keepdim=True), a.amax(1), a.amin((0, 1)), a.prod(1), a.max(), a.sum([]),
        ),
        lambda: (floats(*X),),
    ),
    "max along an axis": (lambda a: a.max(-1, keepdim=True).values, lambda: (floats(*X),)),
    "any and all": (lambda a: (a.any(-1), a.all(1, keepdim=True), a.any(), (a * 2.0).any(0)), lambda: (truths(*X),)),
    "variance": (lambda a: (a.var(-1), a.var((0, 1), correction=0), a.var(1, unbiased=False)), lambda: (floats(*X),)),
    "logsumexp": (lambda a: (a.logsumexp(-1), a.logsumexp(1, True)), lambda: (with_dead_row(),)),
    "softmax": (
        lambda a: (a.softmax(-1), a.softmax(0, dtype=torch.float32), a.log_softmax(1)),
        lambda: (floats(*X, dtype=HALF),),
    ),
    "_safe_softmax": (lambda a: aten._safe_softmax(a, -1), lambda: (with_dead_row(),)),
    "layer_norm": (
        lambda a, w, b: (F.layer_norm(a, (4, 5), w, b), F.layer_norm(a, (5,)), F.layer_norm(a, (4, 5), None, b, 0.1)),
        lambda: (floats(*X), floats(4, 5), floats(4, 5)),
    ),
    "rms_norm": (
        lambda a, w: (F.rms_norm(a * 1e-3, (5,)), F.rms_norm(a, (5,), w, 0.1)),
        lambda: (floats(*X), floats(5)),
    ),
    "rms_norm fp16": (lambda a: F.rms_norm(a * 1e-3, (5,)), lambda: (floats(*X, dtype=HALF),)),
    # layout
    "views": (
        lambda a: (
            a.view(12, 5), a.reshape(-1), a.flatten(1), a.unflatten(-1, (5, 1)), a.view(2, -1, 3), a.transpose(0, -1),
        ),
        lambda: (floats(3, 4, 5),),
    ),
    "axes": (
        lambda a: (a.permute(2, 0, -2), a.movedim(0, 2), a.movedim((0, 1), (-1, 0)), a.mT, a.swapaxes(0, 1), a[0].t()),
        lambda: (floats(*X),),
    ),
    "squeeze": (
        lambda a: (a.squeeze(), a.squeeze(1), a.squeeze(0), a.squeeze((1, 3)), a.unsqueeze(-1)),
        lambda: (floats(3, 1, 4, 1),),
    ),
    "expand": (
        lambda a: (a.expand(2, 3, 4, 5), a.expand(-1, 4, -1)),
        lambda: (floats(3, 1, 5).expand(3, 4, 5)[:, :1],),
    ),
    "slices": (
        lambda a: (a[1:, ::2, -2:], a[:, 1], a[..., -1], a[0:2, :-1], a.narrow(1, 1, 2), a[None, :, 3:9], a[:, -3:-1]),
        lambda: (floats(*X),),
    ),
    "splits": (
        lambda a: (*a.split(2, -1), *a.chunk(2, 1), *a.unbind(0), *a.split([1, 3], 1), a.split(3, 1)[1]),
        lambda: (floats(*X),),
    ),
    "joins": (
        lambda a, b: (torch.cat([a, b], -1), torch.stack([a, b], 1), torch.cat([a])), lambda: (floats(*X), floats(*X)),
    ),
    "repeats": (
        lambda a: (
            a.repeat(2, 1, 3), a.repeat(2, 1, 1, 2), a.repeat_interleave(2, 1), a.repeat_interleave(3), a.tile(2),
        ),
        lambda: (floats(*X),),
    ),
    "roll and flip": (lambda a: (a.roll(1, 0), a.roll((-1, 7), (1, 2)), a.flip(0, -1)), lambda: (floats(*X),)),
    "indices": (
        lambda a, i, j: (a[i], a[:, i], a[i, j], a[i[:, None], j], a.index_select(1, i), F.embedding(i, a[0]), a[j]),
        lambda: (floats(3, 4, 5), ints(2, low=0, high=3), ints(2, low=0, high=3)),
    ),
    "gather": (lambda a, i: torch.gather(a, 1, i), lambda: (floats(3, 4, 5), ints(2, 6, 5, low=0, high=4))),
    "pad": (lambda a: (F.pad(a, (1, 2)), F.pad(a, (0, 1, 2, 0), value=1.5), F.pad(a, (-1, 2))), lambda: (floats(*X),)),
    "writes": (
        lambda a, b: (write_slice(a, b), write_place(a, b), write_all(a, b)), lambda: (floats(*X), floats(3, 2, 5)),
    ),
    # tensors out of nothing
    "filled": (
        lambda a: (
            torch.full((2, 3), 7), torch.zeros(2, dtype=HALF), torch.ones_like(a), a.new_zeros(2),
            a.new_full((2,), -1.0), torch.full_like(a, 2),
        ),
        lambda: (floats(*X),),
    ),
    "arange": (
        lambda a: (
            torch.arange(4), torch.arange(2, 9, 3), torch.arange(3.0), torch.arange(0, 1, 0.3), torch.arange(5, 0, -2),
            a.new_ones(3),
        ),
        lambda: (floats(2),),
    ),
    "triangles": (
        lambda a: (a.tril(), a.triu(1), a.tril(-1), torch.ones(4, 5, dtype=torch.bool).triu(2)), lambda: (floats(*X),),
    ),
    "copies": (lambda a: (a.clone(), a.detach(), a.contiguous(), a), lambda: (floats(*X),)),
}  # fmt: skip


def write_slice(a: Tensor, b: Tensor) -> Tensor:
    a = a.clone()
    a[:, 1:3] = b
    return a


def write_place(a: Tensor, b: Tensor) -> Tensor:
    a = a.clone()
    a[:, -1] = b[:, 0]
    return a


def write_all(a: Tensor, b: Tensor) -> Tensor:
    a = a.clone()
    a.copy_(b[:, :1])
    return a.add_(1)


TOLERANCE = {torch.float16: 2e-3, torch.float32: 2e-6}


@pytest.mark.parametrize("name", CASES)
def test_equal_to_torch(name: str) -> None:
    function, make = CASES[name]
    torch.manual_seed(3)
    inputs = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Module(function), inputs)
    expected = function(*inputs)
    imported = read_exported_program(program)
    graph = imported.module.graphs[0]
    assert verify_module(imported.module) == []
    assert [node.op for node in graph.nodes if "." in node.op] == []
    given = {value.name: array_of(item) for value, item in zip(graph.inputs, inputs, strict=True)}
    results = run_graph(graph, {**given, **imported.weights})
    wanted = expected if isinstance(expected, tuple) else (expected,)
    assert len(graph.outputs) == len(wanted)
    for value, item in zip(graph.outputs, wanted, strict=True):
        array, limit = array_of(item), TOLERANCE.get(item.dtype, 0.0)
        assert (results[value.name].dtype, results[value.name].shape) == (array.dtype, array.shape)
        np.testing.assert_allclose(results[value.name], array, rtol=limit, atol=limit)


OPAQUE: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Tensor, ...]], str]] = {
    "training": (lambda a: F.dropout(a, 0.5, True), lambda: (floats(*X),), "aten.dropout"),
    "attention with dropout": (
        lambda a: F.scaled_dot_product_attention(a, a, a, dropout_p=0.5), lambda: (floats(2, 3, 4, 5),),
        "aten.scaled_dot_product_attention",
    ),
    "rounded quotient of floats": (
        lambda a: torch.div(a, 0.3, rounding_mode="floor"), lambda: (floats(*X),), "aten.div.Tensor_mode"
    ),
    "bits": (lambda a: a & 3, lambda: (ints(*X),), "aten.__and__.Scalar"),
    "places as well as the maximum": (lambda a: a.max(-1), lambda: (floats(*X),), "aten.max.dim"),
    "a view of the bits": (lambda a: a.view(torch.int32), lambda: (floats(*X),), "aten.view.dtype"),
    "indices behind an axis": (
        lambda a, i: a[:, i, i], lambda: (floats(*X), ints(2, low=0, high=3)), "aten.index.Tensor"
    ),
    "softplus with another threshold": (lambda a: F.softplus(a, 1, 5), lambda: (floats(*X),), "aten.softplus"),
    "selu": (F.selu, lambda: (floats(*X),), "aten.selu"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPAQUE)
def test_without_an_exact_equivalent_it_stays_opaque(name: str) -> None:
    function, make, operator = OPAQUE[name]
    inputs = make()
    imported = read_exported_program(torch.export.export(Module(function), inputs))
    assert verify_module(imported.module) == []
    assert [node.op for node in imported.module.graphs[0].nodes if "." in node.op] == [operator]
