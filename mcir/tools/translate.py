"""`mcir-translate`: other formats to MCIR text, and MCIR to other formats.

    mcir-translate --import-onnx model.onnx -o model.mcir --weights=weights.npz

Each translation is one entry of TRANSLATIONS: its flag, its options and the function that does it. The
tool only reads the command line, writes the result whole or not at all, and prints errors.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, NoReturn, TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.files import write_bytes, write_stream, write_text
from mcir.importers.onnx import DEFAULT_CONSTANT_LIMIT
from mcir.module import MCModule
from mcir.tools.arguments import OPTIONAL, SWITCH, VALUE, Flag
from mcir.tools.command import Command, Exit, Given
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_GOOD, note_terminal, run_console
from mcir.tools.report import Reporter

_CHOICE = re.compile(r"tile-[a-z]+=")


@dataclass(slots=True)
class Translated:
    """The text of a translation (None: there is none), bytes of files by path, and what to tell the user.

    An error among the diagnostics makes the exit code 1; what was translated is written all the same.
    """

    text: str | None
    files: dict[str, bytes] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation.

    run: (input path, command line, standard input) -> what to write. Raises MCIRError.
    options: flags that belong to this translation, and to others that list the same ones.
    kind, metavar, choices: of the flag itself, where it takes a value.
    """

    flag: str
    summary: str
    run: Callable[[str, Given, TextIO], Translated]
    options: tuple[Flag, ...] = ()
    kind: str = SWITCH
    metavar: str = ""
    choices: tuple[str, ...] = ()


def import_onnx(path: str, given: Given, stdin: TextIO) -> Translated:
    """An ONNX model as MCIR text, with `--weights` its weights too. Raises MCIRError."""
    from mcir.importers.onnx import read_onnx
    from mcir.printer import print_module
    from mcir.verifier import check_module

    if path == "-":
        raise MCIRError("an ONNX model is binary: give the path of a file")
    imported = read_onnx(
        path,
        expand_functions=given.on("--expand-functions"),
        keep_attention=given.on("--keep-attention"),
        constant_limit=_constant_limit(given),
    )
    check_module(imported.module)
    done = Translated(print_module(imported.module))
    _add_weights(done, given, imported.weights, imported.missing, "the external data file is not there")
    return done


def import_torch(path: str, given: Given, stdin: TextIO) -> Translated:
    """A program of torch.export as MCIR text, with `--weights` its weights too. Raises MCIRError."""
    from mcir.importers.torch_export import read_exported_program
    from mcir.printer import print_module
    from mcir.verifier import check_module

    if path == "-":
        raise MCIRError("an exported program is binary: give the path of a file")
    imported = read_exported_program(path, constant_limit=_constant_limit(given))
    check_module(imported.module)
    done = Translated(print_module(imported.module))
    _add_weights(done, given, imported.weights, imported.missing, "it was exported without")
    return done


def _constant_limit(given: Given) -> int:
    return _natural("--constant-limit", given.value("--constant-limit", str(DEFAULT_CONSTANT_LIMIT)))


def _add_weights(done: Translated, given: Given, weights: Mapping[str, Any], missing: list[str], why: str) -> None:
    """The file that `--weights` names, if it is given, and a warning for weights whose data is missing."""
    path = given.value("--weights")
    if path:
        from mcir.importers.weights import missing_data, weights_archive

        done.files[path] = weights_archive(weights)
        done.diagnostics += missing_data(missing, why)


def to_mlir(path: str, given: Given, stdin: TextIO) -> Translated:
    """A valid MCIR module as MLIR text in generic form. Raises MCIRError."""
    from mcir.exporters.mlir import export_mlir

    return Translated(export_mlir(_module(path, stdin), standard=not given.on("--no-linalg")))


def memory_report(path: str, given: Given, stdin: TextIO) -> Translated:
    """The memory account of a valid module, or a comparison of tile sizes. Raises MCIRError."""
    from mcir.tools import memory_report as memory

    module, style = _module(path, stdin), given.value("--memory-report", "text")
    target, dims = given.value("--target"), memory.read_dims(given.every("--dim"))
    if "--compare" in given.flags:
        choices = memory.read_choices(given.value("--compare"))
        report = memory.comparison_report(module, style, choices, target, dims)
    else:
        report = memory.memory_report(module, style, target, dims)
    return Translated(report.text, {}, report.diagnostics)


