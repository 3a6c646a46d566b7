"""Pairing the items of two sequences by keys, and finding what changed its place among the pairs."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any


class Pairing:
    """Pairs indices of two sequences, key by key: equal keys are paired in order, each index once."""

    def __init__(self, ours: Sequence[Any], theirs: Sequence[Any]) -> None:
        self.ours, self.theirs = ours, theirs
        self.pairs: list[tuple[int, int]] = []
        self.left, self.right = list(range(len(ours))), list(range(len(theirs)))

    def by(self, key: Callable[[Any], Hashable], other: Callable[[Any], Hashable] | None = None) -> None:
        """Pairs what is left by `key` (`other` for the right side); a key of None pairs nothing."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for at in self.right:
            waiting[(other or key)(self.theirs[at])].append(at)
        waiting.pop(None, None)
        rest = []
        for at in self.left:
            partners = waiting.get(key(self.ours[at]))
            if partners:
                self.pairs.append((at, partners.popleft()))
            else:
                rest.append(at)
        taken = {pair[1] for pair in self.pairs}
        self.left, self.right = rest, [at for at in self.right if at not in taken]


def out_of_order(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """The left indices of the fewest pairs without which the others stand in the same order on both sides."""
    ordered = sorted(pairs)
    tails: list[int] = []  # right index that ends the best run of each length
    ends: list[int] = []  # position in `ordered` of that index
    before = [-1] * len(ordered)
    for position, (_, right) in enumerate(ordered):
        length = bisect_left(tails, right)
        before[position] = ends[length - 1] if length else -1
        tails[length:length + 1], ends[length:length + 1] = [right], [position]  # fmt: skip
    kept = set()
    position = ends[-1] if ends else -1
    while position >= 0:
        kept.add(position)
        position = before[position]
    return [left for position, (left, _) in enumerate(ordered) if position not in kept]
