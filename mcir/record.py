"""`@record`: what `@dataclass` gives, for the classes that every run of a tool loads.

`dataclasses` imports `inspect` and compiles the methods of each class at import: together that was 20 of the 90
milliseconds that `mcir-opt` took on a small file. A record takes its methods from closures. They are slower, so
a class that is made by the thousand writes its own `__init__`. To type checkers a record is a dataclass, to
`dataclasses.fields`, `replace` and `asdict` as well, and a dataclass may be derived from it. All other classes of MCIR
are plain dataclasses.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False  # type checkers take it as true; `typing` is slow to import, too
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record
    from dataclasses import field as field
    from typing import Any

__all__ = ["field", "record"]

_MISSING = object()


class Field:
    """One field: `default`, or `factory` that makes one; whether it is an argument, shown and compared."""

    __slots__ = ("annotation", "compare", "default", "factory", "init", "metadata", "name", "repr")

    def __init__(
        self, default: Any = _MISSING, default_factory: Any = None, init: bool = True, repr: bool = True,
        compare: bool = True, metadata: Any = None,
    ) -> None:  # fmt: skip
        self.name = self.annotation = ""
        self.default, self.factory, self.metadata = default, default_factory, metadata
        self.init, self.repr, self.compare = init, repr, compare

    def value(self) -> Any:
        """The default. Raises KeyError if there is none."""
        if self.factory is not None:
            return self.factory()
        if self.default is _MISSING:
            raise KeyError(self.name)
        return self.default


if not TYPE_CHECKING:

    def field(**options: Any) -> Field:
        """As `dataclasses.field`."""
        return Field(**options)

    def record(cls: type | None = None, *, frozen: bool = False, slots: bool = False, eq: bool = True,
               repr: bool = True) -> Any:  # fmt: skip
        """Class decorator, as `dataclasses.dataclass`."""
        return (lambda cls: _record(cls, frozen, slots, eq, repr)) if cls is None else _record(
            cls, frozen, slots, eq, repr
        )


def _record(cls: type, frozen: bool, slots: bool, eq: bool, repr: bool) -> type:
    annotations = cls.__dict__.get("__annotations__", {}).items()  # noqa: RUF063  (inspect is what takes the time)
    own = {name: _own_field(cls, name, given) for name, given in annotations if not str(given).startswith("ClassVar")}
    fields = {**getattr(cls, "__record_fields__", {}), **own}
    if slots:
        cls = _with_slots(cls, own)
    compared = tuple(name for name, each in fields.items() if each.compare)
    methods: dict[str, Any] = {"__init__": _init(fields)}
    if repr:
        methods["__repr__"] = _repr(fields)
    if eq:
        methods["__eq__"] = _eq(compared)
        methods["__hash__"] = _hash(compared) if frozen else None
    if frozen:
        methods["__setattr__"] = _refuse_to_set
        methods["__delattr__"] = _refuse_to_set
        methods["__setstate__"] = _set_state  # for copies of what has slots
    methods["__signature__"] = _Signature(methods["__init__"])
    for name, method in methods.items():
        if name not in cls.__dict__ or (name == "__hash__" and "__eq__" not in cls.__dict__):
            setattr(cls, name, method)
    for name, each in own.items():
        if not slots and each.factory is not None:
            delattr(cls, name)
        elif not slots and each.default is not _MISSING:
            setattr(cls, name, each.default)
    cls.__record_fields__ = fields  # type: ignore[attr-defined]
    cls.__record_options__ = {"frozen": frozen, "slots": slots, "eq": eq, "repr": repr}  # type: ignore[attr-defined]
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(cls, name, _OfDataclass(name))
    cls.__match_args__ = tuple(name for name, each in fields.items() if each.init)  # type: ignore[attr-defined,misc,unused-ignore]
    return cls


def _own_field(cls: type, name: str, annotation: str) -> Field:
    given = cls.__dict__.get(name, _MISSING)
    each = given if isinstance(given, Field) else Field(default=given)
    each.name, each.annotation = name, annotation
    return each


def _with_slots(cls: type, own: dict[str, Field]) -> type:
    """The class anew: slots can only be given when a class is made."""
    members = {name: member for name, member in cls.__dict__.items() if name not in (*own, "__dict__", "__weakref__")}
    return type(cls)(cls.__name__, cls.__bases__, {**members, "__slots__": tuple(own)})


def _init(fields: dict[str, Field]) -> Callable[..., None]:
    taken = [each for each in fields.values() if each.init]
    fixed = [each for each in fields.values() if not each.init]
    names = [each.name for each in taken]
    put = object.__setattr__

    def __init__(self: Any, *args: Any, **given: Any) -> None:
        if len(args) > len(names):
            raise TypeError(f"{type(self).__name__} takes {len(names)} arguments, not {len(args)}")
        for name, value in zip(names, args, strict=False):
            if name in given:
                raise TypeError(f"{type(self).__name__}: argument '{name}' is given twice")
            put(self, name, value)
        for each in taken[len(args) :]:
            try:
                put(self, each.name, given.pop(each.name) if each.name in given else each.value())
            except KeyError:
                raise TypeError(f"{type(self).__name__} needs an argument '{each.name}'") from None
        if given:
            raise TypeError(f"{type(self).__name__} has no field '{next(iter(given))}'")
        for each in fixed:
            put(self, each.name, each.value())
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return __init__


def _repr(fields: dict[str, Field]) -> Callable[[Any], str]:
    shown = [name for name, each in fields.items() if each.repr]

    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return __repr__


def _eq(compared: tuple[str, ...]) -> Callable[[Any, object], Any]:
    values: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _made: ()

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(compared: tuple[str, ...]) -> Callable[[Any], int]:
    values = attrgetter(*compared)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _refuse_to_set(self: Any, name: str, *_value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__} cannot be changed: {name}")


def _set_state(self: Any, state: Any) -> None:
    for part in state if isinstance(state, tuple) else (state,):  # of __dict__, of slots
        for name, value in (part or {}).items():
            object.__setattr__(self, name, value)


class _OfDataclass:
    """An attribute that a dataclass has, made when it is asked for; a dataclass derived from a record asks, too."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, made: Any, owner: Any) -> Any:
        stand_in = _as_dataclass(owner)
        owner.__dataclass_fields__ = stand_in.__dataclass_fields__
        owner.__dataclass_params__ = stand_in.__dataclass_params__
        return getattr(stand_in, self.name)


class _Signature:
    """What `inspect.signature` and `help` show of the made `__init__`; None lets them look at one that is written."""

    def __init__(self, init: Any) -> None:
        self.init = init

    def __get__(self, made: Any, owner: Any) -> Any:
        if owner.__init__ is not self.init:
            return None
        import inspect

        return inspect.signature(_as_dataclass(owner))


def _as_dataclass(owner: Any) -> Any:
    """A dataclass with the fields and options of the record `owner`."""
    import dataclasses

    def given(each: Field) -> Any:
        options = {"init": each.init, "repr": each.repr, "compare": each.compare, "metadata": each.metadata}
        if each.factory is not None:
            options["default_factory"] = each.factory
        elif each.default is not _MISSING:
            options["default"] = each.default
        return dataclasses.field(**options)

    items = [(name, each.annotation, given(each)) for name, each in owner.__record_fields__.items()]
    return dataclasses.make_dataclass(owner.__name__, items, **owner.__record_options__)
