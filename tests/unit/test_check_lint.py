"""tests/support/check_lint.py: it finds each trap, and no test file of ours has one."""

from __future__ import annotations

import pytest

from tests.conftest import LIT_ROOT
from tests.support.check_lint import RULES, lint

DUMP = "// RUN: mcir-opt %s --dump | filecheck %s\n"
TEXT = "// RUN: mcir-opt %s --strip-comments | filecheck %s\n"
BOTH = "// RUN: mcir-opt %s --dump | filecheck %s --check-prefixes=CHECK,ONE\n"

# (rule, line of the finding, words of its message, file)
TRAPS = [
    ("no-run-line", 1, "no RUN", "// CHECK: a\n"),
    ("no-run-line", 1, "no RUN", "graph @g() {\n  return\n}\n"),
    ("misspelt", 1, "'RUN' has no colon", "// RUN mcir-opt %s\n// RUN: mcir-opt %s\n"),
    ("misspelt", 2, "did you mean 'CHECK:'", DUMP + "// CHEK: a\n// CHECK: b\n"),
    ("misspelt", 3, "did you mean 'CHECK:'", DUMP + "// CHECK: b\n// CHECKS: a\n"),
    ("misspelt", 3, "did you mean 'CHECK-NEXT:'", DUMP + "// CHECK: b\n// CHECK-NXT: a\n"),
    ("misspelt", 3, "did you mean 'CHECK-NEXT:'", DUMP + "// CHECK: b\n// CHECK_NEXT: a\n"),
    ("misspelt", 3, "did you mean 'CHECK-NEXT:'", DUMP + "// CHECK: b\n// CHECKNEXT: a\n"),
    ("misspelt", 3, "did you mean 'CHECK-NOT:'", DUMP + "// CHECK: b\n// CHECK-NOTE: a\n"),
    ("misspelt", 3, "did you mean 'CHECK:'", DUMP + "// CHECK: b\n// Check: a\n"),
    ("misspelt", 3, "did you mean 'CHECK:'", DUMP + "// CHECK: b\n// check: a\n"),
    ("misspelt", 3, "'CHECK' has no colon", DUMP + "// CHECK: b\n// CHECK a\n"),
    ("misspelt", 3, "'CHECK' has no colon", DUMP + "// CHECK: b\n// CHECK\n"),
    ("misspelt", 3, "'CHECK' has no colon", DUMP + "// CHECK: b\n// CHECK; a\n"),
    ("misspelt", 3, "'CHECK-NEXT' has no colon", DUMP + "// CHECK: b\n// CHECK-NEXT a\n"),
    ("misspelt", 3, "space before its colon", DUMP + "// CHECK: b\n// CHECK : a\n"),
    ("misspelt", 3, "CHECK-COUNT-<n>", DUMP + "// CHECK: b\n// CHECK-COUNT: a\n"),
    ("misspelt", 3, "the prefix 'DUMP'", DUMP + "// CHECK: b\n// DUMP: a\n"),
    ("misspelt", 3, "the prefix 'FOO-NEXT'", DUMP + "// CHECK: b\n// FOO-NEXT: a\n"),
    ("misspelt", 2, "did you mean 'XFAIL:'", "// RUN: mcir-opt %s\n// XFIAL: *\n"),
    ("misspelt", 2, "did you mean 'REQUIRES:'", "// RUN: mcir-opt %s\n// REQUIRE: onnx\n"),
    ("misspelt", 2, "the prefix 'OTHER'", "// RUN: mcir-opt %s\n// OTHER: a\n"),
    ("checks-without-filecheck", 2, "no RUN line calls filecheck", "// RUN: mcir-opt %s\n// CHECK: a\n"),
    ("prefix-without-lines", 1, "'CHECK', but no line", DUMP),
    ("prefix-without-lines", 1, "'ONE', but no line", BOTH + "// CHECK: a\n"),
    ("only-not", 1, "only -NOT", DUMP + "// CHECK-NOT: a\n"),
    ("only-not", 1, "'ONE' has only -NOT", BOTH + "// CHECK: b\n// ONE-NOT: a\n"),
    ("dangling-position", 2, "CHECK-NEXT", DUMP + "// CHECK-NEXT: a\n"),
    ("dangling-position", 2, "CHECK-SAME", DUMP + "// CHECK-SAME: a\n"),
    ("not-before-next", 3, "less than a line", DUMP + "// CHECK: a\n// CHECK-NOT: b\n// CHECK-NEXT: c\n"),
    ("label-with-variable", 2, "-LABEL", DUMP + "// CHECK-LABEL: graph [[NAME:.*]]\n"),
    ("numeric-expression", 3, "compute", DUMP + "// CHECK: a[[#N:]]\n// CHECK: b[[#N+1]]\n"),
    ("inert-option", 1, "--enable-var-scope", DUMP.replace("%s\n", "%s --enable-var-scope\n") + "// CHECK: a\n"),
    ("inert-option", 1, "--implicit-check-not", DUMP.replace("%s\n", "%s --implicit-check-not=x\n") + "// CHECK: a\n"),
    ("comments-reach-filecheck", 1, "--strip-comments", "// RUN: mcir-opt %s | filecheck %s\n// CHECK: graph\n"),
    ("comments-reach-filecheck", 1, "--strip-comments", "// RUN: mcir-opt < %s | filecheck %s\n// CHECK: graph\n"),
    (
        "comments-reach-filecheck", 1, "--strip-comments",
        "// RUN: mcir-opt %s --attention-pattern \\\n// RUN: | filecheck %s\n// CHECK: graph\n",
    ),
    ("expected-diagnostic", 2, "none of", "// RUN: mcir-opt %s --verify-diagnostics\n// expected-eror {{x}}\n"),
    ("expected-diagnostic", 2, "no RUN line has", "// RUN: mcir-opt %s\n// expected-error {{x}}\n"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "line", "words", "text"), TRAPS)
