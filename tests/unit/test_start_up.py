"""What a run of mcir-opt imports: each of these costs as much as reading a small file, or more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "attention.mcir"

SLOW = {
    "dataclasses", "inspect", "typing", "contextlib", "traceback", "pkgutil", "importlib.util", "tempfile", "pathlib",
    "threading", "json", "difflib", "argparse", "zlib", "struct", "lark", "numpy", "onnx", "torch",
}  # fmt: skip
OURS = {
    "mcir.passes", "mcir.analysis", "mcir.interpreter", "mcir.importers", "mcir.exporters", "mcir.tools.records",
    "mcir.tools.watchers", "mcir.syntax.spots", "mcir.syntax.recovery", "mcir.syntax.errors", "mcir.verifier.attention",
}  # fmt: skip


def imported(*argv: str, stdin: str | None = None) -> set[str]:
    """The modules that a process has after a run of mcir-opt, without those that every Python has."""
    script = (
        "import sys; before = set(sys.modules); from mcir.tools.opt import main; import io;"
        "code = main(sys.argv[1:], sys.stdin, io.StringIO(), sys.stderr); assert code in (0, 1), code;"
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {script}", *argv],
        input=stdin, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return set(ran.stdout.split())


def test_a_good_file_imports_what_it_needs() -> None:
    found = imported(str(EXAMPLE))
    assert not found & (SLOW | OURS)
    assert "mcir.verifier.structure" in found


def test_a_file_from_standard_input_imports_no_more() -> None:
    assert not imported(stdin=EXAMPLE.read_text(encoding="utf-8")) & (SLOW | OURS)


@pytest.mark.parametrize("flag", ["--attention-pattern", "--canonicalize"])
def test_a_pass_imports_no_other(flag: str) -> None:
    found = imported(str(EXAMPLE), flag)
    others = {"attention_pattern", "canonicalize", "cse", "streaming_lowering"} - {flag[2:].replace("-", "_")}
    assert not found & {f"mcir.passes.{other}" for other in others}
    assert not found & {"lark", "numpy", "onnx", "torch", "difflib", "json"}


def test_errors_need_no_lark() -> None:
    found = imported(stdin="graph @g( { }")
    assert "mcir.syntax.recovery" in found and not found & {"lark", "numpy", "json"}


def test_lark_reads_what_is_unusual() -> None:
    assert "lark" in imported(stdin='graph @g() { %a = "f" // in the middle of a node\n : tensor<fp32> return }')


def test_graphs_are_judged_the_same_before_the_rules_of_regions_are_loaded() -> None:
    script = """
import sys
from pathlib import Path
from mcir.diagnostics import MCIRError
from mcir.parser import parse_module
from mcir.verifier import verify_module
from mcir.verifier import rules
load, rules.load_every_rule = rules.load_every_rule, lambda: None  # it is also called to name a rule that is broken
modules = []
for file in sorted(Path(sys.argv[1]).rglob("*.mcir")):
    for text in file.read_text(encoding="utf-8").split("// -----"):
        try:
            module = parse_module(text)
        except MCIRError:
            continue
        module.regions.clear()
        modules.append(module)
before = [[fault.message for fault in verify_module(module)] for module in modules]
assert "mcir.verifier.modifiers" not in sys.modules
load()
after = [[fault.message for fault in verify_module(module)] for module in modules]
assert before == after and len(modules) > 100
print(sum(map(len, before)))
"""
    lit = EXAMPLE.parent.parent / "tests" / "lit"
    ran = subprocess.run([sys.executable, "-c", script, str(lit)], capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 20  # what is wrong with the graphs there
