"""`mcir-translate`: other formats to MCIR text, and MCIR to other formats.

    mcir-translate --import-onnx model.onnx -o model.mcir --weights=weights.npz

Each translation is one entry of TRANSLATIONS: its flag, its options and the function that does it. The
tool only reads the command line, writes the result whole or not at all, and prints errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.importers.onnx import DEFAULT_CONSTANT_LIMIT
from mcir.tools.arguments import SWITCH, VALUE, Flag
from mcir.tools.command import Command, Exit, Given
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_GOOD, run_console
from mcir.tools.io import write_bytes, write_stream, write_text
from mcir.tools.report import Reporter


@dataclass(slots=True)
class Translated:
    """The text of a translation, bytes of further files by path, and warnings for the user."""

    text: str
    files: dict[str, bytes] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation.

    run: (input path, command line, standard input) -> what to write. Raises MCIRError.
    options: flags that belong to this translation alone.
    """

    flag: str
    summary: str
    run: Callable[[str, Given, TextIO], Translated]
    options: tuple[Flag, ...] = ()


def import_onnx(path: str, given: Given, stdin: TextIO) -> Translated:
    """An ONNX model as MCIR text, with `--weights` its weights too. Raises MCIRError."""
    from mcir.importers.onnx import read_onnx
    from mcir.printer import print_module
    from mcir.verifier import check_module

    if path == "-":
        raise MCIRError("an ONNX model is binary: give the path of a file")
    limit = _natural("--constant-limit", given.value("--constant-limit", str(DEFAULT_CONSTANT_LIMIT)))
    imported = read_onnx(path, expand_functions=given.on("--expand-functions"), constant_limit=limit)
    check_module(imported.module)
    done = Translated(print_module(imported.module))
    weights = given.value("--weights")
    if weights:
        from mcir.importers.onnx_weights import missing_data, weights_archive

        done.files[weights] = weights_archive(imported.weights)
        done.warnings += missing_data(imported.missing)
    return done


def to_mlir(path: str, given: Given, stdin: TextIO) -> Translated:
    """A valid MCIR module as MLIR text in generic form. Raises MCIRError."""
    from mcir.exporters.mlir import export_mlir
    from mcir.parser import parse_module
    from mcir.tools.io import read_source
    from mcir.verifier import check_module

    source = read_source(path, stdin)
    module = parse_module(source.text, source.name)
    check_module(module)
    return Translated(export_mlir(module, standard=not given.on("--no-linalg")))


TRANSLATIONS: tuple[Translation, ...] = (
    Translation(
        "--import-onnx",
        "an ONNX model (binary) to MCIR text",
        import_onnx,
        (
            Flag("--weights", VALUE, "write the weights to this file, for mcir-run", "FILE.npz"),
            Flag("--expand-functions", SWITCH, "replace operators such as Attention by the body ONNX defines"),
            Flag(
                "--constant-limit", VALUE, "elements up to which a tensor that is no weight", "N",
                details=f"keeps its data ({DEFAULT_CONSTANT_LIMIT})",
            ),
        ),
    ),
    Translation(
        "--to-mlir",
        "MCIR text to MLIR text, for mlir-opt --allow-unregistered-dialect",
        to_mlir,
        (Flag("--no-linalg", SWITCH, "write every node as one operation of the dialect mcir"),),
    ),
)  # fmt: skip


def _flags() -> tuple[Flag, ...]:
    choice = [Flag(entry.flag, SWITCH, entry.summary, group="translations") for entry in TRANSLATIONS]
    own = [
        Flag(flag.name, flag.kind, flag.help, flag.metavar, f"options of {entry.flag}", details=flag.details)
        for entry in TRANSLATIONS
        for flag in entry.options
    ]
    return (*choice, Flag("-o", VALUE, "file to write (standard output)", "FILE", group="output"), *own)


COMMAND = Command(
    "mcir-translate",
    "TRANSLATION [OPTIONS] FILE",
    "Translates other formats to MCIR text, and MCIR to other formats.",
    _flags(),
    (1, 1),
    (
        "exit code: 0 good, 1 the input cannot be read or translated, 2 bad usage",
        "",
        "examples:",
        "  mcir-translate --import-onnx model.onnx -o model.mcir",
        "  mcir-translate --import-onnx model.onnx | mcir-opt --attention-pattern",
        "  mcir-translate --to-mlir model.mcir | mlir-opt --allow-unregistered-dialect",
    ),
)


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool; see `COMMAND` for the exit codes."""
    try:
        given = COMMAND.read(argv, stdout, stderr)
        translation = _chosen(given, stderr)
    except Exit as done:
        return done.code
    reporter = Reporter(stderr)
    try:
        result = translation.run(given.operands[0], given, stdin)
        for path, data in result.files.items():
            write_bytes(path, data)
        output = given.value("-o", "-")
        if output == "-":
            write_stream(stdout, result.text)
        else:
            write_text(output, result.text)
    except MCIRError as error:
        reporter.show(error.diagnostics)
        return EXIT_BAD_INPUT
    reporter.show(result.warnings)
    return EXIT_GOOD


def console_main() -> NoReturn:
    """Entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


def _chosen(given: Given, stderr: TextIO) -> Translation:
    """The one translation asked for. Raises Exit unless it is one, and has all the options given."""
    chosen = [entry for entry in TRANSLATIONS if given.on(entry.flag)]
    if len(chosen) != 1:
        which = "which translation?" if not chosen else "one translation at a time:"
        COMMAND.refuse(f"{which} {', '.join(entry.flag for entry in chosen or TRANSLATIONS)}", stderr)
    for other in TRANSLATIONS:
        foreign = [flag.name for flag in other.options if flag.name in given.flags and other is not chosen[0]]
        if foreign:
            COMMAND.refuse(f"{foreign[0]} belongs to {other.flag}", stderr)
    files = [given.value(flag.name) for flag in chosen[0].options if flag.metavar.startswith("FILE")]
    if given.value("-o") and given.value("-o") in files:
        COMMAND.refuse(f"two outputs go to {given.value('-o')}", stderr)
    return chosen[0]


def _natural(flag: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise MCIRError(f"{flag} takes a number, not '{text[:32]}'")
    return int(text)


if __name__ == "__main__":
    console_main()
