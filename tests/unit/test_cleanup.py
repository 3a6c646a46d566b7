"""dead-node-elimination, common-subexpression-elimination and canonicalize: what goes, what stays, the same bits."""

from __future__ import annotations

import re
import textwrap
import time

import pytest

from mcir.interpreter.check import check_module as prove
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.base import ModulePass
from mcir.passes.canonical_rules import holds_all
from mcir.passes.canonicalize import Canonicalize
from mcir.passes.cse import CommonSubexpressionElimination
from mcir.passes.dce import DeadNodeElimination
from mcir.printer import print_module, type_text
from mcir.types import DTYPES, TensorType
from tests.unit.attention_samples import SAMPLES, sample_module
from tests.unit.cleanup_harness import cleaned

DCE, CSE = DeadNodeElimination, CommonSubexpressionElimination


def graph(body: str, params: str = "%x: tensor<2x3xfp32>", returned: str = "%z") -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "  ")
    return f"graph @g({params}) {{\n{lines}\n  return {returned}\n}}\n"


# Dead nodes


def test_a_node_that_leads_to_no_output_goes_with_what_only_it_took() -> None:
    before = graph("""
        %a = neg %x : tensor<2x3xfp32>
        %b = exp %a : tensor<2x3xfp32>
        %z = abs %x : tensor<2x3xfp32>
    """)
    assert cleaned(DCE(), before) == graph("%z = abs %x : tensor<2x3xfp32>")


def test_an_opaque_op_stays_with_what_it_takes() -> None:
    before = graph("""
        %a = neg %x : tensor<2x3xfp32>
        "vendor.print" @vendor.print %a
        %b = "vendor.pure" %x : tensor<2x3xfp32>
        %z = abs %x : tensor<2x3xfp32>
    """)
    assert cleaned(DCE(), before) == before


@pytest.mark.parametrize(("option", "stays"), [(False, True), (True, False)])
def test_an_unused_parameter_is_part_of_the_interface(option: bool, stays: bool) -> None:
    before = graph("%w = parameter : tensor<3xfp32>\n%z = abs %x : tensor<2x3xfp32>")
    assert ("parameter" in cleaned(DCE(parameters=option), before)) == stays


def test_a_node_with_one_used_result_of_two_stays() -> None:
    before = graph(
        "%z, %rest = split %x {axis = 1, sizes = [1, 2]} : tensor<2x1xfp32>, tensor<2x2xfp32>", returned="%z"
    )
    assert cleaned(DCE(), before) == before


def test_comment_lines_above_a_removed_node_pass_to_the_next() -> None:
    before = graph("""
        // block one
        %a = neg %x : tensor<2x3xfp32> // gone with its node
        // block two
        %z = abs %x : tensor<2x3xfp32> // kept
        // last words
        %b = neg %z : tensor<2x3xfp32>
    """)
    after = graph("// block one\n// block two\n%z = abs %x : tensor<2x3xfp32> // kept")
    assert cleaned(DCE(), before) == after.replace("  return", "  // last words\n  return")


# What regions hold

REGION = """
execution @r(%Q: tensor<2x3xfp32>) -> (%O: tensor<2x3xfp32>)
    attributes {graph = @g, q_name = "Q", nodes = [NODES]} {
}
"""
COVERED = graph("""
    %Q = identity %x : tensor<2x3xfp32>
    %a = identity %Q : tensor<2x3xfp32>
    %b = identity %Q : tensor<2x3xfp32>
    %O = add %a, %b : tensor<2x3xfp32>
    %z = identity %O : tensor<2x3xfp32>
    %t = identity %z : tensor<2x3xfp32>
    %u = neg %t : tensor<2x3xfp32>
""", returned="%u")  # fmt: skip


@pytest.mark.parametrize("pass_", [DCE(), CSE(), Canonicalize()])
@pytest.mark.parametrize("nodes", ['"a", "b", "O"', ""])
def test_what_a_region_covers_stays_as_it_is(pass_: ModulePass, nodes: str) -> None:
    text = print_module(parse_module(COVERED + REGION.replace("NODES", nodes)))
    after = cleaned(pass_, text)
    for line in COVERED.splitlines()[1:5]:
        assert line in after
    assert (after == text) == (not isinstance(pass_, Canonicalize))
    if isinstance(pass_, Canonicalize):
        assert "%u = neg %O" in after


