"""Regions that are alike share a good verdict only: beside any other region a fault is found as it is alone."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mcir.verifier.alike as alike
from mcir.diagnostics import MCIRError
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.attention_pattern import run_attention_pattern_pass
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.regions import Region
from mcir.types import Symbol
from mcir.verifier import verify_module
from mcir.verifier.rules import STAGES, Place, Unit, checkers
from tests.bench.inputs import mcir_text

LIT = Path(__file__).parent.parent / "lit"

# What an attribute or a name may become: names of values, what is equal to something else in Python, odd types.
VALUES: tuple[Any, ...] = ("Q", "K", "", "none", "nan", "b", "q d", 0, 1, True, -1, 0.0, -0.0, 2.5, None, [], {}, [1])


def _lowered(nodes: int, kind: str, lse: bool = False) -> MCModule:
    return StreamingLowering(lse=lse)(run_attention_pattern_pass(parse_module(mcir_text(nodes, kind))))


def _verdict(module: MCModule) -> list[str]:
    return [f"{found.severity} {found.rule} {found.message} {found.hint}" for found in verify_module(module)]


def _both(module: MCModule, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The verdict, which must be the same where no verdict is shared."""
    shared = _verdict(module)
    with monkeypatch.context() as without:
        without.setattr(alike, "MAX_KINDS", 0)
        assert shared == _verdict(module)
    return shared


@pytest.mark.parametrize("kind", ["blocks", "model"])
def test_each_kind_of_region_is_looked_at_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _lowered(1000, kind)
    keys = [alike.region_key(_unit(module, region)) for region in module.regions]
    assert None not in keys and len(set(keys)) == {"blocks": 1, "model": 2}[kind]
    assert _both(module, monkeypatch) == []


def _unit(module: MCModule | None, region: Region) -> Unit:
    unit = Unit(module, region)  # type: ignore[arg-type]
    parents = {id(below): outer for outer in region.walk() for below in outer.subregions}
    unit.places += [Place(inner, parents.get(id(inner)), unit) for inner in region.walk()]
    return unit


def _changes(region: Region) -> Iterator[Callable[[Region], None]]:
    """Everything that can be changed about a region, as a function of its copy."""
    for at, holder in enumerate(region.walk()):
        for key in [*holder.attrs, "q_name", "o_name", "lse_name", "pattern"]:
            for value in VALUES:
                yield _setter(at, None, key, value)
        for node_at, node in enumerate(holder.nodes):
            for key in [*node.attrs, "source", "target", "layout"]:
                for value in VALUES:
                    yield _setter(at, node_at, key, value)
    for field in ("name", "shape", "dtype", "residency", "producer", "consumers"):
        for value in ("Q", "", 1, None, "fp16", "shared", (64, 64), (True, 64), (64.0, 64), ["score"]):
            for value_at in range(len(_values(region))):
                yield _field_setter(value_at, field, value)


def _setter(at: int, node_at: int | None, key: str, value: Any) -> Callable[[Region], None]:
    def change(region: Region) -> None:
        holder = list(region.walk())[at]
        (holder if node_at is None else holder.nodes[node_at]).attrs[key] = copy.deepcopy(value)

    return change


def _field_setter(value_at: int, field: str, value: Any) -> Callable[[Region], None]:
    return lambda region: setattr(_values(region)[value_at], field, copy.deepcopy(value))


def _values(region: Region) -> list[Any]:
    return [
        value
        for holder in region.walk()
        for value in [*holder.inputs, *holder.outputs, *(result for node in holder.nodes for result in node.outputs)]
    ]


def test_a_change_is_judged_as_it_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    module = _lowered(180, "model", lse=True)
    good = module.regions[-1]
    assert verify_module(module) == []
    changed = [_changed(good, change) for change in _changes(good)]
    found = 0
    for at in range(0, len(changed), 100):
        try:
            found += len(_both(MCModule([good, *changed[at : at + 100]], module.graphs), monkeypatch))
        except (TypeError, AttributeError):  # the verifier takes some Python types of the model for granted
            found += sum(_judged_alone(good, region, module, monkeypatch) for region in changed[at : at + 100])
    assert found > len(changed) * 1.5  # beside the names that are taken


def _changed(region: Region, change: Callable[[Region], None]) -> Region:
    region = copy.deepcopy(region)
    change(region)
    return region


def _judged_alone(good: Region, region: Region, module: MCModule, monkeypatch: pytest.MonkeyPatch) -> int:
    try:
        return len(_both(MCModule([good, region], module.graphs), monkeypatch))
    except (TypeError, AttributeError):
        return 0


@pytest.mark.parametrize("path", sorted(LIT.glob("verifier/*.mcir")), ids=lambda path: path.stem)
def test_the_rules_texts_beside_each_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = MCModule()
    for text in path.read_text(encoding="utf-8").split("// -----"):
        try:
            module = parse_module(text)
        except MCIRError:
            continue
        whole.graphs += module.graphs
        whole.regions += [*module.regions, *copy.deepcopy(module.regions)]
    _both(whole, monkeypatch)


def test_what_a_region_says_of_its_graph_is_looked_at_each_time() -> None:
    module = _lowered(15, "blocks")
    module.regions[1].attrs["nodes"][0] = "nowhere"
    module.regions[2].attrs["graph"] = Symbol("other")
    found = [diagnostic.message for diagnostic in verify_module(module)]
    assert len(found) == 2 and "'nowhere'" in found[0] and "@other" in found[1]


def test_rules_that_look_outside_are_marked() -> None:
    """All others judge a region by itself, so they do without the module."""
    region = _lowered(180, "model").regions[-1]
    unit = _unit(None, region)
    for stage in STAGES:
        for checker in checkers("unit", stage):
            assert checker.outside or list(checker.check(unit)) == []
        for checker in checkers("region", stage):
            assert checker.outside or [list(checker.check(place)) for place in unit.places] == [[], [], []]
