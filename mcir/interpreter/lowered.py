"""Runs a graph with its lowered regions in place of the nodes that they cover."""

from __future__ import annotations

from mcir.graph import SemanticGraph
from mcir.interpreter.graph import MEMORY_LIMIT, bind_dims, check_arrays, needed_nodes, refuse_opaque, run_nodes
from mcir.interpreter.numerics import Array, Numerics
from mcir.interpreter.region import run_region
from mcir.module import MCModule
from mcir.regions import Region
from mcir.types import Symbol


def run_lowered(
    module: MCModule, graph: SemanticGraph, inputs: dict[str, Array], mode: str = "typed", *,
    memory_limit: int = MEMORY_LIMIT,
) -> dict[str, Array]:  # fmt: skip
    """The graph's outputs by name, each lowered region of `module` that names the graph computing its own output.

    inputs: an array for every input of the graph and every `parameter` node that is needed. Raises MCIRError as
    `run_graph` and `run_region` do.
    """
    numerics = Numerics(mode)
    parameters = [node.outputs[0] for node in graph.nodes if node.op == "parameter"]
    check_arrays(inputs, [*graph.inputs, *parameters], [], f"graph @{graph.name}", numerics)
    dims = bind_dims([(value, inputs[value.name].shape) for value in graph.inputs])
    given = dict(inputs)
    for region in regions_of(module, graph):
        wanted = [value.name for value in region.inputs]
        given |= _values(graph, wanted, given, numerics, dims, memory_limit)
        results = run_region(region, {name: given[name] for name in wanted}, mode, memory_limit=memory_limit)
        output = region.attrs.get("o_name", "O")
        given[output] = results[output]
    outputs = [value.name for value in graph.outputs]
    given |= _values(graph, outputs, given, numerics, dims, memory_limit)
    return {name: given[name] for name in outputs}


def regions_of(module: MCModule, graph: SemanticGraph) -> list[Region]:
    """The lowered regions that name `graph`, in the order in which the graph defines their outputs."""
    position = {value.name: at for at, node in enumerate(graph.nodes) for value in node.outputs}
    ours = [region for region in module.regions if region.attrs.get("graph") == Symbol(graph.name)]
    found = [region for region in ours if region.subregions and region.attrs.get("o_name") in position]
    return sorted(found, key=lambda region: position[region.attrs["o_name"]])


def _values(
    graph: SemanticGraph, wanted: list[str], given: dict[str, Array], numerics: Numerics, dims: dict[str, int],
    memory_limit: int,
) -> dict[str, Array]:  # fmt: skip
    """The wanted values that are not given yet."""
    missing = [name for name in wanted if name not in given]
    nodes = needed_nodes(graph, missing, given)
    refuse_opaque(nodes)
    return run_nodes(nodes, given, numerics, dims, missing, memory_limit)
