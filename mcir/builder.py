"""MCIRBuilder: short names for making values, nodes and regions (design note, section 8)."""

from __future__ import annotations

from typing import Any

from mcir.nodes import MCNode
from mcir.regions import ExecutionRegion, StreamingRegion, TileRegion
from mcir.types import Shape
from mcir.values import MCValue


class MCIRBuilder:
    """Makes the pieces of a module; each call returns a new object and keeps nothing."""

    def value(self, name: str, shape: Shape, dtype: str, residency: str = "global") -> MCValue:
        """A value of the given shape (sizes, size names or None), dtype and residency."""
        return MCValue(name=name, shape=tuple(shape), dtype=dtype, residency=residency)

    def node(
        self,
        name: str,
        op: str,
        inputs: list[MCValue] | None = None,
        outputs: list[MCValue] | None = None,
        **attrs: Any,
    ) -> MCNode:
        """A node; keywords become its attributes. Producers and consumers are entered."""
        return MCNode(name=name, op=op, inputs=inputs or [], outputs=outputs or [], attrs=attrs)

    def execution_region(self, name: str) -> ExecutionRegion:
        return ExecutionRegion(name)

    def streaming_region(self, name: str, stream_axis: str = "sequence") -> StreamingRegion:
        return StreamingRegion(name, stream_axis=stream_axis)

    def tile_region(self, name: str, tile_m: int, tile_n: int, tile_k: int) -> TileRegion:
        return TileRegion(name, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k)