def test_without_a_region_the_same_graph_is_simplified() -> None:
    assert cleaned(Canonicalize(), COVERED) == graph(
        "%O = add %x, %x : tensor<2x3xfp32>\n%u = neg %O : tensor<2x3xfp32>", returned="%u"
    )
    assert cleaned(CSE(), COVERED).count("identity") == 4


def test_a_remark_says_what_was_left_alone() -> None:
    pass_ = Canonicalize()
    pass_(parse_module(COVERED + REGION.replace("NODES", "")))
    assert [(remark.status, remark.graph, remark.hint) for remark in pass_.remarks] == [
        ("changed", "g", "left alone what @r covers")
    ]
    assert pass_.remarks[0].message == "identity(x) -> x (2 times)"


def test_a_region_of_another_graph_holds_nothing() -> None:
    text = COVERED + REGION.replace("NODES", "").replace("@g", "@h") + graph("%z = neg %x : tensor<2x3xfp32>").replace(
        "@g", "@h"
    )
    assert "identity" not in cleaned(Canonicalize(), text)


# Equal nodes


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("exp %x", "exp %x", True),
        ("exp %x", "neg %x", False),
        ("add %x, %y", "add %y, %x", True),
        ("sub %x, %y", "sub %y, %x", False),
        ("max %x, %y", "max %y, %x", False),
        ("softmax %x", "softmax %x {axis = -1}", True),
        ("softmax %x {axis = 0}", "softmax %x {axis = -1}", False),
        ("softcap %x {cap = 2.0}", "softcap %x {cap = 2.5}", False),
        ("constant {value = 0.0}", "constant {value = -0.0}", False),
        ("constant {value = nan}", "constant {value = nan}", True),
        ("parameter", "parameter", False),
    ],
)
def test_which_nodes_compute_the_same(first: str, second: str, equal: bool) -> None:
    type_ = "tensor<2x3xfp32>"
    text = graph(
        f"%a = {first} : {type_}\n%b = {second} : {type_}\n%z = sub %a, %b : {type_}", f"%x: {type_}, %y: {type_}"
    )
    after = cleaned(CSE(), text)
    assert ("%z = sub %a, %a" in after) == equal
    assert ("%b" in after) != equal


def test_equal_nodes_are_found_through_equal_operands_and_returned_ones_stay() -> None:
    before = graph("""
        %a = exp %x : tensor<2x3xfp32>
        %b = exp %x : tensor<2x3xfp32>
        %c = neg %a : tensor<2x3xfp32>
        %z = neg %b : tensor<2x3xfp32>
        %d = abs %z : tensor<2x3xfp32>
    """, returned="%d, %z")  # fmt: skip
    assert cleaned(CSE(), before) == graph("""
        %a = exp %x : tensor<2x3xfp32>
        %c = neg %a : tensor<2x3xfp32>
        %z = neg %a : tensor<2x3xfp32>
        %d = abs %c : tensor<2x3xfp32>
    """, returned="%d, %z")  # fmt: skip


def test_equal_ops_of_other_result_types_stay_apart() -> None:
    before = graph("%a = cast %x : tensor<2x3xfp16>\n%b = cast %x : tensor<2x3xbf16>", returned="%a, %b")
    assert cleaned(CSE(), before) == before


def test_nodes_of_several_results_are_merged() -> None:
    types = "tensor<2x1xfp32>, tensor<2x2xfp32>"
    before = graph(f"""
        %a, %b = split %x {{axis = 1, sizes = [1, 2]}} : {types}
        %c, %d = split %x {{axis = 1, sizes = [1, 2]}} : {types}
        %z = add %a, %d : tensor<2x2xfp32>
    """)
    assert "%z = add %a, %b" in cleaned(CSE(), before)


