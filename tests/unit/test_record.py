"""@record against @dataclass: the same class from both answers alike."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

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
        lambda: cls(2).made, lambda: cls.shared,
    ]  # fmt: skip
    found = []
    for question in questions:
        try:
            found.append(question())
        except Exception as error:
            found.append(type(error) if not issubclass(type(error), AttributeError) else AttributeError)
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
    import inspect

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


def test_replace_on_model_objects() -> None:
    value = MCValue("x", (4,), "fp16")
    assert dataclasses.replace(value, name="y") == MCValue("y", (4,), "fp16")
    for made in (value, TensorType((4,), "fp16"), Symbol("g"), Comments(["a"]), ExecutionRegion("r")):
        assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert ExecutionRegion("r") == ExecutionRegion("r") != ExecutionRegion("s")
