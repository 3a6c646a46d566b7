"""What an op definition is, and the registry of all of them.

An op is one declaration: operands, results, attributes, type rule, extra verification, NumPy
meaning, one-line doc and example stand together in one `define(...)` call. The parser, printer,
verifier, interpreter, docs and editor support read it from here; nothing else knows an op.

    define(
        "neg", "x", "out",
        doc="-x, element by element.",
        example="%y = neg %x : tensor<4x8xfp16>",
        infer=same_as_operand, evaluate=lambda ctx, x: -x, traits={"pointwise"},
    )
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mcir.record import field, record
from mcir.types import DTYPES, Symbol, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

REQUIRED = object()  # the default of an attribute that must be written
OPTIONAL = object()  # the default of an attribute that may be absent without having a default


class TypeRuleError(Exception):
    """A type rule or an op's verifier was broken; the message names what was wrong.

    `hint` says what would mend it; `rule` is the verifier rule id it counts under.
    """

    def __init__(self, message: str, hint: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.rule = rule


@record(frozen=True, slots=True)
class Slot:
    """One operand or result: `x`, `x?` (may be left out at the end) or `x...` (any number)."""

    name: str
    optional: bool = False
    variadic: bool = False


def wrong_count(slots: tuple[Slot, ...], count: int) -> str:
    """The number wanted in words if `count` is wrong, else an empty string."""
    least = sum(not (slot.optional or slot.variadic) for slot in slots)
    if any(slot.variadic for slot in slots):
        return "" if count >= max(least, 1) else f"at least {max(least, 1)}"
    if least <= count <= len(slots):
        return ""
    return str(least) if least == len(slots) else f"{least} to {len(slots)}"


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    # an integer that no double can hold is no number of a float attribute
    return isinstance(value, float) or (is_int(value) and abs(value) < 2**1023)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


# Kind of attribute -> (what it is called in messages, check).
ATTRIBUTE_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("an integer", is_int),
    "float": ("a number", is_number),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "str": ("a string", lambda value: isinstance(value, str)),
    "ints": ("a list of integers", _list_of(is_int)),
    "floats": ("a list of numbers", _list_of(is_number)),
    "strs": ("a list of strings", _list_of(lambda value: isinstance(value, str))),
    "dict": ("a dictionary", lambda value: isinstance(value, dict)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "symbol": ("a @symbol", lambda value: isinstance(value, Symbol)),
    "dtype": ("an element type name", lambda value: isinstance(value, str) and value in DTYPES),
    "any": ("a value", lambda value: True),
}


@record(frozen=True, slots=True)
class Attr:
    """One attribute of an op: name, kind (a key of ATTRIBUTE_KINDS), default, allowed values."""

    name: str
    kind: str
    default: Any = REQUIRED
    doc: str = ""
    choices: tuple[Any, ...] = ()

    def problem(self, value: Any) -> str | None:
        """What is wrong with `value` for this attribute, or None."""
        wanted, check = ATTRIBUTE_KINDS[self.kind]
        if not check(value):
            return f"attribute '{self.name}' must be {wanted}"
        if self.choices and value not in self.choices:
            listed = ", ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in self.choices)
            return f"attribute '{self.name}' must be one of {listed}"
        return None


class Attributes:
    """Attributes read through their definition: an absent one answers with its default."""

    __slots__ = ("_definition", "_given")

    def __init__(self, definition: OpDef, given: dict[str, Any]) -> None:
        self._definition = definition
        self._given = given

    def __getitem__(self, name: str) -> Any:
        """The value or the default; None when optional and absent. KeyError if undeclared."""
        if name in self._given:
            return self._given[name]
        default = self._definition.attr(name).default
        return None if default in (OPTIONAL, REQUIRED) else default

    def __contains__(self, name: str) -> bool:
        return name in self._given


@record(slots=True)
class TypeContext:
    """What a type rule sees: operand types, attributes, and the result types as written.

    `constants` gives the value of an operand (a nested list or scalar) where a constant defines it.
    """

    op: OpDef
    operands: list[TensorType]
    attrs: Attributes
    declared: list[TensorType]
    constants: dict[int, Any] = field(default_factory=dict)


@record(slots=True)
class EvalContext:
    """What a NumPy meaning sees besides its operand arrays.

    `np` is the numpy module and `dtype` maps an MCIR dtype name to a NumPy dtype (so that no op
    imports either). `exp` and `log` may be exchanged for base 2 (exact proofs). `rows` and `cols`
    are the global positions of the last two axes (arange over the whole axis in a graph, the tile's
    positions in a tile); `accumulate` is the dtype in which contractions and reductions of floats
    add up ("fp32", or "fp64" in proofs).
    """

    np: Any
    attrs: Attributes
    results: list[TensorType]
    dtype: Callable[[str], Any]
    exp: Callable[[Any], Any]
    log: Callable[[Any], Any]
    accumulate: str = "fp32"
    rows: Any = None
    cols: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


if TYPE_CHECKING:
    InferRule = Callable[[TypeContext], Sequence[TensorType]]
    VerifyRule = Callable[[TypeContext], None]
    Evaluate = Callable[..., Any]


@record(frozen=True, slots=True, eq=False)
class OpDef:
    """A declared op; see `define` for the fields."""

    name: str
    operands: tuple[Slot, ...]
    results: tuple[Slot, ...]
    attrs: tuple[Attr, ...]
    doc: str
    example: str
    infer: InferRule
    evaluate: Evaluate | None
    verify: VerifyRule | None
    traits: frozenset[str]
    level: str  # "semantic" or "tile"

    def attr(self, name: str) -> Attr:
        """The declared attribute `name`. Raises KeyError."""
        for attr in self.attrs:
            if attr.name == name:
                return attr
        raise KeyError(name)

    def miscount(self, count: int) -> str:
        """The number of operands wanted, in words, if `count` is wrong; else an empty string."""
        return wrong_count(self.operands, count)

    def attributes(self, given: dict[str, Any]) -> Attributes:
        """`given` read with this op's defaults."""
        return Attributes(self, given)


