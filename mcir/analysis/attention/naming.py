"""Names for the labels of one attention: b, h, ... for batch axes, and q, k, d, e."""

from __future__ import annotations

from collections.abc import Iterable

from mcir.analysis.attention.match import Match
from mcir.analysis.attention.rules import Declined
from mcir.analysis.labels import Axis, Layout, atoms_of
from mcir.types import Dim

# In the order of the scores; q, k, d and e are taken, g is the place in a group of heads that share K and V.
BATCH_NAMES = ("b", "h", "c", "i", "j", "l", "m", "n", "o", "p", "r", "s", "t", "u", "v", "w", "x", "y", "z")
GROUP_NAME = "g"


class Names:
    """Merges atoms that always stand together into one label, and names the labels."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._labels = match.labels
        self._dropped: set[int] = set()
        layouts = [match.q.layout, match.k.layout, match.v.layout, match.out_layout, match.scores]
        layouts += [modifier.layout for modifier in match.modifiers]
        self._run_of = self._runs([match.labels.refined_layout(layout) for layout in layouts])
        self._name: dict[Axis, str] = {}
        self._name_special()
        self._name_batch()

    def layout(self, layout: Layout) -> str:
        """The layout in letters: "b (h g) q d", with "1" for an axis of size one."""
        return " ".join(self._axis(axis) for axis in self._labels.refined_layout(layout))

    def extents(self) -> dict[str, Dim]:
        """The size of each label, batch labels first; "?" where it is unknown."""
        return {name: self._size(run) for run, name in self._name.items()}

    def name_of(self, axis: Axis) -> str:
        """The label that is all of `axis`, or an empty string."""
        axis = self._labels.refined(axis)
        return self._name.get(axis, "")

    def _axis(self, axis: Axis) -> str:
        names: list[str] = []
        at = 0
        while at < len(axis):
            run = self._run_of[axis[at]]
            if axis[at] not in self._dropped:
                names.append(self._name[run])
            at += len(run)
        return names[0] if len(names) == 1 else f"({' '.join(names)})" if names else "1"

    def _runs(self, layouts: Iterable[Layout]) -> dict[int, Axis]:
        """For each atom the atoms that stand around it, in the same order, in every axis that has it."""
        after: dict[int, set[int]] = {}
        before: dict[int, set[int]] = {}
        for layout in layouts:
            for axis in layout:
                for left, right in zip((-1, *axis), (*axis, -1), strict=True):
                    after.setdefault(left, set()).add(right)
                    before.setdefault(right, set()).add(left)
        runs: dict[int, Axis] = {}
        for first in after:
            if first == -1 or self._glued(self._single(before[first]), after, before):
                continue
            run = [first]
            while self._glued(run[-1], after, before):
                run.append(self._single(after[run[-1]]))
            runs.update(dict.fromkeys(run, tuple(run)))
        return runs

    def _single(self, atoms: set[int]) -> int:
        return next(iter(atoms)) if len(atoms) == 1 else -1

    def _glued(self, atom: int, after: dict[int, set[int]], before: dict[int, set[int]]) -> bool:
        """Whether one and the same atom always follows `atom`, and follows no other."""
        if atom == -1:
            return False
        follower = self._single(after[atom])
        return follower != -1 and self._single(before[follower]) == atom

    def _name_special(self) -> None:
        match = self._match
        special = {"q": (match.query,), "k": match.key, "d": (match.head_dim,), "e": (match.value_dim,)}
        self._special: dict[Axis, str] = {}
        for name, axis in special.items():
            atoms = self._labels.refined(axis)
            if name == "q":
                atoms = self._run_of[atoms[-1]]
            if not atoms or self._run_of.get(atoms[0]) != atoms:
                raise Declined("labels", match.nodes[-1], f"the axis {name} is split up in one of the operands")
            self._special[atoms] = name

    def _name_batch(self) -> None:
        """Batch labels in the order of the scores; one of size 1 that O lacks is dropped."""
        match = self._match
        stored = set(atoms_of(self._labels.refined_layout(match.out_layout)))
        shared = set(atoms_of(self._labels.refined_layout(match.k.layout)))
        shared |= set(atoms_of(self._labels.refined_layout(match.v.layout)))
        free = iter(BATCH_NAMES)
        for atom in self._run_of:
            if atom not in stored and self._labels.size(atom) == 1 and self._run_of[atom] not in self._special:
                self._dropped.add(atom)
        order = atoms_of(self._labels.refined_layout(match.scores))
        order += [atom for atom in self._run_of if atom not in order]
        for atom in order:
            run = self._run_of[atom]
            if run in self._name or run in self._special or atom in self._dropped:
                continue
            grouped = len(self._name) >= 2 and atom not in shared and GROUP_NAME not in self._name.values()
            name = GROUP_NAME if grouped else next(free, "")
            if not name:
                raise Declined("labels", match.nodes[-1], "there are too many batch axes")
            self._name[run] = name
        self._name.update(self._special)

    def _size(self, run: Axis) -> Dim:
        sizes = [self._labels.size(atom) for atom in run]
        if len(sizes) == 1:
            return sizes[0] if sizes[0] is not None else "?"
        product = 1
        for size in sizes:
            if not isinstance(size, int):
                return "?"
            product *= size
        return product
