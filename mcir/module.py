"""MCModule: the container of a whole MCIR text (design note, section 5.1)."""

from __future__ import annotations

from collections.abc import Iterator

from mcir.graph import SemanticGraph
from mcir.nodes import Comments
from mcir.record import field, record
from mcir.regions import Region


@record
class MCModule:
    """Execution regions and the semantic graphs they came from. Graphs are printed first.

    `comments.inside` holds the comments after the last graph or region.
    """

    regions: list[Region] = field(default_factory=list)
    graphs: list[SemanticGraph] = field(default_factory=list)
    comments: Comments | None = None

    def graph(self, name: str) -> SemanticGraph | None:
        """The graph called `name`, or None."""
        return next((graph for graph in self.graphs if graph.name == name), None)

    def walk(self) -> Iterator[Region]:
        """Every region, outer before inner."""
        for region in self.regions:
            yield from region.walk()

    def names(self) -> set[str]:
        """All graph and region names: they share one namespace."""
        return {graph.name for graph in self.graphs} | {region.name for region in self.walk()}
