"""The head line of a reproducer, as MLIR writes it: which passes and options make the module below it fail.

    // configuration: --pass-pipeline='streaming-lowering{tile-m=64}' --verify-roundtrip

It is one of the comment lines above the module. Its words are flags of `mcir-opt` that stand in FLAGS, so that a file
from elsewhere can neither write files nor load code; a word may have parts in single or double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mcir.diagnostics import Diagnostic, MCIRError, Note, did_you_mean
from mcir.location import Location, Source
from mcir.passes.base import ModulePass
from mcir.passes.pipeline import print_pipeline
from mcir.tools.arguments import UsageError
from mcir.tools.opt_options import Options, read_options

PIPELINE = "--pass-pipeline"

# The flags that a configuration may hold besides the pipeline, with the value that they have for some options
# ("": as without the flag).
FLAGS: dict[str, Callable[[Options], str]] = {
    "--verify-each": lambda options: "" if options.verify_each else "false",
    "--verify-roundtrip": lambda options: "true" if options.verify_roundtrip else "",
    "--strip-comments": lambda options: "true" if options.strip_comments else "",
    "--memory-report": lambda options: options.memory_report,
    "--target": lambda options: options.target,
    "--dim": lambda options: ",".join(f"{name}={size}" for name, size in options.dims.items()),
    "--prove": lambda options: "true" if options.prove else "",
    "--dump": lambda options: options.dump,
}

_OWN_PASSES = "if it comes from a plugin, name that with --load-pass-plugin=FILE"
_HEAD = re.compile(r"(?:[ \t]*(?://[^\n]*)?(?:\n|\Z))*")  # blank lines and comment lines
_LINE = re.compile(r"^[ \t]*//[ \t]*configuration:([^\n]*)(?:\n|\Z)", re.MULTILINE)
_WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")
_PART = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_PLAIN = re.compile(r"[\w=,.:/+@%-]*", re.ASCII)


def configuration_flags(options: Options) -> list[str]:
    """The flags, without a pipeline, that make the same of a module as `options`."""
    values = {name: value(options) for name, value in FLAGS.items()}
    return [name if value == "true" else f"{name}={value}" for name, value in values.items() if value]


def configuration_line(passes: Sequence[ModulePass], flags: Iterable[str]) -> str:
    """The line that `read_configured` reads back, with its end."""
    words = [f"{PIPELINE}={print_pipeline(passes)}"] if passes else []
    return " ".join(["// configuration:", *map(_quoted, [*words, *flags])]) + "\n"


def split_configuration(text: str) -> tuple[str, str]:
    """(configuration line with its end, all the rest) of a reproducer; ("", text) for any other text."""
    found = _find(text)
    if found is None:
        return "", text
    line = found.group()
    return line if line.endswith("\n") else f"{line}\n", text[: found.start()] + text[found.end() :]


def read_configured(source: Source, argv: Sequence[str]) -> tuple[Options, Source]:
    """What a reproducer says and the command line adds, and the reproducer without its configuration.

    All lines keep their numbers. Raises MCIRError that points at what is wrong in the configuration.
    """
    found = _find(source.text)
    if found is None:
        hint = f"a comment above the module must say: // configuration: {PIPELINE}='...'"
        raise MCIRError(Diagnostic("this file has no configuration to run", Location(source, 0), hint=hint))
    if (second := _find(source.text, found.end())) is not None:
        raise MCIRError(Diagnostic("a second configuration", Location(source, second.start(1))))
    words = _words(source, found.start(1), found.end(1))
    begin, end = found.span()
    blank = source.text[:begin] + "\n" * found.group().count("\n") + source.text[end:]
    return read_options([*words, *argv]), Source(source.name, blank, source.first_line)


def _find(text: str, start: int = 0) -> re.Match[str] | None:
    head = _HEAD.match(text)
    return _LINE.search(text, start, head.end() if head else 0)


def _quoted(word: str) -> str:
    """A word as the shell takes it, too: `--x='a b'`."""
    name, equals, value = word.partition("=")
    return word if _PLAIN.fullmatch(word) else f"{name}{equals}'" + value.replace("'", "'\"'\"'") + "'"


def _words(source: Source, at: int, end: int) -> list[str]:
    words = []
    while at < end:
        if source.text[at].isspace():
            at += 1
            continue
        found = _WORD.match(source.text, at, end)
        if found is None or (found.end() < end and source.text[found.end()] in "'\""):
            place = Location(source, found.end() if found is not None else at)
            raise MCIRError(Diagnostic("this quote is not closed", place))
        words.append(_checked(source, found))
        at = found.end()
    return words


def _checked(source: Source, found: re.Match[str]) -> str:
    """The word without its quotes, if it is a flag that may stand here and has a value that it can have."""
    written = found.group()
    word = _PART.sub(lambda part: part[1] if part[1] is not None else part[2], written)
    name = word.partition("=")[0]
    known = (PIPELINE, *FLAGS)
    place = Location(source, found.start(), found.end())
    if name not in known:
        hint = did_you_mean(name, known) or f"it may have: {', '.join(known)}"
        raise MCIRError(Diagnostic(f"a configuration cannot have '{name[:40]}'", place, hint=hint))
    try:
        read_options([word])
    except UsageError as error:
        raise MCIRError(Diagnostic(str(error), place)) from None
    except MCIRError as error:
        raise MCIRError([_moved(fault, word, written, place) for fault in error.diagnostics]) from None
    return word


def _moved(fault: Diagnostic, word: str, written: str, place: Location) -> Diagnostic:
    """A fault in the value of a word, at its place in the file, or at the word where quotes stand between."""
    notes = [Note(_OWN_PASSES)] if fault.message.startswith("unknown pass") else []
    value = word.partition("=")[2]
    at = written.find(value)
    if fault.location is not None and at >= 0:
        place = Location(place.source, place.offset + at + fault.location.offset)
    return replace(fault, location=place, notes=notes)
