"""`--verify-diagnostics`: the diagnostics that come must be those that the text announces.

    %y = neg %x : tensor<4xfp16>  // expected-error {{is tensor<8xfp16>}}
    // expected-warning@+1 {{...}}      also @-1, @above, @below, and @unknown for one without a place

As in MLIR: error, warning, remark or note; the text in braces is part of the message on that line, one
announcement for each diagnostic. The message ends with its rule, `[type.result]`; a hint follows on the
next line. Unlike in MLIR, notes need no announcement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcir.diagnostics import Diagnostic
from mcir.location import Location, Source

_EXPECTED = re.compile(
    r"expected-(error|warning|remark|note)[ \t]*(?:@([+-]\d{1,9}|above|below|unknown))?[ \t]*\{\{(.*?)\}\}"
)
_WRITTEN = re.compile(r"expected-(?:error|warning|remark|note)")
UNKNOWN_LINE = 0


@dataclass(slots=True)
class _Expectation:
    severity: str
    line: int
    text: str
    offset: int  # where it is written


@dataclass(slots=True)
class _Actual:
    severity: str
    line: int
    text: str
    diagnostic: Diagnostic


def check_diagnostics(source: Source, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The differences between what `source` announces and `diagnostics`, as errors; empty if there are none."""
    faults: list[Diagnostic] = []
    expected = list(_expectations(source, faults))
    actual = [found for diagnostic in diagnostics for found in _flatten(source, diagnostic)]
    waiting: dict[tuple[str, int], list[_Expectation]] = {}
    for expectation in expected:
        waiting.setdefault((expectation.severity, expectation.line), []).append(expectation)
    for found in actual:
        candidates = waiting.get((found.severity, found.line), [])
        match = next((candidate for candidate in candidates if candidate.text in found.text), None)
        if match is not None:
            candidates.remove(match)
        elif found.severity != "note":
            seen = found.diagnostic
            message = f"unexpected {seen.severity}: {seen.message}"
            faults.append(Diagnostic(message, seen.location, hint=seen.hint, rule=seen.rule))
    for candidates in waiting.values():
        for missed in candidates:
            message = f'expected {missed.severity} "{missed.text}" was not produced'
            faults.append(Diagnostic(message, Location(source, missed.offset)))
    return faults


def _expectations(source: Source, faults: list[Diagnostic]) -> Iterator[_Expectation]:
    lines = source.text.split("\n")
    announcing = {row for row, line in enumerate(lines) if _EXPECTED.search(line)}
    offset = 0
    for row, line in enumerate(lines):
        begins = {match.start() for match in _EXPECTED.finditer(line)}
        for match in _WRITTEN.finditer(line) if "expected-" in line else ():
            if match.start() not in begins and not _inside(match.start(), line):
                hint = "write it as expected-error@+1 {{part of the message}}"
                faults.append(Diagnostic("this announcement cannot be read", Location(source, offset + match.start()),
                                         hint=hint))  # fmt: skip
        for match in _EXPECTED.finditer(line):
            severity, place, text = match.groups()
            target = _target(row, place, announcing)
            number = UNKNOWN_LINE if target is None else target + source.first_line
            yield _Expectation(severity, number, text, offset + match.start())
        offset += len(line) + 1


def _inside(at: int, line: str) -> bool:
    return any(match.start() < at < match.end() for match in _EXPECTED.finditer(line))


def _target(row: int, place: str | None, announcing: set[int]) -> int | None:
    """The row an announcement in `row` speaks of; `above` and `below` skip lines that announce as well."""
    if place is None:
        return row
    if place == "unknown":
        return None
    if place in ("above", "below"):
        step = -1 if place == "above" else 1
        row += step
        while row in announcing:
            row += step
        return row
    return row + int(place)


def _flatten(source: Source, diagnostic: Diagnostic) -> Iterator[_Actual]:
    """A diagnostic and its notes, each with the text that is searched."""
    tag = f" [{diagnostic.rule}]" if diagnostic.rule else ""
    hint = f"\nhint: {diagnostic.hint}" if diagnostic.hint else ""
    text = f"{diagnostic.message}{tag}{hint}"
    yield _Actual(diagnostic.severity, _line(diagnostic.location), text, diagnostic)
    for note in diagnostic.notes:
        yield _Actual("note", _line(note.location), note.message, diagnostic)


def _line(location: Location | None) -> int:
    return location.line_column()[0] if location is not None else UNKNOWN_LINE
