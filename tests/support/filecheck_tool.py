"""PyPI's filecheck as a tool with given streams, with two of its gaps closed.

- CHECK-NOT misses the last character of an input without a final newline: one is added.
- Comments survive MCIR's printer, so printed text can carry the very CHECK lines it is checked
  against, which then match themselves: such an input is refused.

LLVM's own FileCheck reads the same input as a second opinion where it is on PATH.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options, parse_argv_options
from filecheck.parser import Parser, pattern_for_opts


def main(argv: list[str], stdin: TextIO, stdout: TextIO, stderr: TextIO) -> int:
    """Exit status of filecheck on the text of `stdin` (or of --input-file)."""
    try:
        options = parse_argv_options(["filecheck", *argv])
    except RuntimeError as usage:
        print(f"filecheck: error: {usage}", file=stderr)
        return 2
    path = Path(options.input_file)
    text = stdin.read() if options.input_file == "-" else path.read_text(encoding="utf-8")
    text = FInput.canonicalize_line_ends(text)
    if found := _own_directive(text, options):
        print(f"filecheck: error: the input holds CHECK lines itself ({found!r}): add --strip-comments", file=stderr)
        return 2
    status = _match(options, text + "\n" * (not text.endswith("\n") and bool(text)), stderr)
    return status or _second_opinion(argv, text, stderr)


def _match(options: Options, text: str, stderr: TextIO) -> int:
    # Matcher keeps sys.stderr as it is when it is made, and writes some messages there only.
    with contextlib.redirect_stderr(stderr):
        status = Matcher(options, FInput(options.input_file, text), Parser.from_opts(options)).run()
    if status and options.dump_input.name != "NEVER":
        print(f"filecheck: the input was:\n{text}", file=stderr)
    return status


def _own_directive(text: str, options: Options) -> str:
    """A line of the input that is also a directive line of the check file, or an empty string."""
    directive, _ = pattern_for_opts(options)
    lines = Path(options.match_filename).read_text(encoding="utf-8").splitlines()
    own = {line.strip() for line in lines if directive.search(line)}
    return next((line.strip() for line in text.splitlines() if line.strip() in own), "")


def _second_opinion(argv: list[str], text: str, stderr: TextIO) -> int:
    peer = shutil.which("FileCheck")
    if peer is None:
        return 0
    ran = subprocess.run([peer, *argv], input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    if ran.returncode:
        print(f"filecheck passes, {peer} does not:\n{ran.stderr}", file=stderr)
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin, sys.stdout, sys.stderr))
