"""Faults in MCIR text: of bytes, tokens, lines, and of what the text means."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from random import Random

from mcir.ops import all_ops
from mcir.types import DTYPES, RESIDENCIES
from tests.endurance.seeds import pick_text, texts, words
from tests.support.strategies import TRICKY

SIGNS = "{}()[]<>,:=%@\"\\/-+#;|?*!~^&'`"
NUMBERS = (
    "0", "-0", "1", "-1", "2", "3", "7", "63", "64", "65", "128", "1000000007", "2147483648", "-9223372036854775809",
    "18446744073709551616", "9" * 18, "9" * 19, "9" * 4001, "0x" + "f" * 5000, "-0x1", "1e400", "-1e400", "1e-400",
    "0.0", "-0.0",
    "nan", "inf", "-inf", "1.5", "1e22", "007", "1e", "0x", ".5", "5.", "1_000", "\N{ARABIC-INDIC DIGIT THREE}", "½",
)  # fmt: skip
CHARACTERS = (
    "\0", "\x07", "\x1b", "\x7f", "\x85", "\xa0", "\xad", "\u200b", "\u202e", "\u2028", "\u2029", "\ufeff", "\ufffd",
    "\uffff",
    "\u0300", "ﬁ", "İ", "ß", "🙂", "\U000e0001", "\U0010ffff", "\r", "\r\n", "\n", "\t", "\v", "\f", "“", "\uff0d",
    "\uff05",
    "\uff20", "µ",
)  # fmt: skip
ESCAPES = (
    r"\u{d800}",
    r"\u{110000}",
    r"\u{}",
    r"\u{0}",
    r"\u{1F642}",
    r"\x",
    "\\",
    r"\\",
    r"\"",
    r"\u{ffffffff}",
    r"\u{",
    r"\r",
)
NAMES = (
    "Q", "K", "V", "O", "B", "M", "x", "y", "a", "graph", "return", "tensor", '"a b"', '""', r'"\u{d800}"', '"é"',
    "a" * 300, '"' + "n" * 3000 + '"', "0", "$", ".",
)  # fmt: skip
VALUES = (
    "true", "false", "[]", "{}", '""', "@x", "@Q", "tensor<fp32>", "tensor<?x4xfp16, shared>", "[1, 0]", "[0, 0]",
    "[-1]",
    "[1, [2, [3]]]", '{a = 1, "b c" = 2}', '"causal"', '"window"', '"zero"', '"none"', '"q d"', '"d q"', '"q q"',
    '"(h g) q d"',
    '"b 1 1 k"', '"1 1"', '"q  k"', '"("', "1.0", "-inf", "nan", "0", "-1", "4", "1000000", "0.5", *NUMBERS[:12],
)  # fmt: skip
_ENTRY = re.compile(r'([A-Za-z_]\w*) = ("(?:[^"\\\n]|\\.)*"|\[[^\[\]\n]*\]|\{[^{}\n]*\}|@?[^\s,{}\[\]]+)')
_NUMBER = re.compile(r"(?<![\w%@.$])-?\d[\w.+-]*")
_TYPE = re.compile(r"tensor<[^<>\n]*>")
_NODE = re.compile(r"^ +%[^\n]* = [^\n]*$", re.MULTILINE)
_NAME = re.compile(r'[%@](?:[\w.$]+|"[^"\n]*")')

Mutator = Callable[[Random, str], str]


def _span(random: Random, text: str, most: int = 40) -> tuple[int, int]:
    begin = random.randrange(len(text) + 1)
    return begin, min(len(text), begin + random.randint(0, most))


# -- characters ---------------------------------------------------------------------------------------


def delete(random: Random, text: str) -> str:
    begin, end = _span(random, text)
    return text[:begin] + text[end:]


def double(random: Random, text: str) -> str:
    begin, end = _span(random, text)
    return text[:end] + text[begin:end] * random.choice((1, 1, 2, 50)) + text[end:]


def insert(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    pieces = (CHARACTERS, SIGNS, TRICKY, ESCAPES, NUMBERS)
    return text[:at] + random.choice(random.choice(pieces)) + text[at:]


def replace(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + chr(random.choice((random.randrange(32, 127), random.randrange(0xD800)))) + text[at + 1 :]


def cut(random: Random, text: str) -> str:
    return text[: random.randrange(len(text) + 1)]


def repeat(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    return (
        text[:at]
        + random.choice((*SIGNS, *CHARACTERS[:8], "//", "{a = ", "[[", '"', "\\")) * random.choice((3, 70, 3000))
        + text[at:]
    )


# -- tokens and lines -----------------------------------------------------------------------------------


def _on_parts(parts: list[str], random: Random, other: Callable[[], list[str]]) -> str:
    if not parts:
        return ""
    at, to = random.randrange(len(parts)), random.randrange(len(parts))
    action = random.randrange(6)
    if action == 0:
        del parts[at : at + random.randint(1, 3)]
    elif action == 1:
        parts.insert(at, parts[to])
    elif action == 2:
        parts[at], parts[to] = parts[to], parts[at]
    elif action == 3:
        parts[at] = parts[to]
    elif action == 4:
        parts[at:at] = parts[min(at, to) : max(at, to)][:20]
    else:
        pool = other() or [""]
        parts.insert(at, random.choice(pool))
    return "".join(parts)


def tokens(random: Random, text: str) -> str:
    return _on_parts(list(words(text)), random, lambda: list(words(pick_text(random))))


def lines(random: Random, text: str) -> str:
    return _on_parts(text.splitlines(keepends=True), random, lambda: pick_text(random).splitlines(keepends=True))


def splice(random: Random, text: str) -> str:
    other = pick_text(random)
    return text[: random.randrange(len(text) + 1)] + other[random.randrange(len(other) + 1) :]


def append(random: Random, text: str) -> str:
    return text + random.choice(("", "\n", "\n// -----\n", " ")) + pick_text(random)


# -- meaning --------------------------------------------------------------------------------------------


@cache
def _values_by_key() -> dict[str, list[str]]:
    """Every value that a seed gives a key."""
    table: dict[str, set[str]] = {}
    for text in texts():
        for key, value in _ENTRY.findall(text):
            table.setdefault(key, set()).add(value)
    return {key: sorted(values) for key, values in sorted(table.items())}


def _substitute(random: Random, pattern: re.Pattern[str], text: str, make: Callable[[re.Match[str]], str]) -> str:
    """`text` with one match of the pattern replaced; as it is without a match."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    return text[: match.start()] + make(match) + text[match.end() :]


