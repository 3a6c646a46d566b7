"""What is not attention, or cannot be kept as one: no region, and a remark with the rule, the node and a hint."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mcir.analysis.attention.rules import RULES
from mcir.values import MCValue
from tests.unit.attention_graphs import DISTINCT, EQUAL, INF, Writer, detected

# A case returns the graph's outputs, the rule that must fail, and the node that the remark must name.
Build = Callable[[Writer], tuple[list[MCValue], str, str]]
CASES: dict[str, Build] = {}


def case(build: Build) -> Build:
    CASES[build.__name__] = build
    return build


@case
def softmax_down_the_queries(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    return [w.attend(w.scores(q, k), v, axis=-2)], "softmax-axis", "O"


@case
def softmax_over_heads(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    return [w.attend(w.scores(q, k), v, axis=1)], "softmax-axis", "P"


@case
def transposed_probabilities(w: Writer) -> tuple[list[MCValue], str, str]:
    """P^T V: the queries are summed."""
    q, k = w.input("Q", "b h q d"), w.input("K", "b h k d")
    probs = w.op("softmax", w.scores(q, k))
    return [w.op("matmul", w.transposed(probs), w.input("V", "b h q e"), name="O")], "softmax-axis", "O"


@case
def scores_are_an_input(w: Writer) -> tuple[list[MCValue], str, str]:
    scores, v = w.input("A", "b h q k"), w.input("V", "b h k e")
    return [w.attend(w.scaled(scores, 0.5), v)], "no-contraction", "P"


@case
def scores_are_a_weight(w: Writer) -> tuple[list[MCValue], str, str]:
    """Synthesizer."""
    weight = w.op("parameter", to=(w.dims("1 h q k"), "fp32"), name="R")
    return [w.attend(weight, w.input("V", "b h k e"))], "no-contraction", "R"


@case
def efficient_attention(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    context = w.op("matmul", w.transposed(w.op("softmax", k, axis=-2, name="Pk")), v)
    return [w.op("matmul", w.op("softmax", q, name="Pq"), context)], "no-contraction", "Pk"


@case
def classifier(w: Writer) -> tuple[list[MCValue], str, str]:
    x, weight = w.input("X", "b q d"), w.op("parameter", to=(w.dims("d k"), "fp32"))
    return [w.op("softmax", w.op("matmul", x, weight), name="P")], "no-value", "P"


@case
def router_over_experts(w: Writer) -> tuple[list[MCValue], str, str]:
    x, weight = w.input("X", "q d"), w.op("parameter", to=(w.dims("d k"), "fp32"), name="W")
    return [w.attend(w.op("matmul", x, weight, name="S"), w.input("experts", "k e"))], "weight", "S"


@case
def router_with_a_bias_over_batches(w: Writer) -> tuple[list[MCValue], str, str]:
    """The weight is an input of the graph, as in exports without data: its missing batch axis tells."""
    x, weight = w.input("X", "b q d"), w.input("W", "d k")
    logits = w.op("add", w.op("matmul", x, weight, name="S"), w.input("bias", "k"))
    return [w.attend(logits, w.input("outputs", "b k e"))], "weight", "S"


@case
def keys_are_one_number(w: Writer) -> tuple[list[MCValue], str, str]:
    q, v = w.input("Q", "b h q d"), w.input("V", "b h k e")
    return [w.attend(w.op("matmul", q, w.const(0.5, shape=w.dims("b h d k")), name="S"), v)], "weight", "S"


@case
def scale_is_infinite(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    return [w.attend(w.scores(w.op("mul", q, w.const(INF), name="scaled"), k), v)], "scale", "scaled"


@case
def experts_of_each_token(w: Writer) -> tuple[list[MCValue], str, str]:
    """sum over experts of p[b,q,k] * y[b,q,k,e]: V varies with the query."""
    x, weight = w.input("X", "b q d"), w.input("W", "b k d")
    probs = w.op("softmax", w.scores(x, weight))
    out = w.op("einsum", probs, w.input("Y", "b q k e"), equation="bqk,bqke->bqe", name="O")
    return [out], "value-labels", "O"


@case
def pooling_by_a_learned_query(w: Writer) -> tuple[list[MCValue], str, str]:
    x, weight = w.input("X", "b k d"), w.input("W", "d 1")
    probs = w.op("softmax", w.op("matmul", x, weight, name="S"), axis=1)
    return [w.op("matmul", w.transposed(probs), x)], "weight", "S"


@case
def probabilities_are_an_output(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    out = w.attend(w.scores(q, k), v)
    probs = next(node for node in w.graph.nodes if node.name == "P").outputs[0]
    return [out, probs], "single-use", "P"


@case
def probabilities_are_averaged_too(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    probs = w.op("softmax", w.scores(q, k))
    mean = w.op("reduce_mean", probs, axes=[1], keepdims=False, name="mean")
    return [w.op("matmul", probs, v), mean], "single-use", "mean"


@case
def two_values_for_one_softmax(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    probs = w.op("softmax", w.scores(q, k))
    return [w.op("matmul", probs, v), w.op("matmul", probs, w.input("V2", "b h k e"), name="O2")], "single-use", "O2"


@case
def scores_are_an_output(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    raw = w.op("matmul", q, w.transposed(k), name="S")
    return [w.attend(w.scaled(raw, 0.5), v), raw], "single-use", "S"


@case
def log_probabilities_times_value(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    return [w.op("matmul", w.op("log_softmax", w.scores(q, k), axis=-1, name="L"), v)], "log-softmax", "L"


@case
def attention_sink(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    joined = w.op("concat", w.scores(q, k), w.input("sink", "b h q 1"), axis=-1, name="joined")
    kept = w.op("slice", w.op("softmax", joined), starts=[0], ends=[-1], axes=[-1])
    return [w.op("matmul", kept, v)], "sink", "joined"


@case
def sink_with_a_value_of_its_own(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k = w.input("Q", "b h q d"), w.input("K", "b h k d")
    joined = w.op("concat", w.input("sink", "b h q 1"), w.scores(q, k), axis=-1, name="joined")
    w.sizes["n"] = w.sizes["k"] + 1  # type: ignore[operator]
    return [w.attend(joined, w.input("V", "b h n e"))], "sink", "joined"


@case
def scores_through_a_slice(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k = w.input("Q", "b h q d"), w.input("K", "b h k d")
    part = w.op("slice", w.scores(q, k), starts=[0], ends=[2], axes=[-1], name="part")
    w.sizes["n"] = 2
    return [w.attend(part, w.input("V", "b h n e"))], "score-chain", "part"


@case
def bare_exponentials(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    power = w.op("exp", w.scores(q, k), name="power")
    total = w.op("reduce_sum", power, axes=[-1], keepdims=True)
    return [w.op("matmul", w.op("div", power, total), v)], "softmax-max", "power"


def decomposed(
    w: Writer, top_axis: int = -1, sum_axis: int = -1, other: str = "", keep_sum: bool = True
) -> list[MCValue]:
    """max, sub, exp, sum, div with one part that may be wrong; `other` names the part that is of another value."""
    q, k, v = w.qkv()
    scores = w.scores(q, k)
    stranger = w.input("stranger", "b h q k")
    top = w.op("reduce_max", stranger if other == "max" else scores, axes=[top_axis], keepdims=True, name="top")
    power = w.op("exp", w.op("sub", scores, top), name="power")
    total = w.op("reduce_sum", power, axes=[sum_axis], keepdims=keep_sum, name="total")
    if not keep_sum:
        total = w.op("unsqueeze", total, axes=[2])
    numerator = w.op("exp", stranger) if other == "numerator" else power
    return [w.op("matmul", w.op("div", numerator, total, name="P"), v, name="O")]


@case
def exponentials_are_used_elsewhere(w: Writer) -> tuple[list[MCValue], str, str]:
    outputs = decomposed(w)
    power = next(node for node in w.graph.nodes if node.name == "power").outputs[0]
    return [*outputs, w.op("reduce_mean", power, axes=[-1], name="mean")], "single-use", "mean"


@case
def row_sum_is_an_output(w: Writer) -> tuple[list[MCValue], str, str]:
    outputs = decomposed(w)
    return [*outputs, next(node for node in w.graph.nodes if node.name == "total").outputs[0]], "single-use", "total"


@case
def maximum_of_another_value(w: Writer) -> tuple[list[MCValue], str, str]:
    return decomposed(w, other="max"), "softmax-parts", "top"


@case
def maximum_over_another_axis(w: Writer) -> tuple[list[MCValue], str, str]:
    return decomposed(w, top_axis=-2), "softmax-parts", "top"


@case
def numerator_of_another_value(w: Writer) -> tuple[list[MCValue], str, str]:
    return decomposed(w, other="numerator"), "softmax-parts", "total"


@case
def maximum_and_sum_over_the_queries(w: Writer) -> tuple[list[MCValue], str, str]:
    return decomposed(w, top_axis=2, sum_axis=2), "softmax-axis", "O"


@case
def value_instead_of_constant_as_fill(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    fill = w.input("fill", "b h q k")
    masked = w.op("where", w.input("M", "q k", "i1"), w.scores(q, k), fill, name="masked")
    return [w.attend(masked, v)], "select-fill", "masked"


@case
def bias_with_a_further_axis(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv("b 1 q d", "b 1 k d", "b h k e")
    wide = w.op("add", w.scores(q, k), w.input("bias", "b h q k"), name="wide")
    return [w.attend(wide, v)], "broadcast", "wide"


@case
def probabilities_with_trained_dropout(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    dropped = w.op("mul", w.op("softmax", w.scores(q, k)), w.input("kept", "b h q k"), name="dropped")
    return [w.op("matmul", dropped, v)], "post-softmax", "dropped"


@case
def probabilities_rounded_in_passing(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    probs = w.cast(w.op("softmax", w.scores(q, k)), "fp16")
    wide = w.op("cast", probs, to=(probs.shape, "fp32"), name="wide")
    return [w.op("matmul", wide, v)], "post-softmax", "wide"


@case
def guard_that_looks_at_another_mask(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv()
    mask, other = w.input("M", "q k", "i1"), w.input("N", "q k", "i1")
    probs = w.op("softmax", w.op("where", mask, w.scores(q, k), w.const(-INF)))
    some = w.cast(w.op("reduce_max", w.cast(other, "i32"), axes=[-1], keepdims=True), "i1")
    safe = w.op("where", some, probs, w.const(0.0), name="safe")
    return [w.op("matmul", safe, v)], "post-softmax", "safe"


@case
def two_contracted_axes(w: Writer) -> tuple[list[MCValue], str, str]:
    w.sizes["c"] = 2
    q, k, v = w.qkv("b h q c d", "b h k c d")
    scores = w.op("einsum", q, k, equation="bhqcd,bhkcd->bhqk", name="S")
    return [w.attend(scores, v)], "contraction-labels", "S"


@case
def no_query_axis(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k, v = w.qkv("b h d")
    scores = w.op("einsum", q, k, equation="bhd,bhkd->bhk", name="S")
    out = w.op("einsum", w.op("softmax", scores), v, equation="bhk,bhke->bhe")
    return [out], "query-axis", "S"


@case
def value_without_an_axis_of_its_own(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k = w.input("Q", "b h q d"), w.input("K", "b h k d")
    return [w.op("matmul", w.op("softmax", w.scores(q, k)), w.input("V", "k"), name="O")], "value-labels", "O"


@case
def opaque_op_behind_the_softmax(w: Writer) -> tuple[list[MCValue], str, str]:
    q, k = w.input("Q", "b h q d"), w.input("K", "b h k d")
    top = w.op("onnx.TopK", w.op("softmax", w.scores(q, k)), to=(w.dims("b h q 1"), "fp32"), name="top")
    return [top], "no-value", "top"


@pytest.mark.parametrize("sizes", [DISTINCT, EQUAL], ids=["distinct", "equal"])
@pytest.mark.parametrize("name", CASES)
def test_declined(name: str, sizes: dict[str, int]) -> None:
    writer = Writer(sizes)
    outputs, rule, node = CASES[name](writer)
    module, remarks = detected(writer.module(*outputs))
    assert module.regions == []
    first = remarks[0]
    assert (first.status, first.rule, first.node) == ("declined", rule, node), first.message
    assert first.hint == RULES[rule] and first.graph == "g"


def test_division_by_the_sums_of_other_rows() -> None:
    """e V / sum(e) with heads and queries of the product exchanged: only the labels tell, all sizes are equal."""
    w = Writer(EQUAL)
    q, k, v = w.qkv()
    scores = w.scores(q, k)
    power = w.op("exp", w.op("sub", scores, w.op("reduce_max", scores, axes=[-1], keepdims=True)))
    total = w.op("reduce_sum", power, axes=[-1], keepdims=True)
    out = w.op("div", w.transposed(w.op("matmul", power, v), 0, 2, 1, 3), total, name="O")
    module, remarks = detected(w.module(out))
    assert module.regions == []
    assert [(remark.rule, remark.node) for remark in remarks] == [("softmax-parts", "O")]


def test_every_softmax_has_its_say() -> None:
    """Three softmaxes, three remarks in graph order: attention, a router, attention."""
    w = Writer(EQUAL)
    q, k, v = w.qkv()
    first = w.op("matmul", w.op("softmax", w.scores(q, k), name="A"), v)
    router = w.op("softmax", first, name="B")
    second = w.op("matmul", w.op("softmax", w.scores(first, k), name="C"), first)
    module, remarks = detected(w.module(router, second))
    assert [(remark.status, remark.node) for remark in remarks] == [("formed", "A"), ("declined", "B"), ("formed", "C")]
    assert [region.name for region in module.regions] == ["attention_region", "attention_region_1"]
    assert [remark.region for remark in remarks] == ["attention_region", "", "attention_region_1"]
    assert module.regions[1].attrs["v_name"] == first.name


def test_a_graph_without_softmax_is_told_so() -> None:
    w = Writer()
    q, k, _ = w.qkv()
    _, remarks = detected(w.module(w.scores(q, k)))
    assert [(remark.rule, remark.graph, remark.node) for remark in remarks] == [("no-softmax", "g", "")]


def test_a_fused_operator_is_told_so() -> None:
    w = Writer()
    out = w.op("com.microsoft.MultiHeadAttention", *w.qkv(), to=(w.dims("b h q e"), "fp32"), name="fused")
    module, remarks = detected(w.module(out))
    assert module.regions == []
    assert [(remark.rule, remark.node) for remark in remarks] == [("fused-op", "fused")]


def test_a_second_run_adds_nothing() -> None:
    w = Writer()
    q, k, v = w.qkv()
    once, _ = detected(w.module(w.attend(w.scores(q, k), v)))
    twice, _ = detected(once)
    assert len(twice.regions) == 1 and twice == once


def test_dead_code_and_shapes_are_no_uses() -> None:
    """A node that reaches no output, and one that reads the shape alone, do not hold up a region."""
    w = Writer()
    q, k, v = w.qkv()
    scores = w.scores(q, k)
    w.op("reduce_max", scores, axes=[-1], keepdims=True, name="unused")
    length = w.op("shape", scores, start=3, end=4)
    module, _ = detected(w.module(w.attend(scores, v), length))
    assert len(module.regions) == 1


def test_regions_take_free_names() -> None:
    w = Writer()
    q, k, v = w.qkv()
    w.graph.name = "attention_region"
    module, _ = detected(w.module(w.attend(w.scores(q, k), v)))
    assert [region.name for region in module.regions] == ["attention_region_1"]
