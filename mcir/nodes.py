"""MCNode: one operation, and the comments that belong to a piece of text (design note, 5.3)."""

from __future__ import annotations

from mcir.location import Location
from mcir.record import field, record
from mcir.types import same_attributes
from mcir.values import MCValue

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any
else:
    Any = object  # to `typing.get_type_hints`


@record(slots=True)
class Comments:
    """The `//` comments of a node, region or graph, each without its slashes.

    before: whole lines above it; after: ends its (first) line; inside: whole lines before the
    closing brace; close: ends the line of the closing brace.
    """

    before: list[str] = field(default_factory=list)
    after: str | None = None
    inside: list[str] = field(default_factory=list)
    close: str | None = None


@record(slots=True, eq=False)
class MCNode:
    """An operation: name, op, operands, results and attributes.

    Making a node enters it as producer of its outputs and as consumer of its inputs. Equality is
    structural; locations do not count.
    """

    name: str
    op: str
    inputs: list[MCValue] = field(default_factory=list)
    outputs: list[MCValue] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    comments: Comments | None = None
    loc: Location | None = field(default=None, repr=False)

    def __init__(
        self, name: str, op: str, inputs: list[MCValue] | None = None, outputs: list[MCValue] | None = None,
        attrs: dict[str, Any] | None = None, comments: Comments | None = None, loc: Location | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.op = op
        self.inputs = inputs if inputs is not None else []
        self.outputs = outputs if outputs is not None else []
        self.attrs = attrs if attrs is not None else {}
        self.comments = comments
        self.loc = loc
        for value in self.outputs:
            value.producer = name
        for value in self.inputs:
            consumers = value.consumers
            # A node's uses are entered together, so its name can only stand last.
            if not consumers or consumers[-1] != name:
                consumers.append(name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MCNode):
            return NotImplemented
        return (
            self.name == other.name
            and self.op == other.op
            and self.inputs == other.inputs
            and self.outputs == other.outputs
            and same_attributes(self.attrs, other.attrs)
            and self.comments == other.comments
        )

    __hash__ = None  # type: ignore[assignment]
