"""An attribute that is written with its declared default means what it means left out, for every pass and tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mcir.diagnostics import MCIRError
from mcir.exporters.mlir import export_mlir
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.ops import lookup
from mcir.ops.definition import OPTIONAL, REQUIRED
from mcir.parser import parse_module
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import run_streaming_lowering_pass
from mcir.printer import print_module
from mcir.verifier import check_module

ROOT = Path(__file__).parent.parent.parent
FILES = sorted([*(ROOT / "tests" / "lit" / "attention").glob("*.mcir"), *(ROOT / "examples").glob("*.mcir")])

MASKED = """
graph @g(%Q: tensor<16x8xfp32>, %K: tensor<16x8xfp32>, %V: tensor<16x8xfp32>, %m: tensor<16x16xi1>) {
  %S = matmul %Q, %K {transpose_b = true} : tensor<16x16xfp32>
  %M = mask %S, %m {kind = "boolean"} : tensor<16x16xfp32>
  %W = mask %M {kind = "window", left = 3, right = -1} : tensor<16x16xfp32>
  %P = softmax %W {axis = -1} : tensor<16x16xfp32>
  %O = matmul %P, %V : tensor<16x8xfp32>
  return %O
}
"""


def leave_out(node: MCNode) -> None:
    definition = lookup(node.op)
    for attr in definition.attrs if definition else ():
        if attr.name in node.attrs and repr(node.attrs[attr.name]) == repr(attr.default):
            del node.attrs[attr.name]


def write_out(node: MCNode) -> None:
    definition = lookup(node.op)
    for attr in definition.attrs if definition else ():
        if attr.default is not OPTIONAL and attr.default is not REQUIRED:
            node.attrs.setdefault(attr.name, attr.default)


def changed(text: str, change: Callable[[MCNode], None]) -> MCModule | None:
    """The module of `text` with its graphs' nodes changed; None where the op refuses an attribute that it ignores."""
    module = parse_module(text)
    module.regions.clear()
    for graph in module.graphs:
        for node in graph.nodes:
            change(node)
    try:
        check_module(module)
    except MCIRError:
        return None
    return module


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_regions_are_the_same(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    given = changed(text, lambda node: None)
    if given is None:
        pytest.skip("not valid without its regions")
    expected = regions_of(given)
    standard = export_mlir(given).count("linalg.")
    for change in (leave_out, write_out):
        module = changed(text, change)
        if module is not None:
            assert regions_of(module) == expected
            assert export_mlir(module).count("linalg.") == standard


def regions_of(module: MCModule) -> str:
    lowered = run_streaming_lowering_pass(run_attention_pattern_pass(module))
    return print_module(MCModule(regions=lowered.regions))


def test_a_mask_without_its_kind_is_a_mask() -> None:
    bare = changed(MASKED, leave_out)
    assert bare is not None and "kind" not in bare.graphs[0].nodes[1].attrs
    assert "right" not in bare.graphs[0].nodes[2].attrs and "axis" not in bare.graphs[0].nodes[3].attrs
    whole = changed(MASKED, lambda node: None)
    assert whole is not None and regions_of(bare) == regions_of(whole)
    (region,) = run_attention_pattern_pass(bare).regions
    assert region.attrs["has_mask"] and [entry["op"] for entry in region.attrs["modifiers"]] == ["where", "mask"]
