"""Operator records, the way another framework's operator graph arrives, as a SemanticGraph (design note, 9.1).

    graph_of_records([
        {"name": "scores", "op": "matmul", "inputs": [{"name": "Q", "shape": (5, 4), "dtype": "fp16"}, ...], ...},
    ])
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.ops.definition import TypeContext, TypeRuleError
from mcir.types import DTYPE_ALIASES, DTYPES, Shape, TensorType
from mcir.values import MCValue

RULE = "records"


@dataclass(slots=True)
class _Record:
    """One record, read: names of operands and results."""

    name: str
    op: str
    inputs: list[str]
    outputs: list[str]
    attrs: dict[str, Any]


@dataclass(slots=True)
class _Told:
    """What the records say of one value."""

    shape: Shape | None = None
    dtype: str = ""


def graph_of_records(records: Iterable[Any], name: str = "graph") -> SemanticGraph:
    """The graph of operator records in any order.

    A record is a dictionary or an object with `op`, `inputs`, `outputs` and, where wanted, `name` and `attrs`. An input
    or output is a name, or a dictionary or object with `name`, `shape` and `dtype`, or these three as a tuple. A shape
    or dtype may be told anywhere a value stands; where nobody tells it, the op's type rule gives it. Values that no
    record defines are the graph's inputs, values that none takes its outputs.

    Raises MCIRError: a record without op or outputs, a value defined twice or told in two ways, one whose type nothing
    gives, a cycle.
    """
    told: dict[str, _Told] = {}
    rows = [_read(record, at, told) for at, record in enumerate(records)]
    makers = _makers(rows)
    values: dict[str, MCValue] = {}
    inputs = list(dict.fromkeys(operand for row in rows for operand in row.inputs if operand not in makers))
    for operand in inputs:
        values[operand] = _value(operand, told[operand])
    nodes = [_node(rows[at], told, values) for at in _sorted(rows, makers)]
    used = {operand for row in rows for operand in row.inputs}
    outputs = [value for node in nodes for value in node.outputs if value.name not in used]
    return SemanticGraph(name, [values[operand] for operand in inputs], nodes, outputs)


def _fault(message: str, hint: str = "") -> MCIRError:
    return MCIRError(Diagnostic(message, hint=hint, rule=RULE))


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, dict) else getattr(record, name, None)


def _read(record: Any, at: int, told: dict[str, _Told]) -> _Record:
    op = _field(record, "op")
    if not isinstance(op, str) or not op:
        raise _fault(f"operator record {at} has no op", "a record has name, op, inputs, outputs and attrs")
    inputs = [_enter(item, told, at) for item in _field(record, "inputs") or ()]
    outputs = [_enter(item, told, at) for item in _field(record, "outputs") or ()]
    if not outputs:
        raise _fault(f"operator record {at} ('{op}') has no outputs")
    name = _field(record, "name")
    attrs = {key: _plain(value) for key, value in dict(_field(record, "attrs") or {}).items()}
    return _Record(str(name) if name else outputs[0], _known_op(op), inputs, outputs, attrs)


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _known_op(op: str) -> str:
    """The op of the registry that `op` spells, as `MatMul` or `ReduceMax` do; any other name stays and is opaque."""
    if lookup(op) is not None:
        return op
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", op).lower()
    return next((name for name in (snake, snake.replace("_", "")) if lookup(name) is not None), op)


def _enter(item: Any, told: dict[str, _Told], at: int) -> str:
    """Notes what `item` says of its value; returns the value's name."""
    if isinstance(item, str):
        name, shape, dtype = item, None, None
    elif isinstance(item, (tuple, list)) and len(item) == 3:
        name, shape, dtype = item
    else:
        name, shape, dtype = (_field(item, key) for key in ("name", "shape", "dtype"))
    if not isinstance(name, str) or not name:
        raise _fault(f"operator record {at} has an operand or result without a name")
    known = told.setdefault(name, _Told())
    if shape is not None:
        _tell_shape(name, known, shape)
    if dtype is not None:
        _tell_dtype(name, known, str(dtype).rpartition(".")[2])
    return name


