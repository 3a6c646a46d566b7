"""The region hierarchy: execution > streaming > tile (design note, sections 5.4, 6 and 13)."""

from __future__ import annotations

from collections.abc import Iterator

from mcir.location import Location
from mcir.nodes import Comments, MCNode
from mcir.record import field, record
from mcir.types import same_attributes
from mcir.values import MCValue

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any
else:
    Any = object  # to `typing.get_type_hints`


@record(eq=False)
class Region:
    """A named region: its nodes come before its subregions.

    `inputs` define values seen inside; `outputs` are the global tensors that the region stores.
    Equality is structural and does not recurse, however deep the regions nest.
    """

    name: str
    kind: str
    inputs: list[MCValue] = field(default_factory=list)
    outputs: list[MCValue] = field(default_factory=list)
    nodes: list[MCNode] = field(default_factory=list)
    subregions: list[Region] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    comments: Comments | None = None
    loc: Location | None = field(default=None, repr=False)

    def walk(self) -> Iterator[Region]:
        """This region and all regions below it, outer before inner, in text order."""
        stack = [self]
        while stack:
            region = stack.pop()
            yield region
            stack.extend(reversed(region.subregions))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Region):
            return NotImplemented
        pairs = [(self, other)]
        while pairs:
            left, right = pairs.pop()
            if not left._same_but_subregions(right) or len(left.subregions) != len(right.subregions):
                return False
            pairs.extend(zip(left.subregions, right.subregions, strict=True))
        return True

    __hash__ = None  # type: ignore[assignment]

    def _same_but_subregions(self, other: Region) -> bool:
        return (
            self.name == other.name
            and self.kind == other.kind
            and self.inputs == other.inputs
            and self.outputs == other.outputs
            and self.nodes == other.nodes
            and same_attributes(self.attrs, other.attrs)
            and self.comments == other.comments
        )


@record(eq=False, repr=False)
class ExecutionRegion(Region):
    """A semantic unit, such as one attention. It sees nothing but its inputs."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, kind="execution")


@record(eq=False, repr=False)
class StreamingRegion(Region):
    """A streaming pipeline: `stream_axis` says which axis is streamed."""

    def __init__(self, name: str, stream_axis: str = "sequence") -> None:
        super().__init__(name=name, kind="streaming")
        self.attrs["stream_axis"] = stream_axis


@record(eq=False, repr=False)
class TileRegion(Region):
    """The work on one tile: tile_m query rows, tile_n keys, contraction split by tile_k."""

    def __init__(self, name: str, tile_m: int, tile_n: int, tile_k: int) -> None:
        super().__init__(name=name, kind="tile")
        self.attrs["tile_m"] = tile_m
        self.attrs["tile_n"] = tile_n
        self.attrs["tile_k"] = tile_k
