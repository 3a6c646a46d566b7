"""The design note's two dumps: the tree of its section 12 and the outline of its section 18."""

from __future__ import annotations

from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.regions import Region
from mcir.types import Symbol
from mcir.values import MCValue

DUMP_STYLES = ("tree", "outline")

_TITLES = {"execution": "ExecutionRegion", "streaming": "StreamingRegion", "tile": "TileRegion"}

# Attributes that only bind operands or steer the lowering: the dump leaves them out.
_BINDING = frozenset(
    {
        "graph", "q_name", "k_name", "v_name", "o_name", "q_layout", "k_layout", "v_layout", "o_layout", "extents",
        "scale", "modifiers", "score_dtype", "softmax_dtype", "dead_rows", "nodes",
    }
)  # fmt: skip


def dump_module(module: MCModule, style: str = "tree") -> str:
    """The regions of `module` for people: "tree" (design note, section 12) or "outline" (18).

    Ends with a newline unless there are no regions. Raises ValueError for another style.
    """
    if style not in DUMP_STYLES:
        raise ValueError(f"dump style '{style}' is none of {', '.join(DUMP_STYLES)}")
    show = _tree_region if style == "tree" else _outline_region
    lines: list[str] = []
    for root in module.regions:
        stack = [(root, 0)]
        while stack:
            region, depth = stack.pop()
            show(region, "  " * depth, lines)
            stack.extend((child, depth + 1) for child in reversed(region.subregions))
    return "\n".join(lines) + "\n" if lines else ""


def _title(region: Region) -> str:
    return f"{_TITLES.get(region.kind, region.kind)}({region.name})"


def _tree_region(region: Region, indent: str, lines: list[str]) -> None:
    if lines:
        lines.append("")
    lines.append(indent + _title(region))
    shown = [f"{key}={_plain(value)}" for key, value in region.attrs.items() if key not in _BINDING]
    if shown:
        lines.append(f"{indent}  attrs: {', '.join(shown)}")
    for node in region.nodes:
        _tree_node(node, indent + "  ", lines)


def _tree_node(node: MCNode, indent: str, lines: list[str]) -> None:
    lines += ["", f"{indent}Node({node.name}, op={node.op})"]
    if node.inputs:
        lines.append(f"{indent}  inputs: {', '.join(value.name for value in node.inputs)}")
    if node.outputs:
        lines.append(f"{indent}  outputs: {', '.join(map(_value, node.outputs))}")


def _value(value: MCValue) -> str:
    dims = ",".join("?" if dim is None else str(dim) for dim in value.shape)
    return f"{value.name}[{dims}]:{value.dtype}@{value.residency}"


def _plain(value: object) -> str:
    return f"@{value.name}" if isinstance(value, Symbol) else str(value)


def _outline_region(region: Region, indent: str, lines: list[str]) -> None:
    lines.append(indent + _title(region))
    for node in region.nodes:
        moved = node.attrs.get("source", node.attrs.get("target"))
        lines.append(f"{indent}  {node.op}({moved})" if moved is not None else f"{indent}  {node.op}")
