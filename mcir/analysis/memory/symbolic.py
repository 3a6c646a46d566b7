"""Exact integer formulas over named sizes: polynomials with integer coefficients, and a few functions as atoms.

A `Number` is an int, or a Formula where a size is only a name. All accounts are written once over numbers: with
known sizes they give integers, else text such as `64*seq + 256*seq*ceil(seq/128)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcir.text import PLAIN_DIM, quote

Monomial = tuple["Atom", ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """A name, or a function of numbers; `text` is its printed form and its identity."""

    text: str
    value: Callable[[Mapping[str, int]], int]
    key: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, slots=True)
class Formula:
    """A sum of integer multiples of products of atoms; the empty product is the constant term."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Number) -> Number:
        total = dict(self.terms)
        for monomial, factor in _formula(other).terms:
            total[monomial] = total.get(monomial, 0) + factor
        return _number(total)

    __radd__ = __add__

    def __mul__(self, other: Number) -> Number:
        total: dict[Monomial, int] = {}
        for left, factor in self.terms:
            for right, other_factor in _formula(other).terms:
                monomial = tuple(sorted(left + right, key=_atom_order))
                total[monomial] = total.get(monomial, 0) + factor * other_factor
        return _number(total)

    __rmul__ = __mul__

    def __neg__(self) -> Number:
        return self * -1

    def __sub__(self, other: Number) -> Number:
        return self + -1 * other

    def __rsub__(self, other: int) -> Number:
        return other + self * -1

    def __str__(self) -> str:
        text = ""
        for monomial, factor in sorted(self.terms, key=_print_order):
            sign = " - " if factor < 0 else " + "
            text += (sign if text else "-" if factor < 0 else "") + _term_text(monomial, abs(factor))
        return text

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """The value under sizes by name. Raises KeyError for a name without size."""
        total = 0
        for monomial, factor in self.terms:
            for atom in monomial:
                factor *= atom.value(sizes)
            total += factor
        return total


Number = int | Formula


def symbol(name: str) -> Formula:
    """The size called `name`."""
    text = name if PLAIN_DIM.fullmatch(name.removeprefix("?")) else quote(name)
    return _atom(text, lambda sizes: sizes[name], "name", name)


def evaluate(number: Number, sizes: Mapping[str, int]) -> int:
    """The value of a number under sizes by name."""
    return number.evaluate(sizes) if isinstance(number, Formula) else number


def ceil_div(number: Number, divisor: int) -> Number:
    """The number divided by a positive integer, rounded up."""
    if isinstance(number, int):
        return -(-number // divisor)
    return number if divisor == 1 else _function(f"ceil({_argument(number)}/{divisor})",
                                                lambda x: -(-x // divisor), [number], divisor)  # fmt: skip


def floor_div(number: Number, divisor: int) -> Number:
    """The number divided by a positive integer, rounded down."""
    if isinstance(number, int):
        return number // divisor
    return number if divisor == 1 else _function(f"floor({_argument(number)}/{divisor})",
                                                lambda x: x // divisor, [number], divisor)  # fmt: skip


def minimum(left: Number, right: Number) -> Number:
    """The smaller of two numbers."""
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return left if left == right else _function(f"min({left}, {right})", min, [left, right])


def maximum(left: Number, right: Number) -> Number:
    """The larger of two numbers."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return left if left == right else _function(f"max({left}, {right})", max, [left, right])


def clip(number: Number, low: int, high: Number) -> Number:
    """The number, at least `low` and at most `high` (high >= low; sizes are never negative)."""
    if isinstance(number, int) and isinstance(high, int):
        return max(low, min(number, high))
    if low == 0 and number == high:
        return number
    return _function(f"clip({number}, {low}, {high})", lambda x, top: max(low, min(x, top)), [number, high], low)


def product(numbers: Iterable[Number]) -> Number:
    """The product of numbers; 1 for none."""
    total: Number = 1
    for number in numbers:
        total = total * number
    return total


def quotient(number: Number, by: Number) -> Number | None:
    """The exact quotient by a single product such as `16*seq`, or None: formulas have no fractions."""
    divisor = _formula(by).terms
    if len(divisor) != 1:
        return None
    total: dict[Monomial, int] = {}
    for monomial, factor in _formula(number).terms:
        left = list(monomial)
        for atom in divisor[0][0]:
            if atom not in left:
                return None
            left.remove(atom)
        if factor % divisor[0][1]:
            return None
        total[tuple(left)] = factor // divisor[0][1]
    return _number(total)


def summation(count: Number, term: Callable[[Number], Number]) -> Number:
    """The sum of term(0) ... term(count - 1); a formula where the count or a term is one."""
    body = term(_INDEX)
    if isinstance(body, int):
        return count * body
    if isinstance(count, int) and not names_of(body):
        return sum(evaluate(body, {_INDEX_NAME: at}) for at in range(count))

    def value(sizes: Mapping[str, int]) -> int:
        return sum(evaluate(body, {**sizes, _INDEX_NAME: at}) for at in range(evaluate(count, sizes)))

    return _atom(f"sum({body} for i < {count})", value, "sum", count, body)


def names_of(number: Number) -> set[str]:
    """The names of sizes that a number depends on."""
    found: set[str] = set()
    stack: list[Any] = [number]
    while stack:
        item = stack.pop()
        if isinstance(item, Formula):
            stack.extend(atom for monomial, _ in item.terms for atom in monomial)
        elif isinstance(item, Atom):
            if item.key[0] == "name":
                found.add(item.key[1])
            else:
                stack.extend(item.key[1:])
    return found - {_INDEX_NAME}


# The index of a sum; no dimension can have this name.
_INDEX_NAME = "\0i"


def _function(text: str, function: Callable[..., int], arguments: list[Number], *rest: int) -> Formula:
    def value(sizes: Mapping[str, int]) -> int:
        return function(*(evaluate(argument, sizes) for argument in arguments))

    return _atom(text, value, text.partition("(")[0], *arguments, *rest)


def _atom(text: str, value: Callable[[Mapping[str, int]], int], *key: Any) -> Formula:
    return Formula((((Atom(text, value, key),), 1),))


_INDEX = _atom("i", lambda sizes: sizes[_INDEX_NAME], "name", _INDEX_NAME)


def _formula(number: Number) -> Formula:
    return number if isinstance(number, Formula) else Formula((((), number),) if number else ())


def _number(terms: dict[Monomial, int]) -> Number:
    kept = {monomial: factor for monomial, factor in terms.items() if factor}
    if not kept:
        return 0
    if set(kept) == {()}:
        return kept[()]
    return Formula(tuple(sorted(kept.items(), key=lambda term: [atom.text for atom in term[0]])))


def _atom_order(atom: Atom) -> tuple[bool, str]:
    """Names in front of functions."""
    return atom.key[0] != "name", atom.text


def _print_order(term: tuple[Monomial, int]) -> tuple[bool, int, list[str]]:
    monomial, factor = term
    return factor < 0, -len(monomial), [atom.text for atom in monomial]


def _term_text(monomial: Monomial, factor: int) -> str:
    powers: dict[str, int] = {}
    for atom in monomial:
        powers[atom.text] = powers.get(atom.text, 0) + 1
    parts = [text if power == 1 else f"{text}^{power}" for text, power in powers.items()]
    return "*".join(([] if factor == 1 and parts else [str(factor)]) + parts)


def _argument(number: Formula) -> str:
    """Bracketed where the division would bind to its last part only."""
    monomial, factor = number.terms[0]
    plain = len(number.terms) == 1 and factor == 1 and len(monomial) == 1
    return str(number) if plain else f"({number})"
