"""`mcir-reduce --test SCRIPT in.mcir`: the smallest input that the script still finds interesting.

The script is called with one argument more, the path of a candidate file. It exits with 0 if the candidate is
interesting (it still shows what is looked for); any other exit code, and a run beyond `--timeout`, mean that it is not.
A script for "mcir-opt crashes on it":

    #!/bin/sh
    mcir-opt "$1" --attention-pattern; test $? -eq 70

The configuration of a reproducer (`mcir-opt --crash-reproducer`) stays as it is, so that `mcir-opt --run-reproducer`
runs each candidate.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from mcir.analysis.reduction import Interesting, Reducer
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.files import Terminated, read_source, terminations, write_stream, write_text
from mcir.tools.arguments import SWITCH, VALUE, Flag
from mcir.tools.command import Command, Exit, Given
from mcir.tools.configuration import split_configuration
from mcir.tools.console import (
    EXIT_BAD_INPUT,
    EXIT_GOOD,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    note_terminal,
    run_console,
)
from mcir.tools.report import Reporter

COMMAND = Command(
    "mcir-reduce",
    "--test SCRIPT [-o FILE] [INPUT]",
    "Makes an MCIR file as small as it can be while a test script still finds it interesting.",
    (
        Flag("--test", VALUE, "command to call with a candidate's path; exit code 0: interesting", "SCRIPT"),
        Flag("-o", VALUE, "file to write (default: standard output)", "FILE"),
        Flag("--allow-invalid", SWITCH, "try candidates that the verifier refuses, too"),
        Flag("--max-tests", VALUE, "run the script at most so often (default: no limit)", "N"),
        Flag("--timeout", VALUE, "seconds after which a candidate is not interesting (default 60)", "S"),
        Flag("--quiet", SWITCH, "do not report on standard error what was reached"),
    ),
    (0, 1),
    (
        ("mcir-reduce --test 'grep -q softmax' examples/grouped_query.mcir", "what still says softmax"),
        ("printf '#!/bin/sh\\nmcir-opt \"$1\" --attention-pattern | grep -q ^execution\\n' > test.sh; chmod +x test.sh",
         "a script: does it form a region?"),
        ("mcir-reduce --test ./test.sh --max-tests=12 examples/grouped_query.mcir -o small.mcir", "after 12 tests"),
    ),
    (
        "The script must exit with 0 for INPUT itself. An input that the verifier accepts is reduced to inputs that it",
        "accepts, unless --allow-invalid; one that cannot be parsed is reduced line by line. An interrupt (Ctrl-C,",
        "SIGTERM) writes the smallest file so far. Of what mcir-opt --crash-reproducer wrote, the configuration stays",
        'as it is: a script for it runs mcir-opt --run-reproducer "$1" and tests for the same exit code.',
        "",
        "exit code: 0 reduced, 1 INPUT cannot be read, is not interesting, or the script cannot be run, 2 bad usage",
    ),
)


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool; see `COMMAND` for the exit codes."""
    try:
        given = COMMAND.read(argv, stdout, stderr)
        command, max_tests, timeout = _options(given, stderr)
    except Exit as done:
        return done.code
    code = EXIT_GOOD
    try:
        note_terminal(COMMAND.name, given.input, stdin, stderr)
        source = read_source(given.input, stdin)
        name = Path(source.name).name if given.input != "-" else "input.mcir"
        with terminations(), tempfile.TemporaryDirectory(prefix="mcir-reduce-") as folder:
            test = script_test(command, os.path.join(folder, name), timeout)
            head, text = split_configuration(source.text)
            reducer = Reducer(lambda candidate: test(head + candidate), not given.on("--allow-invalid"), max_tests)
            try:
                reducer.reduce(text)
            except KeyboardInterrupt:
                code = EXIT_INTERRUPTED
            except Terminated:
                code = EXIT_TERMINATED
        best = head + reducer.best
        _write(best, given.value("-o", "-"), stdout)
    except MCIRError as error:
        Reporter(stderr).show(error.diagnostics)
        return EXIT_BAD_INPUT
    if not given.on("--quiet"):
        sizes = f"{_lines(source.text)} to {_lines(best)} lines"
        print(f"{COMMAND.name}: {sizes} in {reducer.tests} tests", file=stderr)
    return code


def script_test(command: list[str], path: str, timeout: float) -> Interesting:
    """The test that writes a candidate to `path` and runs `command` on it.

    It raises MCIRError where the command cannot be run at all.
    """

    def interesting(text: str) -> bool:
        write_text(path, text)
        try:
            done = subprocess.run(
                [*command, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                timeout=timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        except OSError as error:
            hint = "write ./ before a script in this folder" if "/" not in command[0] else ""
            reason = error.strerror or str(error)
            raise MCIRError(Diagnostic(f"cannot run the test {command[0]}: {reason}", hint=hint)) from None
        return done.returncode == 0

    return interesting


def _options(given: Given, stderr: TextIO) -> tuple[list[str], int, float]:
    """(command of the test, most tests, seconds). Raises Exit for values that make no sense."""
    try:
        command = shlex.split(given.value("--test"))
    except ValueError:
        command = []
    if not command:
        COMMAND.refuse("--test must name the script to run", stderr)
    values = []
    for flag, default, kind in (("--max-tests", "0", int), ("--timeout", "60", float)):
        text = given.value(flag, default)
        try:
            value = kind(text)
        except ValueError:
            value = -1
        if not 0 <= value < 10**9:
            COMMAND.refuse(f"{flag} takes a number, not '{text[:40]}'", stderr)
        values.append(value)
    return command, int(values[0]), float(values[1])


def _write(text: str, path: str, stdout: TextIO) -> None:
    if path == "-":
        write_stream(stdout, text)
    else:
        write_text(path, text)


def _lines(text: str) -> int:
    return len(text.splitlines())


def console_main() -> None:
    """The entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


if __name__ == "__main__":
    console_main()
