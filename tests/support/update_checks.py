"""Writes the CHECK lines of lit files anew: `python -m tests.support.update_checks FILE...`.

Every RUN line that ends in `| filecheck` is run without it; its whole output becomes the lines of its
prefix, at the end of the file so that no line above moves. Read the change before committing it: the
lines say what the tool writes now, not what it should write.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from tests.support import shell
from tests.support.check_lint import TestFile, filecheck_prefixes


def updated(path: Path) -> str:
    """The text of the file with the CHECK lines its tools would write now.

    Raises ValueError for a RUN line that is not one pipe of known tools into filecheck with one prefix, and for one
    whose output has the file's own RUN and CHECK lines: filecheck refuses lines that match themselves.
    """
    text = path.read_text(encoding="utf-8")
    file = TestFile(text)
    blocks = []
    for _, line in file.runs:
        if "filecheck" in line:
            command, _, check = line.rpartition("|")
            prefixes = filecheck_prefixes(check.split()[1:])
            if check.split()[:1] != ["filecheck"] or len(prefixes) != 1:
                raise ValueError(f"{path}: cannot update `{line}`")
            output = _output(path, command)
            if any(_is_own_line(each, file.prefixes) for each in output.splitlines()):
                hint = "add --strip-comments to the RUN line"
                raise ValueError(f"{path}: `{line}`: the output has RUN or CHECK lines of the file itself: {hint}")
            blocks.append(_block(prefixes[0], output))
    kept = [line for line in text.splitlines() if not _is_directive(line, file.prefixes)]
    body = "\n".join(kept).rstrip("\n")
    return "\n\n".join([body, *blocks]) + "\n"


def _output(path: Path, command: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        for short, long in (("%s", str(path)), ("%S", str(path.parent)), ("%t", f"{folder}/t")):
            command = re.sub(rf"{short}\b", lambda _, long=long: long, command)
        planned = shell.plan(command)
        if planned is None:
            raise ValueError(f"{path}: cannot run `{command}` in this process")
        log: list[shell.Executed] = []
        shell.run(planned, Path(folder), log)
    return log[-1].stdout


def _block(prefix: str, output: str) -> str:
    lines, kind = [], ""
    for line in output.splitlines():
        literal = "{LITERAL}" if "{{" in line or "[[" in line else ""
        text = f" {line}" if line.strip() else ""
        lines.append(f"// {prefix}{kind if text else '-EMPTY'}{literal}:{text}")
        kind = "-NEXT"
    return "\n".join(lines)


def _is_own_line(line: str, prefixes: dict[str, int]) -> bool:
    """Whether lit or filecheck would obey this line of output, once it stands in the file."""
    return re.search(r"//\s*RUN:", line) is not None or _is_directive(line, prefixes)


def _is_directive(line: str, prefixes: dict[str, int]) -> bool:
    known = "|".join(map(re.escape, prefixes)) or r"(?!)"
    return re.match(rf"\s*//\s*(?:{known})(?:-[A-Z]+(?:-\d+)?)?(?:\{{LITERAL\}})?:", line) is not None


if __name__ == "__main__":
    if not sys.argv[1:] or any(name.startswith("-") for name in sys.argv[1:]):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    for name in sys.argv[1:]:
        target = Path(name).resolve()
        try:
            text = updated(target)
        except (OSError, ValueError) as error:
            sys.exit(f"error: {error}")
        target.write_text(text, encoding="utf-8")
