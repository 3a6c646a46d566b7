"""`mcir-run`: runs graphs and lowered regions in NumPy, and proves regions against their graphs.

    mcir-run in.mcir [--inputs x.npz] [--output out.npz] [--seed N]
    mcir-run --check in.mcir [--level exact,algebraic,typed] [--json]

Exit code: 0 if it ran, or every region is proved; 1 for bad input, a difference, or a region that is not provable; 2
for bad usage. Arrays that are not given are drawn from the seed, and the tool says which. Arrays of bf16 and fp8 are
exchanged as float32.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from mcir.diagnostics import Diagnostic, MCIRError, did_you_mean
from mcir.graph import SemanticGraph
from mcir.module import MCModule
from mcir.regions import Region
from mcir.tools.console import EXIT_BAD_INPUT, EXIT_BAD_USAGE, EXIT_GOOD, run_console
from mcir.tools.io import read_bytes, read_source, write_bytes, write_stream
from mcir.values import MCValue

if TYPE_CHECKING:
    from mcir.interpreter.check import CheckResult
    from mcir.interpreter.numerics import Array

TOOL = "mcir-run"
LEVELS = ("exact", "algebraic", "typed")
MODES = ("typed", "algebraic", "exact")


class _Usage(Exception):
    """A command line that argparse refuses; the message is its own."""


class _Help(Exception):
    """The help was asked for."""


class _Parser(argparse.ArgumentParser):
    """argparse that neither prints nor exits."""

    def print_help(self, file: Any = None) -> NoReturn:
        raise _Help

    def error(self, message: str) -> NoReturn:
        raise _Usage(message)


def console_main() -> NoReturn:
    """Entry point of the installed command."""
    sys.exit(run_console(TOOL, main))


def main(argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Runs the tool on its arguments and streams; returns the exit code (see the head of this file)."""
    parser = _parser()
    try:
        options = parser.parse_args(argv)
        _check_usage(options)
    except _Usage as error:
        print(f"{TOOL}: error: {error}", file=stderr)
        print(f"  {TOOL} --help shows the usage", file=stderr)
        return EXIT_BAD_USAGE
    except _Help:
        write_stream(stdout, parser.format_help())
        return EXIT_GOOD
    try:
        return _run(options, stdin, stdout, stderr)
    except MCIRError as error:
        print(error, file=stderr)
        return EXIT_BAD_INPUT


def _parser() -> _Parser:
    parser = _Parser(prog=TOOL, description="Runs MCIR graphs and lowered regions; proves regions.", add_help=False)
    add = parser.add_argument
    add("input", help="a .mcir file, or - for standard input")
    add("-h", "--help", action="help", help=argparse.SUPPRESS)
    add("--inputs", metavar="X.npz", help="input arrays by name; without it all are drawn")
    add("--output", "-o", metavar="OUT.npz", help="where the output arrays go")
    add("--seed", type=_natural, default=0, metavar="N", help="seed of drawn arrays (0)")
    add("--size", action="append", default=[], metavar="NAME=N", help="size of a named dimension, for drawn arrays")
    add("--only", metavar="NAME", help="the graph or region to run, or the region to prove")
    add("--mode", choices=MODES, default="typed", help="number system of a run (typed)")
    add("--check", action="store_true", help="prove every region against its graph")
    add("--level", default=",".join(LEVELS), metavar="LEVELS", help="levels of the proof (%(default)s)")
    add("--json", action="store_true", help="print the outcome of --check as JSON")
    add("--memory-limit", type=_natural, default=2048, metavar="MIB", help="what live values may take (%(default)s)")
    return parser


def _natural(text: str) -> int:
    value = int(text) if text.isdecimal() and len(text) < 19 else -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"'{text[:32]}' is no natural number")
    return value


def _check_usage(options: argparse.Namespace) -> None:
    options.level = tuple(part.strip() for part in options.level.split(",") if part.strip())
    for level in options.level:
        if level not in LEVELS:
            raise _Usage(f"unknown level '{level}' {did_you_mean(level, LEVELS)}".rstrip())
    if not options.level:
        raise _Usage("--level names no level")
    if options.check and (options.inputs or options.output or options.size):
        raise _Usage("--check draws its own inputs: --inputs, --output and --size are for runs")
    if options.json and not options.check:
        raise _Usage("--json is for --check")
    sizes = {}
    for entry in options.size:
        name, equals, number = entry.rpartition("=")
        if not equals or not name or not number.isdecimal():
            raise _Usage(f"--size takes NAME=N, got '{entry[:64]}'")
        sizes[name] = int(number)
    options.size = sizes