# Canonical form: (body, the operand that `%z = neg` takes afterwards or the whole body afterwards)

T = "tensor<2x3xfp32>"
PASS_THROUGH = [
    f"%y = identity %x : {T}",
    f"%y = dropout %x {{p = 0.1}} : {T}",
    f"%y = cast %x : {T}",
    f"%y = concat %x {{axis = 0}} : {T}",
    f"%y = split %x {{axis = 0}} : {T}",
    f"%y = repeat %x {{axis = 0, count = 1}} : {T}",
    f"%y = tile %x {{repeats = [1, 1]}} : {T}",
    f"%y = clip %x : {T}",
    f"%y = slice %x {{starts = [0], ends = [9], axes = [1]}} : {T}",
    f"%y = expand %x {{shape = [1, 3]}} : {T}",
    f"%y = reshape %x {{shape = [2, -1]}} : {T}",
    f"%y = flatten %x : {T}",
    f"%y = transpose %x {{perm = [0, 1]}} : {T}",
    f"%y = where %c, %x, %x : {T}",
    f"%y = max %x, %x : {T}",
    f"%y = min %x, %x : {T}",
    f"%n = neg %x : {T}\n%y = neg %n : {T}",
    f"%n = transpose %x {{perm = [1, 0]}} : tensor<3x2xfp32>\n%y = transpose %n {{perm = [1, 0]}} : {T}",
    f"%n = unsqueeze %x {{axes = [0]}} : tensor<1x2x3xfp32>\n%y = squeeze %n {{axes = [0]}} : {T}",
    f"%n = cast %x : tensor<2x3xfp64>\n%y = cast %n : {T}",
    *(
        f"%k = constant {{value = {value}}} : tensor<fp32>\n%y = {op} : {T}"
        for op, value in [
            ("add %x, %k", "-0.0"), ("add %k, %x", "-0.0"), ("sub %x, %k", "0.0"), ("mul %x, %k", "1.0"),
            ("mul %k, %x", "1"), ("div %x, %k", "1.0"), ("min %x, %k", "inf"), ("max %k, %x", "-inf"),
        ]
    ),
    f"%k = constant {{value = [1.0, 1.0, 1.0]}} : tensor<3xfp32>\n%y = mul %x, %k : {T}",
    f"%k = full {{value = 1.0}} : tensor<1x3xfp32>\n%y = mul %x, %k : {T}",
    f"%k = constant {{value = true}} : tensor<3xi1>\n%y = mask %x, %k : {T}",
    f"%k = constant {{value = true}} : tensor<i1>\n%o = exp %x : {T}\n%y = where %k, %x, %o : {T}",
    f"%k = constant {{value = false}} : tensor<i1>\n%o = exp %x : {T}\n%y = where %k, %o, %x : {T}",
]  # fmt: skip


@pytest.mark.parametrize("body", PASS_THROUGH)
def test_x_comes_through(body: str) -> None:
    params = f"%x: {T}, %c: tensor<2x3xi1>"
    after = cleaned(Canonicalize(), graph(f"{body}\n%z = neg %y : {T}", params))
    assert after == graph(f"%z = neg %x : {T}", params)


NOT_EXACT = [
    "%k = constant {value = 0.0} : tensor<fp32>\n%y = add %x, %k : {T}",
    "%k = constant {value = -0.0} : tensor<fp32>\n%y = sub %x, %k : {T}",
    "%k = constant {value = 0.0} : tensor<fp32>\n%y = sub %k, %x : {T}",
    "%k = constant {value = 0.0} : tensor<fp32>\n%y = mul %x, %k : {T}",
    "%k = constant {value = 1.0} : tensor<fp32>\n%y = div %k, %x : {T}",
    "%k = constant {value = 1.0} : tensor<fp32>\n%y = pow %x, %k : {T}",
    "%k = constant {value = [1.0, 1.0, 2.0]} : tensor<3xfp32>\n%y = mul %x, %k : {T}",
    "%k = constant {value = inf} : tensor<fp32>\n%y = max %x, %k : {T}",
    "%k = relu %x : {T}\n%y = relu %k : {T}",
    "%k = cast %x : tensor<2x3xfp16>\n%y = cast %k : {T}",
    "%y = slice %x {starts = [-1], ends = [-9], axes = [1], steps = [-1]} : {T}",
    "%k = constant {value = true} : tensor<3xi1>\n%y = mask %x {kind = \"causal\", offset = 0} : {T}",
]


