"""Sizes for a proof: one choice for static shapes, several where sizes are named or unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from mcir.analysis.axes import Layout, axis_size, label_sizes
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.interpreter.subject import Subject
from mcir.types import Shape

# What a free label takes in the first, second, ... proof: more queries than keys and the reverse, one of each,
# sizes around the small tiles that schedules use, and no key at all.
_MENU: dict[str, tuple[int, ...]] = {
    "q": (13, 5, 1, 8),
    "k": (9, 17, 6, 0),
    "d": (5, 8, 3, 4),
    "e": (3, 8, 5, 4),
    "b": (2, 1, 1, 2),
    "": (2, 3, 1, 2),  # every other label
}
CHOICES = 4


@dataclass(slots=True)
class Sizes:
    """The size of every label, of every dimension name, and the stored shape of every input of the region."""

    labels: dict[str, int]
    names: dict[str, int]
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)


def size_choices(subject: Subject) -> list[Sizes]:
    """The sizes to prove at, static ones first. Raises MCIRError where the shapes contradict each other."""
    bindings: list[tuple[Layout, Shape]] = [(layout, value.shape) for value, layout in subject.tensors]
    output = subject.attention.o
    bindings.append((output.layout, output.value.shape))
    fixed = _solved(subject, bindings, _fixed_extents(subject))
    labels = list(dict.fromkeys(label for layout, _ in bindings for label in layout.labels))
    names = _label_names(subject, bindings)
    if all(label in fixed for label in labels):
        return [_finished(subject, bindings, fixed)]
    choices = []
    for round_ in range(CHOICES):
        try:
            choices.append(_finished(subject, bindings, _filled(labels, names, fixed, round_)))
        except MCIRError:
            continue  # names of merged axes may exclude a choice
    if not choices:
        raise MCIRError(Diagnostic("no sizes satisfy the shapes of its inputs", subject.region.loc, rule="proof.sizes"))
    return choices


def _fixed_extents(subject: Subject) -> dict[str, int]:
    return {label: size for label, size in subject.attention.sizes.items() if isinstance(size, int)}


def _label_names(subject: Subject, bindings: list[tuple[Layout, Shape]]) -> dict[str, str]:
    """The dimension name of each label that has one."""
    names = {label: size for label, size in subject.attention.sizes.items() if isinstance(size, str)}
    for layout, shape in bindings:
        for group, dim in zip(layout.groups, shape, strict=True):
            if len(group) == 1 and isinstance(dim, str):
                names.setdefault(group[0], dim)
    return names


def _filled(labels: list[str], names: dict[str, str], fixed: dict[str, int], round_: int) -> dict[str, int]:
    """A size for every label: fixed, that of an equally named one, or from the menu."""
    sizes = dict(fixed)
    named = {names[label]: size for label, size in fixed.items() if label in names}
    for label in labels:
        if label not in sizes:
            menu = _MENU.get(label, _MENU[""])
            name = names.get(label)
            sizes[label] = named.setdefault(name, menu[round_]) if name is not None else menu[round_]
    return sizes


def _solved(subject: Subject, bindings: list[tuple[Layout, Shape]], known: dict[str, int]) -> dict[str, int]:
    try:
        return label_sizes(bindings, known)
    except ValueError as error:
        raise MCIRError(Diagnostic(str(error), subject.region.loc, rule="proof.sizes")) from None


def _finished(subject: Subject, bindings: list[tuple[Layout, Shape]], labels: dict[str, int]) -> Sizes:
    labels = _solved(subject, bindings, labels)
    sizes = Sizes(labels, {})
    for layout, shape in bindings:
        for group, dim in zip(layout.groups, shape, strict=True):
            size = axis_size(group, labels)
            if isinstance(dim, str) and sizes.names.setdefault(dim, size) != size:
                message = f"dimension '{dim}' would be {sizes.names[dim]} and {size}"
                raise MCIRError(Diagnostic(message, subject.region.loc, rule="proof.sizes"))
    for value, layout in subject.tensors:
        sizes.shapes[value.name] = tuple(axis_size(group, labels) for group in layout.groups)
    for leaf in subject.leaves:
        for dim in leaf.shape:
            if isinstance(dim, str):
                sizes.names.setdefault(dim, 3)
    return sizes


def score_bytes(sizes: Sizes) -> int:
    """Bytes of one fp64 score matrix over all batch indices."""
    return 8 * math.prod(size for label, size in sizes.labels.items() if label not in ("d", "e"))
