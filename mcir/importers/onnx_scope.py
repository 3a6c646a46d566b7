"""Names of one graph: its values, its constants, and what a body captures from the graph around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from onnx import TensorProto

from mcir.importers.onnx_data import Tensor, Tensors, constant_tensor, tensor_code
from mcir.importers.onnx_order import OrderedGraph
from mcir.importers.onnx_types import element_type, tensor_type
from mcir.types import TensorType
from mcir.values import MCValue

KNOWN_SIZE = 1024
"""Elements up to which a constant operand may become an attribute (axes, shapes, bounds)."""


@dataclass(slots=True)
class Scope:
    """What the names of a graph stand for while it is imported.

    values: by ONNX name, as far as they are defined; captured: names taken from `outer`, in order of use.
    """

    graph: OrderedGraph
    tensors: Tensors
    outer: Scope | None = None
    values: dict[str, MCValue] = field(default_factory=dict)
    captured: list[str] = field(default_factory=list)
    initializers: dict[str, Tensor] = field(default_factory=dict)
    _constants: dict[str, Tensor | str] = field(default_factory=dict)
    _free: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        proto = self.graph.proto
        self._free = frozenset(self.graph.free)
        self.initializers = {tensor.name: tensor for tensor in proto.initializer}
        self.initializers |= {sparse.values.name: sparse for sparse in proto.sparse_initializer}
        self._constants = dict(self.initializers)
        for node in self.graph.nodes:
            if node.proto.op_type == "Constant" and node.proto.domain in ("", "ai.onnx"):
                tensor = constant_tensor(node.proto)
                if tensor is not None and node.proto.output:
                    self._constants[node.proto.output[0]] = tensor
            elif node.proto.op_type == "Identity" and node.proto.input and node.proto.output:
                self._constants[node.proto.output[0]] = node.proto.input[0]

    def define(self, name: str, type_: TensorType) -> MCValue:
        """A new value for the ONNX name."""
        value = self.values[name] = MCValue(name, type_.shape, type_.dtype)
        return value

    def type_of(self, name: str) -> TensorType:
        """The type inferred for the ONNX name. Raises MCIRError if MCIR has none for it."""
        tensor = self.initializers.get(name)
        if tensor is not None:
            return TensorType(tuple(tensor.dims), element_type(name, tensor_code(tensor)))
        return tensor_type(name, self.graph.types.get(name))

    def lookup(self, name: str) -> MCValue:
        """The value of the name; one of the outer graph becomes an input of this one.

        Order and definedness have been checked, so an unknown name is an outer one.
        """
        if name in self.values:
            return self.values[name]
        assert self.outer is not None, name
        outer = self.outer.lookup(name)
        self.captured.append(name)
        return self.define(name, outer.type)

    def used_captures(self) -> list[str]:
        """The captured names whose value a node reads or the graph returns; others became attributes."""
        returned = {value.name for value in self.graph.proto.output}
        return [name for name in self.captured if self.values[name].consumers or name in returned]

    def defines(self, name: str) -> bool:
        """True for a name of this graph, False for one of a graph around it."""
        return name not in self._free

    def constant(self, name: str) -> Any | None:
        """The array that the name holds if it is a small constant whose data is there."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._constants.get(name)
            if isinstance(found, str):  # an Identity: look further under the other name
                name = found
            elif found is not None:
                return self._small_array(name, found)
            elif scope.defines(name):
                return None
            else:
                scope = scope.outer
        return None

    def _small_array(self, name: str, tensor: Tensor) -> Any | None:
        count = 1
        for dim in tensor.dims:
            count *= dim
        if count > KNOWN_SIZE or (isinstance(tensor, TensorProto) and tensor.data_type == TensorProto.STRING):
            return None
        return self.tensors.array(name, tensor)


def known_array(scope: Scope, names: list[str]) -> Callable[[int], Any | None]:
    """For a node with these operands: the array of operand i, or None."""
    return lambda index: scope.constant(names[index]) if names[index] else None
