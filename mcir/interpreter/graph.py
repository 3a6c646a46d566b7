"""Runs a semantic graph node by node with the NumPy meanings of its ops."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.graph import SemanticGraph
from mcir.interpreter.arrays import as_mode
from mcir.interpreter.numerics import Array, NotExact, Numerics, numpy_dtype
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.types import DTYPES, Dim, Shape, TensorType
from mcir.values import MCValue

MEMORY_LIMIT = 2 << 30  # bytes that the live values of a run may take together

# What NumPy raises where operands do not fit.
_FAULTS = (ValueError, IndexError, TypeError, ZeroDivisionError, OverflowError, KeyError, AttributeError)


def run_graph(
    graph: SemanticGraph, inputs: dict[str, Array], mode: str = "typed", *,
    seed: int = 0, memory_limit: int = MEMORY_LIMIT,
) -> dict[str, Array]:  # fmt: skip
    """The graph's outputs by name.

    inputs: an array for every input of the graph; those for `parameter` nodes may be among them, absent ones are
    drawn from `seed`. Raises MCIRError for missing, extra or misfit arrays, an opaque op on the path to an output,
    and live values beyond `memory_limit` bytes.
    """
    nodes = needed_nodes(graph, {value.name for value in graph.outputs})
    refuse_opaque(nodes)
    parameters = [node.outputs[0] for node in graph.nodes if node.op == "parameter"]
    numerics = Numerics(mode)
    check_arrays(inputs, graph.inputs, parameters, f"graph @{graph.name}", numerics)
    dims = bind_dims([(value, inputs[value.name].shape) for value in graph.inputs])
    given = dict(inputs)
    for node in nodes:
        if node.op == "parameter" and node.outputs[0].name not in given:
            given[node.outputs[0].name] = draw(node.outputs[0], dims, seed)
    values = run_nodes(nodes, given, numerics, dims, [value.name for value in graph.outputs], memory_limit)
    return {value.name: values[value.name] for value in graph.outputs}


def run_nodes(
    nodes: list[MCNode], given: dict[str, Array], numerics: Numerics, dims: dict[str, int], wanted: Iterable[str],
    memory_limit: int = MEMORY_LIMIT,
) -> dict[str, Array]:  # fmt: skip
    """The values called `wanted`, from `given` by running `nodes` (in order); a value dies after its last use.

    A node all of whose results are given is not run. What is computed from constants and sizes alone is a number of
    the program, rounded as its declared types say, in every number system.

    Raises MCIRError at the node that cannot run.
    """
    kept = set(wanted)
    last_use = {value.name: at for at, node in enumerate(nodes) for value in node.inputs}
    _check_memory(nodes, given, dims, last_use, kept, memory_limit)
    values: dict[str, Array] = dict(given)
    declared, fixed = Numerics("typed"), set[str]()
    with np.errstate(all="ignore"):
        for at, node in enumerate(nodes):
            if not all(value.name in given for value in node.outputs):
                number = node.op == "shape" or (node.op != "parameter" and all(x.name in fixed for x in node.inputs))
                system = declared if number else numerics
                if node.op == "shape" and node.inputs[0].name not in values:
                    sizes = sized(node.inputs[0].shape, dims)  # all known: see needed_nodes
                    operands = [np.broadcast_to(np.float32(0), sizes)]  # type: ignore[arg-type]
                else:
                    operands = [_operand(value, values, system) for value in node.inputs]
                results = _run_node(node, operands, system, dims)
                fixed.update(value.name for value in node.outputs if number)
                for value, array in zip(node.outputs, results, strict=True):
                    _check_shape(node, value, array, dims)
                    values[value.name] = array
            for value in node.inputs:
                if last_use[value.name] == at and value.name not in kept:
                    values.pop(value.name, None)
    types = {value.name: value for node in nodes for value in (*node.inputs, *node.outputs)}
    return {name: _operand(types[name], values, numerics) if name in types else values[name] for name in kept}


def needed_nodes(graph: SemanticGraph, wanted: Collection[str], given: Collection[str] = ()) -> list[MCNode]:
    """The nodes that the values `wanted` depend on, in order, cut at the values that are given.

    A `shape` node does not depend on its operand where the sizes are numbers, or names that given values have.
    """
    live = set(wanted) - set(given)
    known = _size_names(graph, given)
    needed = []
    for node in reversed(graph.nodes):
        if any(value.name in live for value in node.outputs):
            needed.append(node)
            if node.op == "shape" and known.issuperset(dim for dim in node.inputs[0].shape if not isinstance(dim, int)):
                continue
            live.update(value.name for value in node.inputs if value.name not in given)
    return needed[::-1]


def _size_names(graph: SemanticGraph, given: Collection[str]) -> set[Dim]:
    """The names of sizes that the values called `given` have, or the graph's inputs where none are."""
    values = graph.values() if given else {}
    shapes = [values[name].shape for name in given if name in values] or [value.shape for value in graph.inputs]
    return {dim for shape in shapes for dim in shape if isinstance(dim, str)}


