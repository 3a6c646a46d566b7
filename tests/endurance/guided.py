"""`python -m tests.endurance.guided`: texts that reach new code are kept and mutated further (needs atheris).

libFuzzer counts which lines of parser, verifier, passes and printer a text reaches; its mutations are those of
`text_mutators`. It stops at the first fault and writes the text that shows it. Everything after `--` goes to libFuzzer:

    python -m tests.endurance.guided -- -max_total_time=600 -seed=1
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any


def run_text(data: bytes) -> None:
    """The whole way of a text, as mcir-opt goes it. Raises AssertionError with the fault."""
    from tests.endurance.case import INPUT, Case
    from tests.endurance.runner import run_case

    passes = ["--attention-pattern", "--streaming-lowering", "--canonicalize", "--verify-roundtrip"]
    fault = run_case(Case("meaning", "mcir-opt", [*passes, INPUT], {INPUT: data}))[1]
    assert not fault, fault


def mutate(data: bytes, most: int, number: int) -> bytes:
    """`data` after a few of our mutations, at most `most` bytes."""
    from tests.endurance.text_mutators import BY_KIND, mutated

    random = Random(number)
    text = mutated(random, random.choice(sorted(BY_KIND)), data.decode("utf-8", "replace"))
    return text.encode("utf-8", "surrogatepass")[:most]


def main() -> int:
    """2 where atheris is missing; libFuzzer ends the process itself."""
    if importlib.util.find_spec("atheris") is None:
        print("skipped: atheris is not installed (python -m tests.endurance does without)", file=sys.stderr)
        return 2
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["mcir"]):
        import mcir.parser
        import mcir.passes.canonicalize
        import mcir.passes.streaming_lowering
        import mcir.printer
        import mcir.tools.opt
        import mcir.verifier  # noqa: F401
    from tests.endurance.seeds import texts

    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    with tempfile.TemporaryDirectory(prefix="guided-") as corpus:
        for number, text in enumerate(texts()):
            Path(corpus, str(number)).write_text(text, encoding="utf-8")
        atheris.Setup([sys.argv[0], *given, corpus], run_text, custom_mutator=mutate)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
