"""An exported program as a whole: from a file, made functional, its inputs, outputs and weights."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from mcir.importers.torch_graph import GraphImport, Program
from mcir.importers.torch_values import array_of, refuse
from mcir.module import MCModule

# What the specification of an input says it is, where its value is not given by the caller.
_HELD = ("PARAMETER", "BUFFER", "CONSTANT_TENSOR")
_CHANGES = ("BUFFER_MUTATION", "PARAMETER_MUTATION", "USER_INPUT_MUTATION")


def load_program(path: str | os.PathLike[str]) -> ExportedProgram:
    """The program in a .pt2 file. Raises MCIRError."""
    if not Path(path).is_file():
        raise refuse(f"no such file: {path}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.export.load(path)
    except Exception as error:  # torch raises whatever its unpickling meets
        raise refuse(f"{path} is not an exported program: {_first_line(error)}") from None


def functional_program(program: Any) -> ExportedProgram:
    """The program without writes in place and without blocks that only switch gradients or autocast.

    torch does it (`run_decompositions` with no decompositions). Raises MCIRError.
    """
    if not isinstance(program, ExportedProgram):
        raise refuse(f"expected an ExportedProgram, got {type(program).__name__}", hint="call torch.export.export")
    if not any(_needs_torch(node) for graph in _graphs(program) for node in graph.nodes):
        return program
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            functional: ExportedProgram = program.run_decompositions({})
            return functional
    except Exception as error:  # torch raises whatever its tracing meets
        raise refuse(f"torch cannot make the program functional: {_first_line(error)}") from None


def _graphs(program: ExportedProgram) -> list[Any]:
    modules = program.graph_module.modules()
    return [module.graph for module in modules if isinstance(module, torch.fx.GraphModule)]


def _needs_torch(node: Any) -> bool:
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return bool(target._schema.is_mutable)
    return isinstance(target, torch._ops.HigherOrderOperator) and target.__name__.startswith("wrap_with_")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def import_program(program: ExportedProgram, limit: int) -> tuple[MCModule, dict[str, Any], list[str]]:
    """The module, the arrays of its parameters, and the parameters without data. Raises MCIRError."""
    signature = program.graph_signature
    changed = {spec.target for spec in signature.output_specs if spec.kind.name in _CHANGES}
    specs = [spec for spec in signature.input_specs if spec.kind.name in _HELD]
    fixed = {spec.arg.name for spec in specs if spec.kind.name == "PARAMETER" or spec.target in changed}
    shared = Program(limit, {spec.arg.name: _data(program, spec) for spec in specs}, fixed)
    main = GraphImport(shared, program.graph_module, "main")
    main.run()
    _set_outputs(main, program)
    graphs = [main.finish(), *shared.bodies()]
    arrays = {name: array_of(tensor) for name, tensor in shared.parameters.items()}
    weights = {name: array for name, array in arrays.items() if array is not None}
    return MCModule(graphs=graphs), weights, [name for name in arrays if name not in weights]


def _data(program: ExportedProgram, spec: Any) -> Any:
    state = program.state_dict
    return state[spec.target] if spec.target in state else program.constants.get(spec.target)


def _set_outputs(main: GraphImport, program: ExportedProgram) -> None:
    """What the program returns, then the new values of what it changes."""
    specs = program.graph_signature.output_specs
    returned = [spec.arg for spec in specs if spec.kind.name not in (*_CHANGES, "TOKEN")]
    main.outputs = [value for arg in returned if (value := main.returned(arg)) is not None]
    inputs = {spec.target: spec.arg.name for spec in program.graph_signature.input_specs if spec.target}
    updates: dict[str, Any] = {}
    for spec in specs:
        if spec.kind.name in _CHANGES:
            value = main.updated(spec.arg)
            main.outputs.append(value)
            updates[value.name] = inputs.get(spec.target, spec.target)
    if updates:
        main.graph.attrs["updates"] = updates
