"""Console sessions of documents: found, run, compared, and renewed.

A session is a `$` line in a ```console block with the output under it. Three dots on a line of their own stand for any
lines, ` ... ` for anything within its line. What stands in front of a block:

    <!-- setup -->           an sh block: its commands are run first, and where they end up the sessions run
    <!-- needs: torch -->    the block is left out where this is not installed (see NEEDS)

`python -m tests.support.sessions FILE...` writes the outputs that commands have now; outputs with dots stay.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.unit import mlir_tools

ROOT = Path(__file__).parent.parent.parent
LINKED = ("examples", "grammar", "tests")  # what a session may read of a checkout

BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>\S+?)(?:: (?P<what>\S+))? -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SESSION = re.compile(r"^\$ (?P<command>.*)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)

NEEDS: dict[str, Callable[[], bool]] = {
    "torch": lambda: all(importlib.util.find_spec(name) for name in ("torch", "onnxscript")),
    "mlir-opt": lambda: mlir_tools.tool("mlir-opt") is not None,
    "pygls": lambda: importlib.util.find_spec("pygls") is not None,
}


@dataclass(frozen=True, slots=True)
class Session:
    """One command, its output as shown, at what offset that begins, and what must be installed, if anything."""

    command: str
    shown: str
    at: int
    needs: str = ""

    def here(self) -> bool:
        """Whether what it needs is installed."""
        return not self.needs or NEEDS[self.needs]()

    def fits(self, output: str) -> bool:
        """Whether `output` is what is shown."""
        return re.fullmatch(_pattern(self.shown), output) is not None


def sessions(text: str) -> list[Session]:
    """The sessions of a document, in order. Raises ValueError for a block whose needs are not known."""
    found = []
    for block in BLOCK.finditer(text):
        needs = block["what"] if block["mark"] == "needs" else ""
        if needs and needs not in NEEDS:
            raise ValueError(f"it is not known how to look for {needs}")
        if block["kind"] == "console":
            found += [
                Session(part["command"], part["shown"], block.start("body") + part.start("shown"), needs)
                for part in SESSION.finditer(block["body"])
            ]
    return found


def setup(text: str) -> str:
    """The commands of the setup block; none if there is none."""
    return "".join(block["body"] for block in BLOCK.finditer(text) if block["mark"] == "setup")


def run(command: str, folder: Path) -> str:
    """What a command prints, to standard output and error, in a shell in `folder`."""
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(), check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
    ).stdout  # fmt: skip


def environment() -> dict[str, str]:
    """The commands of this checkout first, and MLIR's where PyPI's are installed."""
    paths = {"PATH": [str(Path(sys.executable).parent)], "PYTHONPATH": [str(ROOT)]}
    if (folder := mlir_tools.site_packages()) is not None:
        paths["PATH"].append(str(folder / "mlir/bin"))
        paths["LD_LIBRARY_PATH"] = [str(folder / "llvm/lib"), str(folder / "mlir/lib")]
    joined = {name: os.pathsep.join([*new, *filter(None, [os.environ.get(name)])]) for name, new in paths.items()}
    return os.environ | joined


def prepared(text: str, folder: Path) -> Path:
    """Where the sessions of a document run: `folder` as a checkout, after the setup block."""
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    return Path(run(f"{setup(text)}\npwd", folder).splitlines()[-1])


def renewed(text: str, folder: Path) -> str:
    """The document with the outputs that its commands have now, where nothing is left out."""
    parts, done = [], 0
    for session in sessions(text):
        output = run(session.command, folder) if session.here() else session.shown
        if not session.fits(output) and "..." in session.shown:
            print(f"not as shown:\n$ {session.command}\n{output}", file=sys.stderr)
            output = session.shown
        parts += [text[done : session.at], session.shown if session.fits(output) else output]
        done = session.at + len(session.shown)
    return "".join([*parts, text[done:]])


def _pattern(shown: str) -> str:
    """A regular expression for an output with its dots."""
    return "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else ".*".join(map(re.escape, line.split(" ... ")))
        for line in shown.splitlines(keepends=True)
    )


def _main(paths: list[str]) -> None:
    for name in paths:
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        with TemporaryDirectory() as folder:
            path.write_text(renewed(text, prepared(text, Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    _main(sys.argv[1:])
