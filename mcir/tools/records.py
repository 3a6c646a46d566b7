"""Diagnostics and remarks as JSON data: what `--diagnostics=json` writes in every tool, one object a line.

    {"severity": "error", "rule": "type.result", "message": "...", "hint": "...",
     "file": "in.mcir", "line": 3, "column": 5, "end": {"line": 3, "column": 8},
     "notes": [{"message": "...", "file": ..., "line": ..., "column": ..., "end": ...}]}

Every key is always there. `severity` is error, warning or remark; `rule` is a rule of the language reference or "";
`hint` may be "". Lines and columns count characters from 1; `end` is behind the last character. Where nothing in a
text is meant, `file`, `line`, `column` and `end` are null. A remark has `pass`, `status`, `graph`, `region`, `node` and
`op` besides. Keys may be added, none goes and none changes its meaning.
"""

from __future__ import annotations

import re
from typing import Any

from mcir.diagnostics import Diagnostic
from mcir.location import Location
from mcir.passes.base import Remark
from mcir.syntax import tables

Record = dict[str, Any]

# What stands at a place that has no end of its own: a name, a string, a word, or one character.
_WORD = re.compile("|".join(tables.TERMINALS[name] for name in ("VALUE", "SYMBOL", "STRING", "KEY")))


def diagnostic_record(diagnostic: Diagnostic) -> Record:
    """A diagnostic with its place and its notes."""
    notes = [{"message": note.message, **_place(note.location)} for note in diagnostic.notes]
    names = ("severity", "rule", "message", "hint")
    return {**{name: getattr(diagnostic, name) for name in names}, **_place(diagnostic.location), "notes": notes}


def remark_record(remark: Remark) -> Record:
    """A remark, with the pass and what it speaks of."""
    names = ("rule", "message", "hint", "status", "graph", "region", "node", "op")
    fields = {name: getattr(remark, name) for name in names}
    return {"severity": "remark", "pass": remark.pass_name, **fields, **_place(remark.location), "notes": []}


def _place(location: Location | None) -> dict[str, Any]:
    if location is None:
        return {"file": None, "line": None, "column": None, "end": None}
    line, column = location.line_column()
    end_line, end_column = location.source.line_column(_end(location))
    end = {"line": end_line, "column": end_column}
    return {"file": location.source.name, "line": line, "column": column, "end": end}


def _end(location: Location) -> int:
    """Where the location ends: as it says, or behind the word that it points at.

    `%a, %b =` stands for the node whose results it names: of it only the first name counts.
    """
    text, begin = location.source.text, location.offset
    end = min(location.end, len(text))  # an error at the end of the text points behind it
    if end > begin and not (text[begin] == "%" and text[end - 1] == "="):
        return end
    word = _WORD.match(text, begin)
    return word.end() if word is not None else min(begin + 1, len(text))
