"""The part of `mcir-opt`'s command line that is about passes: their flags, their options, and what lists them all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import Field
from typing import Any

from mcir.diagnostics import did_you_mean
from mcir.passes import ModulePass, find_pass, registered_passes
from mcir.passes.pipeline import build_pass, convert_option, option_fields, parse_options
from mcir.tools.arguments import OPTIONAL, SWITCH, VALUE, Flag, UsageError, help_examples, help_table
from mcir.tools.completion import completion_script
from mcir.tools.opt_options import EVERY, IN_OUT, PASSES, REPORTS

_USAGE = """\
usage: mcir-opt [options] [INPUT]

Reads MCIR text, verifies it, runs passes over it and prints the result.
INPUT is a file; without one, or for -, standard input is read."""

_STATUS = "exit status: 0 good, 1 bad input, 2 bad usage, 70 a fault of mcir-opt itself or of a plugin"
EXAMPLES = (
    ("mcir-opt examples/attention.mcir", "verify and print"),
    ("mcir-opt examples/attention.mcir --attention-pattern --remarks", "find attention, say why not"),
    ("mcir-opt examples/attention.mcir --attention-pattern --streaming-lowering --tile-m=64 --target=sm_90 --dump",
     "give it a streaming form whose tiles fit, and look at it"),
    ('mcir-opt examples/attention.mcir --pass-pipeline="attention-pattern,streaming-lowering{tile-m=64}" -o s.mcir',
     "the same passes as one text"),
    ("mcir-opt examples/attention.mcir --canonicalize --crash-reproducer=crash.mcir -o tidy.mcir",
     "a pass that fails would leave a file for --run-reproducer"),
)  # fmt: skip


def all_flags() -> Iterator[Flag]:
    """Every flag of `mcir-opt`."""
    yield from IN_OUT
    passes = registered_passes()
    yield from _pass_flags(passes.values())
    yield from REPORTS


def some_flags(names: Sequence[str]) -> list[Flag]:
    """The flags of the passes among `names` (with their dashes), and of their options."""
    found = [find_pass(name.removeprefix("--")) for name in names]
    return list(_pass_flags([cls for cls in found if cls is not None]))


def _pass_flags(passes: Collection[type[ModulePass]]) -> Iterator[Flag]:
    seen = {flag.name for flag in (*IN_OUT, *REPORTS)}
    for cls in passes:
        defaults = " ".join(f"{key}={_default_text(option)}" for key, option in option_fields(cls).items())
        kind, metavar = (OPTIONAL, "OPTIONS") if defaults else (SWITCH, "")
        yield Flag(f"--{cls.name}", kind, cls.summary, metavar, PASSES, details=defaults)
    for cls in passes:
        for key, option in option_fields(cls).items():
            if f"--{key}" not in seen:
                seen.add(f"--{key}")
                yield Flag(f"--{key}", OPTIONAL if isinstance(option.default, bool) else VALUE, hidden=True)


def take_pass(passes: list[ModulePass], flag: Flag, value: str | None) -> None:
    """Enters the pass that `flag` names, or sets an option of one that is entered."""
    name = flag.name.lstrip("-")
    if find_pass(name) is None:
        _set_pass_option(passes, name, value)
    elif flag.kind == OPTIONAL or value == "true":
        passes.append(parse_options(name, value or "" if flag.kind == OPTIONAL else ""))


def help_text() -> str:
    """The text of `--help`."""
    flags = help_table(all_flags())
    return "\n".join([_USAGE, *flags, "", _STATUS, *help_examples(EXAMPLES), ""])


def passes_text() -> str:
    """The text of `--list-passes`: every pass with its summary, its options and their defaults, and what it counts."""
    lines = []
    for name, cls in registered_passes().items():
        lines += [name, f"  {cls.summary}"]
        for key, option in option_fields(cls).items():
            lines.append(f"    {f'{key}={_default_text(option)}':22}{option.metadata.get('help', '')}".rstrip())
        lines += [f"    counts {count.name:15}{count.description}" for count in cls.statistics()]
    return "\n".join(lines) + "\n"


def completion_text(shell: str) -> str:
    """The completion script of `--print-completion`: flags, passes with their options, and what values there are."""
    from mcir.analysis.memory.targets import TARGETS

    options = {f"--{key}" for cls in registered_passes().values() for key in option_fields(cls)}
    flags = [flag for flag in all_flags() if not flag.hidden or flag.name in options]
    passes = list(registered_passes())
    listing = ("--print-ir-before", "--print-ir-after", "--pass-pipeline")
    return completion_script(shell, "mcir-opt", flags, {"--target": TARGETS, **dict.fromkeys(listing, passes)})


def _default_text(option: Field[Any]) -> str:
    return str(option.default).lower() if isinstance(option.default, bool) else str(option.default)


def pass_names(flag: Flag, value: str | None) -> frozenset[str]:
    """The passes that a flag lists, EVERY for all. Raises UsageError."""
    if flag.kind == SWITCH:
        return frozenset({EVERY} if value == "true" else ())
    if not value:
        return frozenset({EVERY})
    names = [name.strip() for name in value.split(",")]
    known = registered_passes()
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"the passes are: {', '.join(known)}"
            raise UsageError(f"{flag.name}: unknown pass '{name[:60]}': {hint}")
    return frozenset(names)


def _set_pass_option(passes: list[ModulePass], key: str, value: str | None) -> None:
    """Sets an option of the last pass that has it."""
    for at in range(len(passes) - 1, -1, -1):
        cls = type(passes[at])
        fields = option_fields(cls)
        if key in fields:
            given = {other: getattr(passes[at], field.name) for other, field in fields.items()}
            try:
                given[key] = convert_option(cls, key, value)
            except ValueError as error:
                raise UsageError(str(error)) from None
            passes[at] = build_pass(cls, given)
            return
    owners = [f"--{name}" for name, cls in registered_passes().items() if key in option_fields(cls)]
    raise UsageError(f"--{key} is an option of {' or '.join(owners)}, which must stand before it")
