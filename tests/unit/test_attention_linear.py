"""Detection costs time linear in the graph: look-ups are counted, so that no machine's speed matters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mcir.analysis.shadow import Shadow
from mcir.nodes import MCNode
from mcir.values import MCValue
from tests.unit.attention_graphs import DISTINCT, Writer, detected


def many_attentions(w: Writer, count: int) -> list[MCValue]:
    """Chained attentions that share K and its transpose."""
    q, k, v = w.qkv(v="b h k d")
    kt = w.transposed(k)
    for _ in range(count):
        q = w.op("matmul", w.op("softmax", w.scaled(w.op("matmul", q, kt), 0.5)), v)
    return [q]


def long_chain_with_many_ends(w: Writer, count: int) -> list[MCValue]:
    """One chain of steps on scores, and a softmax at each of them."""
    q, k, v = w.qkv()
    scores, outputs = w.scores(q, k), []
    for _ in range(count):
        scores = w.op("tanh", scores)
        outputs.append(w.op("matmul", w.op("softmax", scores), v))
    return outputs


def sums_of_products(w: Writer, count: int) -> list[MCValue]:
    """Every term of one long sum could be the scores."""
    q, k, v = w.qkv()
    scores = w.scores(q, k)
    for _ in range(count):
        scores = w.op("add", scores, w.scores(q, k))
    return [w.op("matmul", w.op("softmax", scores), v)]


def layouts_in_front_of_shared_keys(w: Writer, count: int) -> list[MCValue]:
    """All attentions take K behind one long chain of transposes."""
    q, k, v = w.qkv()
    for _ in range(count):
        k = w.transposed(k)
    k = k if count % 2 else w.transposed(k)
    return [w.op("matmul", w.op("softmax", w.op("matmul", q, k)), v) for _ in range(count)]


@pytest.mark.parametrize(
    "build", [many_attentions, long_chain_with_many_ends, sums_of_products, layouts_in_front_of_shared_keys]
)
def test_twice_the_graph_costs_twice_the_look_ups(
    build: Callable[[Writer, int], list[MCValue]], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    plain = Shadow.producer_of

    def counted(shadow: Shadow, value: MCValue) -> MCNode | None:
        nonlocal looked
        looked += 1
        return plain(shadow, value)

    monkeypatch.setattr(Shadow, "producer_of", counted)
    costs = []
    for count in (60, 120, 240):
        w = Writer(DISTINCT)
        module = w.module(*build(w, count))
        looked = 0
        detected(module)
        costs.append(looked)
    assert costs[0] > 60
    assert costs[2] - costs[1] <= 2.1 * (costs[1] - costs[0]) + 50