def test_each_trap_is_found(rule: str, line: int, words: str, text: str) -> None:
    found = [(problem.rule, problem.line, words in problem.message) for problem in lint(text)]
    assert (rule, line, True) in found, lint(text)


def test_every_rule_has_a_trap() -> None:
    assert set(RULES) == {rule for rule, *_ in TRAPS}


GOOD = [
    DUMP + "// CHECK-LABEL: Execution\n// CHECK-NEXT: attrs\n// CHECK-NOT: x\n// CHECK-COUNT-2: y\n",
    TEXT + "// CHECK: graph @g\n// CHECK-NOT: bad\ngraph @g() {\n  return\n}\n",
    BOTH + "// CHECK: a\n// ONE: b\n// ONE-EMPTY:\n",
    "// RUN: mcir-translate --import-onnx %S/x.onnx | mcir-opt | filecheck %s\n// CHECK: graph\n",
    "// RUN: not mcir-opt %s 2>&1 | filecheck %s\n// CHECK: error\n",
    "// RUN: mcir-opt %s --verify-diagnostics\ngraph @g() { return %x } // expected-error {{undefined}}\n",
    DUMP + "// We check that the run works: see the note. Checks follow.\n// NOTE: short\n// CHECK{LITERAL}: [[x]]\n",
    "// RUN: mcir-opt %s -o %t\n// RUN: mcir-opt %t --dump=outline | filecheck --check-prefix OUT %s\n// OUT: Exec\n",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_files_pass(text: str) -> None:
    assert lint(text) == []


def test_no_file_of_ours_has_a_problem() -> None:
    files = sorted(LIT_ROOT.rglob("*.mcir"))
    assert files
    found = [
        f"{path.relative_to(LIT_ROOT)}:{problem.line}: {problem.message} [{problem.rule}]"
        for path in files
        if "Inputs" not in path.parts
        for problem in lint(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
