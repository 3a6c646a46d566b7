"""`python -m tests.bench`: times mcir-opt and its peers on the same graphs, interleaved.

Every round runs each program once, so that a slow moment of the machine hits all of them; a ratio is
taken within a round, and its median and range over the rounds are printed. Times are CPU time of the
whole process (user and system), memory is its peak. `--growth` shows instead how our stages grow with the graph.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.inputs import KINDS, mcir_text, mlir_text
from tests.bench.peers import Program, programs
from tests.bench.stages import PARSE

SIZES = [25, 1_000, 10_000, 100_000]
GROWTH = [1_000, 10_000, 100_000, 1_000_000]
ROOT = Path(__file__).parent.parent.parent


class Run(NamedTuple):
    """CPU seconds and peak memory of one process."""

    seconds: float
    megabytes: float


def main(argv: list[str] | None = None) -> int:
    options = _options().parse_args(argv)
    facts: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    with tempfile.TemporaryDirectory() as folder:
        if options.growth:
            facts["growth"] = [growth(Path(folder), kind, options.sizes or GROWTH, options) for kind in options.kinds]
        else:
            facts.update(_beside_peers(Path(folder), options))
    if options.json:
        options.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 0


def _beside_peers(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    ready = [program for program in programs() if program.command]
    absent = {program.name: program.note for program in programs() if program.note}
    for name, note in absent.items():
        print(f"{name}: {note}")
    results = []
    for kind in options.kinds:
        for nodes in options.sizes or SIZES:
            results.append(_measure(ready, _write_inputs(folder, kind, nodes), kind, nodes, options))
            _show(results[-1])
    return {"absent": absent, "results": results}


def growth(folder: Path, kind: str, sizes: list[int], options: argparse.Namespace) -> dict[str, Any]:
    """Our stages on graphs of all sizes, in turns: the best time of each, and the memory at its end. Prints them."""
    files = {}
    for nodes in sizes:
        files[nodes] = folder / f"{kind}{nodes}.mcir"
        files[nodes].write_text(mcir_text(nodes, kind), encoding="utf-8")
    runs: dict[int, list[dict[str, Any]]] = {nodes: [] for nodes in sizes}
    for _ in range(options.rounds):
        for nodes, file in files.items():
            if not (runs[nodes] and sum(runs[nodes][0]["seconds"].values()) > options.slow):
                runs[nodes].append(_stages(file))
    print(f"\n{kind}: CPU microseconds a node (peak MB so far)")
    print(f"  {'stage':<24}" + "".join(f"{nodes:>18,}" for nodes in sizes))
    for name in runs[sizes[-1]][0]["megabytes"]:
        cells = [_growth_cell(name, nodes, runs[nodes]) for nodes in sizes]
        print(f"  {name:<24}{''.join(cells)}")
    return {"kind": kind, "sizes": {str(nodes): runs[nodes] for nodes in sizes}}


def _growth_cell(name: str, nodes: int, runs: list[dict[str, Any]]) -> str:
    each = 1e6 * min(run["seconds"][name] for run in runs) / runs[0]["facts"]["nodes"]
    memory = max(run["megabytes"][name] for run in runs)
    return f"{each:>10,.2f}{f'({memory:,.0f})':>8}"


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.split("\n")[0])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="kinds of graphs")
    parser.add_argument("--sizes", type=int, nargs="+", help="nodes per graph")
    parser.add_argument("--growth", action="store_true", help="show how each stage grows, up to a million nodes")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program and size")
    parser.add_argument("--slow", type=float, default=20.0, help="a program that takes longer runs once (seconds)")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    return parser


def _write_inputs(folder: Path, kind: str, nodes: int) -> dict[str, Path]:
    files = {}
    for suffix, make in ((".mcir", mcir_text), (".mlir", mlir_text)):
        files[suffix] = folder / f"{kind}{nodes}{suffix}"
        files[suffix].write_text(make(nodes, kind), encoding="utf-8")
    return files


def _measure(
    ready: list[Program], files: dict[str, Path], kind: str, nodes: int, options: argparse.Namespace
) -> dict[str, Any]:
    runs: dict[str, list[Run]] = {program.name: [] for program in ready}
    stages = []
    for _ in range(options.rounds):
        for program in ready:
            done = runs[program.name]
            if not (done and done[0].seconds > options.slow):
                done.append(_run(program, files[program.suffix]))
        stages.append(_stages(files[".mcir"]))
    return {
        "kind": kind,
        "nodes": nodes,
        "bytes": files[".mcir"].stat().st_size,
        "seconds": {name: [run.seconds for run in done] for name, done in runs.items()},
        "megabytes": {name: max(run.megabytes for run in done) for name, done in runs.items()},
        "stages": {name: [each["seconds"][name] for each in stages] for name in stages[0]["seconds"]},
        "stage megabytes": {name: max(each["megabytes"][name] for each in stages) for name in stages[0]["megabytes"]},
        "facts": stages[0]["facts"],
    }


def _run(program: Program, file: Path) -> Run:
    """Runs the program on the file. Raises CalledProcessError if it fails."""
    command = [*program.command, str(file)]
    environment = {**os.environ, **program.environment, "PYTHONPATH": _python_path()}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024))


def _stages(file: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.stages", str(file)]
    environment = {**os.environ, "PYTHONPATH": _python_path()}
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    return json.loads(ran.stdout)  # type: ignore[no-any-return]


def _python_path() -> str:
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def _show(result: dict[str, Any]) -> None:
    facts, stages = result["facts"], result["stages"]
    head = f"{result['kind']}: {facts['nodes']:,} nodes, {result['bytes']:,} bytes"
    print(f"\n{head}; regions lowered: {facts['regions']:,}")
    print(f"  {'program':<24}{'CPU ms':>10}{'spread':>21}{'MB':>7}   ratio to mcir-opt (spread)")
    ours = result["seconds"]["mcir-opt"]
    for name, seconds in result["seconds"].items():
        print(f"  {name:<24}{_ms(seconds)}{result['megabytes'][name]:>7.0f}   {_ratio(_ratios(seconds, ours))}")
    print(f"  {'stage':<24}{'CPU ms':>10}{'spread':>21}{'MB':>7}   ratio to parse (spread)")
    for name, seconds in stages.items():
        ratio = _ratio(_ratios(seconds, stages[PARSE]))
        print(f"  {name:<24}{_ms(seconds)}{result['stage megabytes'][name]:>7.0f}   {ratio}")


def _ratios(seconds: list[float], others: list[float]) -> list[float]:
    return [own / other for own, other in zip(seconds, others, strict=False)]


def _ms(seconds: list[float]) -> str:
    low, middle, high = (1000 * pick(seconds) for pick in (min, statistics.median, max))
    return f"{middle:>10,.1f}{f'{low:,.1f}..{high:,.1f}':>21}"


def _ratio(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})"


if __name__ == "__main__":
    sys.exit(main())
