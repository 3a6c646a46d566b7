"""The lit test format of tests/lit: RUN lines of known tools run in this process.

lit parses the RUN, REQUIRES, UNSUPPORTED and XFAIL lines and substitutes %s, %t, %S. A file whose
lines hold anything but the tools of tests/support/shell.py runs in lit's own shell as a whole, so
that `cd` or `export` in one line counts for the next.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import lit.discovery
import lit.formats
import lit.LitConfig
import lit.Test
import lit.TestRunner

from tests.support import shell

DEBUG_PREFIX = re.compile(lit.TestRunner.kPdbgRegex)


class InProcessTest(lit.formats.ShTest):  # type: ignore[misc]  # lit has no type hints
    """lit's ShTest, with the known tools called instead of started."""

    def execute(self, test: lit.Test.Test, lit_config: lit.LitConfig.LitConfig) -> lit.Test.Result:
        if test.config.unsupported:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "Test is unsupported")
        marks = (list(test.requires), list(test.unsupported), list(test.xfails))
        script = lit.TestRunner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result):
            return script
        lines = _substituted(test, script)
        planned = [shell.plan(command) for _, command in lines]
        if lit_config.noExecute:
            return lit.Test.Result(lit.Test.PASS)
        if any(plan is None for plan in planned):
            test.requires, test.unsupported, test.xfails = marks  # parsed once more by ShTest
            return super().execute(test, lit_config)
        cwd = Path(test.getExecPath()).parent
        (cwd / "Output").mkdir(parents=True, exist_ok=True)
        return _run_all(lines, planned, cwd)


def discover(folder: Path) -> tuple[lit.LitConfig.LitConfig, list[lit.Test.Test]]:
    """The tests that `lit folder` would run, in its order, with lit's configuration."""
    config = lit.LitConfig.LitConfig(
        progname="lit", path=[], diagnostic_level="note", useValgrind=False, valgrindLeakCheck=False,
        valgrindArgs=[], noExecute=False, debug=False, isWindows=False, order="lexical", params={},
    )  # fmt: skip
    tests = lit.discovery.find_tests_for_inputs(config, [str(folder)])
    return config, sorted(tests, key=lambda test: test.path_in_suite)


def _substituted(test: lit.Test.Test, script: list[str]) -> list[tuple[str, str]]:
    """(where the line stands, command) of each RUN line."""
    folder, base = lit.TestRunner.getTempPaths(test)
    substitutions = lit.TestRunner.getDefaultSubstitutions(test, folder, base)
    features = dict.fromkeys(test.config.available_features, True)
    lines = lit.TestRunner.applySubstitutions(script, substitutions, features)
    return list(map(_split, lines))


def _split(line: str) -> tuple[str, str]:
    match = DEBUG_PREFIX.fullmatch(line)
    return (match.group(1), match.group(2).strip()) if match else ("command line", line)


def _run_all(lines: list[tuple[str, str]], planned: list, cwd: Path) -> lit.Test.Result:  # type: ignore[type-arg]
    log: list[shell.Executed] = []
    for (where, command), plan in zip(lines, planned, strict=True):
        try:
            status = shell.run(plan, cwd, log)
        except (shell.ToolCrash, OSError) as crash:
            cause = crash.__cause__ or crash
            return lit.Test.Result(lit.Test.FAIL, "\n".join(_report(where, command, log, f"crashed: {crash}", cause)))
        if status:
            return lit.Test.Result(lit.Test.FAIL, "\n".join(_report(where, command, log, f"exit status {status}")))
    return lit.Test.Result(lit.Test.PASS)


def _report(
    where: str, line: str, log: list[shell.Executed], ending: str, cause: BaseException | None = None
) -> Iterator[str]:
    yield f"{where}: {line}\n{ending}"
    for ran in log:
        yield f"$ {ran.command}\n-- exit status {ran.status}"
        for name, text in (("stdout", ran.stdout), ("stderr", ran.stderr)):
            if text.strip():
                yield f"-- {name}\n{text.rstrip()}"
    if cause is not None:
        yield "".join(traceback.format_exception(cause))
