"""The benchmark's graph, once in MCIR and once in MLIR's generic syntax.

Blocks of five nodes (transpose, matmul, softmax, matmul, add) follow one another: each block is one
attention, so the passes have as many regions to form as the graph has blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

NODES_PER_BLOCK = 5
ROWS, COLUMNS = 128, 64


class Op(NamedTuple):
    """result = op operands {attrs}, with the operands' and the result's shapes."""

    result: str
    op: str
    operands: tuple[str, ...]
    attrs: dict[str, object]
    shapes: tuple[tuple[int, int], ...]


def ops(nodes: int) -> Iterator[Op]:
    """At least `nodes` ops, whole blocks of them; the last result is `q<blocks>`."""
    data, turned, scores = (ROWS, COLUMNS), (COLUMNS, ROWS), (ROWS, ROWS)
    for block in range(-(-nodes // NODES_PER_BLOCK)):
        q, kt, s, p, o = (f"{letter}{block}" for letter in ("q", "kt", "s", "p", "o"))
        yield Op(kt, "transpose", ("k",), {"perm": [1, 0]}, (data, turned))
        yield Op(s, "matmul", (q, kt), {}, (data, turned, scores))
        yield Op(p, "softmax", (s,), {"axis": -1}, (scores, scores))
        yield Op(o, "matmul", (p, "v"), {}, (scores, data, data))
        yield Op(f"q{block + 1}", "add", (o, q), {}, (data, data, data))


def mcir_text(nodes: int) -> str:
    """The graph as `.mcir`."""
    lines = [f"graph @bench({', '.join(f'%{name}: {_mcir_type((ROWS, COLUMNS))}' for name in ('q0', 'k', 'v'))}) {{"]
    for op in ops(nodes):
        operands = ", ".join(f"%{name}" for name in op.operands)
        attrs = "".join(f" {{{key} = {value}}}" for key, value in op.attrs.items())
        lines.append(f"  %{op.result} = {op.op} {operands}{attrs} : {_mcir_type(op.shapes[-1])}")
    return "\n".join([*lines, f"  return %{op.result}", "}", ""])


def mlir_text(nodes: int) -> str:
    """The same graph in MLIR's generic form, with ops of an unregistered dialect."""
    lines = ["builtin.module {", "func.func @bench(%q0: {0}, %k: {0}, %v: {0}) -> {0} {{".format(_mlir_type((128, 64)))]
    for op in ops(nodes):
        operands = ", ".join(f"%{name}" for name in op.operands)
        attrs = "".join(f" {{{key} = {_mlir_attr(value)}}}" for key, value in op.attrs.items())
        *taken, result = map(_mlir_type, op.shapes)
        lines.append(f'  %{op.result} = "bench.{op.op}"({operands}){attrs} : ({", ".join(taken)}) -> {result}')
    return "\n".join([*lines, f"  func.return %{op.result} : {_mlir_type((ROWS, COLUMNS))}", "}", "}", ""])


def _mcir_type(shape: tuple[int, int]) -> str:
    return f"tensor<{shape[0]}x{shape[1]}xfp16>"


def _mlir_type(shape: tuple[int, int]) -> str:
    return f"tensor<{shape[0]}x{shape[1]}xf16>"


def _mlir_attr(value: object) -> str:
    return f"{value} : i64" if isinstance(value, int) else f"array<i64: {', '.join(map(str, value))}>"  # type: ignore[call-overload]
