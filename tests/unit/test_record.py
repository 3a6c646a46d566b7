"""@record against @dataclass: the same class from both answers alike."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any, ClassVar, get_type_hints

import pytest

from mcir import record as room
from mcir.graph import SemanticGraph
from mcir.nodes import Comments, MCNode
from mcir.regions import ExecutionRegion, Region
from mcir.types import Symbol, TensorType
from mcir.values import MCValue


def plain(kind: str) -> type:
    decorate, field = (room.record, room.field) if kind == "record" else (dataclasses.dataclass, dataclasses.field)

    @decorate
    class Plain:
        shared: ClassVar[int] = 7
        x: int
        many: list[int] = field(default_factory=list)
        text: str = "q"
        hidden: int = field(default=3, compare=False, repr=False)
        made: int = field(default=0, init=False)

    return Plain


def frozen(kind: str) -> type:
    decorate = room.record if kind == "record" else dataclasses.dataclass

    @decorate(frozen=True, slots=True)
    class Frozen:
        x: int
        rest: tuple[int, ...] = ()

        def double(self) -> int:
            return 2 * self.x

    return Frozen


def child(kind: str) -> type:
    decorate = room.record if kind == "record" else dataclasses.dataclass

    @decorate
    class Child(plain(kind)):  # type: ignore[misc]
        more: int = 1

        def __post_init__(self) -> None:
            self.made = self.x + self.more

    return Child


def derived(cls: Any, **options: bool) -> Any:
    """A plain dataclass derived from `cls`."""

    @dataclasses.dataclass(**options)  # type: ignore[call-overload,misc,unused-ignore]
    class Derived(cls):
        extra: int = 5

    return Derived


def written(cls: Any) -> Any:
    """A class derived from `cls` that writes its own `__init__`."""

    class Written(cls):
        def __init__(self, both: int) -> None:
            super().__init__(both)

    return Written


def parameters(cls: Any) -> list[tuple[str, str, str]]:
    signature = inspect.signature(cls).parameters.values()
    return [(each.name, str(each.kind), str(each.default)) for each in signature]


def answers(cls: Any) -> list[Any]:
    """What can be asked of a class that takes x first, errors by their type."""
    questions: list[Any] = [
        lambda: repr(cls(1)).split(".")[-1], lambda: cls(1) == cls(1), lambda: cls(1) == cls(2), lambda: cls(1) == 1,
        lambda: hash(cls(1)) == hash(cls(1)), lambda: cls(), lambda: cls(1, 2, 3, 4, 5, 6, 7), lambda: cls(1, x=1),
        lambda: cls(1, other=2), lambda: setattr(cls(1), "x", 2), lambda: cls(x=4).x, lambda: cls.__match_args__,
        lambda: dataclasses.asdict(cls(1)), lambda: dataclasses.replace(cls(1), x=5).x,
        lambda: dataclasses.is_dataclass(cls),
        lambda: [(field.name, field.init, field.compare, field.repr) for field in dataclasses.fields(cls)],
        lambda: getattr(cls, "__slots__", None), lambda: cls(1).double(),
        lambda: cls(1, hidden=9) == cls(1), lambda: cls(1).many is cls(1).many, lambda: cls.text, lambda: cls.many,
        lambda: copy.copy(cls(1)) == cls(1), lambda: copy.deepcopy(cls(1)) == cls(1),
        lambda: cls(2).made, lambda: cls.shared, lambda: parameters(cls), lambda: parameters(written(cls)),
        lambda: repr(derived(cls)(1)).split(".")[-1], lambda: derived(cls, frozen=True)(1).extra,
        lambda: parameters(derived(cls)), lambda: [field.name for field in dataclasses.fields(derived(cls))],
        lambda: derived(cls, frozen=True)(1) == derived(cls, frozen=True)(1),
    ]  # fmt: skip
    found = []
    for question in questions:
        try:
            found.append(question())
        except Exception as error:
            found.append(type(error))
    return found


@pytest.mark.parametrize("make", [plain, frozen, child])
def test_a_record_answers_as_a_dataclass(make: Any) -> None:
    for at, (ours, theirs) in enumerate(zip(answers(make("record")), answers(make("dataclass")), strict=True)):
        assert repr(ours) == repr(theirs), at


@pytest.mark.parametrize(
    "cls", [MCValue, MCNode, Comments, SemanticGraph, Region, TensorType], ids=lambda cls: cls.__name__
)
def test_the_model_is_made_of_dataclasses(cls: Any) -> None:
    """The design note declares them so; a written `__init__` takes what the fields say."""
    fields = dataclasses.fields(cls)
    assert list(fields)
    if cls is not Region and cls is not SemanticGraph and cls is not Comments:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        assert [each.name for each in parameters] == [field.name for field in fields]
        for each, field in zip(parameters, fields, strict=True):
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            assert (each.default is inspect.Parameter.empty) == required
            if field.default is not dataclasses.MISSING:
                assert each.default == field.default


@pytest.mark.parametrize("cls", [MCValue, MCNode, Comments, SemanticGraph, Region, ExecutionRegion, TensorType])
def test_the_types_of_the_model_can_be_asked_for(cls: Any) -> None:
    hints = get_type_hints(cls)
    assert {field.name for field in dataclasses.fields(cls)} <= set(hints)


def test_the_model_can_be_derived_from() -> None:
    @dataclasses.dataclass
    class Weighted(MCValue):
        weight: float = 1.0

    value = Weighted("w", (4,), "fp16", weight=0.5)
    assert (value.name, value.residency, value.consumers, value.weight) == ("w", "global", [], 0.5)
    assert str(inspect.signature(ExecutionRegion)) == "(name: 'str') -> 'None'"
    assert list(inspect.signature(Region).parameters)[:3] == ["name", "kind", "inputs"]


def test_replace_on_model_objects() -> None:
    value = MCValue("x", (4,), "fp16")
    assert dataclasses.replace(value, name="y") == MCValue("y", (4,), "fp16")
    for made in (value, TensorType((4,), "fp16"), Symbol("g"), Comments(["a"]), ExecutionRegion("r")):
        assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert ExecutionRegion("r") == ExecutionRegion("r") != ExecutionRegion("s")