def refuse_opaque(nodes: list[MCNode]) -> None:
    """Raises MCIRError with the first op that has no meaning."""
    for node in nodes:
        op = lookup(node.op)
        if op is None or (op.evaluate is None and node.op != "parameter"):
            hint = f"node @{node.name} has no meaning"
            raise MCIRError(Diagnostic(f'not runnable: op "{node.op}"', node.loc, hint=hint, rule="run.opaque"))


def check_arrays(
    given: dict[str, Array], required: list[MCValue], optional: list[MCValue], whose: str, numerics: Numerics
) -> None:
    """Raises MCIRError with every missing or extra array and every wrong dtype or shape.

    Right is the declared dtype, or the one in which the mode holds it.
    """
    known = {value.name: value for value in (*required, *optional)}
    faults = [f"missing array '{value.name}' for {whose}" for value in required if value.name not in given]
    faults += [f"array '{name}' is no input of {whose}" for name in given if name not in known]
    for name, array in given.items():
        if name in known:
            faults += _misfit(known[name], array, numerics)
    if faults:
        raise MCIRError([Diagnostic(fault) for fault in faults])


def _misfit(value: MCValue, array: Array, numerics: Numerics) -> list[str]:
    wanted = numpy_dtype(value.dtype)
    right = array.dtype in (wanted, numerics.dtype(value.dtype))
    faults = [] if right else [f"array '{value.name}' has dtype {array.dtype}, expected {wanted}"]
    fits = len(array.shape) == len(value.shape) and all(
        size == dim or not isinstance(dim, int) for size, dim in zip(array.shape, value.shape, strict=True)
    )
    if not fits:
        faults.append(f"array '{value.name}' has shape {_shape_text(array.shape)}, expected {_shape_text(value.shape)}")
    return faults


def bind_dims(pairs: Iterable[tuple[MCValue, tuple[int, ...]]]) -> dict[str, int]:
    """The size of every dimension name. Raises MCIRError where one name has two sizes."""
    dims: dict[str, int] = {}
    for value, shape in pairs:
        for dim, size in zip(value.shape, shape, strict=True):
            if isinstance(dim, str) and dims.setdefault(dim, size) != size:
                message = f"dimension '{dim}' is {dims[dim]} and, in '{value.name}', {size}"
                raise MCIRError(Diagnostic(message, value.loc))
    return dims


def draw(value: MCValue, dims: dict[str, int], seed: int) -> Array:
    """A random array of the type of `value`: floats of variance 1/columns, integers 0 and 1, booleans.

    Depends on the name, so that an array does not change when another one is given. Raises MCIRError for an
    unknown size.
    """
    shape = sized(value.shape, dims)
    if any(not isinstance(dim, int) for dim in shape):
        raise MCIRError(Diagnostic(f"cannot draw '{value.name}': a size of {_shape_text(value.shape)} is unknown"))
    rng = np.random.default_rng([seed, *value.name.encode()])
    dtype = numpy_dtype(value.dtype)
    if DTYPES[value.dtype].kind == "float":
        fan = shape[-1] if shape and isinstance(shape[-1], int) else 1
        return np.asarray(rng.standard_normal(shape) / math.sqrt(max(1, fan))).astype(dtype)  # type: ignore[arg-type]
    return np.asarray(rng.integers(0, 2, shape)).astype(dtype)  # type: ignore[arg-type]


