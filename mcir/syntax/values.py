"""Actions for the rules of types, attributes and names: they make values and know no module."""

from __future__ import annotations

from collections.abc import Iterable

from mcir.diagnostics import Note, did_you_mean
from mcir.location import Location
from mcir.text import unquote
from mcir.types import DTYPE_ALIASES, DTYPES, MAX_ATTRIBUTE_DEPTH, RESIDENCIES, Dim, Symbol, TensorType

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _Container = TypeVar("_Container", list[Any], dict[str, Any])
    Token = Any  # a str with `start_pos` and `end_pos`: Lark's own, or PlacedText

_MAX_DECIMAL_DIGITS = 4000  # Python reads longer ones in quadratic time; hexadecimal has no limit
_RESIDENCY_ALIASES = {
    **dict.fromkeys(("smem", "sram", "lds", "scratchpad", "local", "l"), "shared"),
    **dict.fromkeys(("gmem", "hbm", "dram", "ddr", "vram", "host"), "global"),
    **dict.fromkeys(("reg", "regs", "rf", "rmem", "fragment", "tmem"), "register"),
}


class PlacedText(str):
    """A piece of text that knows its place, as Lark's tokens do."""

    __slots__ = ("end_pos", "start_pos")
    start_pos: int
    end_pos: int


def make_token(text: str, start: int) -> PlacedText:
    """`text` as the token that begins at `start`."""
    token = PlacedText(text)
    token.start_pos = start
    token.end_pos = start + len(text)
    return token


class ValueActions:
    """One method per grammar rule below `type` and `attr_dict`. A token is a str with a place."""

    def __init__(self) -> None:
        self.depths: dict[int, int] = {}  # id of a list or dictionary -> how deep it nests

    def fault(self, token: Token | Location | None, message: str, hint: str = "", notes: Iterable[Note] = ()) -> None:
        """Called with each fault that is not one of syntax."""
        raise NotImplementedError

    def is_full(self) -> bool:
        """Whether no more faults are taken, so that none needs a hint."""
        return False

    # -- types ---------------------------------------------------------------------------------

    def type(self, *parts: Any) -> TensorType:
        *dims, dtype, residency = parts
        name = str(dtype)
        if name not in DTYPES:
            if not self.is_full():
                alias = DTYPE_ALIASES.get(name)
                hint = f"did you mean '{alias}'?" if alias else _named_sizes(name) or did_you_mean(name, DTYPES)
                self.fault(dtype, f"unknown element type '{name}'", hint or f"one of {', '.join(DTYPES)}")
            name = "fp32"
        return TensorType(tuple(map(self.dim, dims)), name, residency)

    def residency(self, token: Token | None = None) -> str:
        if token is None:
            return "global"
        if str(token) not in RESIDENCIES:
            if not self.is_full():
                alias = _RESIDENCY_ALIASES.get(str(token).lower())
                near = f"did you mean '{alias}'?" if alias else did_you_mean(str(token), RESIDENCIES)
                self.fault(token, f"unknown residency '{token}'", near or f"one of {', '.join(RESIDENCIES)}")
            return "global"
        return str(token)

    def dim(self, token: Token) -> Dim:
        body = str(token)[:-1]
        if body == "?":
            return None
        if body[0] == "(":
            name = self.text(token, body[1:-1]) if body[1] == '"' else body[1:-1]
            if not name:
                self.fault(token, "a dimension name is empty", "write ? for an unknown size")
            return name
        if len(body) > 18:
            self.fault(token, "a dimension has more than 18 digits")
            return None
        return int(body)

    # -- attributes ----------------------------------------------------------------------------

    def attr_dict(self, brace: Token, *entries: tuple[Token, str, Any]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for token, key, value in entries:
            if key in table:
                self.fault(token, f"attribute '{key}' is given twice")
            table[key] = value
        return self.nested(table, table.values(), brace)

    def entry(self, key: tuple[Token, str], value: Any) -> tuple[Token, str, Any]:
        return (*key, value)

    def key(self, token: Token) -> tuple[Token, str]:
        return token, self.text(token) if token[0] == '"' else str(token)

    def value(self, value: Any) -> Any:
        return value

    def list(self, bracket: Token, *items: Any) -> list[Any]:
        return self.nested([*items], items, bracket)

    def true(self, _token: Token) -> bool:
        return True

    def false(self, _token: Token) -> bool:
        return False

    def integer(self, token: Token) -> int:
        if "x" in token:
            return int(token, 16)
        if len(token.lstrip("-")) > _MAX_DECIMAL_DIGITS:
            self.fault(token, f"a decimal integer has more than {_MAX_DECIMAL_DIGITS} digits", "write it as 0x...")
            return 0
        return int(token)

    def floating(self, token: Token) -> float:
        return float(token)

    def string(self, token: Token) -> str:
        return self.text(token)

    def symbol(self, token: Token) -> Symbol:
        return Symbol(self.read(token))

    def nested(self, container: _Container, items: Iterable[Any], token: Token) -> _Container:
        """Notes how deep a container nests and refuses what is deeper than allowed."""
        depth = 1 + max((self.depths.get(id(item), 0) for item in items if isinstance(item, (list, dict))), default=0)
        if depth > MAX_ATTRIBUTE_DEPTH + 1:
            if depth == MAX_ATTRIBUTE_DEPTH + 2:
                self.fault(token, f"an attribute nests deeper than {MAX_ATTRIBUTE_DEPTH} levels")
            container = type(container)()
        self.depths[id(container)] = depth
        return container

    # -- names ---------------------------------------------------------------------------------

    def text(self, token: Token, quoted: str | None = None) -> str:
        try:
            return unquote(quoted if quoted is not None else str(token))
        except ValueError as error:
            self.fault(token, str(error), 'escapes are \\\\ \\" \\n \\t \\r and \\u{hex}')
            return "?"

    def read(self, token: Token) -> str:
        """The name in a %, @ token."""
        if '"' not in token:
            return str(token)[1:]
        name = self.text(token, str(token)[1:])
        if not name:
            self.fault(token, "a name is empty")
        return name


def _named_sizes(name: str) -> str:
    """The hint for `sx8xfp16`: names and blanks of sizes as they would be in Python."""
    *sizes, dtype = name.split("x")
    dtype = DTYPE_ALIASES.get(dtype, dtype)
    if not sizes or dtype not in DTYPES or not all(sizes):
        return ""
    mended = [size if size.isdigit() else "?" if size in ("None", "dyn") else f"({size})" for size in sizes]
    return f"a size is a number, a name in parentheses or ?: tensor<{'x'.join(mended)}x{dtype}>"