def to_html(path: str, given: Given, stdin: TextIO) -> Translated:
    """A valid module as a web page in the file that the flag names. Raises MCIRError."""
    from mcir.exporters.html import export_html
    from mcir.tools.memory_report import read_dims

    dims = read_dims(given.every("--dim"))
    page = export_html(_module(path, stdin), PurePath(path).name, given.value("--target"), dims)
    output = given.value("--html")
    return Translated(page) if output == "-" else Translated(None, {output: page.encode("utf-8", "replace")})


def to_dot(path: str, given: Given, stdin: TextIO) -> Translated:
    """A valid module as a picture for Graphviz. Raises MCIRError."""
    from mcir.exporters.dot import export_dot
    from mcir.tools.memory_report import read_dims

    return Translated(export_dot(_module(path, stdin), read_dims(given.every("--dim"))))


def _module(path: str, stdin: TextIO) -> MCModule:
    """The valid module that a file holds. Raises MCIRError."""
    from mcir.files import read_source
    from mcir.parser import parse_module
    from mcir.verifier import check_module

    source = read_source(path, stdin)
    module = parse_module(source.text, source.name)
    check_module(module)
    return module


_DIM = Flag("--dim", VALUE, "sizes of named dimensions (memory, html, dot)", "NAME=SIZE,..")
_TARGET = Flag("--target", VALUE, "what tiles must fit on: sm_90, ... (memory, html)", "TARGET")
_WEIGHTS = Flag("--weights", VALUE, "write the weights to this file, for mcir-run (import)", "FILE.npz")
_LIMIT = Flag("--constant-limit", VALUE, f"elements of a constant that keeps its data ({DEFAULT_CONSTANT_LIMIT})", "N")

TRANSLATIONS: tuple[Translation, ...] = (
    Translation(
        "--import-onnx",
        "an ONNX model (binary) to MCIR text",
        import_onnx,
        (
            _WEIGHTS,
            _LIMIT,
            Flag("--expand-functions", SWITCH, "replace operators such as Celu by the body ONNX defines"),
            Flag("--keep-attention", SWITCH, "leave fused attention operators opaque"),
        ),
    ),
    Translation(
        "--import-torch", "a program of torch.export (.pt2) to MCIR text", import_torch, (_WEIGHTS, _LIMIT)
    ),
    Translation(
        "--to-mlir",
        "MCIR text to MLIR text, for mlir-opt --allow-unregistered-dialect",
        to_mlir,
        (Flag("--no-linalg", SWITCH, "write every node as one operation of the dialect mcir"),),
    ),
    Translation(
        "--memory-report",
        "MCIR text to bytes moved and held",
        memory_report,
        (Flag("--compare", VALUE, "a table of tiles: tile-m=64,128 tile-n=32,64", "TILES"), _DIM, _TARGET),
        OPTIONAL, choices=("text", "json"),
    ),
    Translation("--html", "MCIR text to a web page", to_html, (_DIM, _TARGET), VALUE, "FILE.html"),
    Translation("--dot", "MCIR text to a picture for Graphviz", to_dot, (_DIM,)),
)  # fmt: skip


def _flags() -> tuple[Flag, ...]:
    choice = [
        Flag(entry.flag, entry.kind, entry.summary, entry.metavar, "translations", entry.choices)
        for entry in TRANSLATIONS
    ]
    owners: dict[Flag, list[str]] = {}
    for entry in TRANSLATIONS:
        for flag in entry.options:
            owners.setdefault(flag, []).append(entry.flag)
    groups = {flag: flags[0] if len(flags) == 1 else "several" for flag, flags in owners.items()}
    own = [replace(flag, group=f"options of {group}") for flag, group in groups.items()]
    return (*choice, Flag("-o", VALUE, "file to write (standard output)", "FILE", group="output"), *own)