def attribute(random: Random, text: str) -> str:
    """A value becomes another one that this key has somewhere, or a value of any kind."""

    def other(match: re.Match[str]) -> str:
        known = _values_by_key().get(match[1], VALUES)
        value = random.choice(known if random.random() < 0.6 else VALUES)
        if random.random() < 0.1:
            value = random.choice(
                (f"[{value}]", f"{{a = {value}}}", f"[{value}, {value}]", "[" * 66 + value + "]" * 66)
            )
        return f"{match[1]} = {value}"

    return _substitute(random, _ENTRY, text, other)


def key(random: Random, text: str) -> str:
    """An attribute goes, comes twice, or has another key."""

    def other(match: re.Match[str]) -> str:
        choice = random.randrange(4)
        extra = random.choice(sorted(_values_by_key()))
        return ("", f"{match[0]}, {match[0]}", f"{extra} = {match[2]}", f"{match[0]}, {extra} = {match[2]}")[choice]

    changed = _substitute(random, _ENTRY, text, other)
    return re.sub(r"\{, |, , |, \}", lambda found: {"{, ": "{", ", , ": ", ", ", }": "}"}[found[0]], changed)


def number(random: Random, text: str) -> str:
    return _substitute(random, _NUMBER, text, lambda match: random.choice(NUMBERS))


