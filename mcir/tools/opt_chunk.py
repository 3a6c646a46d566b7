"""What `mcir-opt` does with one module text: parse, verify, run the passes, print."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.dump import dump_module
from mcir.graph import SemanticGraph
from mcir.location import Source
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.record import field, record
from mcir.regions import Region
from mcir.verifier import verify_module

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import TextIO

    from mcir.passes import Remark
    from mcir.passes.manager import MCIRPassManager, PassRun, PassWatcher
    from mcir.tools.opt_options import Options
    from mcir.tools.timing import Timing

CHUNK_MARK = "// -----"
_MARK_LINE = re.compile(r"^[ \t]*// -----[ \t]*(?:\n|\Z)", re.MULTILINE)


@record(slots=True)
class ChunkResult:
    """What came of one module text; `output` is None if it has an error.

    failure: the error of a pass, or of a check after passes, on a good input. module: what is printed.
    """

    output: str | None = None
    module: MCModule | None = None
    failure: MCIRError | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    reports: str = ""  # the memory report and the proofs that are asked for
    runs: list[PassRun] = field(default_factory=list)


def split_source(source: Source) -> list[Source]:
    """The pieces of `source` between `// -----` lines; each keeps the line numbers of the file."""
    pieces, begin, line = [], 0, source.first_line
    for mark in _MARK_LINE.finditer(source.text):
        pieces.append(Source(source.name, source.text[begin : mark.start()], line))
        line += source.text.count("\n", begin, mark.end())
        begin = mark.end()
    pieces.append(Source(source.name, source.text[begin:], line))
    return pieces


def join_outputs(outputs: Iterable[str]) -> str:
    """Printed modules as one text that `split_source` takes apart again."""
    return f"\n{CHUNK_MARK}\n\n".join(outputs)


def process_chunk(
    source: Source, options: Options, timing: Timing, stderr: TextIO, watchers: Iterable[PassWatcher] = ()
) -> ChunkResult:  # fmt: skip
    """Runs one module text through everything that the options ask for; errors stand in the result.

    watchers: look on beside those that the options ask for. Raises PassCrash for a pass that crashes.
    """
    result = ChunkResult()
    try:
        module = _read(source, timing, result)
    except MCIRError as error:
        result.diagnostics += error.diagnostics
        return result
    if any(diagnostic.severity == "error" for diagnostic in result.diagnostics):
        return result
    manager = _manager(options, stderr, watchers)
    try:
        _transform(module, options, manager, timing, result)
    except MCIRError as error:
        result.diagnostics += error.diagnostics
        result.failure = error
    if manager is not None:
        known = {diagnostic.render() for diagnostic in result.diagnostics}
        result.diagnostics += [warning for warning in manager.warnings if warning.render() not in known]
        result.remarks, result.runs = manager.remarks, manager.runs
    return result


def _manager(options: Options, stderr: TextIO, watchers: Iterable[PassWatcher]) -> MCIRPassManager | None:
    """The pass manager; None, and nothing imported, where no passes are asked for."""
    if not options.passes:
        return None
    from mcir.passes.manager import MCIRPassManager
    from mcir.tools.watchers import watchers_for

    return MCIRPassManager(options.passes, options.verify_each, [*watchers, *watchers_for(options, stderr)])


def _read(source: Source, timing: Timing, result: ChunkResult) -> MCModule:
    with timing.phase("parse"):
        module = parse_module(source.text, source.name, source.first_line)
    with timing.phase("verify the input"):
        result.diagnostics = verify_module(module, read=True)
    return module


def _transform(
    module: MCModule, options: Options, manager: MCIRPassManager | None, timing: Timing, result: ChunkResult
) -> None:  # fmt: skip
    """From the module to the output in `result`. Raises MCIRError where a pass or a check has an error."""
    if options.verify_roundtrip:
        from mcir.tools.watchers import check_roundtrip

        with timing.phase("round trip of the input"):
            check_roundtrip(module, "the input")
    if options.strip_comments:
        _strip_comments(module)
    if manager is not None:
        try:
            with timing.phase("pipeline"):
                module = manager.run(module)
        finally:
            timing.add_passes("pipeline", manager.runs)
    if options.memory_report or options.target:
        with timing.phase("memory report"):
            _account(module, options, result)
    if options.prove:
        with timing.phase("prove"):
            _prove(module, result)
    with timing.phase("print"):
        result.module = module
        result.output = dump_module(module, options.dump) if options.dump else print_module(module)


def _account(module: MCModule, options: Options, result: ChunkResult) -> None:
    """Enters the memory report. Raises MCIRError with the tiles that do not fit on the target."""
    from mcir.tools.memory_report import memory_report

    report = memory_report(module, options.memory_report, options.target, options.dims)
    result.reports += report.text
    errors = [diagnostic for diagnostic in report.diagnostics if diagnostic.severity == "error"]
    result.diagnostics += [diagnostic for diagnostic in report.diagnostics if diagnostic not in errors]
    if errors:
        raise MCIRError(errors)


def _prove(module: MCModule, result: ChunkResult) -> None:
    """Enters a line for each region that is proved. Raises MCIRError with the regions that are not."""
    try:
        from mcir.interpreter.check import check_module
    except ImportError as error:
        hint = "pip install 'mcir[run]'"
        raise MCIRError(Diagnostic(f"--prove needs {error.name}", hint=hint, rule="proof")) from None
    places = {region.name: region.loc for region in module.regions}
    errors = []
    for proof in check_module(module):
        if proof.status == "proved":
            result.reports += f"{proof}\n"
        else:
            errors.append(Diagnostic(str(proof), places.get(proof.region), rule="proof"))
    if errors:
        raise MCIRError(errors)


def _strip_comments(module: MCModule) -> None:
    module.comments = None
    blocks: list[SemanticGraph | Region] = [*module.graphs, *module.walk()]
    for block in blocks:
        block.comments = None
        for node in block.nodes:
            node.comments = None
