"""What pointwise ops do to one element, in `arith` and `math` operations: the table SCALARS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcir.exporters.mlir_text import ELEMENT_TYPES, Writer, floating
from mcir.nodes import MCNode
from mcir.passes.folding import element as rounded_element
from mcir.types import DTYPES

Typed = tuple[str, str]
_WIDTH = {"f8E4M3FN": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def element(dtype: str) -> str:
    """The MLIR element type of an MCIR dtype."""
    return ELEMENT_TYPES[dtype]


def is_float(dtype: str) -> bool:
    return DTYPES[dtype].kind == "float"


def lowers(dtype: str) -> bool:
    """Whether arith works on the type: it has no unsigned integers."""
    return DTYPES[dtype].kind != "uint"


def accumulator(dtype: str) -> str:
    """The MLIR element type in which values of `dtype` are computed: f32 for narrower floats."""
    return "f32" if is_float(dtype) and DTYPES[dtype].bits < 32 else element(dtype)


@dataclass(slots=True)
class Body:
    """Writes scalar operations into the body of a linalg operation."""

    writer: Writer

    def op(self, name: str, operands: list[Typed], kind: str = "", **properties: str) -> Typed:
        """One operation; the result has the type of the first operand unless `kind` is given."""
        made = (self.writer.fresh("e"), kind or operands[0][1])
        self.writer.op(name, operands, [made], properties)
        return made

    def constant(self, value: Any, kind: str) -> Typed:
        """A constant of an MLIR type: a float, an integer, a boolean or an index."""
        text = floating(float(value), kind) if kind in _WIDTH else str(value).lower()
        return self.op("arith.constant", [], kind, value=text if kind == "i1" else f"{text} : {kind}")

    def widened(self, value: Typed, kind: str) -> Typed:
        """A float in a type that holds all its values."""
        return value if value[1] == kind or value[1] not in _WIDTH else self.op("arith.extf", [value], kind)

    def rounded(self, value: Typed, dtype: str) -> Typed:
        """A float in the type of a result."""
        kind = element(dtype)
        return value if value[1] == kind else self.op("arith.truncf", [value], kind)

    def compare(self, predicate: str, left: Typed, right: Typed) -> Typed:
        """A comparison by the name of its predicate, as `olt` or `slt`."""
        floats = left[1] in _WIDTH
        code = (FLOAT_PREDICATES if floats else INTEGER_PREDICATES)[predicate]
        return self.op("arith.cmpf" if floats else "arith.cmpi", [left, right], "i1", predicate=f"{code} : i64")

    def in_band(self, node: MCNode, rank: int) -> Typed:
        """Where a causal or window mask keeps the score."""
        row, column = (self.op("linalg.index", [], "index", dim=f"{axis} : i64") for axis in (rank - 2, rank - 1))
        middle = self.op("arith.addi", [row, self.constant(node.attrs.get("offset", 0), "index")])
        if node.attrs["kind"] == "causal":
            return self.compare("sle", column, middle)
        keep = self.constant(True, "i1")
        for side, predicate, sign in (("left", "sge", -1), ("right", "sle", 1)):
            width = node.attrs.get(side, -1)
            if width >= 0:
                edge = self.op("arith.addi", [middle, self.constant(sign * width, "index")])
                keep = self.op("arith.andi", [keep, self.compare(predicate, column, edge)])
        return keep


# Codes of the predicates of arith.cmpf and arith.cmpi; ordered ones are false for NaN.
FLOAT_PREDICATES = {"oeq": 1, "ogt": 2, "oge": 3, "olt": 4, "ole": 5, "une": 13, "uno": 14}
INTEGER_PREDICATES = {"eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5}

Emit = Callable[[Body, MCNode, list[Typed]], Typed]


@dataclass(frozen=True, slots=True)
class Meaning:
    """fits: whether a node can be written so. emit: the result of one element each of the operands."""

    emit: Emit
    fits: Callable[[MCNode], bool]


SCALARS: dict[str, Meaning] = {}


def _all(test: Callable[[str], bool]) -> Callable[[MCNode], bool]:
    return lambda node: all(test(value.dtype) for value in node.inputs)


floats = _all(is_float)
integers_only = _all(lambda dtype: DTYPES[dtype].kind == "int")
booleans = _all(lambda dtype: DTYPES[dtype].kind == "bool")
numbers = _all(lambda dtype: DTYPES[dtype].kind in ("float", "int"))


def _computed(meaning: Callable[[Body, MCNode, list[Typed]], Typed]) -> Emit:
    """Operands in the type of computation, the result rounded to its own."""

    def emit(body: Body, node: MCNode, operands: list[Typed]) -> Typed:
        pairs = zip(operands, node.inputs, strict=True)
        wide = [body.widened(operand, accumulator(value.dtype)) for operand, value in pairs]
        made = meaning(body, node, wide)
        return body.rounded(made, node.outputs[0].dtype) if made[1] in _WIDTH else made

    return emit


def _one(of_floats: str, of_others: str = "") -> Emit:
    """One operation of MLIR."""
    return _computed(lambda body, node, xs: body.op(of_floats if xs[0][1] in _WIDTH else of_others, xs))


def _compared(of_floats: str, of_others: str) -> Emit:
    return _computed(lambda body, node, xs: body.compare(of_floats if xs[0][1] in _WIDTH else of_others, *xs))


def _enter(fits: Callable[[MCNode], bool], **emits: Emit) -> None:
    for op, emit in emits.items():
        SCALARS[op] = Meaning(emit, fits)


_enter(
    numbers, add=_one("arith.addf", "arith.addi"), sub=_one("arith.subf", "arith.subi"),
    mul=_one("arith.mulf", "arith.muli"), min=_one("arith.minimumf", "arith.minsi"),
    max=_one("arith.maximumf", "arith.maxsi"), abs=_one("math.absf", "math.absi"),
    less=_compared("olt", "slt"), less_equal=_compared("ole", "sle"), greater=_compared("ogt", "sgt"),
    greater_equal=_compared("oge", "sge"),
)  # fmt: skip
_enter(
    floats, div=_one("arith.divf"), neg=_one("arith.negf"), sqrt=_one("math.sqrt"), exp=_one("math.exp"),
    log=_one("math.log"), tanh=_one("math.tanh"), erf=_one("math.erf"), sin=_one("math.sin"), cos=_one("math.cos"),
    floor=_one("math.floor"), ceil=_one("math.ceil"), round=_one("math.roundeven"),
    isnan=_computed(lambda body, node, xs: body.compare("uno", xs[0], xs[0])),
)  # fmt: skip
_enter(lambda node: True, equal=_compared("oeq", "eq"), not_equal=_compared("une", "ne"))
_enter(booleans, **{op: _one("", f"arith.{op}i") for op in ("and", "or", "xor")})


def _same_types(node: MCNode) -> bool:
    return floats(node) and len({value.dtype for value in node.inputs}) == 1


_enter(_same_types, pow=_one("math.powf"))


def _not(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    return body.op("arith.xori", [xs[0], body.constant(True, "i1")])


def _relu(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    zero = body.constant(0, xs[0][1])
    return body.op("arith.maximumf" if xs[0][1] in _WIDTH else "arith.maxsi", [xs[0], zero])


def _isinf(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    return body.compare("oeq", body.op("math.absf", xs), body.constant(float("inf"), xs[0][1]))


def _reciprocal(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    return body.op("arith.divf", [body.constant(1.0, xs[0][1]), xs[0]])


def _sigmoid(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    one = body.constant(1.0, xs[0][1])
    power = body.op("math.exp", [body.op("arith.negf", xs)])
    return body.op("arith.divf", [one, body.op("arith.addf", [one, power])])


def _silu(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    return body.op("arith.mulf", [xs[0], _sigmoid(body, node, xs)])


def _softcap(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    # NumPy rounds a Python number that meets an array to the array's type
    number = rounded_element("fp64" if xs[0][1] == "f64" else "fp32", node.attrs["cap"])
    cap = body.constant(number, xs[0][1])
    return body.op("arith.mulf", [cap, body.op("math.tanh", [body.op("arith.divf", [xs[0], cap])])])


_enter(booleans, **{"not": _computed(_not)})
_enter(numbers, relu=_computed(_relu))
_enter(
    floats, isinf=_computed(_isinf), reciprocal=_computed(_reciprocal), sigmoid=_computed(_sigmoid),
    silu=_computed(_silu), softcap=_computed(_softcap),
)  # fmt: skip


def _select(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    return body.op("arith.select", xs, xs[1][1])


_enter(lambda node: True, where=_select)


def _cast_fits(node: MCNode) -> bool:
    """Floats to integers and saturation stay: out of range MLIR has no value."""
    source, target = DTYPES[node.inputs[0].dtype], DTYPES[node.outputs[0].dtype]
    return not node.attrs.get("saturate") and not (source.kind == "float" and target.kind == "int")


def _cast(body: Body, node: MCNode, xs: list[Typed]) -> Typed:
    source, target = DTYPES[node.inputs[0].dtype], DTYPES[node.outputs[0].dtype]
    kind = element(target.name)
    if source.name == target.name:
        return xs[0]
    if target.kind == "bool":
        zero = body.constant(0, xs[0][1])
        return body.compare("une" if source.kind == "float" else "ne", xs[0], zero)
    if target.kind == "int":
        if source.kind == "bool":
            return body.op("arith.extui", xs, kind)
        return body.op("arith.extsi" if source.bits < target.bits else "arith.trunci", xs, kind)
    # by way of f32, as narrow floats are made
    middle = "f64" if "fp64" in (source.name, target.name) else "f32"
    if source.kind == "float":
        wide = body.widened(xs[0], middle)
    else:
        wide = body.op("arith.uitofp" if source.kind == "bool" else "arith.sitofp", xs, middle)
    return body.rounded(wide, target.name)


_enter(_cast_fits, cast=_cast)
