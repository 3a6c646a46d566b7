"""Makes a failing case small: less text, fewer words, fewer messages, while the same fault shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from mcir.analysis.reduction import Reducer
from mcir.diagnostics import MCIRError
from tests.endurance.case import Case

Part = TypeVar("Part")
Shows = Callable[[Case], bool]


def shrink(case: Case, shows: Shows, seconds: float = 60.0) -> Case:
    """The smallest case that was found in that time to show what `case` shows."""
    end = time.monotonic() + seconds

    def timely(candidate: Case) -> bool:
        return time.monotonic() < end and shows(candidate)

    case = replace(case, messages=ddmin(case.messages, lambda part: timely(replace(case, messages=part))))
    case = replace(case, argv=ddmin(case.argv, lambda part: timely(replace(case, argv=part))))
    for name in list(case.files):
        without = replace(case, files={other: data for other, data in case.files.items() if other != name})
        if timely(without):
            case = without
            continue

        def with_data(data: bytes, case: Case = case, name: str = name) -> Case:
            same = case.stdin == case.files[name]
            return replace(case, files={**case.files, name: data}, stdin=data if same else case.stdin)

        data = _shrunk(name, case.files[name], lambda data, made=with_data: timely(made(data)))
        case = with_data(data)
    if case.stdin and case.stdin not in case.files.values():
        data = _shrunk("", case.stdin, lambda data: timely(replace(case, stdin=data)))
        case = replace(case, stdin=data)
    return case


def ddmin(parts: Sequence[Part], shows: Callable[[list[Part]], bool]) -> list[Part]:
    """As few of the parts as still show it, by halving."""
    kept = list(parts)
    size = len(kept)
    while size >= 1:
        begin = 0
        while begin < len(kept):
            fewer = kept[:begin] + kept[begin + size :]
            if shows(fewer):
                kept = fewer
            else:
                begin += size
        size //= 2
    return kept


def _shrunk(name: str, data: bytes, shows: Callable[[bytes], bool]) -> bytes:
    if name.endswith(".onnx"):
        return _message(data, shows)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    with suppress(MCIRError):
        reducer = Reducer(lambda candidate: shows(candidate.encode("utf-8", "surrogatepass")), valid=False)
        text = reducer.reduce(text)
    for pieces in (text.splitlines(keepends=True), None):
        parts = pieces if pieces is not None else list(text) if len(text) < 4000 else []
        if parts:
            text = "".join(ddmin(parts, lambda kept: shows("".join(kept).encode("utf-8"))))
    return text.encode("utf-8")


def _message(data: bytes, shows: Callable[[bytes], bool]) -> bytes:
    """An ONNX file with as few nodes, tensors, attributes, ... as possible; by halves of bytes where it is none."""
    import onnx

    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:
        return data
    if not shows(model.SerializeToString()):
        return data
    for owner, name in _lists(model):
        items = list(getattr(owner, name))

        def keep(kept: list[Any], owner: Any = owner, name: str = name) -> bool:
            copies = [_copy(item) for item in kept]
            owner.ClearField(name)
            getattr(owner, name).extend(copies)
            return shows(model.SerializeToString())

        best = ddmin(items, keep)
        keep(best)
    return bytes(model.SerializeToString())


def _copy(item: Any) -> Any:
    return type(item).FromString(item.SerializeToString()) if hasattr(item, "SerializeToString") else item


def _lists(model: Any) -> list[tuple[Any, str]]:
    of_graph = ("node", "initializer", "sparse_initializer", "value_info", "input", "output")
    of_model = ("functions", "metadata_props", "opset_import")
    return [*((model, name) for name in of_model), *((model.graph, name) for name in of_graph)]
