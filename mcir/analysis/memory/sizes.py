"""The size of every label and tensor of a region: integers where they are known, else named sizes.

A size without any name is called after its label: `?q` is the unknown number of query rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mcir.analysis.axes import Layout, label_sizes, region_roles, stored_layout
from mcir.analysis.memory.symbolic import Number, product, symbol
from mcir.analysis.phases import Nest
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.regions import Region
from mcir.types import DTYPES, Dim, Shape
from mcir.values import MCValue

Dims = Mapping[str, int]


@dataclass(slots=True)
class Sizes:
    """Sizes of a region's labels (by label) under the dimension sizes `dims` that the user gave."""

    dims: Dims
    labels: dict[str, Number] = field(default_factory=dict)

    def label(self, label: str) -> Number:
        """The size of a label; `?label` where nothing says it."""
        return self.labels[label] if label in self.labels else unnamed(label, self.dims)

    def labels_product(self, labels: Iterable[str]) -> Number:
        return product(map(self.label, labels))

    def tensor(self, value: MCValue, layout: Layout | None = None) -> Number:
        """The elements of a stored tensor, by its shape; `layout` says what an unnamed dimension is."""
        groups = layout.groups if layout is not None else [None] * len(value.shape)
        return product(
            self.labels_product(group) if dim is None and group is not None else dim_size(dim, self.dims, value.name)
            for dim, group in zip(value.shape, groups, strict=True)
        )


def dim_size(dim: Dim, dims: Dims, owner: str = "") -> Number:
    """The size of one dimension; an unknown one of the value `owner` is `?owner`."""
    if isinstance(dim, int):
        return dim
    return unnamed(owner, dims) if dim is None else dims[dim] if dim in dims else symbol(dim)


def unnamed(what: str, dims: Dims) -> Number:
    """A size without a name, of the label or value `what`."""
    name = f"?{what}"
    return dims[name] if name in dims else symbol(name)


def value_bytes(value: MCValue) -> int:
    """Bytes of one element; an element type that is not known counts as none of ours. Raises MCIRError."""
    dtype = DTYPES.get(value.dtype)
    if dtype is None:
        raise MCIRError(Diagnostic(f"%{value.name} has the unknown element type '{value.dtype}'", value.loc))
    return dtype.bytes


def region_sizes(region: Region, nests: Iterable[Nest], dims: Dims) -> Sizes:
    """The sizes of the labels of `region`, from its tensors, its loads and stores, and its `extents`.

    Raises MCIRError where sizes contradict each other, also after `dims` are filled in.
    """
    bindings = _bindings(region, nests)
    extents = region.attrs.get("extents")
    named = dict(extents) if isinstance(extents, dict) else {}
    known = {label: dims.get(size, size) if isinstance(size, str) else size for label, size in named.items()}
    try:
        solved = label_sizes(
            ((layout, _filled(shape, dims)) for layout, shape in bindings),
            {label: size for label, size in known.items() if isinstance(size, int)},
        )
    except ValueError as error:
        raise MCIRError(Diagnostic(f"region @{region.name}: {error}", region.loc, rule="memory.sizes")) from None
    sizes = Sizes(dims, dict(solved))
    for layout, shape in bindings:
        for group, dim in zip(layout.groups, shape, strict=True):
            if len(group) == 1 and isinstance(dim, str):
                sizes.labels.setdefault(group[0], dim_size(dim, dims))
    for label, size in known.items():
        if isinstance(size, str) and size != "?":
            sizes.labels.setdefault(label, dim_size(size, dims))
    return sizes


def _bindings(region: Region, nests: Iterable[Nest]) -> list[tuple[Layout, Shape]]:
    """Layouts with the shapes they go with: of loads and stores, else what the region says of its roles."""
    tensors = {value.name: value for value in [*region.inputs, *region.outputs]}
    found: list[tuple[Layout, Shape]] = []
    for nest in nests:
        for node in nest.tile.nodes:
            value = tensors.get(str(node.attrs.get("source", node.attrs.get("target"))))
            if value is not None and node.name in nest.layouts:
                found.append((nest.layouts[node.name], value.shape))
    if not found:
        for role, name in region_roles(region).items():
            if name in tensors:
                found += _role_binding(region, tensors[name], role)
    return found


def _role_binding(region: Region, value: MCValue, role: str) -> list[tuple[Layout, Shape]]:
    try:
        layout = stored_layout(region, value.name, value.shape, role)
    except ValueError as error:
        raise MCIRError(Diagnostic(f"region @{region.name}: {error}", region.loc, rule="region.layout")) from None
    return [(layout, value.shape)] if layout.rank == len(value.shape) else []


def _filled(shape: Shape, dims: Dims) -> Shape:
    return tuple(dims.get(dim, dim) if isinstance(dim, str) else dim for dim in shape)
