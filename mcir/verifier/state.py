"""Rules of phases and states of a tile region; `analysis/phases.py` finds the breaches."""

from __future__ import annotations

from collections.abc import Iterator

from mcir.analysis.phases import infer_nests
from mcir.regions import Region
from mcir.verifier.rules import Finding, Unit, also, declare

STATE_RULES: dict[str, str] = {
    "state.single": "A score has one update_softmax: its max and sum are carried once.",
    "state.shared": "Max, sum and accumulated output of one attention go with one score and one update_softmax.",
    "state.stream": "What updates a state depends on the streamed axis.",
    "state.streamed": "No state is read together with a streamed value: it is final after the last key tile only.",
    "state.escape": "A value of the body leaves it only through a state.",
    "state.finalise": "A carried output is finalised once, by a store_tile; max and sum go to a store_lse only.",
    "state.dtype": "States and the scores that update them are in fp32 or wider.",
    "axes.operands": "The axes of tiles fit: scores are [q k], what is accumulated [k e], what is stored [q e].",
    "region.binding": "A load names an input of its region, a store an output.",
    "region.layout": "The layout of a load or store is that of its tensor and fits a tile.",
}

for _id, _title in STATE_RULES.items():
    declare(_id, _title)


@also("state.shared", scope="unit")
def phases_and_states(unit: Unit) -> Iterator[Finding]:
    """All problems of all nests of a region; each counts under its own rule."""
    if unit.is_graph or not isinstance(unit.top, Region):
        return
    for nest in infer_nests(unit.top):
        for problem in nest.problems:
            yield Finding(problem.message, problem.node, hint=problem.hint, rule=problem.rule)
