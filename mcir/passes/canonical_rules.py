"""The rewrite rules of `canonicalize`, as data: the ops a rule looks at, its algebra, and a small function.

A rule answers with the value that may stand for the node's result (the pass checks that the types are equal), True
if it changed the node in place, or None. Operands have been simplified before it looks. Each rule keeps every bit.
What is not here is not exact: x + 0.0 turns -0.0 into 0.0, x * 0 forgets NaN, (x * a) * b rounds twice, and
pow(x, 1) and relu(relu(x)) depend on the library for some bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from mcir.graph import SemanticGraph
from mcir.nodes import MCNode
from mcir.passes.folding import FOLDABLE, Known, constant_value, element_count, fold, read_constant
from mcir.types import DTYPES, Shape
from mcir.values import MCValue


class Facts:
    """What rules may ask of the nodes before the one they look at."""

    def __init__(self, graph: SemanticGraph, fold_limit: int) -> None:
        self.fold_limit = fold_limit
        self._producers: dict[str, MCNode] = {}
        self._known: dict[str, Known] = {}
        self._size_names: set[str] = set(_names(graph.inputs))
        for node in graph.nodes:
            if node.op == "parameter":
                self._size_names.update(_names(node.outputs))

    def enter(self, node: MCNode) -> None:
        """`node` is as it will stay: the nodes after it may ask for it."""
        for value in node.outputs:
            self._producers[value.name] = node
        known = read_constant(node, self.fold_limit)
        if known is not None:
            self._known[node.outputs[0].name] = known

    def maker(self, value: MCValue, *ops: str) -> MCNode | None:
        """The node that makes `value` if it is one of `ops` and nothing but its elements would be lost without it."""
        node = self._producers.get(value.name)
        return node if node is not None and node.op in ops and self.may_drop(value) else None

    def may_drop(self, value: MCValue) -> bool:
        """False where a size name of `value` may get its size from this value alone."""
        return self._size_names.issuperset(_names([value]))

    def known(self, value: MCValue) -> Known | None:
        return self._known.get(value.name)

    def all_are(self, value: MCValue, number: Any) -> bool:
        """Whether every element of `value` is exactly `number`, the sign of zero included."""
        known = self._known.get(value.name)
        return known is not None and bool(known.items) and all(_same_number(item, number) for item in known.items)


def _names(values: list[MCValue]) -> Iterator[str]:
    return (dim for value in values for dim in value.shape if isinstance(dim, str))


def _same_number(item: Any, number: Any) -> bool:
    sign = isinstance(item, float) and math.copysign(1.0, item) != math.copysign(1.0, number)
    return item == number and not sign


Answer = MCValue | bool | None
Rule = Callable[[MCNode, Facts], Answer]
RULES: dict[str, list[tuple[str, Rule]]] = {}


def rewrites(ops: str, algebra: str) -> Callable[[Rule], Rule]:
    """Enters a rule for each of `ops`; `algebra` is how remarks and the documentation call it."""

    def enter(rule: Rule) -> Rule:
        for op in ops.split():
            RULES.setdefault(op, []).append((algebra, rule))
        return rule

    return enter


# Values that pass through


@rewrites("identity dropout", "identity(x) -> x")
def identity(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0]


@rewrites("concat", "concat(x) -> x")
def concat_one(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if len(node.inputs) == 1 else None


@rewrites("split", "split(x) into one -> x")
def split_one(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if len(node.outputs) == 1 else None


@rewrites("repeat", "repeat(x, once) -> x")
def repeat_once(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if node.attrs["count"] == 1 else None


@rewrites("tile", "tile(x, once) -> x")
def tile_once(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if set(node.attrs.get("repeats", [2])) <= {1} else None


@rewrites("clip", "clip(x) without bounds -> x")
def clip_unbounded(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if len(node.inputs) == 1 and not node.attrs else None


@rewrites("slice", "slice(x) of all -> x")
def slice_all(node: MCNode, facts: Facts) -> Answer:
    """Of one size per axis and forward, a slice is the whole."""
    forward = len(node.inputs) == 1 and all(step > 0 for step in node.attrs.get("steps", []))
    return node.inputs[0] if forward and element_count(node.outputs[0].shape) is not None else None


@rewrites("expand", "expand(x) to its own shape -> x")
def expand_nothing(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if None not in node.outputs[0].shape else None


# Neutral operands. x is the result's type, so the constant does not broadcast it.


def _is_float(value: MCValue) -> bool:
    return DTYPES[value.dtype].kind == "float"


# op -> (neutral element of floats, of integers and booleans, whether it may stand first)
_NEUTRAL: dict[str, tuple[Any, Any, bool]] = {
    "add": (-0.0, 0, True),  # x + -0.0 = x for -0.0 and 0.0 too
    "sub": (0.0, 0, False),  # x - 0.0 = x + -0.0
    "mul": (1.0, 1, True),
    "div": (1.0, 1, False),
    "min": (math.inf, None, True),  # NaN stays NaN
    "max": (-math.inf, None, True),
    "and": (None, True, True),
    "or": (None, False, True),
    "xor": (None, False, True),
}


@rewrites(" ".join(_NEUTRAL), "x + -0.0, x - 0.0, x * 1, x / 1, min(x, inf), max(x, -inf), x and true, x or false -> x")
def neutral(node: MCNode, facts: Facts) -> Answer:
    of_floats, of_others, either = _NEUTRAL[node.op]
    left, right = node.inputs
    wanted = of_floats if _is_float(left) else of_others
    if wanted is None:
        return None
    if facts.all_are(right, wanted):
        return left
    return right if either and facts.all_are(left, wanted) else None


@rewrites("and or min max", "x and x, min(x, x) -> x")
def with_itself(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if node.inputs[0] is node.inputs[1] else None


@rewrites("where", "where(c, x, x) -> x")
def where_same(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[1] if node.inputs[1] is node.inputs[2] else None


@rewrites("where", "where(true, x, y) -> x, where(false, x, y) -> y")
def where_known(node: MCNode, facts: Facts) -> Answer:
    test, yes, no = node.inputs
    if facts.all_are(test, True) and facts.may_drop(no):
        return yes
    return no if facts.all_are(test, False) and facts.may_drop(yes) else None


@rewrites("mask", "mask(s, true) -> s")
def mask_nothing(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if len(node.inputs) == 2 and facts.all_are(node.inputs[1], True) else None


# Twice the same


@rewrites("neg not", "-(-x), not not x -> x")
def involution(node: MCNode, facts: Facts) -> Answer:
    inner = facts.maker(node.inputs[0], node.op)
    return inner.inputs[0] if inner is not None else None


@rewrites("abs floor ceil round sign", "abs(abs(x)) -> abs(x), and so for floor, ceil, round, sign")
def idempotent(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if facts.maker(node.inputs[0], node.op) else None


# Casts

# Binary floating point: (bits of precision, exponent of the largest power of two, of the smallest normal one).
_FORMATS: dict[str, tuple[int, int, int]] = {
    "fp8e4m3": (4, 8, -6), "fp8e5m2": (3, 15, -14), "fp16": (11, 15, -14), "bf16": (8, 127, -126),
    "fp32": (24, 127, -126), "fp64": (53, 1023, -1022),
}  # fmt: skip


def holds_all(wide: str, narrow: str) -> bool:
    """Whether every value of the element type `narrow` is one of `wide`, of the same family (or from i1)."""
    if narrow in (wide, "i1"):
        return True
    if narrow in _FORMATS and wide in _FORMATS:
        (bits, top, low), (wide_bits, wide_top, wide_low) = _FORMATS[narrow], _FORMATS[wide]
        smallest = low - bits >= wide_low - wide_bits  # subnormals too
        infinities = wide != "fp8e4m3"  # it has none
        return bits <= wide_bits and top <= wide_top and smallest and infinities
    if DTYPES[narrow].kind in ("int", "uint") and DTYPES[wide].kind in ("int", "uint"):
        signs = (DTYPES[narrow].kind, DTYPES[wide].kind)
        return (signs[0] == signs[1] and DTYPES[narrow].bits <= DTYPES[wide].bits) or (
            signs == ("uint", "int") and DTYPES[narrow].bits < DTYPES[wide].bits
        )
    return False


@rewrites("cast", "cast(x) to its own type -> x")
def cast_nothing(node: MCNode, facts: Facts) -> Answer:
    """A saturating cast is no identity: it takes infinity to the largest number."""
    return node.inputs[0] if not node.attrs.get("saturate") else None


@rewrites("cast", "cast(cast(x)) -> cast(x) if the inner one loses nothing")
def cast_twice(node: MCNode, facts: Facts) -> Answer:
    """Floats to integers stay apart: out of range, the processor decides by the type it converts from."""
    inner = facts.maker(node.inputs[0], "cast")
    if inner is None or inner.attrs.get("saturate"):
        return None
    source, middle, target = inner.inputs[0].dtype, node.inputs[0].dtype, node.outputs[0].dtype
    kinds = {DTYPES[source].kind, DTYPES[target].kind} - {"bool"}
    if not holds_all(middle, source) or kinds >= {"float", "int"} or kinds >= {"float", "uint"}:
        return None
    node.inputs[:] = inner.inputs
    return True


# Layouts


@rewrites("transpose", "transpose(x) in order -> x")
def transpose_nothing(node: MCNode, facts: Facts) -> Answer:
    perm = node.attrs["perm"]
    return node.inputs[0] if perm == list(range(len(perm))) else None


@rewrites("transpose", "transpose(transpose(x, p), q) -> transpose(x, p[q])")
def transpose_twice(node: MCNode, facts: Facts) -> Answer:
    inner = facts.maker(node.inputs[0], "transpose")
    if inner is None:
        return None
    node.attrs["perm"] = [inner.attrs["perm"][axis] for axis in node.attrs["perm"]]
    node.inputs[:] = inner.inputs
    return True


VIEWS = ("reshape", "flatten", "squeeze", "unsqueeze")  # they keep the row-major order of the elements


@rewrites(" ".join(VIEWS), "reshape(x) to its own shape -> x")
def view_nothing(node: MCNode, facts: Facts) -> Answer:
    return node.inputs[0] if None not in node.outputs[0].shape else None


@rewrites(" ".join(VIEWS), "reshape(reshape(x)) to the shape of x -> x")
def view_back(node: MCNode, facts: Facts) -> Answer:
    inner = facts.maker(node.inputs[0], *VIEWS)
    return inner.inputs[0] if inner is not None and None not in node.outputs[0].shape else None


@rewrites(" ".join(VIEWS), "reshape(reshape(x)) -> reshape(x), with flatten, squeeze, unsqueeze")
def view_twice(node: MCNode, facts: Facts) -> Answer:
    inner = facts.maker(node.inputs[0], *VIEWS)
    shape = _reshape_attribute(node.outputs[0].shape)
    if inner is None or shape is None or len(node.inputs) != 1:
        return None
    node.op, node.inputs[:] = "reshape", inner.inputs[:1]
    node.attrs.clear()
    node.attrs.update({"shape": shape} | ({"allow_zero": True} if 0 in shape else {}))
    return True


def _reshape_attribute(shape: Shape) -> list[int] | None:
    """The attribute that reshapes to `shape`: at most one size may be unknown, and then none zero."""
    sizes = [dim if isinstance(dim, int) else -1 for dim in shape]
    return sizes if sizes.count(-1) <= (0 not in sizes) else None


@rewrites("expand", "expand(expand(x)) -> expand(x)")
def expand_twice(node: MCNode, facts: Facts) -> Answer:
    inner = facts.maker(node.inputs[0], "expand")
    if inner is None or element_count(node.outputs[0].shape) is None or len(node.inputs) != 1:
        return None
    node.inputs[:] = inner.inputs[:1]
    node.attrs["shape"] = list(node.outputs[0].shape)
    return True


# Constants

# Ops whose list operands, from the second on, may be attributes instead.
_LISTS: dict[str, tuple[str, ...]] = {
    "reshape": ("shape",), "expand": ("shape",), "tile": ("repeats",), "split": ("sizes",),
    "slice": ("starts", "ends", "axes", "steps"),
}  # fmt: skip


@rewrites(" ".join(_LISTS), "a constant list as operand -> an attribute")
def list_attribute(node: MCNode, facts: Facts) -> Answer:
    lists = [facts.known(value) for value in node.inputs[1:]]
    if not lists or any(known is None for known in lists):
        return None
    for name, known in zip(_LISTS[node.op], lists, strict=False):
        assert known is not None
        node.attrs[name] = known.items * (element_count(known.shape) or 0) if known.splat else list(known.items)
    del node.inputs[1:]
    return True


SHAPE_KNOWN, FOLDED = "shape(x) of known sizes -> constant", "an op on constants -> constant"


@rewrites("shape", SHAPE_KNOWN)
def shape_known(node: MCNode, facts: Facts) -> Answer:
    sizes = node.inputs[0].shape[node.attrs.get("start", 0) : node.attrs.get("end")]
    if not all(isinstance(dim, int) for dim in sizes) or not facts.may_drop(node.inputs[0]):
        return None
    return _become(node, Known(node.outputs[0].shape, "i64", list(sizes), False))


@rewrites(" ".join(sorted(FOLDABLE)), FOLDED)
def folded(node: MCNode, facts: Facts) -> Answer:
    result = fold(node, [facts.known(value) for value in node.inputs], facts.fold_limit)
    return _become(node, result) if result is not None and node.inputs else None


def _become(node: MCNode, known: Known) -> bool:
    """Turns `node` into the constant that holds its result."""
    node.op = "constant"
    node.inputs.clear()
    node.attrs.clear()
    node.attrs["value"] = constant_value(known)
    return True
