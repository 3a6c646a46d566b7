"""A campaign: workers run cases; one that dies or hangs is replaced, and its case counts as faulty."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.endurance.case import Case, save
from tests.endurance.fuzz import make_case
from tests.endurance.runner import OURS, run_case
from tests.endurance.shrink import shrink

ITSELF = "the search itself"
UNMADE = {"kind": "none", "tool": ITSELF, "size": 0}
SILENCE = 150  # seconds without a word after which a worker hangs


@dataclass
class Fault:
    """One kind of fault: how often it was met, and the smallest case that showed it."""

    text: str
    number: int
    size: int
    count: int = 1


@dataclass
class Campaign:
    """What is run, and what came of it: cases by (kind, tool, exit code), faults by the first line of their text."""

    seed: int
    jobs: int = 1
    tool: str = ""
    kind: str = ""
    cases: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, tuple[float, int]] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    elapsed: float = 0.0

    def run(self, *, minutes: float = 0.0, count: int = sys.maxsize) -> None:
        """Runs until the time is up or there are `count` cases."""
        begin = time.monotonic()
        end = begin + minutes * 60 if minutes else None
        with ThreadPoolExecutor(self.jobs) as pool:
            for done in [pool.submit(self._job, job, count, end) for job in range(self.jobs)]:
                done.result()
        self.elapsed = time.monotonic() - begin

    def _job(self, job: int, count: int, end: float | None) -> None:
        at = job
        while at < count and (end is None or time.monotonic() < end):
            at = self._worker(at, count, end)

    def _worker(self, begin: int, count: int, end: float | None) -> int:
        """Runs one worker for as long as it lives; the number of the case that comes next."""
        argv = [sys.executable, "-m", "tests.endurance.worker", *map(str, (begin, self.jobs, count))]
        argv[3:3] = [str(self.seed)]
        path = os.pathsep.join([OURS, os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [*argv, self.tool, self.kind], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        lines: queue.Queue[str] = queue.Queue()
        reader = threading.Thread(target=_feed, args=(process, lines), daemon=True)
        reader.start()
        at, why = begin, ""
        made: dict[str, Any] = UNMADE
        while True:
            try:
                line = lines.get(timeout=SILENCE)
            except queue.Empty:
                why = f"hangs outside of Python for {SILENCE} s"
                break
            if not line:
                code = process.wait()
                why = f"kills the process: exit code {code}" if code else ""
                break
            record = json.loads(line)
            if "begin" in record:
                at, made = record["begin"], UNMADE
            elif "made" in record:
                made = record
            if "end" in record:
                self._enter(record)
                at = record["end"] + self.jobs
                if end is not None and time.monotonic() > end:
                    break
        process.kill()
        process.wait()
        if why:
            self._enter({**made, "code": None, "fault": why, "end": at, "seconds": 0, "made": 0})
            at += self.jobs
        return at

    def _enter(self, record: dict[str, Any]) -> None:
        kind, tool, code, number = (record[key] for key in ("kind", "tool", "code", "end"))
        self.cases[str(kind), str(tool), str(code)] += 1
        self.seconds[str(kind)] += float(record["seconds"])
        self.slowest[str(kind)] = max(self.slowest.get(str(kind), (0.0, 0)), (float(record["seconds"]), int(number)))
        text = str(record["fault"])
        if not text:
            return
        head = f"{tool}: {text.splitlines()[0]}"
        known = self.faults.get(head)
        if known is None:
            self.faults[head] = Fault(text, int(number), int(record["size"]))
            print(f"case {number}: {head}", file=sys.stderr, flush=True)
        else:
            known.count += 1
            if int(record["size"]) < known.size:
                known.text, known.number, known.size = text, int(number), int(record["size"])

    def report(self) -> str:
        """Counts by kind and exit code, times, and the faults."""
        kinds: dict[str, Counter[str]] = {}
        for (kind, _, code), count in self.cases.items():
            kinds.setdefault(kind, Counter())[code] += count
        total = f"{self.cases.total()} cases, {len(self.faults)} kinds of faults"
        lines = [f"seed {self.seed}, {self.elapsed / 60:.1f} minutes, {total}"]
        for kind, codes in sorted(kinds.items()):
            seconds, number = self.slowest[kind]
            shown = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
            each = f"{1000 * self.seconds[kind] / codes.total():.0f} ms each"
            slowest = f"slowest {seconds:.1f} s (case {number})"
            lines.append(f"  {kind:16} {codes.total():7} cases ({shown}); {each}, {slowest}")
        tools = Counter[str]()
        for (_, tool, _), count in self.cases.items():
            tools[tool] += count
        lines.append("  by tool: " + ", ".join(f"{tool} {count}" for tool, count in sorted(tools.items())))
        for head, fault in sorted(self.faults.items()):
            lines.append(f"FAULT {head}  ({fault.count} times, case {fault.number})")
        return "\n".join(lines)

    def write_faults(self, folder: Path, seconds: float) -> list[Path]:
        """Shrinks the case of each fault and writes it; `python -m tests.endurance --replay FILE` runs it again."""
        paths = []
        for head, fault in sorted(self.faults.items()):
            if head.startswith(ITSELF):
                continue
            case = make_case(self.seed, fault.number, self.tool, self.kind)
            if "process" not in head and "outside of Python" not in head:
                case = shrink(case, _shows(fault.text), seconds)
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{case.tool}-{self.seed}-{fault.number}.json"
            save(case, path, f"{head}\n{fault.text}")
            paths.append(path)
        return paths


def _shows(fault: str) -> Callable[[Case], bool]:
    head = fault.splitlines()[0]

    def shows(case: Case) -> bool:
        found = run_case(case)[1]
        return bool(found) and found.splitlines()[0] == head

    return shows


def _feed(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")
