"""`python -m tests.bench`: times mcir-opt and its peers on the same graphs, interleaved.

Every round runs each program once, so that a slow moment of the machine hits all of them; a ratio is
taken within a round, and its median and range over the rounds are printed. Times are CPU time of the
whole process (user and system), memory is its peak.
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

from tests.bench.inputs import mcir_text, mlir_text
from tests.bench.peers import Program, programs

SIZES = (25, 1_000, 10_000, 100_000)
ROOT = Path(__file__).parent.parent.parent


class Run(NamedTuple):
    """CPU seconds and peak memory of one process."""

    seconds: float
    megabytes: float


def main(argv: list[str] | None = None) -> int:
    options = _options().parse_args(argv)
    ready = [program for program in programs() if program.command]
    for program in programs():
        if program.note:
            print(f"{program.name}: {program.note}")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for nodes in options.sizes:
            files = _write_inputs(Path(folder), nodes)
            results.append(_measure(ready, files, nodes, options))
            _show(results[-1])
    if options.json:
        facts = {"python": platform.python_version(), "machine": platform.machine(), "results": results}
        options.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="nodes per graph")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program and size")
    parser.add_argument("--slow", type=float, default=20.0, help="a program that takes longer runs once (seconds)")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    return parser


def _write_inputs(folder: Path, nodes: int) -> dict[str, Path]:
    files = {}
    for suffix, make in ((".mcir", mcir_text), (".mlir", mlir_text)):
        files[suffix] = folder / f"bench{nodes}{suffix}"
        files[suffix].write_text(make(nodes), encoding="utf-8")
    return files


def _measure(ready: list[Program], files: dict[str, Path], nodes: int, options: argparse.Namespace) -> dict[str, Any]:
    runs: dict[str, list[Run]] = {program.name: [] for program in ready}
    stages = []
    for _ in range(options.rounds):
        for program in ready:
            done = runs[program.name]
            if not (done and done[0].seconds > options.slow):
                done.append(_run(program, files[program.suffix]))
        stages.append(_stages(files[".mcir"]))
    return {
        "nodes": nodes,
        "bytes": files[".mcir"].stat().st_size,
        "seconds": {name: [run.seconds for run in done] for name, done in runs.items()},
        "megabytes": {name: max(run.megabytes for run in done) for name, done in runs.items()},
        "stages": {name: [each["seconds"][name] for each in stages] for name in stages[0]["seconds"]},
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
    facts = result["facts"]
    print(f"\n{result['nodes']:,} nodes, {result['bytes']:,} bytes; regions lowered: {facts['regions']:,}")
    print(f"  {'program':<20}{'CPU ms':>10}{'spread':>21}{'MB':>7}   ratio to mcir-opt (spread)")
    ours = result["seconds"]["mcir-opt"]
    for name, seconds in result["seconds"].items():
        ratios = [theirs / own for theirs, own in zip(seconds, ours, strict=False)]
        print(f"  {name:<20}{_ms(seconds)}{result['megabytes'][name]:>7.0f}   {_ratio(ratios)}")
    print(f"  {'stage':<20}{'CPU ms':>10}{'spread':>21}")
    for name, seconds in result["stages"].items():
        print(f"  {name:<20}{_ms(seconds)}")


def _ms(seconds: list[float]) -> str:
    low, middle, high = (1000 * pick(seconds) for pick in (min, statistics.median, max))
    return f"{middle:>10,.1f}{f'{low:,.1f}..{high:,.1f}':>21}"


def _ratio(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})"


if __name__ == "__main__":
    sys.exit(main())
