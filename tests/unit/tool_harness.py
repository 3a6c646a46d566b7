"""Runs a tool's `main` on given streams, as the console would."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from mcir.tools import diff, fmt, lsp, opt, reduce, translate
from mcir.tools import run as run_tool

# every command by name
TOOLS = {
    "mcir-opt": opt.main, "mcir-run": run_tool.main, "mcir-translate": translate.main, "mcir-fmt": fmt.main,
    "mcir-diff": diff.main, "mcir-reduce": reduce.main, "mcir-lsp": lsp.main,
}  # fmt: skip


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
