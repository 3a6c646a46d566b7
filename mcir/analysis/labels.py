"""Axis labels: which axis of a value runs over which index, through splits and merges.

An axis is a tuple of atoms, outermost first: `(b h)` is an axis that two indices share, `()` an axis of
size one. A reshape may show that an atom consists of parts; every layout that is read afterwards through
`Labels.refined` sees the parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from mcir.types import Dim

Axis = tuple[int, ...]
Layout = tuple[Axis, ...]


class Labels:
    """The atoms of one attention: their sizes, and the parts of those that were split."""

    def __init__(self) -> None:
        self._sizes: list[Dim] = []
        self._parts: dict[int, Axis] = {}

    def fresh(self, size: Dim) -> int:
        """A new atom."""
        self._sizes.append(size)
        return len(self._sizes) - 1

    def size(self, atom: int) -> Dim:
        return self._sizes[atom]

    def learn(self, atom: int, size: Dim) -> None:
        """Another axis with this atom has `size`: a number says more than a name, a name more than nothing."""
        known = self._sizes[atom]
        if known is None or (isinstance(known, str) and isinstance(size, int)):
            self._sizes[atom] = size

    def refined(self, axis: Axis) -> Axis:
        """`axis` with every split atom replaced by its parts."""
        if self._parts.keys().isdisjoint(axis):
            return axis
        found: list[int] = []
        stack = list(reversed(axis))
        while stack:
            atom = stack.pop()
            parts = self._parts.get(atom)
            if parts is None:
                found.append(atom)
            else:
                stack.extend(reversed(parts))
        return tuple(found)

    def refined_layout(self, layout: Layout) -> Layout:
        return tuple(map(self.refined, layout)) if self._parts else layout

    def split(self, atom: int, sizes: Sequence[Dim]) -> Axis:
        """Splits a whole atom into parts of `sizes`, outermost first."""
        parts = tuple(self.fresh(size) for size in sizes)
        self._parts[atom] = parts
        return parts

    def regroup(self, layout: Layout, dims: Sequence[Dim]) -> Layout | None:
        """The layout of the same elements in row-major order under the shape `dims`; None if not determined.

        Known sizes are matched from the left, then from the right; what is left must be one dimension
        over the remaining atoms, or one atom over the remaining dimensions.
        """
        return _Regrouping(self, layout, dims).run()


class _Regrouping:
    """One reshape: `atoms` and `dims` still to be matched, and the axes found from both ends."""

    def __init__(self, labels: Labels, layout: Layout, dims: Sequence[Dim]) -> None:
        self.labels = labels
        self.atoms: list[int] = [atom for axis in layout for atom in labels.refined(axis)]
        self.dims: list[Dim] = list(dims)
        self.front: list[Axis] = []
        self.back: list[Axis] = []

    def run(self) -> Layout | None:
        while self._step(0, self.front):
            pass
        while self._step(-1, self.back):
            pass
        middle = self._middle()
        return None if middle is None else (*self.front, *middle, *reversed(self.back))

    def _step(self, end: int, found: list[Axis]) -> bool:
        """Matches one dimension at one end; False when the sizes there do not determine it."""
        size = self.labels.size
        if not self.dims:
            return False
        dim = self.dims[end]
        if dim == 1:
            unit = bool(self.atoms) and size(self.atoms[end]) == 1 and not (end == 0 and self._more_ones())
            found.append((self.atoms.pop(end),) if unit else ())
            self.dims.pop(end)
            return True
        if not self.atoms:
            return False
        if size(self.atoms[end]) == 1:
            self.atoms.pop(end)
            return True
        if dim is not None and size(self.atoms[end]) == dim:
            found.append((self.atoms.pop(end),))
            self.dims.pop(end)
            return True
        return isinstance(dim, int) and dim > 1 and self._take(end, dim, found)

    def _more_ones(self) -> bool:
        """Whether more dimensions of one come next than atoms of one: then the last of them have these atoms.

        Heads stand in front of rows: in a reshape of scores from 2x1xK to 2x1x1xK the new axis is that of heads.
        """
        ones = sum(1 for _ in takewhile(lambda dim: dim == 1, self.dims))
        return ones > sum(1 for _ in takewhile(lambda atom: self.labels.size(atom) == 1, self.atoms))

    def _take(self, end: int, dim: int, found: list[Axis]) -> bool:
        """Gathers atoms up to the size `dim`, splitting the last one if it goes beyond."""
        taken: list[int] = []
        product = 1
        while product < dim:
            if len(taken) == len(self.atoms):
                return False
            atom = self.atoms[len(taken) if end == 0 else -1 - len(taken)]
            size = self.labels.size(atom)
            if not isinstance(size, int) or size == 0:
                return False
            taken.append(atom)
            product *= size
        if product != dim:
            return self._split(end, dim, product, taken)
        for _ in taken:
            self.atoms.pop(end)
        self.dims.pop(end)
        found.append(tuple(taken) if end == 0 else tuple(reversed(taken)))
        return True

    def _split(self, end: int, dim: int, product: int, taken: list[int]) -> bool:
        """The last atom taken goes beyond `dim`: it is split where the dimension ends."""
        last = taken[-1]
        whole = self.labels.size(last)
        assert isinstance(whole, int)
        inside, rest = divmod(dim, product // whole)
        if rest or inside == 0 or whole % inside:
            return False
        outside = whole // inside
        parts = self.labels.split(last, (inside, outside) if end == 0 else (outside, inside))
        at = self.atoms.index(last)
        self.atoms[at : at + 1] = list(parts)
        return True

    def _middle(self) -> list[Axis] | None:
        """What sizes alone did not match: one dimension, or one atom, or nothing."""
        size = self.labels.size
        atoms = [atom for atom in self.atoms if size(atom) != 1]
        if not self.dims:
            return None if atoms else []
        if len(self.dims) == 1:
            return [tuple(atoms)]
        if not atoms:
            return None
        if len(atoms) == 1:
            return [(part,) for part in self.labels.split(atoms[0], self.dims)]
        return None


def atoms_of(layout: Iterable[Axis]) -> list[int]:
    """All atoms of a layout in order of storage."""
    return [atom for axis in layout for atom in axis]
