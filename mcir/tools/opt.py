"""`mcir-opt`: reads MCIR text, verifies it, runs passes over it and prints the result.

`opt_options.py` has the command line, `opt_chunk.py` what is done with one module. Results go to standard
output or `-o`; everything else (diagnostics, remarks, timing, modules around passes) goes to standard error.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence

from mcir import __version__
from mcir.diagnostics import Diagnostic, MCIRError
from mcir.files import read_source, write_stream, write_text
from mcir.location import Source
from mcir.tools.arguments import UsageError
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_BAD_USAGE, EXIT_GOOD, leave, note_terminal, run_console
from mcir.tools.opt_chunk import ChunkResult, join_outputs, process_chunk, split_source
from mcir.tools.opt_options import TOOL, Options, read_options
from mcir.tools.report import Reporter, json_line, remark_diagnostic, style_of
from mcir.tools.timing import Timing, timing_record, timing_text

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import TextIO

    from mcir.passes.manager import PassRun
    from mcir.tools.reproducer import Recorder

_OWN_FAULTS = ("proof", "roundtrip")  # rules that no input should break
_OFFER = Diagnostic("--crash-reproducer=FILE writes a small file that fails in this way", severity="remark")


def main(
    argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO, kept: list[object] | None = None
) -> int:  # fmt: skip
    """Runs the tool; the exit code is 0 for good, 1 for bad input, 2 for bad usage.

    `kept` takes the modules, if the caller has a use for them or would not wait till they are freed.
    """
    try:
        options = read_options(argv)
    except UsageError as error:
        style = style_of(argv)
        if style == "text":
            print(f"{TOOL}: error: {error}\n  {TOOL} --help shows the options", file=stderr)
            return EXIT_BAD_USAGE
        with Reporter(stderr, TOOL, style) as reporter:
            reporter.show([Diagnostic(str(error), hint=f"{TOOL} --help shows the options")])
        return EXIT_BAD_USAGE
    except MCIRError as error:
        with Reporter(stderr, TOOL, style_of(argv)) as reporter:
            reporter.show(error.diagnostics)
        return EXIT_BAD_USAGE
    style = "json" if options.diagnostics == "text" and options.remarks == "json" else options.diagnostics
    with Reporter(stderr, TOOL, style, options.color) as reporter:
        return _answer(options, argv, stdin, stdout, stderr, reporter, [] if kept is None else kept)


def _answer(
    options: Options, argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO, reporter: Reporter,
    kept: list[object],
) -> int:  # fmt: skip
    try:
        if options.stop:
            write_stream(stdout, _information(options))
            return EXIT_GOOD
        note_terminal(TOOL, options.input, stdin, stderr)
        source = read_source(options.input, stdin)
        if options.run_reproducer:
            from mcir.tools.configuration import read_configured

            options, source = read_configured(source, argv)
        if options.dump_pipeline:
            from mcir.passes.pipeline import print_pipeline

            print(print_pipeline(options.passes), file=stderr)
        return _run(options, source, stdout, stderr, reporter, kept)
    except MCIRError as error:
        reporter.show(error.diagnostics)
        return EXIT_BAD_INPUT


def console_main() -> None:
    """The entry point of the installed command."""
    gc.disable()  # a short life without cyclic garbage
    kept: list[object] = []
    leave(run_console(TOOL, lambda argv, stdin, stdout, stderr: main(argv, stdin, stdout, stderr, kept)))


def _run(
    options: Options, source: Source, stdout: TextIO, stderr: TextIO, reporter: Reporter, kept: list[object]
) -> int:  # fmt: skip
    timing = Timing()
    runs: list[list[PassRun]] = []
    outputs: list[str] = []
    good = True
    recorder = _recorder(options)
    for chunk in split_source(source) if options.split else [source]:
        try:
            result = process_chunk(chunk, options, timing, stderr, recorder.watch() if recorder else ())
        except BrokenPipeError:
            raise
        except (Exception, KeyboardInterrupt) as error:
            _annotate(error, chunk, options, recorder)
            raise
        runs.append(result.runs)
        kept[:] = [result.module]
        passed = _report(chunk, result, options, reporter, stderr)
        good &= passed
        if result.failure is not None and not passed:
            reporter.show(_reproducer_of(result.failure, chunk, options, recorder))
        if result.output is not None:
            outputs.append(result.output)
    text = join_outputs(outputs)
    with timing.phase("write"):
        if options.output == "-":
            write_stream(stdout, text)
        elif good:
            write_text(options.output, text)
    if options.statistics:
        print(_statistics(runs, options.statistics), file=stderr)
    if options.timing:
        total = timing.total()
        print(json_line(timing_record(total)) if options.timing == "json" else timing_text(total), file=stderr)
    return EXIT_GOOD if good else EXIT_BAD_INPUT


def _recorder(options: Options) -> Recorder | None:
    if not options.crash_reproducer:
        return None
    from mcir.tools.reproducer import Recorder

    return Recorder(options)


def _annotate(error: BaseException, source: Source, options: Options, recorder: Recorder | None) -> None:
    """Enters what replays a crash as a note on the exception, for `run_console` to show."""
    for said in _reproducer_of(error, source, options, recorder):
        error.add_note(said.render())


def _reproducer_of(
    failure: BaseException, source: Source, options: Options, recorder: Recorder | None
) -> list[Diagnostic]:  # fmt: skip
    """What to say of a reproducer for a failure: where it is, or how to get one if MCIR is at fault."""
    if recorder is not None:
        return [recorder.write(source, failure)]
    if options.run_reproducer or isinstance(failure, (MemoryError, KeyboardInterrupt)):
        return []
    from mcir.passes.manager import BrokenModule

    if isinstance(failure, MCIRError) and not isinstance(failure, BrokenModule):
        return [_OFFER] if any(fault.rule in _OWN_FAULTS for fault in failure.diagnostics) else []
    return [_OFFER]


def _statistics(runs: list[list[PassRun]], style: str) -> str:
    from mcir.tools.statistics import Statistics

    statistics = Statistics()
    for of_module in runs:
        statistics.add(of_module)
    return json_line(statistics.record()) if style == "json" else statistics.text()


def _report(
    source: Source, result: ChunkResult, options: Options, reporter: Reporter, stderr: TextIO
) -> bool:  # fmt: skip
    """Shows what there is to say of one module; False if it has an error, or an unannounced diagnostic."""
    if options.verify_diagnostics:
        from mcir.tools.diagnostics_check import check_diagnostics

        remarks = map(remark_diagnostic, result.remarks) if options.remarks else ()
        faults = check_diagnostics(source, [*result.diagnostics, *remarks])
        reporter.show(faults)
        return not faults
    stderr.write(result.reports)
    reporter.show(result.diagnostics)
    if options.remarks:
        reporter.show_remarks(result.remarks)
    return result.output is not None


def _information(options: Options) -> str:
    if options.stop == "version":
        return f"{TOOL} {__version__}\n"
    from mcir.tools.opt_passes import completion_text, help_text, passes_text

    if options.stop == "print-completion":
        return completion_text(options.shell)
    return help_text() if options.stop == "help" else passes_text()


if __name__ == "__main__":
    console_main()