_REGISTRY: dict[str, OpDef] = {}


def define(
    name: str,
    operands: str,
    results: str,
    *,
    doc: str,
    example: str,
    infer: InferRule,
    evaluate: Evaluate | None = None,
    attrs: Iterable[Attr] = (),
    verify: VerifyRule | None = None,
    traits: Iterable[str] = (),
    level: str = "semantic",
) -> OpDef:
    """Declares an op and enters it in the registry.

    operands, results: comma-separated slots, `x`, `x?` or `x...`.
    infer: types of the results from operand types and attributes; raises TypeRuleError. Its docstring is the rule in
        words, for the language reference.
    evaluate: NumPy meaning, `(ctx: EvalContext, *arrays) -> array or tuple of arrays`; an absent
        optional operand arrives as None.
    verify: what the types do not say; raises TypeRuleError.
    traits: "pointwise" (element by element with NumPy broadcasting), "layout" (moves elements only),
        "tile" (a semantic op that tile regions may use too), "commutative".

    Raises ValueError if the name is taken.
    """
    if name in _REGISTRY:
        raise ValueError(f"op {name} is defined twice")
    definition = OpDef(
        name, _slots(operands), _slots(results), tuple(attrs), doc, example,
        infer, evaluate, verify, frozenset(traits), level,
    )  # fmt: skip
    _REGISTRY[name] = definition
    return definition


def lookup(name: str) -> OpDef | None:
    """The definition of the op `name`, or None: the op is opaque."""
    return _REGISTRY.get(name)


def all_ops() -> list[OpDef]:
    """All definitions, in the order they were declared."""
    return list(_REGISTRY.values())


def _slots(text: str) -> tuple[Slot, ...]:
    slots = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        slots.append(Slot(part.rstrip("?."), part.endswith("?"), part.endswith("...")))
    return tuple(slots)