def _run(options: argparse.Namespace, stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    from mcir.parser import parse_module
    from mcir.verifier import check_module

    source = read_source(options.input, stdin)
    module = parse_module(source.text, source.name)
    check_module(module)
    try:
        import mcir.interpreter.check  # noqa: F401  # numpy and ml_dtypes, which the core does not need
    except ModuleNotFoundError as error:
        hint = "pip install 'mcir[run]'"
        raise MCIRError(Diagnostic(f"{TOOL} needs {error.name}", hint=hint)) from None
    if options.check:
        return _check(module, options, stdout, stderr)
    return _execute(module, options, stdout)


def _check(module: MCModule, options: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> int:
    """Proves the regions and prints one line (or JSON entry) for each."""
    from mcir.interpreter.check import check_region

    regions = [region for region in module.regions if options.only in (None, region.name)]
    if not regions:
        if options.only is not None:
            raise _unknown(options.only, [region.name for region in module.regions], "region")
        print(f"{TOOL}: nothing to prove: the module has no regions", file=stderr)
    results: list[CheckResult] = []
    for region in regions:
        limit = options.memory_limit << 20
        result = check_region(module, region, options.level, seed=options.seed, memory_limit=limit)
        results.append(result)
        if not options.json:
            write_stream(stdout, f"{result}\n")
    if options.json:
        write_stream(stdout, json.dumps({"regions": [result.as_json() for result in results]}, indent=2) + "\n")
    return EXIT_GOOD if all(result.status == "proved" for result in results) else EXIT_BAD_INPUT


def _execute(module: MCModule, options: argparse.Namespace, stdout: TextIO) -> int:
    """Runs the one graph or region, prints what was drawn and a line for each output, and writes the arrays."""
    from mcir.interpreter.graph import needed_nodes, refuse_opaque
    from mcir.interpreter.npz import write_npz

    target = _target(module, options.only)
    if isinstance(target, SemanticGraph):
        refuse_opaque(needed_nodes(target, [value.name for value in target.outputs]))
    limit = options.memory_limit << 20
    given, drawn = _arrays(target, options, limit)
    outputs = _outputs(target, given, options, limit)
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
        found = [candidate for candidate in candidates if candidate.name == name.removeprefix("@")]
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
    target: SemanticGraph | Region, options: argparse.Namespace, limit: int
) -> tuple[dict[str, Array], list[str]]:
    """(arrays by name, the names of those that were drawn)."""
    from mcir.interpreter.graph import bind_dims, draw
    from mcir.interpreter.npz import adopt, read_npz

    parameters = _parameters(target)
    known = {value.name: value for value in (*target.inputs, *parameters)}
    given: dict[str, Array] = {}
    if options.inputs is not None:
        given = read_npz(read_bytes(options.inputs), options.inputs, limit)
        given = {name: adopt(array, known[name]) if name in known else array for name, array in given.items()}
        wanted = parameters
    else:
        wanted = [*target.inputs, *parameters]
    fitting = [(value, given[value.name].shape) for value in target.inputs if value.name in given]
    sizes = options.size | bind_dims([(value, shape) for value, shape in fitting if len(shape) == len(value.shape)])
    drawn = [value for value in wanted if value.name not in given]
    _check_drawn(drawn, sizes, limit)
    for value in drawn:
        given[value.name] = draw(value, sizes, options.seed)
    return given, [f"%{value.name}" for value in drawn]


def _check_drawn(values: list[MCValue], sizes: dict[str, int], limit: int) -> None:
    """Every size is known and all arrays together fit, before the first one is made."""
    from mcir.interpreter.graph import declared_bytes

    for value in values:
        unknown = [dim for dim in value.shape if dim is None or (isinstance(dim, str) and dim not in sizes)]
        if unknown:
            hint = f"--size {unknown[0]}=16, or --inputs" if unknown[0] is not None else "give it with --inputs"
            message = f"cannot draw '{value.name}': one of its sizes is unknown"
            raise MCIRError(Diagnostic(message, value.loc, hint=hint))
    need = sum(declared_bytes(value, sizes) for value in values)
    if need > limit:
        message = f"the arrays to draw need {need >> 20} MiB, the limit is {limit >> 20} MiB"
        raise MCIRError(Diagnostic(message, hint="--memory-limit raises it"))


def _outputs(
    target: SemanticGraph | Region, given: dict[str, Array], options: argparse.Namespace, limit: int
) -> dict[str, Array]:
    from mcir.interpreter.graph import run_graph
    from mcir.interpreter.numerics import NotExact
    from mcir.interpreter.region import run_region

    try:
        if isinstance(target, SemanticGraph):
            return run_graph(target, given, options.mode, seed=options.seed, memory_limit=limit)
        return run_region(target, given, options.mode, memory_limit=limit)
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
