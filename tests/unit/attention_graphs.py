"""A small writer of attention graphs for the detector's tests: result types come from the ops' own type rules."""

from __future__ import annotations

import math
from typing import Any

from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.ops.definition import TypeContext
from mcir.passes.attention_pattern import AttentionPattern
from mcir.passes.base import Remark
from mcir.types import Dim, TensorType
from mcir.values import MCValue

INF = math.inf

# Two sets of sizes: nothing may depend on sizes that happen to be equal, or to differ.
DISTINCT: dict[str, int] = {"b": 2, "h": 3, "q": 5, "k": 7, "d": 4, "e": 9}
EQUAL: dict[str, int] = dict.fromkeys(DISTINCT, 4)


class Writer:
    """Writes one graph; `w.op("matmul", q, k)` gives the result as a value."""

    def __init__(self, sizes: dict[str, Dim] | None = None) -> None:
        self.sizes: dict[str, Dim] = dict(sizes or DISTINCT)
        self.graph = SemanticGraph("g")
        self._count = 0
        self._constants: dict[str, Any] = {}

    def dims(self, labels: str) -> tuple[Dim, ...]:
        """The sizes of labels, one letter an axis; "1" is one."""
        return tuple(1 if label == "1" else self.sizes[label] for label in labels.split())

    def input(self, name: str, labels: str, dtype: str = "fp32") -> MCValue:
        value = MCValue(name, self.dims(labels), dtype)
        self.graph.inputs.append(value)
        return value

    def qkv(self, q: str = "b h q d", k: str = "b h k d", v: str = "b h k e", dtype: str = "fp32") -> list[MCValue]:
        """Inputs Q, K and V."""
        return [self.input(name, labels, dtype) for name, labels in (("Q", q), ("K", k), ("V", v))]

    def op(self, op: str, *operands: MCValue, name: str = "", to: Any = None, **attrs: Any) -> MCValue:
        """A node; `to` is (shape, dtype) where the type rule needs the result type."""
        definition = lookup(op)
        declared = [TensorType(*to)] if to else [TensorType((), operands[0].dtype if operands else "fp32")]
        if definition is not None:
            types = [operand.type for operand in operands]
            known = {at: self._constants[x.name] for at, x in enumerate(operands) if x.name in self._constants}
            context = TypeContext(definition, types, definition.attributes(attrs), declared, known)
            declared = list(definition.infer(context))
        self._count += 1
        results = [MCValue(name or f"v{self._count}", type_.shape, type_.dtype) for type_ in declared[:1]]
        self.graph.nodes.append(MCNode(results[0].name, op, list(operands), results, attrs))
        return results[0]

    def cast(self, x: MCValue, dtype: str) -> MCValue:
        return self.op("cast", x, to=(x.shape, dtype))

    def const(self, value: Any, dtype: str = "fp32", shape: tuple[Dim, ...] = (), name: str = "") -> MCValue:
        result = self.op("constant", to=(shape, dtype), value=value, name=name)
        self._constants[result.name] = value
        return result

    def scaled(self, x: MCValue, factor: float) -> MCValue:
        return self.op("mul", x, self.const(factor, x.dtype))

    def transposed(self, x: MCValue, *perm: int) -> MCValue:
        """The axes in the order `perm`; by default the last two swapped."""
        rank = len(x.shape)
        return self.op("transpose", x, perm=list(perm) or [*range(rank - 2), rank - 1, rank - 2])

    def reshaped(self, x: MCValue, *shape: Dim) -> MCValue:
        return self.op("reshape", x, to=(shape, x.dtype), shape=[dim if isinstance(dim, int) else -1 for dim in shape])

    def scores(self, q: MCValue, k: MCValue) -> MCValue:
        return self.op("matmul", q, self.transposed(k))

    def attend(self, scores: MCValue, v: MCValue, axis: int = -1) -> MCValue:
        """softmax, then the product with V."""
        return self.op("matmul", self.op("softmax", scores, axis=axis, name="P"), v, name="O")

    def positions(self, length: Dim, axis: int, rank: int = 2) -> MCValue:
        """0, 1, 2, ... along one axis of `rank`, one along the others."""
        bounds = (self.const(bound, "i64") for bound in (0, length, 1))
        line = self.op("range", *bounds, to=((length,), "i64"))
        return self.op("unsqueeze", line, axes=[other for other in range(rank) if other != axis])

    def rows_and_columns(self) -> tuple[MCValue, MCValue]:
        return self.positions(self.sizes["q"], 0), self.positions(self.sizes["k"], 1)

    def module(self, *outputs: MCValue) -> MCModule:
        """The graph with `outputs` as further outputs."""
        self.graph.outputs.extend(outputs)
        return MCModule(graphs=[self.graph])


def detected(module: MCModule) -> tuple[MCModule, list[Remark]]:
    """What attention-pattern makes of `module`, and its remarks."""
    pattern = AttentionPattern()
    return pattern(module), pattern.remarks
