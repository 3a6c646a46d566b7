"""Passes that are faulty on purpose: what crash reproducers are tested with."""

from dataclasses import dataclass
from typing import ClassVar

from mcir.module import MCModule
from mcir.passes.base import ModulePass, register_pass


@register_pass
@dataclass
class CrashOn(ModulePass):
    """Raises an error at the first node of an op."""

    name: ClassVar[str] = "crash-on"
    summary: ClassVar[str] = "crashes at a node of the op"

    op: str = "exp"

    def run(self, module: MCModule) -> MCModule:
        for graph in module.graphs:
            for node in graph.nodes:
                if node.op == self.op:
                    raise IndexError(f"cannot take {node.name}")
        return module


@register_pass
@dataclass
class BreakTypes(ModulePass):
    """Leaves results of neg with a type that they cannot have."""

    name: ClassVar[str] = "break-types"
    summary: ClassVar[str] = "breaks the module where it has a neg"
    changes_graphs: ClassVar[bool] = True

    def run(self, module: MCModule) -> MCModule:
        for graph in module.graphs:
            for node in graph.nodes:
                if node.op == "neg":
                    node.inputs *= 2
        return module


@register_pass
@dataclass
class Unscale(ModulePass):
    """Leaves a valid module that computes something else: the scale of regions is doubled."""

    name: ClassVar[str] = "unscale"
    summary: ClassVar[str] = "doubles the scale of lowered regions"

    def run(self, module: MCModule) -> MCModule:
        for region in module.walk():
            for node in region.nodes:
                if node.op == "compute_score":
                    node.attrs["scale"] *= 2.0
        return module


@register_pass
@dataclass
class Unprintable(ModulePass):
    """Leaves a module that has no text."""

    name: ClassVar[str] = "unprintable"
    summary: ClassVar[str] = "leaves what cannot be printed"
    changes_graphs: ClassVar[bool] = True

    def run(self, module: MCModule) -> MCModule:
        for graph in module.graphs:
            graph.attrs["odd"] = object()
        return module