@pytest.mark.parametrize("body", NOT_EXACT)
def test_what_would_change_a_bit_stays(body: str) -> None:
    after = cleaned(Canonicalize(), graph(f"{body}\n%z = neg %y : {T}".replace("{T}", T)))
    assert "%z = neg %y" in after


def test_ones_that_broadcast_x_are_no_neutral_operand() -> None:
    body = "%k = constant {value = 1.0} : tensor<4x2x3xfp32>\n%y = mul %x, %k : tensor<4x2x3xfp32>"
    before = graph(f"{body}\n%z = neg %y : tensor<4x2x3xfp32>")
    assert cleaned(Canonicalize(), before) == before


def test_a_returned_identity_keeps_its_name_and_its_users_take_x() -> None:
    before = graph(f"%y = identity %x : {T}\n%z = neg %y : {T}", returned="%y, %z")
    assert cleaned(Canonicalize(), before) == before.replace("neg %y", "neg %x")


def test_a_returned_node_goes_on_changing_where_a_value_stands_for_its_other_uses() -> None:
    before = graph(
        """
        %c = constant {value = 2.0} : tensor<fp32>
        %y = identity %c : tensor<fp32>
        %z = exp %y : tensor<fp32>
    """, returned="%y, %z",
    )  # fmt: skip
    after = before.replace("identity %c", "constant {value = 2.0}").replace("exp %y", "exp %c")
    assert cleaned(Canonicalize(), before) == after


@pytest.mark.parametrize(
    ("params", "body", "after"),
    [
        (
            "%x: tensor<2x3x4xfp32>",
            "%a = transpose %x {perm = [1, 2, 0]} : tensor<3x4x2xfp32>\n"
            "%z = transpose %a {perm = [0, 2, 1]} : tensor<3x2x4xfp32>",
            "%z = transpose %x {perm = [1, 0, 2]} : tensor<3x2x4xfp32>",
        ),
        (
            "%x: tensor<2x3x4xfp32>",
            "%a = reshape %x {shape = [0, -1]} : tensor<2x12xfp32>\n"
            "%b = unsqueeze %a {axes = [1]} : tensor<2x1x12xfp32>\n"
            "%z = reshape %b {shape = [4, 0, 6]} : tensor<4x1x6xfp32>",
            "%z = reshape %x {shape = [4, 1, 6]} : tensor<4x1x6xfp32>",
        ),
        (
            "%x: tensor<2x0xfp32>",
            "%a = reshape %x {shape = [0]} : tensor<0xfp32>".replace("[0]", "[0], allow_zero = true")
            + "\n%z = reshape %a {shape = [3, 0], allow_zero = true} : tensor<3x0xfp32>",
            "%z = reshape %x {shape = [3, 0], allow_zero = true} : tensor<3x0xfp32>",
        ),
        (
            "%x: tensor<(batch)x(seq)x4xfp32>",
            "%a = unsqueeze %x {axes = [0]} : tensor<1x(batch)x(seq)x4xfp32>\n"
            "%z = squeeze %a {axes = [0]} : tensor<(batch)x(seq)x4xfp32>\n"
            "%y = neg %z : tensor<(batch)x(seq)x4xfp32>",
            "%y = neg %x : tensor<(batch)x(seq)x4xfp32>",
        ),
        (
            "%x: tensor<(seq)x4xfp32>",
            "%a = flatten %x {axis = 0} : tensor<1x?xfp32>\n%z = reshape %a {shape = [-1, 2]} : tensor<?x2xfp32>",
            "%z = reshape %x {shape = [-1, 2]} : tensor<?x2xfp32>",
        ),
        (
            "%x: tensor<3xfp32>",
            "%a = expand %x {shape = [1, 3]} : tensor<1x3xfp32>\n"
            "%z = expand %a {shape = [4, 2, 1]} : tensor<4x2x3xfp32>",
            "%z = expand %x {shape = [4, 2, 3]} : tensor<4x2x3xfp32>",
        ),
        (
            "%x: tensor<3xfp8e4m3>",
            "%a = cast %x : tensor<3xfp32>\n%z = cast %a : tensor<3xbf16>",
            "%z = cast %x : tensor<3xbf16>",
        ),
        (
            "%x: tensor<3xi8>",
            "%a = cast %x : tensor<3xi32>\n%z = cast %a : tensor<3xi1>",
            "%z = cast %x : tensor<3xi1>",
        ),
        (
            "%x: tensor<3xfp32>",
            "%a = floor %x : tensor<3xfp32>\n%b = floor %a : tensor<3xfp32>\n%z = exp %b : tensor<3xfp32>",
            "%a = floor %x : tensor<3xfp32>\n%z = exp %a : tensor<3xfp32>",
        ),
        (
            "%x: tensor<2x3xfp32>",
            "%s = constant {value = [3, -1]} : tensor<2xi64>\n%z = reshape %x, %s : tensor<3x2xfp32>",
            "%z = reshape %x {shape = [3, -1]} : tensor<3x2xfp32>",
        ),
        (
            "%x: tensor<2x3xfp32>",
            "%a = constant {value = [1]} : tensor<1xi64>\n%b = constant {value = 3} : tensor<1xi64>\n"
            "%z = slice %x, %a, %b, %a, %a : tensor<2x2xfp32>",
            "%z = slice %x {starts = [1], ends = [3], axes = [1], steps = [1]} : tensor<2x2xfp32>",
        ),
    ],
)
def test_chains_become_one_node(params: str, body: str, after: str) -> None:
    returned = "%y" if "%y" in after else "%z"
    assert cleaned(Canonicalize(), graph(body, params, returned)) == graph(after, params, returned)


