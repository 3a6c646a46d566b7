"""One stage after another in this process: `python -m tests.bench.stages input.mcir` writes JSON."""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Lark alone takes a thousand times as long as the fast reader, so it reads small files only.
LARK_BYTES = 200_000

ERROR = "error at the end"
PARSE = "parse"


def peak_megabytes() -> float:
    """The most memory that this process has had. Linux counts the program that started it, too, but for VmHWM."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
        return int(fields["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


class Stages:
    """CPU seconds of each stage, and the peak of memory at its end."""

    def __init__(self) -> None:
        self.seconds = {"start": time.process_time()}  # the interpreter itself
        self.megabytes: dict[str, float] = {}

    def run(self, name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = work()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - begin
        self.megabytes[name] = peak_megabytes()
        return result


def main() -> None:
    """Start (imports), then each stage as in mcir-opt, without cyclic garbage collection; the passes with it too."""
    gc.disable()
    stages = Stages()
    stages.run("start", _import)
    from mcir.parser import parse_module
    from mcir.passes.attention_pattern import run_attention_pattern_pass
    from mcir.passes.streaming_lowering import run_streaming_lowering_pass
    from mcir.printer import print_module
    from mcir.verifier import verify_module

    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    module = stages.run(PARSE, lambda: parse_module(text))
    faults = stages.run("verify", lambda: verify_module(module))
    printed = stages.run("print", lambda: print_module(module))
    formed = stages.run("attention-pattern", lambda: run_attention_pattern_pass(module))
    faults += stages.run("verify regions", lambda: verify_module(formed))
    lowered = stages.run("streaming-lowering", lambda: run_streaming_lowering_pass(formed))
    faults += stages.run("verify streams", lambda: verify_module(lowered))
    stages.run("print streams", lambda: print_module(lowered))
    facts = {
        "nodes": sum(len(graph.nodes) for graph in lowered.graphs),
        "regions": sum(bool(region.subregions) for region in lowered.regions),
        "faults": len(faults),
        "round trip": printed == text,
    }
    gc.enable()
    again = stages.run("attention-pattern, gc", lambda: run_attention_pattern_pass(module))
    stages.run("streaming-lowering, gc", lambda: run_streaming_lowering_pass(again))
    gc.disable()
    broken, line = _broken(text)
    facts["error found"] = stages.run(ERROR, lambda: _error_line(broken)) == line
    if len(text) <= LARK_BYTES:
        stages.run("parse by Lark alone", lambda: _parse_with_lark(text))
    json.dump({"seconds": stages.seconds, "megabytes": stages.megabytes, "facts": facts}, sys.stdout)


def _import() -> None:
    import mcir.tools.opt  # noqa: F401


def _broken(text: str) -> tuple[str, int]:
    """The text with a mistake in the last node of its graph, and the number of that line."""
    lines = text.split("\n")
    at = next(at for at, line in enumerate(lines) if line.startswith("  return")) - 1
    lines[at] = lines[at].replace(" = ", " == ", 1)
    return "\n".join(lines), at + 1


def _error_line(text: str) -> int:
    from mcir.diagnostics import MCIRError
    from mcir.parser import parse_module

    try:
        parse_module(text)
    except MCIRError as error:
        str(error)  # as it is shown
        location = error.diagnostics[0].location
        return location.source.line_column(location.offset)[0] if location is not None else 0
    return 0


def _parse_with_lark(text: str) -> None:
    from mcir.location import Source
    from mcir.parser import parse_with_lark

    parse_with_lark(Source("<string>", text))


if __name__ == "__main__":
    main()
