"""One op of a benchmark's graph, as all spellings of the graph are written from it."""

from __future__ import annotations

from typing import NamedTuple

Shape = tuple[int, ...]


class Op(NamedTuple):
    """result = op operands {attrs} : type; `dtype` in the spelling of MCIR."""

    result: str
    op: str
    operands: tuple[str, ...]
    attrs: dict[str, object]
    shape: Shape
    dtype: str = "fp16"
