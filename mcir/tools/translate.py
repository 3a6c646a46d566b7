"""`mcir-translate`: other formats to MCIR text, and MCIR to other formats.

    mcir-translate --import-onnx model.onnx -o model.mcir --weights weights.npz

Each translation is one entry of TRANSLATIONS: its flag, its options and the function that does it. The
tool only reads the command line, writes the result whole or not at all, and prints errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

from mcir.diagnostics import MCIRError
from mcir.importers.onnx import DEFAULT_CONSTANT_LIMIT
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_BAD_USAGE, EXIT_GOOD, run_console
from mcir.tools.io import write_bytes, write_stream, write_text

TOOL = "mcir-translate"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one translation, as argparse's add_argument takes it."""

    flag: str
    settings: dict[str, Any]

    @property
    def key(self) -> str:
        return self.flag.lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation.

    run: (input path, the options given, standard input) -> the text to write, and files to write beside it.
    """

    flag: str
    summary: str
    run: Callable[[str, dict[str, Any], TextIO], Translated]
    options: tuple[Option, ...] = ()


@dataclass(slots=True)
class Translated:
    """The text of a translation, bytes of further files by path, and what to tell the user."""

    text: str
    files: dict[str, bytes]
    notes: Sequence[str] = ()


def import_onnx(path: str, options: dict[str, Any], stdin: TextIO) -> Translated:
    """An ONNX model as MCIR text, with `--weights` its weights too. Raises MCIRError."""
    from mcir.importers.onnx import read_onnx
    from mcir.importers.onnx_weights import missing_note, weights_archive
    from mcir.printer import print_module
    from mcir.verifier import check_module

    if path == "-":
        raise MCIRError("an ONNX model is binary: give the path of a file")
    weights_path = options.pop("weights", None)
    imported = read_onnx(path, **options)
    check_module(imported.module)
    files: dict[str, bytes] = {}
    notes = []
    if weights_path is not None:
        files[weights_path] = weights_archive(imported.weights)
        notes = missing_note(imported.missing)
    return Translated(print_module(imported.module), files, notes)


TRANSLATIONS: tuple[Translation, ...] = (
    Translation(
        "--import-onnx",
        "ONNX model (binary) to MCIR text",
        import_onnx,
        (
            Option("--weights", {"metavar": "FILE", "help": "write the weights to this .npz file, for mcir-run"}),
            Option(
                "--expand-functions",
                {"action": "store_true", "help": "replace ONNX operators such as Attention by the body ONNX defines"},
            ),
            Option(
                "--constant-limit",
                {
                    "type": int,
                    "metavar": "N",
                    "help": "elements up to which a tensor that is no weight keeps its data "
                    f"(default {DEFAULT_CONSTANT_LIMIT})",
                },
            ),
        ),
    ),
)


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool; the exit code is 0 for good, 1 for bad input, 2 for bad usage."""
    parser = _argument_parser(stdout, stderr)
    try:
        arguments = parser.parse_args(list(argv))
        translation = next(entry for entry in TRANSLATIONS if getattr(arguments, Option(entry.flag, {}).key))
        options = _options_given(parser, arguments, translation)
        if arguments.output != "-" and arguments.output in options.values():
            parser.error(f"two outputs go to {arguments.output}")
    except _Exit as exit_:
        return exit_.code
    try:
        done = translation.run(arguments.input, options, stdin)
        for path, data in done.files.items():
            write_bytes(path, data)
        if arguments.output == "-":
            write_stream(stdout, done.text)
        else:
            write_text(arguments.output, done.text)
    except MCIRError as error:
        print(error, file=stderr)
        return EXIT_BAD_INPUT
    for note in done.notes:
        print(f"{TOOL}: {note}", file=stderr)
    return EXIT_GOOD


def console_main() -> None:
    """The entry point of the installed command."""
    sys.exit(run_console(TOOL, main))


class _Exit(Exception):
    """argparse is done, with an exit code."""

    def __init__(self, code: int) -> None:
        self.code = code


class _Parser(argparse.ArgumentParser):
    """argparse on the streams it is given, without leaving the process."""

    def __init__(self, stdout: TextIO, stderr: TextIO) -> None:
        super().__init__(prog=TOOL, description="Translates between MCIR and other formats.", allow_abbrev=False)
        self._out, self._err = stdout, stderr

    def print_help(self, file: Any = None) -> None:
        self._out.write(self.format_help())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Exit(status)

    def error(self, message: str) -> NoReturn:
        print(f"{TOOL}: error: {message} (--help shows the options)", file=self._err)
        raise _Exit(EXIT_BAD_USAGE)


def _argument_parser(stdout: TextIO, stderr: TextIO) -> _Parser:
    parser = _Parser(stdout, stderr)
    parser.add_argument("input", metavar="INPUT", help="file to translate")
    parser.add_argument(
        "-o", dest="output", metavar="FILE", default="-", help="file to write (default: standard output)"
    )
    choice = parser.add_argument_group("translations").add_mutually_exclusive_group(required=True)
    for translation in TRANSLATIONS:
        choice.add_argument(translation.flag, action="store_true", help=translation.summary)
        group = parser.add_argument_group(f"options of {translation.flag}")
        for option in translation.options:
            group.add_argument(option.flag, dest=option.key, default=None, **option.settings)
    return parser


def _options_given(parser: _Parser, arguments: argparse.Namespace, chosen: Translation) -> dict[str, Any]:
    """The options that stand on the command line; one that belongs to another translation is an error."""
    given = {}
    for translation in TRANSLATIONS:
        for option in translation.options:
            value = getattr(arguments, option.key)
            if value is None:
                continue
            if option not in chosen.options:
                parser.error(f"{option.flag} belongs to {translation.flag}")
            given[option.key] = value
    return given


if __name__ == "__main__":
    console_main()
