"""canonicalize: identities, layout chains, neutral operands, casts and small constants of graphs, simplified.

    %a = transpose %x {perm = [1, 0]} : tensor<8x4xfp16>
    %b = transpose %a {perm = [1, 0]} : tensor<4x8xfp16>      ->      %c = exp %x : tensor<4x8xfp16>
    %i = mul %b, %one : tensor<4x8xfp16>
    %c = exp %i : tensor<4x8xfp16>

The rules stand in `canonical_rules.py`. Every rule is exact: the graph's outputs keep every bit, for NaN, infinities
and -0.0 too (one NaN is as good as another). A node either changes in place and keeps its name, or its uses go to an
operand of it; nodes that lose their last use are removed. The graph's inputs and outputs keep their names, and what a
region of the module names or covers stays as it is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from mcir.analysis.holds import Holds, find_holds
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.passes.base import ModulePass, option, register_pass
from mcir.passes.canonical_rules import FOLDED, RULES, SHAPE_KNOWN, Facts
from mcir.passes.dce import changed, counted, refresh_uses, remove_dead
from mcir.passes.statistic import Statistic, StatisticBy
from mcir.values import MCValue


@register_pass
@dataclass
class Canonicalize(ModulePass):
    """Simplifies every graph; see the head of this file. One sweep, linear in the module.

    fold_limit: constants of more elements are not computed with (one that repeats one element counts as one).
    """

    name: ClassVar[str] = "canonicalize"
    summary: ClassVar[str] = "identities, layout chains, neutral operands and small constants are simplified"
    changes_graphs: ClassVar[bool] = True

    fold_limit: int = option(64, "elements of a constant that is computed with")

    rewrites = StatisticBy("rule", "rewrites applied")
    folded = Statistic("nodes computed, so that they are constants now")
    removed = Statistic("nodes removed, since nothing uses them any more")

    def run(self, module: MCModule) -> MCModule:
        holds = find_holds(module)
        for graph in module.graphs:
            applied, removed = simplify(graph, holds[graph.name], self.fold_limit)
            self.rewrites.update(applied)
            self.folded += applied[FOLDED] + applied[SHAPE_KNOWN]
            self.removed += removed
            if applied:
                message = ", ".join(f"{algebra} ({counted(count, 'time')})" for algebra, count in applied.items())
                self.remarks.append(changed(self.name, graph, holds[graph.name], message))
        return module


def simplify(graph: SemanticGraph, holds: Holds, fold_limit: int) -> tuple[Counter[str], int]:
    """Simplifies `graph`; says which rules, by their algebra, were applied how often, and how many nodes went."""
    sweep = _Sweep(graph, holds, fold_limit)
    for node in graph.nodes:
        if node.name not in holds.nodes:
            sweep.rewrite(node)
        sweep.facts.enter(node)
    if not sweep.applied:
        return sweep.applied, 0
    refresh_uses(graph.inputs, graph.nodes)
    return sweep.applied, remove_dead(graph, holds)


class _Sweep:
    """One way through a graph, from its inputs on: what stands for which value, and the rules applied so far."""

    def __init__(self, graph: SemanticGraph, holds: Holds, fold_limit: int) -> None:
        self.facts = Facts(graph, fold_limit)
        self.applied: Counter[str] = Counter()
        self._holds = holds
        self._returned = {value.name for value in graph.outputs}
        self._stands_for: dict[str, MCValue] = {}

    def rewrite(self, node: MCNode) -> None:
        """Applies rules until none fits: each takes `node` nearer to the inputs, or an operand off, or folds it.

        A node whose result is returned stays also where a value stands for its other uses, and goes on changing.
        """
        node.inputs[:] = [self._stands_for.get(value.name, value) for value in node.inputs]
        again = True
        while again:
            again = False
            for algebra, rule in RULES.get(node.op, ()):
                answer = rule(node, self.facts)
                if answer is True:
                    self.applied[algebra] += 1
                    again = True
                    break
                if isinstance(answer, MCValue) and self._may_stand(answer, node.outputs[0]):
                    self._stands_for[node.outputs[0].name] = answer
                    self.applied[algebra] += 1
                    if node.outputs[0].name not in self._returned:
                        return

    def _may_stand(self, value: MCValue, result: MCValue) -> bool:
        """Whether `value` can serve the uses of `result`, if there are some and nothing serves them yet."""
        taken = result.name in self._holds.values or result.name in self._stands_for
        return bool(result.consumers) and not taken and value.type == result.type
