"""Pipeline text: `attention-pattern,streaming-lowering{tile-m=64 tile-n=32}`, read and written.

The options of a pass are the fields of its dataclass: `tile_m: int = 128` is `tile-m=64`. The type of
the default is the type of the option; a bool option alone means true. Options are separated by spaces
or commas; a text with spaces stands in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import Field, fields
from typing import Any

from mcir.diagnostics import Diagnostic, MCIRError, did_you_mean
from mcir.location import Location, Source
from mcir.passes.base import ModulePass, find_pass, registered_passes
from mcir.text import quote, unquote

PIPELINE_NAME = "<pass-pipeline>"

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,{}="]+')


def parse_pipeline(text: str) -> list[ModulePass]:
    """The passes that `text` names, in order. Raises MCIRError that points into `text`."""
    return _Reader(text, PIPELINE_NAME).pipeline()


def parse_options(name: str, text: str) -> ModulePass:
    """The pass `name` with the options in `text`, with or without braces. Raises MCIRError."""
    reader = _Reader(text, f"<{name}>")
    braced = reader.take("{")
    made = reader.make(name, 0, "}" if braced else "")
    reader.end()
    return made


def print_pipeline(passes: Iterable[ModulePass]) -> str:
    """The text that `parse_pipeline` reads back to equal passes; every option is written."""
    return ",".join(map(_pass_text, passes))


def option_fields(cls: type[ModulePass]) -> dict[str, Field[Any]]:
    """The options of a pass by the name they have in text."""
    return {field.name.replace("_", "-"): field for field in fields(cls) if field.init}


def convert_option(cls: type[ModulePass], key: str, text: str | None) -> Any:
    """The value that `text` gives the option `key`; None stands for an option without a value.

    Raises ValueError with a message for people.
    """
    kind = type(option_fields(cls)[key].default)
    if kind is bool and (text is None or text in ("true", "false")):
        return text != "false"
    if text is None:
        raise ValueError(f"option '{key}' of {cls.name} needs a value")
    if kind is str:
        return text
    try:
        if kind in (int, float):
            return kind(text)
    except ValueError:
        pass
    wanted = {int: "an integer", float: "a number", bool: "true or false"}[kind]
    raise ValueError(f"option '{key}' of {cls.name} must be {wanted}, not '{text[:40]}'")


def build_pass(cls: type[ModulePass], options: dict[str, Any]) -> ModulePass:
    """A pass with options by their names in text. Raises MCIRError if the pass refuses them."""
    try:
        return cls(**{key.replace("-", "_"): value for key, value in options.items()})
    except ValueError as error:
        raise MCIRError(f"{cls.name}: {error}") from None


class _Reader:
    """Reads one pipeline text from left to right."""

    def __init__(self, text: str, name: str) -> None:
        self.source = Source(name, text)
        self.text = text
        self.at = 0
        self.skip(0)

    def pipeline(self) -> list[ModulePass]:
        passes = []
        while True:
            start, name = self.at, self.expect(_NAME, "the name of a pass")
            passes.append(self.make(name, start, "}" if self.take("{") else None))
            if not self.take(","):
                break
        self.end()
        return passes

    def make(self, name: str, start: int, close: str | None) -> ModulePass:
        """A pass; `close` ends its options ("" at the end of the text, None: there are none)."""
        cls = find_pass(name)
        if cls is None:
            known = registered_passes()
            hint = did_you_mean(name, known) or f"the passes are: {', '.join(known)}"
            raise self.fault(f"unknown pass '{name}'", start, hint)
        options = self.options(cls, close) if close is not None else {}
        try:
            return build_pass(cls, options)
        except MCIRError as error:
            raise self.fault(error.diagnostics[0].message, start, error.diagnostics[0].hint) from None

    def options(self, cls: type[ModulePass], close: str) -> dict[str, Any]:
        options: dict[str, Any] = {}
        while not (self.take(close) if close else self.at_end()):
            start, key = self.at, self.expect(_NAME, f"an option of {cls.name}")
            known = option_fields(cls)
            if key not in known:
                hint = did_you_mean(key, known) or f"it has: {', '.join(known) or 'none'}"
                raise self.fault(f"{cls.name} has no option '{key}'", start, hint)
            if key in options:
                raise self.fault(f"option '{key}' is given twice", start)
            value = self.value() if self.take("=") else None
            try:
                options[key] = convert_option(cls, key, value)
            except ValueError as error:
                raise self.fault(str(error), start) from None
            self.take(",")
        return options

    def value(self) -> str:
        start, text = self.at, self.expect(_VALUE, "a value")
        if not text.startswith('"'):
            return text
        try:
            return unquote(text)
        except ValueError as error:
            raise self.fault(str(error), start) from None

    def take(self, sign: str) -> bool:
        """Steps over `sign` and the space after it if it stands here."""
        found = self.text.startswith(sign, self.at)
        if found:
            self.skip(self.at + len(sign))
        return found

    def expect(self, pattern: re.Pattern[str], what: str) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            got = f"'{self.text[self.at]}'" if self.at < len(self.text) else "the end"
            raise self.fault(f"expected {what}, got {got}", self.at)
        self.skip(match.end())
        return match.group()

    def skip(self, at: int) -> None:
        match = _SPACE.match(self.text, at)
        self.at = match.end() if match else at

    def at_end(self) -> bool:
        return self.at >= len(self.text)

    def end(self) -> None:
        if not self.at_end():
            raise self.fault(f"expected the end, got '{self.text[self.at]}'", self.at)

    def fault(self, message: str, at: int, hint: str = "") -> MCIRError:
        return MCIRError(Diagnostic(message, Location(self.source, at), hint=hint))


def _pass_text(pass_: ModulePass) -> str:
    options = [f"{key}={_value_text(getattr(pass_, field.name))}" for key, field in option_fields(type(pass_)).items()]
    return f"{pass_.name}{{{' '.join(options)}}}" if options else pass_.name


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return text if _VALUE.fullmatch(text) and not text.startswith('"') else quote(text)