def _tell_shape(name: str, known: _Told, shape: Any) -> None:
    try:
        dims = tuple(dim if dim is None or isinstance(dim, str) else int(dim) for dim in shape)
    except (TypeError, ValueError):
        raise _fault(f"the shape of value '{name}' is no list of sizes, size names and None") from None
    if any(isinstance(dim, int) and dim < 0 for dim in dims):
        raise _fault(f"the shape {list(dims)} of value '{name}' has a negative size")
    if known.shape is not None and known.shape != dims:
        raise _fault(f"value '{name}' has two shapes, {list(known.shape)} and {list(dims)}")
    known.shape = dims


def _tell_dtype(name: str, known: _Told, dtype: str) -> None:
    spelled = dtype if dtype in DTYPES else DTYPE_ALIASES.get(dtype)
    if spelled is None:
        raise _fault(f"value '{name}' has the unknown dtype '{dtype}'", f"one of {', '.join(DTYPES)}")
    if known.dtype and known.dtype != spelled:
        raise _fault(f"value '{name}' has two dtypes, {known.dtype} and {spelled}")
    known.dtype = spelled


def _makers(rows: list[_Record]) -> dict[str, int]:
    """The record that defines each value, by position."""
    makers: dict[str, int] = {}
    for at, row in enumerate(rows):
        for made in row.outputs:
            if made in makers:
                raise _fault(f"value '{made}' is defined twice, by '{rows[makers[made]].name}' and by '{row.name}'")
            makers[made] = at
    names: set[str] = set()
    for row in rows:
        if row.name in names:
            raise _fault(f"two operator records are called '{row.name}'")
        names.add(row.name)
    return makers


def _value(name: str, known: _Told) -> MCValue:
    if known.shape is None or not known.dtype:
        missing = "shape" if known.shape is None else "dtype"
        raise _fault(f"nothing tells the {missing} of value '{name}'", "give inputs as (name, shape, dtype)")
    return MCValue(name, known.shape, known.dtype)


def _node(row: _Record, told: dict[str, _Told], values: dict[str, MCValue]) -> MCNode:
    operands = [values[name] for name in row.inputs]
    if any(told[name].shape is None or not told[name].dtype for name in row.outputs):
        for name, found in zip(row.outputs, _inferred(row, operands, told), strict=False):
            known = told[name]
            known.shape = found.shape if known.shape is None else known.shape
            known.dtype = known.dtype or found.dtype
    results = [_value(name, told[name]) for name in row.outputs]
    values.update((value.name, value) for value in results)
    return MCNode(row.name, row.op, operands, results, row.attrs)


def _inferred(row: _Record, operands: list[MCValue], told: dict[str, _Told]) -> list[TensorType]:
    """The result types by the op's type rule; none where it has no rule or needs what is not told."""
    definition = lookup(row.op)
    if definition is None:
        return []
    dtype = operands[0].dtype if operands else "fp32"
    declared = [TensorType(told[name].shape or (), told[name].dtype or dtype) for name in row.outputs]
    context = TypeContext(
        definition, [operand.type for operand in operands], definition.attributes(row.attrs), declared
    )  # fmt: skip
    try:
        return list(definition.infer(context))
    except (TypeRuleError, KeyError, TypeError, ValueError, IndexError, AttributeError):
        return []


def _sorted(rows: list[_Record], makers: dict[str, int]) -> list[int]:
    """Definition before use, otherwise in the order given (Kahn's algorithm)."""
    needs = [{makers[name] for name in row.inputs if name in makers} for row in rows]
    users: list[list[int]] = [[] for _ in rows]
    for at, sources in enumerate(needs):
        for source in sources:
            users[source].append(at)
    waiting = [len(sources) for sources in needs]
    ready = [at for at, count in enumerate(waiting) if count == 0]
    order: list[int] = []
    while ready:
        at = heapq.heappop(ready)
        order.append(at)
        for user in users[at]:
            waiting[user] -= 1
            if waiting[user] == 0:
                heapq.heappush(ready, user)
    if len(order) != len(rows):
        stuck = next(row.name for at, row in enumerate(rows) if waiting[at] > 0)
        raise _fault(f"the operator records have a cycle through '{stuck}'")
    return order
