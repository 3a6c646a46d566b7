"""MCValue: the data objects of both levels (design note, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcir.location import Location
from mcir.types import Shape, TensorType


@dataclass(slots=True)
class MCValue:
    """A named tensor value.

    `producer` names the node that defines it (None for an input), `consumers` the nodes that take
    it as operand, each once, in order. MCNode and the Rewriter keep both true.
    """

    name: str
    shape: Shape
    dtype: str
    residency: str = "global"
    producer: str | None = None
    consumers: list[str] = None  # type: ignore[assignment]  # the design note's signature
    loc: Location | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.consumers is None:
            self.consumers = []

    @property
    def type(self) -> TensorType:
        """Shape, element type and residency as one type."""
        return TensorType(tuple(self.shape), self.dtype, str(self.residency))
