"""SemanticGraph: the operator graph as it came; passes read it and never change it."""

from __future__ import annotations

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


@record(slots=True, eq=False)
class SemanticGraph:
    """A graph of semantic operators in definition-before-use order.

    `outputs` are the values it returns: results of its nodes, or its inputs, in any number.
    """

    name: str
    inputs: list[MCValue] = field(default_factory=list)
    nodes: list[MCNode] = field(default_factory=list)
    outputs: list[MCValue] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    comments: Comments | None = None
    loc: Location | None = field(default=None, repr=False)

    def values(self) -> dict[str, MCValue]:
        """Every value by name: the inputs, then the results in order."""
        table = {value.name: value for value in self.inputs}
        for node in self.nodes:
            for value in node.outputs:
                table[value.name] = value
        return table

    def producers(self) -> dict[str, MCNode]:
        """The producing node of every result, by the name of the value."""
        return {value.name: node for node in self.nodes for value in node.outputs}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SemanticGraph):
            return NotImplemented
        return (
            self.name == other.name
            and self.inputs == other.inputs
            and self.nodes == other.nodes
            and self.outputs == other.outputs
            and same_attributes(self.attrs, other.attrs)
            and self.comments == other.comments
        )

    __hash__ = None  # type: ignore[assignment]
