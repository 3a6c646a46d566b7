"""`mcir-reduce --test SCRIPT in.mcir`: the smallest input that the script still finds interesting.

The script is called with one argument more, the path of a candidate file. It exits with 0 if the candidate is
interesting (it still shows what is looked for); any other exit code, and a run beyond `--timeout`, mean that it is not.
What it started is ended with it. `--repeat` asks a script that does not always say the same more than once.
A script for "mcir-opt crashes on it":

    #!/bin/sh
    mcir-opt "$1" --attention-pattern; test $? -eq 70

The configuration of a reproducer (`mcir-opt --crash-reproducer`) stays as it is, so that `mcir-opt --run-reproducer`
runs each candidate.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
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
        Flag("--repeat", VALUE, "call the script up to N times; a candidate is interesting if one call says so", "N"),
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
        "accepts, unless --allow-invalid; one that cannot be parsed is reduced by lines, then by words. Of the result",
        "no graph, region, node, operand, attribute or size can go alone. An interrupt (Ctrl-C, SIGTERM) writes the",
        "smallest file so far. INPUT itself is never written. Of what mcir-opt --crash-reproducer wrote, the",
        'configuration stays: a script for it runs mcir-opt --run-reproducer "$1" and tests for the same exit code.',
        "",
        "exit code: 0 reduced, 1 INPUT cannot be read, is not interesting, or the script cannot be run, 2 bad usage",
    ),
)


@dataclass(frozen=True, slots=True)
class Script:
    """The test, and how often and how long it may run."""

    command: list[str]
    max_tests: int
    timeout: float
    repeat: int


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool; see `COMMAND` for the exit codes."""
    try:
        given = COMMAND.read(argv, stdout, stderr)
        command = _command(given, stderr)
        max_tests, timeout, repeat = (_number(given, *option, stderr) for option in _NUMBERS)
        script = Script(command, int(max_tests), timeout, max(1, int(repeat)))
        _refuse_input(given, stderr)
    except Exit as done:
        return done.code
    with COMMAND.reporter(given, stderr) as reporter:
        return _reduce(given, script, stdin, stdout, stderr, reporter)


def _reduce(given: Given, script: Script, stdin: TextIO, stdout: TextIO, stderr: TextIO, reporter: Reporter) -> int:
    code, steady = EXIT_GOOD, True
    try:
        note_terminal(COMMAND.name, given.input, stdin, stderr)
        source = read_source(given.input, stdin)
        name = Path(source.name).name if given.input != "-" else "input.mcir"
        with terminations(), tempfile.TemporaryDirectory(prefix="mcir-reduce-") as folder:
            test = script_test(script.command, os.path.join(folder, name), script.timeout, script.repeat)
            head, text = split_configuration(source.text)
            valid = not given.on("--allow-invalid")
            reducer = Reducer(lambda candidate: test(head + candidate), valid, script.max_tests)
            if stderr.isatty() and not given.on("--quiet"):
                reducer.progress = lambda step: print(_state(reducer, step), file=stderr)
            try:
                reducer.reduce(text)
                steady = reducer.is_steady()
            except KeyboardInterrupt:
                code = EXIT_INTERRUPTED
            except Terminated:
                code = EXIT_TERMINATED
        best = head + reducer.best
        _write(best, given.value("-o", "-"), stdout)
    except MCIRError as error:
        reporter.show(error.diagnostics)
        return EXIT_BAD_INPUT
    if not steady:
        message = "the test does not always say the same: it found the result interesting, and then did not"
        reporter.show([Diagnostic(message, severity="warning", hint="--repeat calls it more than once")])
    if not given.on("--quiet") and given.style == "text":
        sizes = f"{_lines(source.text)} to {_lines(best)} lines"
        print(f"{COMMAND.name}: {sizes} in {reducer.tests} tests", file=stderr)
    return code


def script_test(command: list[str], path: str, timeout: float, repeat: int = 1) -> Interesting:
    """The test that writes a candidate to `path` and runs `command` on it, until it says yes or `repeat` times.

    It raises MCIRError where the command cannot be run at all.
    """

    def interesting(text: str) -> bool:
        write_text(path, text)
        return any(_exit_code([*command, path], timeout) == 0 for _ in range(repeat))

    return interesting


def _exit_code(command: list[str], timeout: float) -> int | None:
    """The exit code of a command; None if it takes too long. All that it started ends with it then."""
    silent = subprocess.DEVNULL
    try:
        # a session of its own, so that what a script started can be ended together with it
        process = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)
    except OSError as error:
        hint = "write ./ before a script in this folder" if "/" not in command[0] else ""
        reason = error.strerror or str(error)
        raise MCIRError(Diagnostic(f"cannot run the test {command[0]}: {reason}", hint=hint)) from None
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        return None
    except BaseException:
        _end(process)
        raise


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _state(reducer: Reducer, step: str) -> str:
    return f"{COMMAND.name}: {step}: {_lines(reducer.best)} lines after {reducer.tests} tests"


def _command(given: Given, stderr: TextIO) -> list[str]:
    """The command of the test. Raises Exit where none is named."""
    try:
        command = shlex.split(given.value("--test"))
    except ValueError:
        command = []
    if not command:
        COMMAND.refuse("--test must name the script to run", stderr, given.style)
    return command


# Flag, its default, the type of its value.
_NUMBERS: tuple[tuple[str, str, type], ...] = (
    ("--max-tests", "0", int), ("--timeout", "60", float), ("--repeat", "1", int),
)  # fmt: skip


def _number(given: Given, flag: str, default: str, kind: type, stderr: TextIO) -> float:
    """The number that a flag gives. Raises Exit for a value that makes no sense."""
    text = given.value(flag, default)
    try:
        value: float = kind(text)
    except ValueError:
        value = -1
    if not 0 <= value < 10**9:
        COMMAND.refuse(f"{flag} takes a number, not '{text[:40]}'", stderr, given.style)
    return value


def _refuse_input(given: Given, stderr: TextIO) -> None:
    """Raises Exit where the result would be written over the input."""
    out, source = given.value("-o", "-"), given.input
    if "-" not in (out, source) and os.path.exists(out) and os.path.exists(source) and os.path.samefile(out, source):
        COMMAND.refuse("-o names the input itself, which is kept", stderr, given.style)


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
