"""Texts of any size, of one shape each, and a child process that reads one: its seconds and its peak of memory.

`python -m tests.endurance.sizes 1000000` measures all of them at that size.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

T = "tensor<4xfp32>"
HEAD = f"graph @g(%x: {T}) {{\n"


def _around(nodes: str, result: str = "%x") -> str:
    return f"{HEAD}{nodes}  return {result}\n}}\n"


def _nodes(count: int) -> str:
    names = ["x", *(f"v{at}" for at in range(count))]
    return _around("".join(f"  %{names[at + 1]} = neg %{names[at]} : {T}\n" for at in range(count)), f"%{names[-1]}")


def _attribute(value: str) -> str:
    return _around(f'  %y = "a.b" %x {{a = {value}}} : {T}\n')


def _entries(count: int) -> str:
    return ", ".join(f"k{at} = {at}" for at in range(count))


def _values(count: int) -> str:
    """Nodes of up to 10,000 results, each used by one node of as many operands."""
    lines = []
    for at in range(max(1, count // 10_000)):
        names = ", ".join(f"%v{at}_{number}" for number in range(min(count, 10_000)))
        lines.append(f'  {names} = "a.b" @n{at} %x : {", ".join([T] * min(count, 10_000))}\n  "a.c" @u{at} {names}\n')
    return _around("".join(lines))


# What is large -> the text of about that many parts (of bytes, where it is one name or line).
SHAPES: dict[str, Callable[[int], str]] = {
    "nodes": _nodes,
    "graphs": lambda count: "".join(f"graph @g{at}() {{\n  return\n}}\n" for at in range(count)),
    "regions": lambda count: "".join(f"execution @r{at}() {{\n}}\n" for at in range(count)),
    "list": lambda count: _attribute(f"[{', '.join(map(str, range(count)))}]"),
    "dictionary": lambda count: _attribute(f"{{{_entries(count)}}}"),
    "attributes": lambda count: _around(f'  %y = "a.b" %x {{{_entries(count)}}} : {T}\n'),
    "nested lists": lambda count: _attribute("[" + ", ".join(["[" * 60 + "1" + "]" * 60] * (count // 60)) + "]"),
    "values": _values,
    "comments": lambda count: "// note\n" * count + "graph @g() {\n  return\n}\n",
    "a long name": lambda count: f'graph @"{"n" * count}"() {{\n  return\n}}\n',
    "a long line": lambda count: _attribute(f'"{"x" * count}"'),
    "one line": lambda count: _nodes(count).replace("\n", " "),
}
# Of these every text is wrong: one error comes, as soon.
BROKEN: dict[str, Callable[[int], str]] = {
    "a missing quote": lambda count: _attribute('"' + "x" * count),
    "open brackets": lambda count: _attribute("[" * count),
    "open braces": lambda count: "{" * count,
    "open regions": lambda count: "execution @r {" * count,
    "backslashes": lambda count: _attribute('"' + "\\" * (count + 1)),
    "digits": lambda count: _attribute("9" * count),
    "a wrong last node": lambda count: _nodes(count).replace("  return", "  %z = neg %x\n  return"),
    "a wrong first node": lambda count: _nodes(count).replace("%v0 = neg", "%v0 == neg", 1),
    "every node wrong": lambda count: _nodes(count).replace("= neg", "= nag"),
    "every op unknown": lambda count: _around("".join(f"  %v{at} = nag{at} %x : {T}\n" for at in range(count))),
    "no types in one line": lambda count: _around("".join(f' %v{at} = "a.b"' for at in range(count))),
    "slashes": lambda count: "/ " * count,
    "names without end": lambda count: "%" * count,
    "a dimension without end": lambda count: f"graph @g(%x: tensor<{'4x' * count}",
    "unknown values": lambda count: _around("".join(f"  %v{at} = neg %u{at} : {T}\n" for at in range(count))),
    "one name for all": lambda count: _around(f"  %v = neg %x : {T}\n" * count),
    "control characters": lambda count: "\0" * count,
}


@dataclass
class Cost:
    """What reading and printing a text cost beyond an empty text: seconds of the processor, bytes of memory."""

    seconds: float
    size: int
    memory: int

    @property
    def factor(self) -> float:
        """Bytes of memory at the peak for a byte of input."""
        return self.memory / self.size


def cost(shape: str, count: int) -> Cost:
    """mcir-opt on a text of that shape and size, in a process of its own."""
    text = {**SHAPES, **BROKEN}[shape](count)
    seconds, memory, code = _process(text)
    assert code == (0 if shape in SHAPES else 1), (shape, code)
    return Cost(seconds - _empty()[0], len(text), memory - _empty()[1])


@cache
def _empty() -> tuple[float, int, int]:
    return min(_process("") for _ in range(2))


# Linux keeps the peak of the process that started this one in `ru_maxrss`, but not in VmHWM.
CHILD = """
import gc, io, sys, time
gc.disable()
from mcir.tools.opt import main
code = main([sys.argv[1], "-o", "/dev/null"], io.StringIO(), io.StringIO(), io.StringIO())
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(time.process_time(), int(peak) << 10, code)
"""


def _process(text: str) -> tuple[float, int, int]:
    """(seconds, most memory in bytes, exit code) of mcir-opt on a file with the text."""
    with tempfile.NamedTemporaryFile("w", suffix=".mcir", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([sys.executable, "-c", CHILD, file.name], capture_output=True, text=True, check=True)
    seconds, memory, code = done.stdout.split()
    return float(seconds), int(memory), int(code)


def main() -> None:
    """A table of shapes (all of them, or those named) at one size and at half of it."""
    count = int(sys.argv[1])
    for shape in sys.argv[2:] or [*SHAPES, *BROKEN]:
        half, whole = cost(shape, count // 2), cost(shape, count)
        growth = whole.seconds / max(half.seconds, 1e-2)
        size = f"{whole.size / 1e6:8.1f} MB {whole.seconds:8.2f} s"
        print(f"{shape:24} {size} {whole.factor:8.1f} x  double: {growth:.1f}", flush=True)


if __name__ == "__main__":
    main()
