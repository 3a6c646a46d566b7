"""Runs a tool's `main` on given streams, as the console would."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO


@dataclass
class Ran:
    """What a tool did: exit code and what it wrote."""

    code: int
    out: str
    err: str


def run(main: Callable[[Sequence[str], TextIO, TextIO, TextIO], int], *argv: object, stdin: str = "") -> Ran:
    """`main` on `argv`; its standard input holds `stdin`."""
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in argv], io.StringIO(stdin), out, err)
    return Ran(code, out.getvalue(), err.getvalue())
