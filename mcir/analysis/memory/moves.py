"""The loads and stores of a nest: which tensor, which way, how much a trip moves and in which phase."""

from __future__ import annotations

from dataclasses import dataclass

from mcir.analysis.axes import RESERVED, Layout, batch_labels
from mcir.analysis.memory.sizes import Sizes, value_bytes
from mcir.analysis.memory.symbolic import Number, maximum, minimum
from mcir.analysis.memory.visible import Span
from mcir.analysis.phases import Nest, Phase
from mcir.nodes import MCNode


@dataclass(frozen=True, slots=True)
class Move:
    """One load or store. A trip moves (rows if `along_q`) * (keys if `along_k`) * `unit` bytes of true tile heights.

    unit: bytes for one row and key: the head dim, if the tensor has it, times the size of an element. copies: how often
    the tensor itself stores such a unit, by its own batch labels: K of grouped queries has fewer than Q.
    """

    node: MCNode
    tensor: str
    is_read: bool
    phase: Phase
    along_q: bool
    along_k: bool
    unit: Number
    copies: Number

    def trip(self, rows: Number, keys: Number) -> Number:
        """Bytes of one trip for a tile of `rows` query rows and `keys` keys."""
        return (rows if self.along_q else 1) * (keys if self.along_k else 1) * self.unit

    def needed(self, rows: Number, keys: Number, spans: list[Span]) -> Number:
        """Bytes of the tensor that no schedule can leave out; masks by position hide the rest.

        Where several softmaxes see different parts, the smallest counts: a bound, whichever of them reads it.
        """
        if not self.along_k:
            return self.trip(rows, 1) * self.copies
        seen = [span.kept_positions(rows, keys) if self.along_q else span.kept_columns(rows, keys) for span in spans]
        least = seen[0]
        for other in seen[1:]:
            least = minimum(least, other)
        return least * self.unit * self.copies


def nest_moves(nest: Nest, sizes: Sizes) -> list[Move]:
    """Every load and store of the nest in text order."""
    tensors = {value.name: value for value in [*nest.region.inputs, *nest.region.outputs]}
    moves = []
    for node in nest.tile.nodes:
        layout = nest.layouts.get(node.name)
        if layout is not None:
            is_read = node.op == "load_tile"
            tensor = tensors[str(node.attrs["source" if is_read else "target"])]
            moves.append(_move(nest, node, tensor.name, is_read, value_bytes(tensor), layout, sizes))
    return moves


def _move(
    nest: Nest, node: MCNode, tensor: str, is_read: bool, size: int, layout: Layout, sizes: Sizes
) -> Move:  # fmt: skip
    labels = layout.labels
    return Move(
        node, tensor, is_read, nest.phases[node.name], "q" in labels, "k" in labels,
        sizes.labels_product(label for label in labels if label in ("d", "e")) * size,
        sizes.labels_product(label for label in labels if label not in RESERVED),
    )  # fmt: skip


def batch_size(nest: Nest, sizes: Sizes) -> Number:
    """How many batch indices run the nest: the product of all batch labels of its loads and stores."""
    return sizes.labels_product(batch_labels(nest.layouts.values()))


def compulsory(moves: list[Move], sizes: Sizes, spans: list[Span]) -> tuple[Number, Number]:
    """(bytes read, bytes written) at least: what is needed of each input read once, each output written once."""
    needed: dict[tuple[bool, str], Number] = {}
    for move in moves:
        key = (move.is_read, move.tensor)
        need = move.needed(sizes.label("q"), sizes.label("k"), spans)
        needed[key] = maximum(needed[key], need) if key in needed else need
    read: Number = 0
    written: Number = 0
    for (is_read, _), need in needed.items():
        if is_read:
            read = read + need
        else:
            written = written + need
    return read, written
