"""`python -m tests.endurance`: searches for faults for as long as wanted."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.endurance.campaign import Campaign
from tests.endurance.case import load
from tests.endurance.fuzz import KINDS, TEXT_TOOLS
from tests.endurance.runner import limit_memory, run_case
from tests.support.shell import TOOLS


def main() -> int:
    """1 if a fault was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="stop after so many, too")
    parser.add_argument("--seed", type=int, default=0, help="0: the clock")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tool", default="", choices=["", *sorted({*TEXT_TOOLS, *TOOLS} - {"filecheck"})])
    parser.add_argument("--kind", default="", choices=["", *KINDS])
    parser.add_argument("--faults", type=Path, default=Path("faults"), help="folder for the cases that fail")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds to make a failing case small")
    parser.add_argument("--replay", type=Path, help="run the case in this file and show what is wrong with it")
    given = parser.parse_args()
    limit_memory()
    if given.replay is not None:
        return _replay(given.replay)
    campaign = Campaign(given.seed or int(time.time()), given.jobs, given.tool, given.kind)
    campaign.run(minutes=given.minutes, count=given.cases)
    print(campaign.report(), flush=True)
    for path in campaign.write_faults(given.faults, given.shrink):
        print(f"python -m tests.endurance --replay {path}", flush=True)
    return int(bool(campaign.faults))


def _replay(path: Path) -> int:
    case = load(path)
    ran, fault = run_case(case)
    print(f"{case.tool} {' '.join(map(repr, case.argv))}: exit code {ran.code}\n{ran.err}", end="")
    print(f"FAULT {fault}" if fault else "nothing is wrong")
    return int(bool(fault))


if __name__ == "__main__":
    sys.exit(main())