def type_(random: Random, text: str) -> str:
    """A type becomes another type of the text, or has another dimension, element type or residency."""

    def other(match: re.Match[str]) -> str:
        choice = random.randrange(5)
        if choice == 0:
            return random.choice(_TYPE.findall(text))
        if choice == 1:
            dims = random.choice(("", "4x", "?x", "0x", "(n)x", '("a b")x', "1x" * 30, f"{random.choice(NUMBERS)}x"))
            return match[0].replace("tensor<", f"tensor<{dims}", 1)
        if choice == 2:
            return re.sub(r"[a-z]\w*(?=[,>])", random.choice(sorted(DTYPES)), match[0], count=1)
        if choice == 3:
            return re.sub(r"(, \w+)?>", f", {random.choice(RESIDENCIES)}>", match[0])
        return re.sub(
            r"(<|x)(\w+|\(\w+\))x",
            lambda dim: f"{dim[1]}{random.choice(('1', '2', '13', '?', '(n)', '0'))}x",
            match[0],
            count=1,
        )

    return _substitute(random, _TYPE, text, other)


def op(random: Random, text: str) -> str:
    names = [operation.name for operation in all_ops()]
    return _substitute(
        random, re.compile(r"(?<== )[a-z_]\w*(?= )"), text, lambda match: random.choice((*names, '"onnx.Foo"'))
    )


def name(random: Random, text: str) -> str:
    """A name at one place becomes another name of the text, or an odd one."""
    known = _NAME.findall(text)
    new = random.choice((random.choice(known) if known else "%x", f"{random.choice('%@')}{random.choice(NAMES)}"))
    return _substitute(random, _NAME, text, lambda match: new)


def rename(random: Random, text: str) -> str:
    """A name becomes an odd one everywhere."""
    known = _NAME.findall(text)
    if not known:
        return text
    old, new = random.choice(known), random.choice(NAMES)
    return re.sub(rf"(?<=[%@]){re.escape(old[1:])}(?![\w.$])", lambda _: new, text)


def node(random: Random, text: str) -> str:
    """A node goes, comes twice, moves, or has other operands."""
    found = list(_NODE.finditer(text))
    if not found:
        return text
    match, other = random.choice(found), random.choice(found)
    if random.random() < 0.5:
        return text[: match.start()] + other[0] + text[match.end() :]
    return text[: match.start()] + (match[0] + "\n") * random.choice((0, 2)) + other[0] + text[match.end() :]


def nest(random: Random, text: str) -> str:
    """Regions nest in one another."""
    at = text.rfind("}")
    kind = random.choice(("execution", "streaming", "tile"))
    depth = random.choice((1, 2, 100))
    return text[:at] + "".join(f" {kind} @n{level} {{" for level in range(depth)) + "}" * depth + text[at:]


def comment(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    return (
        text[:at]
        + random.choice(
            (
                "//\n",
                "// é\n",
                "// -----\n",
                "\n// -----\n",
                "//",
                "// expected-error {{x}}\n",
                "/* */",
                "\n// expected-error@+1 {{",
            )
        )
        + text[at:]
    )


BY_KIND: dict[str, tuple[Mutator, ...]] = {
    "characters": (delete, double, insert, replace, cut, repeat),
    "tokens": (tokens, name, number, op, comment),
    "lines": (lines, splice, append, nest),
    "meaning": (attribute, attribute, key, number, type_, op, name, rename, node),
}


def mutated(random: Random, kind: str, text: str) -> str:
    """`text` after some faults of a kind."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        text = random.choice(BY_KIND[kind])(random, text)
        if len(text) > 60_000:
            text = text[:60_000]
    return text


def encoded(random: Random, text: str) -> bytes:
    """As a file has it: mostly UTF-8, rarely something else, or damaged."""
    data = text.encode("utf-8", "surrogatepass")
    choice = random.random()
    if choice < 0.03 and data:
        at = random.randrange(len(data))
        return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
    if choice < 0.04:
        return text.encode("utf-16", "surrogatepass")
    if choice < 0.05:
        return b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")
    return data
