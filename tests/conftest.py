"""One pytest item for each `.mcir` file that `lit tests/lit` runs; hypothesis profiles."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import hypothesis
import lit.Test
import lit.worker
import pytest

from tests.support.lit_format import discover

# A shell starts what runs in the background with SIGINT ignored, and so would be all processes that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LIT_ROOT = Path(__file__).parent / "lit"

# `HYPOTHESIS_PROFILE=nightly pytest tests/property` searches for long; every other run is quick and repeatable.
hypothesis.settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile(
    "nightly", max_examples=5000, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@cache
def _lit_tests() -> tuple[object, dict[Path, lit.Test.Test]]:
    config, tests = discover(LIT_ROOT)
    return config, {Path(test.getSourcePath()): test for test in tests}


class LitFailure(Exception):
    """A lit file failed; the text is lit's report."""


class LitItem(pytest.Item):
    """One `.mcir` file."""

    def runtest(self) -> None:
        config, tests = _lit_tests()
        test = tests[self.path]
        test.setResult(lit.worker._execute(test, config))
        if test.result.code is lit.Test.UNSUPPORTED:
            pytest.skip(test.result.output)
        if test.result.code is lit.Test.XFAIL:
            pytest.xfail(test.result.output)
        if test.isFailure():
            raise LitFailure(f"{test.result.code.name}\n{test.result.output}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: str | None = None) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, LitFailure):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


class LitFile(pytest.File):
    """Collects the one item of a `.mcir` file."""

    def collect(self) -> Iterator[LitItem]:
        yield LitItem.from_parent(self, name=self.path.name)


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> LitFile | None:
    """Every file that lit's own discovery finds, and no other."""
    if file_path.suffix == ".mcir" and file_path.is_relative_to(LIT_ROOT) and file_path in _lit_tests()[1]:
        return LitFile.from_parent(parent, path=file_path)
    return None