@pytest.mark.parametrize(
    "body",
    [
        "%a = cast %x : tensor<3xfp64>\n%z = cast %a : tensor<3xi32>",  # out of range the processor decides
        "%a = cast %x : tensor<3xfp16>\n%z = cast %a : tensor<3xfp8e4m3>",  # rounds twice
        "%a = cast %x {saturate = true} : tensor<3xfp8e5m2>\n%z = cast %a : tensor<3xfp32>",
    ],
)
def test_casts_that_stay_apart(body: str) -> None:
    assert cleaned(Canonicalize(), graph(body, "%x: tensor<3xfp32>")) == graph(body, "%x: tensor<3xfp32>")


def test_a_size_name_that_only_an_inner_node_binds_keeps_it() -> None:
    before = graph(
        """
        %a = reshape %x {shape = [-1, 4]} : tensor<(quarter)x4xfp32>
        %b = reshape %a {shape = [4, 3]} : tensor<4x3xfp32>
        %c = constant {value = 1.0} : tensor<(quarter)xfp32>
    """, "%x: tensor<6x2xfp32>", "%b, %c",
    )  # fmt: skip
    assert cleaned(Canonicalize(), before) == before


# Which casts lose nothing, against NumPy's own values


def test_widening_table_against_numpy() -> None:
    import numpy as np

    from mcir.interpreter.numerics import numpy_dtype

    for narrow in DTYPES:
        if DTYPES[narrow].bits > 16:
            continue
        count = 2 if narrow == "i1" else 2 ** DTYPES[narrow].bits
        raw = np.arange(count, dtype=np.uint8 if DTYPES[narrow].bits <= 8 else np.uint16)
        values = raw.view(numpy_dtype(narrow))
        for wide in DTYPES:
            if not holds_all(wide, narrow):
                continue
            with np.errstate(all="ignore"):
                there = values.astype(numpy_dtype(wide)).astype(np.float64)
                assert np.array_equal(values.astype(np.float64), there, equal_nan=True), f"{narrow} in {wide}"
    assert not holds_all("fp16", "bf16")
    assert not holds_all("bf16", "fp16")
    assert not holds_all("i8", "u8")
    assert not holds_all("fp8e4m3", "fp8e5m2")


