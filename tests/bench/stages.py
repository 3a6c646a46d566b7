"""One stage after another in this process: `python -m tests.bench.stages input.mcir` writes JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    """CPU seconds of start (imports), parse, verify, attention-pattern, streaming-lowering and print."""
    seconds = {"start": time.process_time()}  # the interpreter itself

    def stage(name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = work()
        seconds[name] = seconds.get(name, 0.0) + time.process_time() - begin
        return result

    stage("start", _import)
    from mcir.parser import parse_module
    from mcir.passes.attention_pattern import run_attention_pattern_pass
    from mcir.passes.streaming_lowering import run_streaming_lowering_pass
    from mcir.printer import print_module
    from mcir.verifier import verify_module

    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    module = stage("parse", lambda: parse_module(text))
    faults = stage("verify", lambda: verify_module(module))
    printed = stage("print", lambda: print_module(module))
    formed = stage("attention-pattern", lambda: run_attention_pattern_pass(module))
    lowered = stage("streaming-lowering", lambda: run_streaming_lowering_pass(formed))
    nodes = sum(len(graph.nodes) for graph in lowered.graphs)
    facts = {"nodes": nodes, "regions": len(lowered.regions), "faults": len(faults), "round trip": printed == text}
    json.dump({"seconds": seconds, "facts": facts}, sys.stdout)


def _import() -> None:
    import mcir.tools.opt  # noqa: F401


if __name__ == "__main__":
    main()
