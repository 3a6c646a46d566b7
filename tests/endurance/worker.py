"""A process that runs cases one after the other and tells on standard output which begins and how it ended."""

from __future__ import annotations

import io
import json
import os
import resource
import sys
import time

from tests.endurance.fuzz import make_case
from tests.endurance.runner import limit_memory, run_case


def main() -> None:
    """Cases begin, begin + step, ... of a seed, until it is stopped."""
    seed, begin, step, count = map(int, sys.argv[1:5])
    tool, kind = sys.argv[5:7]
    told = _own_output()
    limit_memory()
    for number in range(begin, count, step):
        _tell(told, {"begin": number})
        start = time.process_time()
        case = make_case(seed, number, tool, kind)
        made = time.process_time() - start
        _tell(told, {"made": number, "kind": case.kind, "tool": case.tool, "size": case.size()})
        ran, fault = run_case(case)
        record = {"kind": case.kind, "tool": case.tool, "code": ran.code, "fault": fault, "size": case.size()}
        _tell(told, {**record, "end": number, "made": made, "seconds": time.process_time() - start - made})
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 2 << 20:
            return  # fresh memory for the next


def _own_output() -> io.TextIOWrapper:
    """The pipe to the parent; what libraries print goes nowhere."""
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    return pipe


def _tell(pipe: io.TextIOWrapper, record: dict[str, object]) -> None:
    pipe.write(json.dumps(record) + "\n")
    pipe.flush()


if __name__ == "__main__":
    main()
