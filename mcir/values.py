"""MCValue: the data objects of both levels (design note, section 5.2)."""

from __future__ import annotations

from mcir.location import Location
from mcir.record import field, record
from mcir.types import Shape, TensorType


@record(slots=True)
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
    consumers: list[str] = field(default_factory=list)
    loc: Location | None = field(default=None, compare=False, repr=False)

    def __init__(
        self, name: str, shape: Shape, dtype: str, residency: str = "global", producer: str | None = None,
        consumers: list[str] | None = None, loc: Location | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.residency = residency
        self.producer = producer
        self.consumers = consumers if consumers is not None else []
        self.loc = loc

    @property
    def type(self) -> TensorType:
        """Shape, element type and residency as one type."""
        return TensorType(tuple(self.shape), self.dtype, str(self.residency))
