"""The page as text: self-contained, escaped, and with the data that it is about."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcir.exporters.dot import export_dot, quoted
from mcir.exporters.html import export_html, script_data
from mcir.exporters.page_groups import GROUP_SIZE, graph_groups
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.parser import parse_module
from mcir.samples import build_attention_module
from mcir.tools.translate import main
from tests.unit.memory_cases import CAUSAL, attention, window
from tests.unit.page_cases import decoder
from tests.unit.tool_harness import run


def page_of(module: MCModule, **options: Any) -> dict[str, Any]:
    """The data that stands in a page."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', export_html(module, **options), re.S)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


def test_the_page_needs_nothing_but_itself() -> None:
    page = export_html(build_attention_module())
    own = page.replace(_asset("elk.bundled.js"), "")
    assert not re.findall(r'(?:src|href)\s*=', own)
    assert "default-src 'none'" in own
    assert set(re.findall(r"https?://[^\s\"']+", own)) <= {"http://www.w3.org/2000/svg", "https://github.com/kieler/elkjs"}
    assert "@@" not in own
    assert "Eclipse Public License" in own and "Eclipse Public License - v 2.0" in _asset("elk.LICENSE.md")


def test_data_of_a_nest() -> None:
    (region,) = page_of(build_attention_module(), target="sm_90")["regions"]
    assert region["streaming"]["total"] == 1_441_792
    assert region["tiles"][0]["fit"] == {"target": "sm_90", "shared": True, "registers": True}
    (nest,) = region["nests"]
    assert [(node["op"], node["phase"]) for node in nest["nodes"]] == [
        ("load_tile", "prologue"), ("load_tile", "body"), ("load_tile", "body"), ("compute_score", "body"),
        ("update_softmax", "body"), ("accumulate_output", "body"), ("store_tile", "epilogue"),
    ]  # fmt: skip
    assert nest["map"]["visits"] == [[[0, 2 * row + 2]] for row in range(8)]


def test_map_of_a_window_and_of_a_huge_attention() -> None:
    (region,) = page_of(attention("", 4096, 4096, 64, window(256, 0)))["regions"]
    assert region["nests"][0]["map"]["visits"][:4] == [[[0, 2]], [[0, 4]], [[0, 6]], [[2, 8]]]
    (region,) = page_of(attention("", 1 << 20, 1 << 20, 64, CAUSAL))["regions"]
    shown = region["nests"][0]["map"]
    assert (shown["rows"], shown["columns"], len(shown["visits"])) == (8192, 16384, 2048)
    assert region["steps"] == sum(2 * row + 2 for row in range(8192))


def test_formulas_make_a_page_too() -> None:
    module = attention("(heads)x", "(seq)", "(seq)", 64)
    (region,) = page_of(module)["regions"]
    assert region["unknown"] == ["heads", "seq"]
    assert region["nests"][0]["map"] is None
    assert region["steps"] == "heads*ceil(seq/128)*ceil(seq/64)"
    (region,) = page_of(module, dims={"heads": 2, "seq": 256})["regions"]
    assert region["steps"] == 2 * 2 * 4


def test_covered_nodes_are_one_group_where_the_first_stands() -> None:
    (graph,) = page_of(decoder(2))["graphs"]
    names = [node["op"] for node in graph["nodes"]]
    before, first, between, second, after = graph["groups"]
    assert (first["label"], first["region"], second["region"]) == ("@l0.attention", 0, 1)
    assert [names[at] for at in first["items"]] == ["transpose", "matmul", "mul", "mask", "softmax", "matmul"]
    assert {graph["nodes"][at]["region"] for at in first["items"]} == {0}
    assert before["label"] == "4 nodes: 3 matmul, 1 layer_norm"
    assert len(between["items"]) == 9 and len(after["items"]) == 5
    constants = [at for at, name in enumerate(names) if name == "constant"]
    grouped = [at for group in graph["groups"] for at in group["items"]]
    assert sorted(grouped + constants) == list(range(len(names)))


def test_a_large_graph_is_folded_as_deep_as_it_needs() -> None:
    nodes = [MCNode(f"n{at}", "neg") for at in range(20_000)]
    level, depth = graph_groups(nodes, {}, []), 0
    while isinstance(level[0], dict):
        assert len(level) <= GROUP_SIZE
        level, depth = level[0]["items"], depth + 1
    assert depth == 3 and level == list(range(GROUP_SIZE))


HOSTILE = '</script><img src=x onerror="document.body.dataset.owned=1">&"\\\'<!--'


def hostile_module() -> MCModule:
    """A lowered module with a graph in which every name tries to be markup."""
    name = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
    text = f"""
graph @"{name}"(%"{name}": tensor<4xfp32>) {{
  %"{name}1" = "{name}" %"{name}" {{"{name}" = "{name}"}} : tensor<4xfp32>
  return %"{name}1"
}}
execution @"{name} region"(%Q: tensor<("{name}")x64xfp16>, %K: tensor<8x64xfp16>, %V: tensor<8x64xfp16>)
    -> (%O: tensor<("{name}")x64xfp16>) attributes {{graph = @"{name}", nodes = ["{name}1"], user = "{name}"}} {{
}}
"""
    return parse_module(text)


def test_names_cannot_leave_the_data() -> None:
    page = export_html(hostile_module(), HOSTILE)
    assert page.count("</script>") == 3
    assert "<img" not in page and "onerror=\"" not in page
    assert page_of(hostile_module(), title=HOSTILE)["title"] == HOSTILE
    assert script_data({"x": "\u2028<>&"}) == '{"x":"\\u2028\\u003c\\u003e\\u0026"}'


def test_dot_escapes_names() -> None:
    assert quoted('a"b\\c', "d\ne") == '"a\\"b\\\\c\\nd e"'
    text = export_dot(hostile_module())
    assert text.count("digraph") == 1 and text.endswith("}\n")
    assert all(line.count('"') % 2 == line.count('\\"') % 2 for line in text.splitlines())


def test_dot_shows_coverage_and_residency() -> None:
    text = export_dot(decoder(1))
    assert 'g0n6 [label="constant\\n@l0.c"];' in text
    assert 'g0n9 [label="softmax\\n@l0.P", fillcolor="#dcd7f5", color="#6a55c2"];' in text
    assert '[label="%Q_tile\\ntensor<128x64xfp16, shared>\\n16,384 B", fillcolor="#cfe6cf", color="#3f8a46"]' in text


def test_tool_writes_the_page(tmp_path: Path) -> None:
    source, page = tmp_path / "in <1>.mcir", tmp_path / "out.html"
    source.write_text("graph @g(%x: tensor<4xfp32>) {\n  %y = neg %x : tensor<4xfp32>\n  return %y\n}\n")
    done = run(main, "--html", page, source)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "<title>in &lt;1&gt;.mcir</title>" in page.read_text()
    done = run(main, "--html", page, source, "-o", "other")
    assert done.code == 2 and "--html names its output: leave out -o" in done.err
    done = run(main, "--html", page, source, "--target=sm_1")
    assert done.code == 1 and "unknown target 'sm_1'" in done.err


@pytest.mark.parametrize("text", ["", "graph @g() {\n  return\n}\n"])
def test_empty_modules_have_pages(text: str) -> None:
    assert page_of(parse_module(text))["regions"] == []
    assert export_dot(parse_module(text)).startswith("digraph mcir {")


def _asset(name: str) -> str:
    import mcir.exporters

    return (Path(mcir.exporters.__file__).parent / "assets" / name).read_text(encoding="utf-8")
