"""What would mend a syntax error: mistakes of newcomers, and of hands that write MLIR or Python.

Each rule is data: what stands at the error, which terminals would have been right there (any of them; none: whatever),
what stands before it in its statement, and the hint. The first rule that fits counts. `\\1` is a group of `here`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from mcir.diagnostics import did_you_mean

_FILE = "a file is a list of graphs and regions: graph @name(%x: tensor<4x8xfp16>) {{ ... return %y }}"
_TYPE = "a type is written tensor<4x8xfp16>"
_SIZES = "sizes have an x behind each, the element type stands last: tensor<4x8xfp16>"
_KEYWORDS = ("graph", "execution", "streaming", "tile")


@dataclass(frozen=True, slots=True)
class Rule:
    """One mistake; see the head of this file. All patterns match at the beginning, `before` searches."""

    here: str
    hint: str
    expected: tuple[str, ...] = ()
    before: str = ""


_RULES = (
    # what stands at the top of a file
    Rule(r"\x08", "this looks like an ONNX model: mcir-translate --import-onnx reads it", ("GRAPH",)),
    Rule(r"module\b", "a file is a list of graphs and execution regions; there is no module keyword", ("GRAPH",)),
    Rule(r"(?:func\.func|func|def|fn|function|subgraph)\b", _FILE, ("GRAPH",)),
    Rule(r"region\b", "a region is of a kind: execution @name, streaming @name or tile @name", ("GRAPH",)),
    # comments and statements
    Rule(r"#|/\*|--", "comments begin with //", ("RESULTS", "GRAPH")),
    Rule(r";", "a statement ends where the next begins: leave the ';' out"),
    Rule(r"\$([A-Za-z_]\w*)", r"values begin with %: %\1"),
    Rule(r"\^", "a graph has no blocks: leave the label out", ("RESULTS",)),
    Rule(r"\}", "did you mean 'return'?", ("RETURN",), r"^(?:ret|yield|[a-z]+\.(?:return|yield))\b"),
    Rule(r"return\b|=|%[^\s=]+(?:[^\S\n]*,[^\S\n]*%[^\s=]+)*[^\S\n]*=", "a graph has one return, at its end",
         ("RBRACE",), r"^return\b"),
    Rule(r"\{", "did you mean 'tile' or 'streaming'? A region begins with its kind", ("REGION_KIND",), r"@"),
    Rule(r"\{", _FILE, ("GRAPH",)),
    Rule(r"\}", "a graph ends with `return %x, ...`, also where it returns nothing", ("RETURN",)),
    Rule(r":", "`return` has no types: they stand where the values are defined", (), r"^return\b"),
    Rule(r"\(", "values stand without parentheses: `return %x, %y`", (), r"^return\b"),
    Rule(r"\(", "source locations are not part of the language", (), r"(?:^|\s)loc$"),
    Rule(r"%(?:[\w.$]+)[ \t]*:[ \t]*\d", "results are listed by name: %a, %b = op ...", ("RESULTS",)),
    Rule(r"#\d", "each result has a name of its own: %a, %b = op ..."),
    # heads
    Rule(r"([A-Za-z_][\w.$]*)", r"names of graphs and regions begin with @: @\1", ("SYMBOL",), r"^(?:graph|execution|"
         r"streaming|tile)$"),
    Rule(r"\{", "parameters stand in parentheses, also where there are none: graph @name() {{", ("LPAR",), r"^graph\b"),
    Rule(r"->", "a graph has no result types: `return` says what it gives", (), r"^graph\b"),
    Rule(r"attrs?\b|attribute\b|attr_dict\b", "did you mean 'attributes'?", ("ATTRIBUTES",)),
    Rule(r"[),=]|tensor", "a parameter is written %x: tensor<4x8xfp16>", ("COLON",), r"^(?:graph|execution)\b[^{]*$"),
    Rule(r"([A-Za-z_][\w.$]*)", r"values begin with %: %\1", ("VALUE",), r"[(,]$"),
    # nodes
    Rule(r"=", "attributes of a region are written: attributes {{key = value}}", ("OP_NAME",), r"^[A-Za-z_][\w.]*$"
         r"(?<!\n)"),
    Rule(r"\(", "operands and attributes of a node stand without parentheses: %y = softmax %x {{axis = -1}} : ...",
         ("VALUE",)),
    Rule(r"->", "the result type is written with a colon: `: tensor<4x8xfp16>`", ("COLON",)),
    Rule(r"(-?[0-9][\w.]*)", "operands are values: %c = constant {{value = \\1}} : ... makes one of a number",
         ("VALUE",)),
    Rule(r"(?=[:}])", "a comma stands between operands only: leave the last one out", ("VALUE",), r",$"),
    # types
    Rule(r"(?:dense|array)<|\(", "a list is written [1, 0]", ("TRUE",)),
    Rule(r"\(", "only the types of the results stand behind the ':'", ("_TENSOR",)),
    Rule(r"", _TYPE, ("_TENSOR",), r":$"),
    Rule(r"-\s*\d", "a size that is not known is written ?x", ("DIM",)),
    Rule(r"%([A-Za-z_]\w*?)x", r"a named size stands in parentheses: (\1)x", ("DIM",)),
    Rule(r"\d+\s*>", "the element type is missing: tensor<4x8xfp16>", ("DIM",)),
    Rule(r"", _SIZES, ("DIM",)),
    Rule(r"\d", "a residency is global, shared or register", ("MORETHAN",), r",\s*[A-Za-z]+$"),
    Rule(r"#", "a type has no encoding: only a residency may stand here", ("RESIDENCY",)),
    # attributes
    Rule(r"'", 'strings stand in double quotes: "..."'),
    Rule(r"(True|False)\b", "true and false are written in small letters", ("TRUE",)),
    Rule(r"(?:None|null|nullptr)\b", "an attribute that has no value is left out", ("TRUE",)),
    Rule(r"\d+_\d", "numbers are written without _", ("TRUE",)),
    Rule(r"[-+]?\.\d|\+", "a number begins with a digit, or with - and a digit: 0.5", ("TRUE",)),
    Rule(r"%", "an attribute cannot be a value: operands stand before the braces", ("TRUE",)),
    Rule(r"(?:unit|[A-Za-z_][\w.]*)", 'strings stand in double quotes: "..."', ("TRUE",)),
    Rule(r"[\]}]", "a comma stands between entries only: leave the last one out", ("TRUE", "KEY"), r",$"),
    Rule(r":", "attributes are written `key = value`", ("EQUAL",)),
    Rule(r"[,}]", "an attribute is written `key = value`", ("EQUAL",)),
    Rule(r":\s*tensor<", "a '}}' is missing before the ':'", ("RBRACE",), r"\{[^}]*$"),
    Rule(r":", "the value of an attribute has no type of its own", ("RBRACE",), r"\{[^}]*$"),
    # what was not closed
    Rule(r"", "a ']' is missing before this", ("RSQB",)),
    Rule(r"(?![^\S\n]*[,\w])", "a '>' is missing before this", ("MORETHAN",)),
    Rule(r"(?:return|%|\{|\})", "a '>' is missing before this", ("MORETHAN",)),
    Rule(r"\{", "a ')' is missing before this", ("RPAR",)),
    # names
    Rule(r"%[\w.$]", "a node that begins with results is written `%x = op ...`", ("RESULTS",), r"^$"),
    Rule(r"%[\w.$]", "operands have a comma between them", ("COMMA",), r"%\S+\s*$"),
    Rule(r"([%@])", 'a name of other characters than A-Z a-z 0-9 _ . $ stands in quotes: \\1"..."',
         ("VALUE", "SYMBOL", "RESULTS")),
)  # fmt: skip


def find_hint(text: str, begin: int, offset: int, expected: set[str]) -> str:
    """What would mend the error at `offset` in the statement that begins at `begin`; "" if nothing is known."""
    before = text[max(begin, offset - 400) : offset].rstrip()
    here = text[offset : offset + 1]
    if not here.isascii():
        return _foreign(here)
    if here == "=" and "OP_NAME" in expected:
        return _stray_equal(text, begin, offset, before)
    if here == "}" and "RETURN" in expected and (near := did_you_mean(before.partition(" ")[0], ("return",))):
        return near
    for rule in _RULES:
        if rule.expected and not expected.intersection(rule.expected):
            continue
        match = re.compile(rule.here).match(text, offset)
        if match is not None and (not rule.before or re.search(rule.before, before)):
            return match.expand(rule.hint.replace("{{", "{").replace("}}", "}"))
    return _near_keyword(text, offset, before, expected)


def _stray_equal(text: str, begin: int, offset: int, before: str) -> str:
    word = re.search(r"[A-Za-z_][\w.$]*$", before)
    if word is None:
        return ""
    at = offset - (len(text[begin:offset]) - len(before)) - len(word.group())
    lead = text[max(0, at - 80) : at].rstrip(" \t")
    if lead.endswith("{"):
        return "attributes of a graph or region are written: attributes {key = value}"
    if lead.endswith("\n") or not lead:
        return f"values begin with %: %{word.group()} = ..."
    return f"attributes stand in braces: {{{word.group()} = ...}}"


def _near_keyword(text: str, offset: int, before: str, expected: set[str]) -> str:
    """A keyword that is near what stands there, or near what was read as an op."""
    if "RETURN" in expected and text[offset : offset + 1] == "}":
        return ""
    word = re.compile(r"[A-Za-z_]+").match(text, offset)
    if word is None or not expected & {"GRAPH", "REGION_KIND", "ATTRIBUTES"}:
        return ""
    known = (*_KEYWORDS, "attributes") if "ATTRIBUTES" in expected else _KEYWORDS
    near = did_you_mean(word.group().lower(), known)
    return near or (_FILE.replace("{{", "{").replace("}}", "}") if "GRAPH" in expected else "")


# Typographic signs that Unicode does not map to those of the language.
_SIGNS = "\u201c\u201d\u2018\u2019\u2212\u2013\u2014\u00d7\u2192\u3001\u3002"
_LOOKALIKES = dict(zip(_SIGNS, (*'""""---x', "->", ",", "."), strict=True))


def _foreign(char: str) -> str:
    """A character that only looks like one of the language."""
    name, code = unicodedata.name(char, "a character"), f"U+{ord(char):04X}"
    plain = _LOOKALIKES.get(char) or unicodedata.normalize("NFKC", char)
    if plain.isspace() or unicodedata.category(char) in ("Cf", "Zs"):
        return f"this is {name} ({code}), which cannot be seen: put a plain blank, or nothing"
    if plain.isascii() and plain.isprintable():
        return f"this is {name} ({code}): write {plain}"
    return 'a name of other characters than A-Z a-z 0-9 _ . $ stands in quotes: "..."'
