"""The benchmark's graphs, each once in MCIR and once in MLIR's generic syntax.

- `blocks`: five nodes (transpose, matmul, softmax, matmul, add) follow one another. Each block is one attention, so the
  passes have as many regions to form as a graph of this size can hold.
- `model`: layers of a transformer as exporters write them, about a hundred nodes for one attention; see `model.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bench import model
from tests.bench.op import Op, Shape

NODES_PER_BLOCK = 5
ROWS, COLUMNS = 128, 64
KINDS = ("blocks", "model")

_MLIR_DTYPES = {"fp16": "f16", "fp32": "f32", "i1": "i1", "i64": "i64"}


def block_ops(nodes: int) -> Iterator[Op]:
    """At least `nodes` ops, whole blocks of them; the last result is `q<blocks>`."""
    data, turned, scores = (ROWS, COLUMNS), (COLUMNS, ROWS), (ROWS, ROWS)
    for block in range(-(-nodes // NODES_PER_BLOCK)):
        q, kt, s, p, o = (f"{letter}{block}" for letter in ("q", "kt", "s", "p", "o"))
        yield Op(kt, "transpose", ("k",), {"perm": [1, 0]}, turned)
        yield Op(s, "matmul", (q, kt), {}, scores)
        yield Op(p, "softmax", (s,), {"axis": -1}, scores)
        yield Op(o, "matmul", (p, "v"), {}, data)
        yield Op(f"q{block + 1}", "add", (o, q), {}, data)


def mcir_text(nodes: int, kind: str = "blocks") -> str:
    """The graph as `.mcir`."""
    inputs, ops = _graph(nodes, kind)
    lines = [f"graph @bench({', '.join(f'%{name}: {_mcir_type(*type_)}' for name, type_ in inputs.items())}) {{"]
    for op in ops:
        parts = (op.op, ", ".join(f"%{name}" for name in op.operands), _attributes(op, _mcir_attr))
        lines.append(f"  %{op.result} = {' '.join(filter(None, parts))} : {_mcir_type(op.shape, op.dtype)}")
    return "\n".join([*lines, f"  return %{op.result}", "}", ""])


def mlir_text(nodes: int, kind: str = "blocks") -> str:
    """The same graph in MLIR's generic form, with ops of an unregistered dialect."""
    inputs, ops = _graph(nodes, kind)
    types = {name: _mlir_type(*type_) for name, type_ in inputs.items()}
    names = {name: f"%{name}" for name in inputs}
    lines = []
    for op in ops:
        operands, taken = (", ".join(of[name] for name in op.operands) for of in (names, types))
        names[op.result] = f"%{op.result}"
        types[op.result] = result = _mlir_type(op.shape, op.dtype)
        lines.append(
            f'  %{op.result} = "bench.{op.op}"({operands}) {_attributes(op, _mlir_attr)} : ({taken}) -> {result}'
        )
    head = f"func.func @bench({', '.join(f'%{name}: {types[name]}' for name in inputs)}) -> {types[op.result]} {{"
    tail = [f"  func.return %{op.result} : {types[op.result]}", "}", "}", ""]
    return "\n".join(["builtin.module {", head, *lines, *tail])


def _graph(nodes: int, kind: str) -> tuple[dict[str, tuple[Shape, str]], Iterator[Op]]:
    """The inputs of the graph with their types, and its ops."""
    if kind == "model":
        return model.INPUTS, model.ops(nodes)
    return dict.fromkeys(("q0", "k", "v"), ((ROWS, COLUMNS), "fp16")), block_ops(nodes)


def _attributes(op: Op, text: Callable[[object], str]) -> str:
    return f"{{{', '.join(f'{key} = {text(value)}' for key, value in op.attrs.items())}}}" if op.attrs else ""


def _mcir_type(shape: Shape, dtype: str) -> str:
    return f"tensor<{''.join(f'{dim}x' for dim in shape)}{dtype}>"


def _mlir_type(shape: Shape, dtype: str) -> str:
    return f"tensor<{''.join(f'{dim}x' for dim in shape)}{_MLIR_DTYPES[dtype]}>"


def _mcir_attr(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _mlir_attr(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{format(value, '.17e')} : f32"
    return f"array<i64: {', '.join(map(str, value))}>"  # type: ignore[call-overload]