# Constants


@pytest.mark.parametrize(
    ("type_", "expression", "value"),
    [
        ("tensor<fp32>", "add 0.1 0.2", 0.30000001192092896),
        ("tensor<fp16>", "mul 0.1 3.0", 0.2998046875),
        ("tensor<bf16>", "div 1.0 3.0", 0.333984375),
        ("tensor<fp64>", "add 0.1 0.2", 0.30000000000000004),
        ("tensor<fp32>", "mul 1e38 10.0", float("inf")),
        ("tensor<fp32>", "sub 1.0 1.0", 0.0),
        ("tensor<i8>", "add 100 100", -56),
        ("tensor<u8>", "sub 1 2", 255),
        ("tensor<i32>", "div -7 2", -3),
        ("tensor<i32>", "max -7 2", 2),
    ],
)
def test_constants_are_computed(type_: str, expression: str, value: float) -> None:
    op, left, right = expression.split()
    text = graph(
        f"%a = constant {{value = {left}}} : {type_}\n%b = constant {{value = {right}}} : {type_}\n"
        f"%z = {op} %a, %b : {type_}"
    )
    assert cleaned(Canonicalize(), text) == graph(f"%z = constant {{value = {value!r}}} : {type_}")


@pytest.mark.parametrize(
    "body",
    [
        "%a = constant {value = 1.0} : tensor<fp32>\n%z = exp %a : tensor<fp32>",
        "%a = constant {value = 1.0} : tensor<fp8e4m3>\n%z = neg %a : tensor<fp8e4m3>",
        "%a = constant {value = 1} : tensor<i32>\n%b = constant {value = 0} : tensor<i32>\n"
        "%z = div %a, %b : tensor<i32>",
        "%a = constant {value = 1.0} : tensor<fp32>\n%b = constant {value = 0.0} : tensor<fp32>\n"
        "%z = div %a, %b : tensor<fp32>",
        "%a = constant {value = -1.0} : tensor<fp32>\n%z = sqrt %a : tensor<fp32>",
        "%a = constant {value = nan} : tensor<fp32>\n%z = cast %a : tensor<i32>",
        "%a = constant {value = 300.0} : tensor<fp32>\n%z = cast %a : tensor<i8>",
        "%a = constant {value = 0.0} : tensor<fp32>\n%b = constant {value = -0.0} : tensor<fp32>\n"
        "%z = max %a, %b : tensor<fp32>",
    ],
)
def test_what_is_not_certain_is_not_computed(body: str) -> None:
    assert cleaned(Canonicalize(), graph(body)) == graph(body)


def test_shape_arithmetic_folds_to_the_attribute_of_a_reshape() -> None:
    before = graph("""
        %s = shape %x : tensor<3xi64>
        %i = constant {value = [0]} : tensor<1xi64>
        %b = gather %s, %i : tensor<1xi64>
        %m = constant {value = -1} : tensor<1xi64>
        %t = concat %b, %m {axis = 0} : tensor<2xi64>
        %z = reshape %x, %t : tensor<2x12xfp32>
    """, "%x: tensor<2x3x4xfp32>")  # fmt: skip
    after = "%z = reshape %x {shape = [2, -1]} : tensor<2x12xfp32>"
    assert cleaned(Canonicalize(), before) == graph(after, "%x: tensor<2x3x4xfp32>")


def test_long_constants_are_left_alone() -> None:
    items = ", ".join(f"{at}.0" for at in range(65))
    body = f"%a = constant {{value = [{items}]}} : tensor<65xfp32>\n%z = neg %a : tensor<65xfp32>"
    assert cleaned(Canonicalize(), graph(body)) == graph(body)
    assert "constant {value = [-0.0, -1.0" in cleaned(Canonicalize(fold_limit=65), graph(body))


# The proof of an attention region against its graph

