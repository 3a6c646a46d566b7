"""`mcir-run`: runs graphs and lowered regions in NumPy, and proves regions against their graphs.

    mcir-run [in.mcir] [--inputs x.npz] [--output out.npz] [--seed N]
    mcir-run --check [in.mcir] [--level exact,algebraic,typed] [--json]

Exit code: 0 if it ran, or every region is proved; 1 for bad input, a difference, a region that is not provable, or no
region to prove; 2 for bad usage. Arrays that are not given are drawn from the seed, and the tool says which. Arrays of
bf16 and fp8 are exchanged as float32.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from mcir.diagnostics import Diagnostic, MCIRError, did_you_mean
from mcir.files import read_bytes, read_source, write_bytes, write_stream
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.regions import Region
from mcir.tools.arguments import SWITCH, VALUE, Flag, UsageError
from mcir.tools.command import Command, Exit, Given
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_GOOD, note_terminal, run_console
from mcir.values import MCValue

if TYPE_CHECKING:
    from mcir.interpreter.check import CheckResult
    from mcir.interpreter.numerics import Array

LEVELS = ("exact", "algebraic", "typed")
MODES = ("typed", "algebraic", "exact")

COMMAND = Command(
    "mcir-run",
    "[--check] [options] [FILE]",
    "Runs graphs and lowered regions in NumPy; with --check proves every region against its graph.",
    (
        Flag("--inputs", VALUE, "arrays by name (may stand again); without it all are drawn", "X.npz", "running"),
        Flag("--output", VALUE, "where the output arrays go", "OUT.npz", "running"),
        Flag("-o", VALUE, "the same", "OUT.npz", "running", hidden=True),
        Flag("--size", VALUE, "sizes of named dimensions, for drawn arrays; also: --dim", "NAME=N,...", "running"),
        Flag("--dim", VALUE, "the same, as the other tools call it", "NAME=N,...", "running", hidden=True),
        Flag("--lowered", SWITCH, "run the graph with regions in place of what they cover", group="running"),
        Flag("--mode", VALUE, "number system (typed)", group="running", choices=MODES),
        Flag("--check", SWITCH, "prove every region against its graph", group="proving"),
        Flag("--level", VALUE, "levels of the proof (exact,algebraic,typed)", "LEVELS", "proving"),
        Flag("--json", SWITCH, "print the outcome as JSON", group="proving"),
        Flag("--only", VALUE, "the graph or region to run, or the region to prove", "NAME", "both"),
        Flag("--seed", VALUE, "seed of drawn arrays (0)", "N", "both"),
        Flag("--memory-limit", VALUE, "what live values may take (2048)", "MIB", "both"),
    ),
    (0, 1),
    (
        ("mcir-opt examples/grouped_query.mcir --attention-pattern --streaming-lowering | mcir-run --check",
         "prove the streaming form of a graph"),
        ("mcir-run examples/grouped_query.mcir --size batch=1,seq=8,past=16 --output out.npz",
         "run a graph on drawn inputs, at these sizes"),
        ("mcir-run examples/attention.mcir --mode algebraic --seed 7", "run one in fp64, on other inputs"),
    ),
    (
        "exit code: 0 it ran, or every region is proved; 1 bad input, a difference, not provable, nothing to prove;",
        "2 bad usage",
    ),
)


@dataclass(slots=True)
class Options:
    """The command line, understood."""

    input: str
    inputs: list[str]
    output: str | None
    mode: str
    only: str | None
    lowered: bool
    check: bool
    json: bool
    levels: tuple[str, ...]
    seed: int
    memory_limit: int  # bytes
    sizes: dict[str, int] = field(default_factory=dict)


def console_main() -> NoReturn:
    """Entry point of the installed command."""
    sys.exit(run_console(COMMAND.name, main))


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool on its arguments and streams; returns the exit code (see the head of this file)."""
    try:
        given = COMMAND.read(argv, stdout, stderr)
        try:
            options = _options(given)
        except UsageError as error:
            COMMAND.refuse(str(error), stderr, given.style)
    except Exit as done:
        return done.code
    note_terminal(COMMAND.name, options.input, stdin, stderr)
    with COMMAND.reporter(given, stderr) as reporter:
        try:
            return _run(options, stdin, stdout)
        except MCIRError as error:
            reporter.show(error.diagnostics)
            return EXIT_BAD_INPUT


def _options(given: Given) -> Options:
    """The command line with its numbers and lists read. Raises UsageError."""
    flags = given.flags
    output = flags.get("--output") or flags.get("-o")
    sizes = _sizes("--size", given.every("--size")) | _sizes("--dim", given.every("--dim"))
    if given.on("--check") and (flags.get("--inputs") or output or sizes):
        raise UsageError("--check draws its own inputs: --inputs, --output, --size and --dim are for runs")
    if given.on("--check") and given.on("--lowered"):
        raise UsageError("--check proves regions one by one: --lowered is for runs")
    if given.on("--json") and not given.on("--check"):
        raise UsageError("--json is for --check")
    only = flags.get("--only")
    return Options(
        given.input, given.every("--inputs"), output, given.value("--mode", "typed"),
        only.removeprefix("@") if only else None, given.on("--lowered"), given.on("--check"), given.on("--json"),
        _levels(given.value("--level", ",".join(LEVELS))), _natural("--seed", given.value("--seed", "0")),
        _natural("--memory-limit", given.value("--memory-limit", "2048")) << 20, sizes,
    )  # fmt: skip