def sized(shape: Shape, dims: dict[str, int]) -> Shape:
    """The shape with numbers for the names that have a size."""
    return tuple(dims.get(dim, dim) if isinstance(dim, str) else dim for dim in shape)


def _operand(value: MCValue, values: dict[str, Array], numerics: Numerics) -> Array:
    return as_mode(values[value.name], numerics.dtype(value.dtype))


def _run_node(node: MCNode, operands: list[Array], numerics: Numerics, dims: dict[str, int]) -> tuple[Array, ...]:
    op = lookup(node.op)
    assert op is not None and op.evaluate is not None  # refuse_opaque has looked
    results = [TensorType(sized(value.shape, dims), value.dtype, value.residency) for value in node.outputs]
    missing = 0 if any(slot.variadic for slot in op.operands) else len(op.operands) - len(operands)
    try:
        result = op.evaluate(numerics.context(op, node.attrs, results), *operands, *[None] * missing)
    except (NotExact, MemoryError):
        raise
    except MCIRError as error:
        reason = error.diagnostics[0].message
        raise MCIRError(Diagnostic(f"{node.op} @{node.name}: {reason}", node.loc)) from None
    except _FAULTS as error:
        raise MCIRError(Diagnostic(f"{node.op} @{node.name} cannot run: {error}", node.loc)) from None
    return result if isinstance(result, tuple) else (result,)


def _check_shape(node: MCNode, value: MCValue, array: Array, dims: dict[str, int]) -> None:
    """The result has the declared shape; names that appear for the first time are bound."""
    declared = sized(value.shape, dims)
    fits = len(declared) == array.ndim and all(
        size == dim or not isinstance(dim, int) for size, dim in zip(array.shape, declared, strict=True)
    )
    if not fits:
        message = f"{node.op} @{node.name} gives shape {_shape_text(array.shape)}, declared {_shape_text(declared)}"
        raise MCIRError(Diagnostic(message, node.loc))
    for dim, size in zip(declared, array.shape, strict=True):
        if isinstance(dim, str):
            dims[dim] = size


def _check_memory(
    nodes: list[MCNode], given: dict[str, Array], dims: dict[str, int], last_use: dict[str, int], kept: set[str],
    limit: int,
) -> None:  # fmt: skip
    """Before work begins: the live values by their declared sizes (unknown ones count as 1) stay within the limit."""
    live = {name: array.nbytes for name, array in given.items()}
    total = sum(live.values())
    for at, node in enumerate(nodes):
        for value in node.outputs:
            if value.name not in live:
                live[value.name] = declared_bytes(value, dims)
                total += live[value.name]
        if total > limit:
            message = f"{node.op} @{node.name} would need {_size_text(total)}, the limit is {_size_text(limit)}"
            raise MCIRError(Diagnostic(message, node.loc, hint="raise --memory-limit, or run smaller inputs"))
        for value in node.inputs:
            if last_use[value.name] == at and value.name not in kept:
                total -= live.pop(value.name, 0)


def declared_bytes(value: MCValue, dims: dict[str, int]) -> int:
    """Bytes of a value by its declared type; unknown sizes count as 1."""
    sizes = [dim if isinstance(dim, int) else 1 for dim in sized(value.shape, dims)]
    return math.prod(sizes) * DTYPES[value.dtype].bytes


def _size_text(size: int) -> str:
    return f"{size / (1 << 30):.2f} GiB" if size >= 1 << 28 else f"{size / (1 << 20):.2f} MiB"


def _shape_text(shape: Any) -> str:
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"
