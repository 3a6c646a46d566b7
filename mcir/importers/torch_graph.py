"""From the graphs of an exported program to SemanticGraphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node

from mcir.graph import SemanticGraph
from mcir.importers.call import Call, Draft, Size
from mcir.importers.kept_data import kept_data
from mcir.importers.onnx_view import KeepOpaque
from mcir.importers.torch_table import find_row
from mcir.importers.torch_values import array_of, dim_of, dtype_of, is_number, refuse, value_type
from mcir.nodes import MCNode
from mcir.ops.definition import TypeRuleError
from mcir.ops.rules import compatible
from mcir.rewriter import fresh_name
from mcir.types import Dim, Symbol, TensorType
from mcir.values import MCValue


@dataclass(slots=True)
class Program:
    """What the graphs of a program share.

    limit: elements up to which a constant keeps its data. held: the tensors that the program holds, by the
    name of the input; fixed: of these, the ones that are weights whatever their data is.
    parameters: the tensors that became `parameter` nodes, by the name of the value; those of bodies have
    "graph/value". waiting: bodies of operators, not yet imported.
    """

    limit: int
    held: dict[str, Any]
    fixed: set[str]
    parameters: dict[str, Any] = field(default_factory=dict)
    graph_names: set[str] = field(default_factory=set)
    waiting: deque[GraphImport] = field(default_factory=deque)

    def bodies(self) -> Iterator[SemanticGraph]:
        """The graphs that operators name as their bodies, in order of appearance, imported now."""
        while self.waiting:
            body = self.waiting.popleft()
            body.run()
            result = next(node for node in body.source.nodes if node.op == "output").args[0]
            for item in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(item, Node):
                    body.outputs.append(body.tensor_of(item))
            yield body.finish()


class GraphImport:
    """Imports one graph: `run`, then set `outputs`, then `finish`."""

    def __init__(self, program: Program, module: GraphModule, name: str) -> None:
        self.program = program
        self.module = module
        self.source = module.graph
        self.graph = SemanticGraph(fresh_name(name, program.graph_names))
        self.outputs: list[MCValue] = []
        self._is_main = len(program.graph_names) == 1
        self._drafts: list[Draft] = []
        self._weights: dict[str, Any] = {}
        self._made: dict[Node, Any] = {}
        self._by_name = {node.name: node for node in self.source.nodes}
        self._value_names = set(self._by_name)
        self._node_names = set(self._by_name)
        self._bound: frozenset[str] = frozenset()

    def run(self) -> None:
        """Imports every node. Raises MCIRError."""
        for node in self.source.nodes:
            _IMPORT[node.op](self, node)

    def finish(self) -> SemanticGraph:
        """The graph, without weights and sizes that nothing reads."""
        read = {id(value) for value in self.outputs}
        kept = []
        for draft in reversed(self._drafts):
            if not draft.optional or any(id(value) in read for value in draft.outputs):
                kept.append(draft)
                read.update(map(id, draft.operands))
        for draft in reversed(kept):
            self.graph.nodes.append(MCNode(draft.name, draft.op, draft.operands, draft.outputs, draft.attrs))
            if draft.op == "parameter":
                key = draft.name if self._is_main else f"{self.graph.name}/{draft.name}"
                self.program.parameters[key] = self._weights[draft.name]
        self.graph.outputs = self.outputs
        return self.graph

    # What the program returns

    def returned(self, arg: Any) -> MCValue | None:
        """The value that a specification of an output names; a number becomes a constant, nothing is None."""
        if hasattr(arg, "value"):  # a constant argument
            return self._number_output(arg.value)
        return self.updated(arg)

    def updated(self, arg: Any) -> MCValue:
        """The tensor that a specification names. Raises MCIRError for one of another kind."""
        if arg.name not in self._by_name:
            raise refuse(f"the program returns '{arg.name}', which no node gives")
        return self.tensor_of(self._by_name[arg.name])

    def tensor_of(self, node: Node) -> MCValue:
        """What a node gives as a tensor; a size becomes a tensor<i64>. Raises MCIRError if it is neither."""
        made = self._made.get(node)
        if isinstance(made, Size):
            call = Call({"self": made}, [])
            value = call.tensor("self", made.value.dtype)
            self._commit(call, [value], [f"{node.name}_scalar"], f"{node.name}_scalar")
            return value
        if not isinstance(made, MCValue):
            raise refuse(f"'{node.name}' is returned, but is no tensor")
        return made

    def _number_output(self, number: Any) -> MCValue | None:
        dtype = next((name for kind, name in _NUMBER_DTYPES if isinstance(number, kind)), None)
        if dtype is None:
            return None
        call = Call({}, [])
        value = call.constant(number, dtype)
        self._commit(call, [value], ["number"], "number")
        return value

    # Nodes without a call

    def _placeholder(self, node: Node) -> None:
        if self._is_main and node.name in self.program.held:
            self._tensor(node, self.program.held[node.name], node.name in self.program.fixed)
            return
        value = node.meta.get("val")
        type_ = value_type(node.name, value)
        if type_ is None:
            return  # a number or None that export has built into the program
        if is_number(value):
            scalar = MCValue(node.name, (), type_.dtype)
            self.graph.inputs.append(scalar)
            call = Call({}, [])
            vector = call.emit("unsqueeze", scalar, axes=[0])
            self._commit(call, [vector], [f"{node.name}_vector"], f"{node.name}_vector", optional=True)
            self._made[node] = Size(vector, dim_of(value) if isinstance(value, torch.SymInt) else None)
            return
        self._made[node] = MCValue(node.name, type_.shape, type_.dtype)
        self.graph.inputs.append(self._made[node])
        self._bound |= {dim for dim in type_.shape if isinstance(dim, str)}

    def _tensor(self, node: Node, tensor: Any, fixed: bool) -> None:
        """A weight if it is `fixed` to be one, or by its data; else a constant."""
        name = node.name
        type_ = value_type(name, node.meta.get("val", tensor))
        assert type_ is not None, name
        array = None if fixed else array_of(tensor)
        data = None if array is None else kept_data(array, self.program.limit)
        value = self._made[node] = MCValue(name, type_.shape, type_.dtype)
        if data is None:
            self._weights[name] = tensor
        op, attrs = ("parameter", {}) if data is None else ("constant", {"value": data})
        self._drafts.append(Draft(op, [], attrs, [value], name, optional=True))

    def _attribute(self, node: Node) -> None:
        """A body of an operator, or a tensor that stands in the module."""
        held: Any = self.module
        for part in str(node.target).split("."):
            held = getattr(held, part)
        if isinstance(held, GraphModule):
            body = GraphImport(self.program, held, f"{self.graph.name}_{node.name}")
            self.program.waiting.append(body)
            self._made[node] = Symbol(body.graph.name)
        elif isinstance(held, torch.Tensor):
            self._tensor(node, held, fixed=False)

    def _nothing(self, node: Node) -> None:
        """The output is read by whoever asked for the graph; a module that is called checks inputs only."""

    # Calls

    def _call(self, node: Node) -> None:
        operator = operator_name(node.target)
        if operator == "operator.getitem":
            made, at = self._argument(node.args[0]), node.args[1]
            self._made[node] = made[at] if isinstance(made, list) and isinstance(at, int) else None
            return
        value = node.meta.get("val")
        results, names = self._results(node, value)
        if all(type_ is None for type_ in results):
            return  # an assertion: it gives no value
        values = self._mapped(node, operator, results, names)
        if values is None:
            values = self._opaque(node, operator, results, names)
        if is_number(value):
            assert values[0] is not None
            self._made[node] = Size(values[0], dim_of(value) if isinstance(value, torch.SymInt) else None)
        else:
            self._made[node] = values if isinstance(value, (tuple, list)) else values[0]

    def _results(self, node: Node, value: Any) -> tuple[list[TensorType | None], list[str]]:
        """Types of the results and what they are called: after the nodes that take them, if there are several."""
        if not isinstance(value, (tuple, list)):
            return [value_type(node.name, value)], [node.name]
        names = [f"{node.name}_{index}" for index in range(len(value))]
        for user in reversed(list(node.users)):
            if operator_name(user.target) == "operator.getitem":
                names[user.args[1]] = user.name  # type: ignore[index]
        return [value_type(node.name, item) for item in value], names

    def _mapped(
        self, node: Node, operator: str, results: list[TensorType | None], names: list[str]
    ) -> list[MCValue | None] | None:
        """The call in MCIR operations, or None if there is no exact equivalent."""
        row = find_row(operator)
        if row is None or (row.results and _reads_beyond(node, row.results)):
            return None
        wanted = results[: row.results] if row.results else results
        arguments = {name: self._argument(item) for name, item in _named(node, defaults=True).items()}
        call = Call(arguments, wanted, self._bound)
        try:
            answer = row.rule(call)
            values = answer if isinstance(answer, list) else [answer]
            values = [self._own(call, value) for value in values]
            _check_types(values, wanted)
        except (KeepOpaque, TypeRuleError):
            return None
        self._commit(call, values, names[: len(values)], node.name, is_number(node.meta.get("val")))
        return [*values, *[None] * (len(results) - len(values))]

    @staticmethod
    def _own(call: Call, value: MCValue) -> MCValue:
        """`value` if the call has made it, else a copy under a name of its own."""
        mine = any(value is output for draft in call.drafts for output in draft.outputs)
        return value if mine else call.emit("identity", value)

    def _commit(
        self, call: Call, values: list[MCValue], names: list[str], node_name: str, optional: bool = False
    ) -> None:
        """Enters the nodes of a call. The results and the node of the first of them get the given names,
        with a number behind them if they are not those of the exported graph and are taken."""
        for value, name in zip(values, names, strict=True):
            value.name = self._unique(name, self._value_names)
        for draft in call.drafts:
            for value in draft.outputs:
                if not value.name:
                    value.name = fresh_name(f"{node_name}_{draft.op}", self._value_names)
            main = any(value is values[0] for value in draft.outputs)
            draft.name = self._unique(node_name if main else draft.outputs[0].name, self._node_names)
            draft.optional = optional
        self._drafts += call.drafts

    def _unique(self, name: str, taken: set[str]) -> str:
        return name if name in self._by_name else fresh_name(name, taken)

    def _opaque(
        self, node: Node, operator: str, results: list[TensorType | None], names: list[str]
    ) -> list[MCValue | None]:
        """A node that keeps all that the program says of the call.

        The attribute `operands` names the argument that each operand is ("weight", "indices[1]"); other
        arguments are attributes of their names; those left out have their defaults.
        """
        call = Call({}, [])
        attrs: dict[str, Any] = {}
        operands: list[MCValue] = []
        places: list[str] = []
        for name, item in _named(node, defaults=False).items():
            given = self._argument(item)
            tensors = [(f"{name}{at}", leaf) for at, leaf in _leaves(given) if isinstance(leaf, (MCValue, Size))]
            places += [place for place, _ in tensors]
            operands += [leaf.value if isinstance(leaf, Size) else leaf for _, leaf in tensors]
            plain = _attribute_of(given) if not tensors else None
            if plain is not None:
                attrs[name] = plain
        if operands:
            attrs["operands"] = places
        values = [None if type_ is None else MCValue("", type_.shape, type_.dtype) for type_ in results]
        made = [value for value in values if value is not None]
        kept = [at for at, value in enumerate(values) if value is not None]
        if kept != list(range(len(kept))):
            attrs["output_positions"] = kept
        call.drafts.append(Draft(operator.removesuffix(".default"), operands, attrs, made))
        self._commit(call, made, [names[at] for at in kept], node.name, is_number(node.meta.get("val")))
        return values

    def _argument(self, item: Any) -> Any:
        """An argument of a call as rules see it."""
        if isinstance(item, Node):
            return self._made.get(item)
        if isinstance(item, (list, tuple)):
            return [self._argument(part) for part in item]
        if isinstance(item, torch.dtype):
            return dtype_of("an argument", item)
        return item


_IMPORT: dict[str, Callable[[GraphImport, Node], None]] = {
    "placeholder": GraphImport._placeholder,
    "get_attr": GraphImport._attribute,
    "call_function": GraphImport._call,
    "call_module": GraphImport._nothing,
    "output": GraphImport._nothing,
}

_NUMBER_DTYPES: tuple[tuple[type, str], ...] = ((bool, "i1"), (int, "i64"), (float, "fp64"))


def operator_name(target: Any) -> str:
    """`aten.add.Tensor`, `higher_order.cond`, `operator.mul`: how the table and opaque nodes call an operator."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.__name__}"
    return f"{getattr(target, '__module__', '').lstrip('_')}.{getattr(target, '__name__', target)}"


