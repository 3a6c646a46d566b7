"""Rules of masks that hold for the nodes of a graph, and for the modifiers of a region as well (`modifiers.py`)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mcir.ops.definition import is_number
from mcir.ops.rules import shown
from mcir.types import Dim, Shape
from mcir.verifier.rules import Finding, Signature, rule

ROW_OFFSET_HINT = "offset = 0 aligns row 0 with column 0; keys - queries aligns the last row with the last column"
FILL_HINT = "-inf removes a score; a finite fill gives a row without any key left an average instead"


@rule("modifier.offset", "A causal or window mask over unequal query and key counts writes its offset.", scope="node")
def mask_node_offset(signature: Signature) -> Iterator[Finding]:
    kind = signature.attrs.get("kind", "boolean")
    if signature.op != "mask" or kind == "boolean" or "offset" in signature.attrs:
        return
    rows, columns = signature.operands[0].shape[-2:]
    if signature.holder != "graph":
        yield Finding(f"a {kind} mask on a tile needs its offset written", hint=ROW_OFFSET_HINT)
    elif not surely_equal(rows, columns):
        message = f"a {kind} mask over {dim_text(rows)} rows and {dim_text(columns)} columns needs its offset written"
        yield Finding(message, hint=ROW_OFFSET_HINT)


@rule("modifier.mask_dims", "Each dimension of a mask or bias is 1 or that of the scores.", scope="node")
def mask_node_dims(signature: Signature) -> Iterator[Finding]:
    if signature.op != "mask" or len(signature.operands) != 2:
        return
    scores, keep = signature.operands[0].shape, signature.operands[1].shape
    if len(keep) > len(scores) or not all(map(_one_or_full, keep, scores[len(scores) - len(keep) :])):
        message = f"the mask {_shape(keep)} does not fit the scores {_shape(scores)}"
        yield Finding(message, hint="each size is 1 or full")


@rule("modifier.fill", "A mask fills with -inf: a finite constant is no mask where a row has no key left.",
      scope="node", severity="warning")  # fmt: skip
def mask_node_fill(signature: Signature) -> Iterator[Finding]:
    fill = signature.attrs.get("fill", -math.inf)
    if signature.op == "mask" and is_number(fill) and math.isfinite(fill):
        yield Finding(f"the mask fills with the finite {shown(fill)}", hint=FILL_HINT)


def surely_equal(left: Dim, right: Dim) -> bool:
    """Whether both sizes are known to be the same."""
    return left is not None and left == right


def _one_or_full(dim: Dim, full: Dim) -> bool:
    return dim == 1 or dim == full or not (isinstance(dim, int) and isinstance(full, int))


def dim_text(dim: Dim) -> str:
    """A size in a message."""
    return "an unknown number of" if dim is None else f"({dim})" if isinstance(dim, str) else str(dim)


def _shape(shape: Shape) -> str:
    return f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"