def _values() -> Mapping[str, Iterable[str]]:
    from mcir.analysis.memory.targets import TARGETS

    return {"--target": TARGETS}


COMMAND = Command(
    "mcir-translate",
    "TRANSLATION [OPTIONS] [FILE]",
    "Translates other formats to MCIR text, and MCIR to other formats.",
    _flags(),
    (0, 1),
    (
        ("mcir-translate --import-onnx tests/models/llama.full.onnx --weights=llama.npz -o llama.mcir",
         "a model, and its weights for mcir-run"),
        ("mcir-translate --import-torch model.pt2 -o model.mcir", "what torch.export.save wrote"),
        ("mcir-opt llama.mcir --attention-pattern --streaming-lowering | mcir-translate --memory-report",
         "bytes that its attention moves"),
        ("mcir-translate --html page.html llama.mcir", "a page to look at"),
        ("mcir-translate --to-mlir llama.mcir | mlir-opt --allow-unregistered-dialect", "on to MLIR"),
    ),
    ("exit code: 0 good, 1 the input cannot be read or translated, 2 bad usage",),
    inputs="*",
    values=_values,
)


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool; see `COMMAND` for the exit codes."""
    try:
        given = COMMAND.read(_joined_choices(argv), stdout, stderr)
        translation = _chosen(given, stderr)
    except Exit as done:
        return done.code
    with COMMAND.reporter(given, stderr) as reporter:
        return _translate(translation, given, stdin, stdout, stderr, reporter)


def _translate(
    translation: Translation, given: Given, stdin: TextIO, stdout: TextIO, stderr: TextIO, reporter: Reporter
) -> int:  # fmt: skip
    try:
        note_terminal(COMMAND.name, given.input, stdin, stderr)
        result = translation.run(given.input, given, stdin)
        for path, data in result.files.items():
            write_bytes(path, data)
        output = given.value("-o", "-")
        if result.text is not None and output == "-":
            write_stream(stdout, result.text)
        elif result.text is not None:
            write_text(output, result.text)
    except MCIRError as error:
        reporter.show(error.diagnostics)
        return EXIT_BAD_INPUT
    reporter.show(result.diagnostics)
    return EXIT_BAD_INPUT if any(each.severity == "error" for each in result.diagnostics) else EXIT_GOOD


def console_main() -> NoReturn:
    """Entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


def _joined_choices(argv: Sequence[str]) -> list[str]:
    """`argv` with the words `tile-x=...` that follow `--compare` joined into its value."""
    words: list[str] = []
    open_ = False
    for word in argv:
        if open_ and _CHOICE.match(word):
            words[-1] += (" " if words[-1] != "--compare=" else "") + word
            continue
        open_ = word == "--compare" or word.startswith("--compare=")
        words.append("--compare=" if word == "--compare" else word)
    return words


def _chosen(given: Given, stderr: TextIO) -> Translation:
    """The one translation asked for. Raises Exit unless it is one, and has all the options given."""
    chosen = [entry for entry in TRANSLATIONS if given.flags.get(entry.flag, "false") != "false"]
    if len(chosen) != 1:
        which = "which translation?" if not chosen else "one translation at a time:"
        COMMAND.refuse(f"{which} {', '.join(entry.flag for entry in chosen or TRANSLATIONS)}", stderr, given.style)
    for other in TRANSLATIONS:
        foreign = [flag.name for flag in other.options if flag.name in given.flags and flag not in chosen[0].options]
        if foreign:
            COMMAND.refuse(f"{foreign[0]} belongs to {other.flag}", stderr, given.style)
    if chosen[0].kind == VALUE and "-o" in given.flags:
        COMMAND.refuse(f"{chosen[0].flag} names its output: leave out -o", stderr, given.style)
    files = [given.value(flag.name) for flag in chosen[0].options if flag.metavar.startswith("FILE")]
    if given.value("-o") and given.value("-o") in files:
        COMMAND.refuse(f"two outputs go to {given.value('-o')}", stderr, given.style)
    return chosen[0]


def _natural(flag: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise MCIRError(f"{flag} takes a number, not '{text[:32]}'")
    return int(text)


if __name__ == "__main__":
    console_main()