def _natural(flag: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise UsageError(f"{flag} takes a natural number, not '{text[:32]}'")
    return int(text)


def _levels(text: str) -> tuple[str, ...]:
    levels = tuple(part.strip() for part in text.split(",") if part.strip())
    for level in levels:
        if level not in LEVELS:
            raise UsageError(f"unknown level '{level[:32]}': {did_you_mean(level, LEVELS) or ', '.join(LEVELS)}")
    if not levels:
        raise UsageError("--level names no level")
    return levels


def _sizes(flag: str, texts: list[str]) -> dict[str, int]:
    sizes = {}
    for entry in filter(None, ",".join(texts).split(",")):
        name, equals, number = entry.rpartition("=")
        if not equals or not name:
            raise UsageError(f"{flag} takes NAME=N, not '{entry[:32]}'")
        sizes[name] = _natural(flag, number)
    return sizes


def _run(options: Options, stdin: TextIO, stdout: TextIO) -> int:
    from mcir.parser import parse_module
    from mcir.verifier import check_module

    source = read_source(options.input, stdin)
    module = parse_module(source.text, source.name)
    check_module(module)
    try:
        import mcir.interpreter.check  # noqa: F401  # numpy and ml_dtypes, which the core does not need
    except ModuleNotFoundError as error:
        hint = "pip install 'mcir[run]'"
        raise MCIRError(Diagnostic(f"{COMMAND.name} needs {error.name}", hint=hint)) from None
    if options.check:
        return _check(module, options, stdout)
    return _execute(module, options, stdout)


def _check(module: MCModule, options: Options, stdout: TextIO) -> int:
    """Proves the regions and prints one line (or JSON entry) for each. Raises MCIRError where there is none."""
    from mcir.interpreter.check import check_region

    regions = [region for region in module.regions if options.only in (None, region.name)]
    if not regions:
        if options.only is not None:
            raise _unknown(options.only, [region.name for region in module.regions], "region")
        hint = "mcir-opt --attention-pattern --streaming-lowering makes them"
        raise MCIRError(Diagnostic("nothing to prove: the module has no regions", hint=hint))
    results: list[CheckResult] = []
    for region in regions:
        limit = options.memory_limit
        result = check_region(module, region, options.levels, seed=options.seed, memory_limit=limit)
        results.append(result)
        if not options.json:
            write_stream(stdout, f"{result}\n")
    if options.json:
        write_stream(stdout, json.dumps({"regions": [result.as_json() for result in results]}, indent=2) + "\n")
    return EXIT_GOOD if all(result.status == "proved" for result in results) else EXIT_BAD_INPUT


def _execute(module: MCModule, options: Options, stdout: TextIO) -> int:
    """Runs the one graph or region, prints what was drawn and a line for each output, and writes the arrays."""
    from mcir.interpreter.graph import needed_nodes, refuse_opaque
    from mcir.interpreter.npz import write_npz

    target = _target(module, options.only)
    if isinstance(target, SemanticGraph):
        refuse_opaque(needed_nodes(target, [value.name for value in target.outputs]))
    limit = options.memory_limit
    given, drawn = _arrays(target, options, limit)
    outputs = _outputs(module, target, given, options)
    lines = [f"drawn from seed {options.seed}: {', '.join(drawn)}"] if drawn else []
    types = {value.name: value for value in target.outputs}
    lines += [_summary(types[name], array) for name, array in outputs.items()]
    if options.output is not None:
        write_bytes(options.output, write_npz(outputs))
    write_stream(stdout, "".join(f"{line}\n" for line in lines))
    return EXIT_GOOD


def _target(module: MCModule, name: str | None) -> SemanticGraph | Region:
    """What to run: what is named, else the only graph, else the only region."""
    candidates: list[SemanticGraph | Region] = [*module.graphs, *module.regions]
    if name is not None:
        found = [candidate for candidate in candidates if candidate.name == name]
        if not found:
            raise _unknown(name, [candidate.name for candidate in candidates], "graph or region")
        return found[0]
    pool: Sequence[SemanticGraph | Region] = module.graphs or module.regions
    if len(pool) != 1:
        names = ", ".join(f"@{candidate.name}" for candidate in pool[:8])
        what = f"the module has {len(pool)} {'graphs' if module.graphs else 'regions'}"
        raise MCIRError(Diagnostic(f"{what}{': ' if pool else ''}{names}", hint="name one with --only" if pool else ""))
    return pool[0]


def _unknown(name: str, known: list[str], what: str) -> MCIRError:
    hint = did_you_mean(name, known) or (f"known: {', '.join(known[:8])}" if known else "the module has none")
    return MCIRError(Diagnostic(f"no {what} is called '{name[:64]}'", hint=hint))


def _parameters(target: SemanticGraph | Region) -> list[MCValue]:
    return [node.outputs[0] for node in target.nodes if node.op == "parameter"]


def _arrays(
    target: SemanticGraph | Region, options: Options, limit: int
) -> tuple[dict[str, Array], list[str]]:
    """(arrays by name, the names of those that were drawn)."""
    from mcir.interpreter.graph import bind_dims, draw
    from mcir.interpreter.npz import adopt

    parameters = _parameters(target)
    known = {value.name: value for value in (*target.inputs, *parameters)}
    given: dict[str, Array] = {}
    if options.inputs:
        given = _read_arrays(options.inputs, limit)
        given = {name: adopt(array, known[name]) if name in known else array for name, array in given.items()}
        wanted = parameters
    else:
        wanted = [*target.inputs, *parameters]
    fitting = [(value, given[value.name].shape) for value in target.inputs if value.name in given]
    sizes = options.sizes | bind_dims([(value, shape) for value, shape in fitting if len(shape) == len(value.shape)])
    drawn = [value for value in wanted if value.name not in given]
    _check_drawn(drawn, sizes, limit)
    for value in drawn:
        given[value.name] = draw(value, sizes, options.seed)
    return given, [f"%{value.name}" for value in drawn]


def _read_arrays(paths: list[str], limit: int) -> dict[str, Array]:
    """The arrays of all files by name; none may stand in two."""
    from mcir.interpreter.npz import read_npz

    given: dict[str, Array] = {}
    for path in paths:
        left = limit - sum(array.nbytes for array in given.values())
        for name, array in read_npz(read_bytes(path), path, left).items():
            if name in given:
                raise MCIRError(Diagnostic(f"{path}: '{name}' is given by an earlier file already"))
            given[name] = array
    return given


def _check_drawn(values: list[MCValue], sizes: dict[str, int], limit: int) -> None:
    """Every size is known and all arrays together fit, before the first one is made."""
    import shlex

    from mcir.interpreter.graph import declared_bytes

    for value in values:
        if None in value.shape:
            message = f"cannot draw '{value.name}': it has a size without a name"
            raise MCIRError(Diagnostic(message, value.loc, hint="give it with --inputs"))
    missing: dict[str, MCValue] = {}  # name of a size -> the first that has it
    for value in values:
        for dim in value.shape:
            if isinstance(dim, str) and dim not in sizes:
                missing.setdefault(dim, value)
    if missing:
        first = next(iter(missing.values()))
        what = f"size{'s' * (len(missing) > 1)} {', '.join(f'({name})' for name in missing)}"
        hint = f"--size {shlex.quote(','.join(f'{name}=16' for name in missing))}, or --inputs"
        message = f"cannot draw '{first.name}': give the {what}"
        raise MCIRError(Diagnostic(message, first.loc, hint=hint))
    need = sum(declared_bytes(value, sizes) for value in values)
    if need > limit:
        message = f"the arrays to draw need {need >> 20} MiB, the limit is {limit >> 20} MiB"
        raise MCIRError(Diagnostic(message, hint="--memory-limit raises it"))


def _outputs(
    module: MCModule, target: SemanticGraph | Region, given: dict[str, Array], options: Options
) -> dict[str, Array]:
    from mcir.interpreter.graph import run_graph
    from mcir.interpreter.lowered import run_lowered
    from mcir.interpreter.numerics import NotExact
    from mcir.interpreter.region import run_region

    limit = options.memory_limit
    try:
        if isinstance(target, Region):
            return run_region(target, given, options.mode, memory_limit=limit)
        if options.lowered:
            return run_lowered(module, target, given, options.mode, memory_limit=limit)
        return run_graph(target, given, options.mode, memory_limit=limit)
    except NotExact:
        hint = "mode exact takes 2^x of integer scores"
        raise MCIRError(Diagnostic(f"@{target.name} has scores that are no integers", hint=hint)) from None


def _summary(value: MCValue, array: Array) -> str:
    """`%O: tensor<4x8xfp16> min -1.2 mean 0.01 max 1.3`, of the finite elements; NaN are counted."""
    import numpy as np

    from mcir.printer import type_text
    from mcir.types import TensorType

    shown = f"%{value.name}: {type_text(TensorType(array.shape, value.dtype))}"
    wide = np.asarray(array, dtype=float)
    finite = wide[np.isfinite(wide)]
    if finite.size:
        shown += f" min {finite.min():.6g} mean {finite.mean():.6g} max {finite.max():.6g}"
    counts: list[tuple[str, Any]] = [("NaN", np.isnan(wide).sum()), ("infinite", np.isinf(wide).sum())]
    return shown + "".join(f", {count} {name}" for name, count in counts if count)


if __name__ == "__main__":
    console_main()
