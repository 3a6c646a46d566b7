"""How the attributes of two nodes, graphs or regions differ, in words: long ones entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from mcir.printer import attribute_text
from mcir.text import PLAIN_KEY, quote
from mcir.types import attribute_key

MOST_ENTRIES = 8  # of one attribute that are shown where they differ
_MOST_SHOWN = 60  # characters of a value


def attribute_differences(left: dict[str, Any], right: dict[str, Any]) -> Iterator[str]:
    """A line for each attribute that differs."""
    for key, value in left.items():
        if key not in right:
            yield f"attribute {_key(key)} = {_short(value)} is gone"
        elif attribute_key(value) != attribute_key(right[key]):
            yield f"attribute {_changed(_key(key), value, right[key])}"
    for key, value in right.items():
        if key not in left:
            yield f"attribute {_key(key)} = {_short(value)} is new"


def _changed(path: str, left: Any, right: Any) -> str:
    """`key = old is new now` where both are short, else the entries that differ."""
    if max(len(attribute_text(left)), len(attribute_text(right))) <= _MOST_SHOWN:
        return f"{path} = {_old_and_new(left, right)}"
    entries = list(islice(_entries(path, left, right), MOST_ENTRIES + 1))
    more = "; and more" if len(entries) > MOST_ENTRIES else ""
    return "; ".join(entries[:MOST_ENTRIES]) + more


def _entries(path: str, left: Any, right: Any) -> Iterator[str]:
    """`path = old is new now` for each innermost entry that differs; how deep they nest is bounded by the language."""
    if attribute_key(left) == attribute_key(right):
        return
    if isinstance(left, dict) and isinstance(right, dict):
        for key in {**left, **right}:
            inner = f"{path}.{_key(key)}"
            if key not in right:
                yield f"{inner} = {_short(left[key])} is gone"
            elif key not in left:
                yield f"{inner} = {_short(right[key])} is new"
            else:
                yield from _entries(inner, left[key], right[key])
    elif isinstance(left, list) and isinstance(right, list):
        yield from _list_entries(path, left, right)
    else:
        yield f"{path} = {_old_and_new(left, right)}"


def _list_entries(path: str, left: list[Any], right: list[Any]) -> Iterator[str]:
    """Entries are paired from both ends: one that was put in or left out makes those behind it no different."""
    ours, theirs = [*map(attribute_key, left)], [*map(attribute_key, right)]
    shorter = min(len(ours), len(theirs))
    behind = next((at for at in range(shorter) if ours[-1 - at] != theirs[-1 - at]), shorter)
    same = next((at for at in range(shorter) if ours[at] != theirs[at]), shorter)
    both = max(same, shorter - behind)  # up to here, entries have a partner at the same place
    for at in range(same, both):
        yield from _entries(f"{path}[{at}]", left[at], right[at])
    for at in range(both, both + len(left) - shorter):
        yield f"{path}[{at}] = {_short(left[at])} is gone"
    for at in range(both, both + len(right) - shorter):
        yield f"{path}[{at}] = {_short(right[at])} is new"


def _old_and_new(left: Any, right: Any) -> str:
    """`old is new now`; of long texts what stands around the first difference."""
    ours, theirs = attribute_text(left), attribute_text(right)
    if max(len(ours), len(theirs)) > _MOST_SHOWN:
        pairs = enumerate(zip(ours, theirs, strict=False))
        at = next((at for at, (one, other) in pairs if one != other), min(len(ours), len(theirs)))
        ours, theirs = _around(ours, at), _around(theirs, at)
    return f"{ours} is {theirs} now"


def _around(text: str, at: int) -> str:
    begin = max(0, min(at - _MOST_SHOWN // 2, len(text) - _MOST_SHOWN))
    end = begin + _MOST_SHOWN
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"


def _short(value: Any) -> str:
    text = attribute_text(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _key(key: str) -> str:
    return key if PLAIN_KEY.fullmatch(key) else quote(key)