def _named(node: Node, defaults: bool) -> dict[str, Any]:
    """The arguments of a call by the names of its schema; Python's operators have `self` and `other`."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        given = dict(zip(_names_of(node), node.args, strict=True))
        return {**given, **node.kwargs}
    named: dict[str, Any] = {}
    for at, argument in enumerate(target._schema.arguments):
        if at < len(node.args):
            named[argument.name] = node.args[at]
        elif argument.name in node.kwargs:
            named[argument.name] = node.kwargs[argument.name]
        elif defaults and argument.has_default_value():
            named[argument.name] = argument.default_value
    return named


def _names_of(node: Node) -> list[str]:
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return [f"arg{at}" for at in range(len(node.args))]
    return ["self", "other", *(f"arg{at}" for at in range(2, len(node.args)))][: len(node.args)]


def _reads_beyond(node: Node, count: int) -> bool:
    """True if something reads a result of the call after the first `count`."""
    if not isinstance(node.meta.get("val"), (tuple, list)):
        return False
    parts = [user for user in node.users if operator_name(user.target) == "operator.getitem"]
    beyond = [part for part in parts if isinstance(part.args[1], int) and part.args[1] >= count and part.users]
    return bool(beyond) or len(parts) < len(node.users)


def _check_types(values: list[MCValue], wanted: list[TensorType | None]) -> None:
    """Gives each value the type that torch states for it. Raises KeepOpaque if the rule has another one."""
    if len(values) != len(wanted):
        raise KeepOpaque("another number of results")
    for value, type_ in zip(values, wanted, strict=True):
        if type_ is None or not compatible(value.type, type_):
            raise KeepOpaque("another result type")
        value.shape = tuple(_known(*pair) for pair in zip(value.shape, type_.shape, strict=True))


def _known(inferred: Dim, stated: Dim) -> Dim:
    return inferred if stated is None or (isinstance(inferred, int) and isinstance(stated, str)) else stated


def _leaves(item: Any) -> Iterator[tuple[str, Any]]:
    """Every item of an argument, with its place in it."""
    if not isinstance(item, list):
        yield "", item
        return
    stack = [(f"[{at}]", part) for at, part in reversed(list(enumerate(item)))]
    while stack:
        place, part = stack.pop()
        if isinstance(part, list):
            stack += [(f"{place}[{at}]", inner) for at, inner in reversed(list(enumerate(part)))]
        else:
            yield place, part


def _attribute_of(item: Any) -> Any:
    """An argument without tensors as an attribute: None if it is None, text for what MCIR has no value for."""
    if item is None or isinstance(item, (bool, int, float, str, Symbol)):
        return item
    if isinstance(item, list):
        return ["none" if part is None else _attribute_of(part) for part in item]
    return str(item)