PROVED = ["softcap, bias, mask", "dead rows zero", "named sizes", "rounded scores", "grouped"]


def cluttered(name: str) -> MCModule:
    """A sample whose graph takes each input by a detour, twice, and has dead nodes; its region is lowered."""
    module = sample_module(SAMPLES[name])
    graph = module.graphs[0]
    head, *body = print_module(MCModule(graphs=[graph])).splitlines()
    detour = []
    for value in graph.inputs:
        name, perm = value.name, list(range(len(value.shape)))[::-1]
        there = type_text(TensorType(value.shape[::-1], value.dtype))
        back = type_text(value.type)
        for copy in "abc":
            detour.append(f"%{name}_{copy}t = transpose %{name} {{perm = {perm}}} : {there}")
            detour.append(f"%{name}_{copy}b = transpose %{name}_{copy}t {{perm = {perm}}} : {back}")
            detour.append(f"%{name}_{copy} = identity %{name}_{copy}b : {back}")
        body = [re.sub(rf"%{name}(?![\w.])", f"%{name}_{'ab'[at % 2]}", line) for at, line in enumerate(body)]
    return MCModule(module.regions, parse_module("\n".join([head, *detour, *body])).graphs)


@pytest.mark.parametrize("passes", [[DCE()], [CSE()], [Canonicalize()], [Canonicalize(), CSE(), DCE()]])
@pytest.mark.parametrize("name", PROVED)
def test_a_region_is_proved_against_the_cleaned_graph(passes: list[ModulePass], name: str) -> None:
    """The graph is cleaned without its region, so that nothing is left alone, and the proof is run on both."""
    module = cluttered(name)
    before = len(module.graphs[0].nodes)
    bare = MCModule(graphs=module.graphs)
    for pass_ in passes:
        bare = pass_(bare)
    assert len(bare.graphs[0].nodes) < before
    (result,) = prove(MCModule(module.regions, bare.graphs))
    assert result.status == "proved", str(result)


@pytest.mark.parametrize("name", PROVED)
def test_a_module_with_its_region_is_proved_after_all_passes(name: str) -> None:
    """What the region covers stays, detours and all; only what leads nowhere goes."""
    module = cluttered(name)
    lines = print_module(module).splitlines()
    for pass_ in (Canonicalize(), CSE(), DCE()):
        module = pass_(module)
    kept = print_module(module).splitlines()
    used = {word for line in lines for word in re.findall(r"%\w+_[abc][tb]?(?! =)\b", line.partition("= ")[2])}
    dead = [line for line in lines if (match := re.match(r"\s*(%\w+_[abc]) =", line)) and match[1] not in used]
    assert dead
    assert not set(dead) & set(kept)
    assert [line for line in kept if line not in lines] == []
    assert [result.status for result in prove(module)] == ["proved"]


# Cost


@pytest.mark.parametrize("pass_", [DCE(), CSE(), Canonicalize()])
def test_long_chains_take_linear_time_and_no_stack(pass_: ModulePass) -> None:
    def seconds(count: int) -> float:
        chain = [f"%v{at + 1} = transpose %v{at} {{perm = [1, 0]}} : tensor<2x2xfp32>" for at in range(count)]
        module = parse_module(graph("\n".join(chain), "%v0: tensor<2x2xfp32>", f"%v{count}"))
        begin = time.process_time()
        pass_(module)
        return time.process_time() - begin

    seconds(1000)
    small, large = max(seconds(2000), 1e-3), seconds(20_000)
    assert large < 40 * small


def test_a_long_chain_becomes_one_node() -> None:
    chain = [f"%v{at + 1} = transpose %v{at} {{perm = [1, 0]}} : tensor<2x2xfp32>" for at in range(5001)]
    module = Canonicalize()(parse_module(graph("\n".join(chain), "%v0: tensor<2x2xfp32>", "%v5001")))
    assert print_module(module) == graph(
        "%v5001 = transpose %v0 {perm = [1, 0]} : tensor<2x2xfp32>", "%v0: tensor<2x2xfp32>", "%v5001"
    )
