"""Input families: data that tell wrong lowerings from right ones. Aligned random inputs catch a quarter of them.

A family is a function that changes plain data, or says that it does not apply. Plain data for the exact level are
integers after scaling; for the others, normal numbers with scores of about unit variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mcir.analysis.axes import Layout
from mcir.interpreter.arrays import from_canonical, to_canonical
from mcir.interpreter.exactness import score_range
from mcir.interpreter.numerics import Array
from mcir.interpreter.sizes import Sizes
from mcir.interpreter.subject import Operand, Subject

FAR = 240, 250  # their product is how far below (or above) zero "far" scores lie: beyond any finite sentinel in use


@dataclass(slots=True)
class Draw:
    """The data of one case while families shape them: fp64 (or bool) arrays in stored order, by name.

    exact: whether scores must be integers; budget: how far apart they may lie then.
    """

    subject: Subject
    sizes: Sizes
    exact: bool
    rng: np.random.Generator
    budget: int = 0
    arrays: dict[str, Array] = field(default_factory=dict)

    @property
    def factor(self) -> float:
        """What makes Q's integers integers again after all constant factors of the chain."""
        return 1.0 / self.subject.gain

    @property
    def q_unit(self) -> float:
        """What the entries of Q are multiples of: `factor`, or its root where Q is K or V as well."""
        at = self.subject.attention
        shared = at.q.value.name in (at.k.value.name, at.v.value.name)
        return abs(self.factor) ** 0.5 if shared else self.factor

    @property
    def v_unit(self) -> float:
        """What the entries of V are multiples of."""
        at = self.subject.attention
        return self.q_unit if at.v.value.name == at.q.value.name else 1.0

    def canonical(self, name: str, layout: Layout) -> Array:
        """An array by label, in the layout's own order of labels."""
        return to_canonical(self.arrays[name], layout, layout.labels, self.sizes.labels)

    def put(self, name: str, layout: Layout, array: Array) -> None:
        self.arrays[name] = from_canonical(array, layout, layout.labels, self.sizes.labels)


Family = Callable[[Draw], bool]


def draw_case(subject: Subject, sizes: Sizes, family: str, exact: bool, seed: int) -> Draw | None:
    """The data of one case, in `arrays`; None where the family does not apply."""
    rng = np.random.default_rng([seed, *family.encode()])
    draw = Draw(subject, sizes, exact, rng, score_range(sizes.labels.get("k", 1)))
    _plain(draw)
    return draw if FAMILIES[family](draw) else None


