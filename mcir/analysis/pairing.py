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

    def take(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Enters pairs of indices that are left on both sides."""
        self.pairs += pairs
        ours, theirs = {pair[0] for pair in self.pairs}, {pair[1] for pair in self.pairs}
        self.left = [at for at in self.left if at not in ours]
        self.right = [at for at in self.right if at not in theirs]


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


def aligned(left: Sequence[Hashable], right: Sequence[Hashable], most_edits: int = 1000) -> list[tuple[int, int]]:
    """Indices of equal items in the same order on both sides: as many pairs as can be (Myers, "An O(ND) difference
    algorithm", 1986), or where more than `most_edits` items have no partner those of a common beginning and end only.

    Costs (items + most_edits) * most_edits steps at most.
    """
    short = min(len(left), len(right))
    begin = next((at for at in range(short) if left[at] != right[at]), short)
    back = next((at for at in range(short - begin) if left[-1 - at] != right[-1 - at]), short - begin)
    ours, theirs = left[begin : len(left) - back], right[begin : len(right) - back]
    pairs = [(at, at) for at in range(begin)]
    pairs += [(begin + at, begin + other) for at, other in _common(ours, theirs, most_edits)]
    return pairs + [(len(left) - at, len(right) - at) for at in range(back, 0, -1)]


def _common(left: Sequence[Hashable], right: Sequence[Hashable], most_edits: int) -> list[tuple[int, int]]:
    """The pairs of a longest common subsequence; none where it takes more than `most_edits` edits."""
    furthest = {1: 0}  # diagonal (left index - right index) -> left index that it was followed to
    rounds: list[dict[int, int]] = []
    for edits in range(min(most_edits, len(left) + len(right)) + 1):
        rounds.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            at = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            while at < len(left) and at - diagonal < len(right) and left[at] == right[at - diagonal]:
                at += 1
            furthest[diagonal] = at
            if at >= len(left) and at - diagonal >= len(right):
                return _way_back(rounds, len(left), len(right))
    return []


def _way_back(rounds: list[dict[int, int]], at: int, other: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(rounds) - 1, -1, -1):
        furthest, diagonal = rounds[edits], at - other
        down = diagonal == -edits or (
            diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
        )
        before = diagonal + 1 if down else diagonal - 1
        from_at = furthest[before] if edits else 0
        from_other = from_at - before if edits else 0
        while at > from_at and other > from_other:
            at, other = at - 1, other - 1
            pairs.append((at, other))
        at, other = from_at, from_other
    return pairs[::-1]
