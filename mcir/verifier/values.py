"""Rules of value types: design note, section 15.3."""

from __future__ import annotations

from collections.abc import Iterator

from mcir.diagnostics import did_you_mean
from mcir.types import DTYPE_ALIASES, DTYPES, LARGEST_SIZE, RESIDENCIES
from mcir.values import MCValue
from mcir.verifier.rules import Finding, Unit, rule

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


@rule("value.shape", "A shape is defined: sizes of 0 to 10^18 - 1, non-empty size names, or unknown sizes.",
      scope="type", stage="form")  # fmt: skip
def shape_defined(value: MCValue) -> Iterator[Finding]:
    if not isinstance(value.shape, (tuple, list)):
        yield Finding("a value has no shape")
    elif bad := [dim for dim in value.shape if not _is_dim(dim)]:
        yield Finding(f"{bad[0]!r} is no size of a dimension", hint="an integer of 0 to 10^18 - 1, a name, or None")


@rule("value.dtype", "An element type is defined and known.", scope="type", stage="form")
def dtype_known(value: MCValue) -> Iterator[Finding]:
    if value.dtype not in DTYPES:
        alias = DTYPE_ALIASES.get(value.dtype)
        hint = f"did you mean '{alias}'?" if alias else did_you_mean(str(value.dtype), DTYPES)
        yield Finding(f"unknown element type '{value.dtype}'", hint=hint)


@rule("value.residency", "A residency is global, shared or register.", scope="type", stage="form")
def residency_valid(value: MCValue) -> Iterator[Finding]:
    if value.residency not in RESIDENCIES:
        hint = did_you_mean(str(value.residency), RESIDENCIES) or f"one of {', '.join(RESIDENCIES)}"
        yield Finding(f"unknown residency '{value.residency}'", hint=hint)


@rule("memory.graph", "All values of a semantic graph, and a region's inputs and outputs, live in global memory.",
      scope="unit", stage="type", swept=True)  # fmt: skip
def interface_is_global(unit: Unit) -> Iterator[Finding]:
    results = [value for node in unit.top.nodes for value in node.outputs] if unit.is_graph else unit.top.outputs
    for value in [*unit.top.inputs, *results]:
        if value.residency != "global":
            what = "a graph" if unit.is_graph else "the inputs and outputs of a region"
            yield Finding(f"%{value.name} is {value.residency}: values of {what} are global", value)


def _is_dim(dim: Any) -> bool:
    if type(dim) is int:
        return 0 <= dim <= LARGEST_SIZE
    return dim is None or (isinstance(dim, str) and dim != "")