def _plain(draw: Draw) -> None:
    """V and operands at random, and Q and K for scores in the budget; a value in two roles keeps the first."""
    at = draw.subject.attention
    for operand in draw.subject.operands:
        draw.arrays[operand.value.name] = _operand(draw, operand)
    v_shape, k_shape = draw.sizes.shapes[at.v.value.name], draw.sizes.shapes[at.k.value.name]
    if draw.exact:
        draw.arrays[at.v.value.name] = draw.rng.integers(-4, 5, v_shape).astype(float)
        limit = max(1, draw.budget // 8)
        draw.arrays[at.k.value.name] = draw.rng.integers(-limit, limit + 1, k_shape).astype(float)
        _sparse_queries(draw)
    else:
        draw.arrays[at.v.value.name] = draw.rng.standard_normal(v_shape)
        draw.arrays[at.k.value.name] = draw.rng.standard_normal(k_shape)
        spread = 1.5 * draw.factor / max(1, draw.sizes.labels.get("d", 1)) ** 0.5
        q_shape = draw.sizes.shapes[at.q.value.name]
        shared = at.q.value.name == at.k.value.name
        draw.arrays[at.q.value.name] = draw.rng.standard_normal(q_shape) * (abs(spread) ** 0.5 if shared else spread)


def _sparse_queries(draw: Draw) -> None:
    """Each query has at most two entries, +1 or -1: scores stay small whatever the head dim."""
    at = draw.subject.attention
    layout = at.q.layout
    dims = [draw.sizes.labels[label] for label in layout.labels]
    axis = layout.labels.index("d")
    q = np.zeros(dims)
    rows = q.swapaxes(axis, -1)
    if rows.shape[-1]:
        for _ in range(2):
            place = draw.rng.integers(0, rows.shape[-1], rows.shape[:-1])[..., None]
            np.put_along_axis(rows, place, draw.rng.choice([-1.0, 1.0], place.shape), -1)
    draw.put(at.q.value.name, layout, q * draw.q_unit)


def _operand(draw: Draw, operand: Operand) -> Array:
    shape = draw.sizes.shapes[operand.value.name]
    if operand.role == "select":
        return draw.rng.random(shape) < (0.7 if operand.keep else 0.3)
    if operand.role == "factor":
        return draw.rng.choice([-1.0, 1.0], shape)
    if draw.exact:
        limit = max(1, draw.budget // 8)
        return draw.rng.integers(-limit, limit + 1, shape) / operand.gain
    return draw.rng.standard_normal(shape) / operand.gain


def _ramp(draw: Draw, ramp: Array, pull: float) -> bool:
    """Adds pull * ramp(key) to every score through the first entry of the head dim."""
    at = draw.subject.attention
    if not draw.sizes.labels.get("d") or at.q.value.name == at.k.value.name:
        return False
    q, k = draw.canonical(at.q.value.name, at.q.layout), draw.canonical(at.k.value.name, at.k.layout)
    q, k = np.array(q), np.array(k)
    first_q = np.moveaxis(q, at.q.layout.labels.index("d"), 0)
    first_k = np.moveaxis(k, at.k.layout.labels.index("d"), 0)
    first_q[0] = pull * draw.factor
    shape = [1] * (k.ndim - 1)
    labels = [label for label in at.k.layout.labels if label != "d"]
    shape[labels.index("k")] = -1
    first_k[0] = ramp.reshape(shape)
    draw.put(at.q.value.name, at.q.layout, q)
    draw.put(at.k.value.name, at.k.layout, k)
    return True


def _steps(draw: Draw) -> Array:
    """0 ... height over the keys, in whole steps."""
    keys, height = draw.sizes.labels.get("k", 0), max(1, draw.budget // 4)
    return np.floor(np.arange(keys) * (height + 1) / max(1, keys))


def _rising(draw: Draw) -> bool:
    """The maximum moves at every key tile: wrong rescaling shows."""
    return _ramp(draw, _steps(draw), 1.0)


def _falling(draw: Draw) -> bool:
    """The maximum stands in the first tile: later weights are small, and must still count."""
    return _ramp(draw, -_steps(draw), 1.0)


def _far_below(draw: Draw) -> bool:
    """All scores near -60000: a finite stand-in for -inf, or an unmasked zero in the tail, wins over them."""
    return draw.exact and _ramp(draw, np.full(draw.sizes.labels.get("k", 0), -float(FAR[0])), float(FAR[1]))


def _far_above(draw: Draw) -> bool:
    """All scores near 60000: exp without the maximum overflows."""
    return draw.exact and _ramp(draw, np.full(draw.sizes.labels.get("k", 0), float(FAR[0])), float(FAR[1]))


def _select_masks(draw: Draw) -> list[Operand]:
    return [operand for operand in draw.subject.operands if operand.role == "select"]


def _additive_masks(draw: Draw) -> list[Operand]:
    return [operand for operand in draw.subject.operands if operand.role == "add"]


def _mask_rows(draw: Draw, fill: float) -> bool:
    """Masks take whole rows, whole leading key tiles, and single positions."""
    masks = [*_select_masks(draw), *_additive_masks(draw)]
    for operand in masks:
        array = np.array(draw.canonical(operand.value.name, operand.layout))
        gone = draw.rng.random(array.shape) < 0.3
        for label, part in (("q", slice(None, None, 3)), ("k", slice(0, max(1, draw.sizes.labels.get("k", 1) // 2)))):
            if label in operand.layout.labels:
                cut = np.moveaxis(gone, operand.layout.labels.index(label), 0)
                cut[part] |= True if label == "q" else draw.rng.random(cut[part].shape) < 0.8
        if gone.ndim and gone.shape[0] > 1 and operand.layout.labels[0] not in ("q", "k"):
            gone[0] = True  # a whole batch entry: the only dead rows that a mask over keys can make
        masked: bool | float = not operand.keep if operand.role == "select" else fill
        draw.put(operand.value.name, operand.layout, np.where(gone, masked, array))
    return bool(masks)


def _dead_rows(draw: Draw) -> bool:
    """Rows without any allowed key, and rows whose first tiles have none."""
    return _mask_rows(draw, -np.inf)


def _finite_masks(draw: Draw) -> bool:
    """Additive masks of -1e9: a fully masked row is then the softmax of its raw scores, not a dead row."""
    return bool(_additive_masks(draw)) and _mask_rows(draw, -1e9)


def _open_masks(draw: Draw) -> bool:
    """Everything allowed, or added as zero: what is masked must be masked by position."""
    for operand in (*_select_masks(draw), *_additive_masks(draw)):
        shape = draw.sizes.shapes[operand.value.name]
        draw.arrays[operand.value.name] = np.full(shape, operand.keep if operand.role == "select" else 0.0)
    return bool(draw.subject.operands)


def _not_numbers(draw: Draw) -> bool:
    """NaN and infinities in some queries and one key: legal data, which must stay in their rows."""
    at = draw.subject.attention
    if at.v.value.name in (at.q.value.name, at.k.value.name):
        return False  # 0 * NaN of a masked key is NaN in the graph; a skipped tile has no such product
    q = np.moveaxis(np.array(draw.canonical(at.q.value.name, at.q.layout)), at.q.layout.labels.index("q"), 0)
    for row, bad in zip(range(1, len(q), 3), (np.nan, np.inf, -np.inf), strict=False):
        q[row] = np.where(draw.rng.random(q[row].shape) < 0.5, bad, q[row])
    draw.put(at.q.value.name, at.q.layout, np.moveaxis(q, 0, at.q.layout.labels.index("q")))
    return True


def _not_a_key(draw: Draw) -> bool:
    """NaN in the last key: it reaches every row that sees this key, and no other."""
    at = draw.subject.attention
    if at.k.value.name in (at.q.value.name, at.v.value.name) or not draw.sizes.labels.get("k"):
        return False
    k = np.moveaxis(np.array(draw.canonical(at.k.value.name, at.k.layout)), at.k.layout.labels.index("k"), 0)
    k[-1] = np.nan
    draw.put(at.k.value.name, at.k.layout, np.moveaxis(k, 0, at.k.layout.labels.index("k")))
    return True


def _as_drawn(draw: Draw) -> bool:
    """Plain data as drawn."""
    return True


FAMILIES: dict[str, Family] = {
    "plain": _as_drawn,
    "rising scores": _rising,
    "falling scores": _falling,
    "far below": _far_below,
    "far above": _far_above,
    "dead rows": _dead_rows,
    "finite masks": _finite_masks,
    "open masks": _open_masks,
    "not numbers": _not_numbers,
    "not a key": _not_a_key,
}

# In the declared types only data whose rounding has an a-priori bound.
LEVEL_FAMILIES = {
    "exact": tuple(FAMILIES),
    "algebraic": ("plain", "rising scores", "dead rows", "finite masks", "not numbers"),
    "typed": ("plain", "rising scores", "dead rows"),
}
