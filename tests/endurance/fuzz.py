"""The kinds of cases: case N of a seed is always the same, whichever process makes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from tests.endurance import seeds, text_mutators
from tests.endurance.case import INPUT, LSP, Case
from tests.endurance.command_lines import PROFITABLE, configuration, drawn, plain

TEXT_TOOLS = ("mcir-opt", "mcir-opt", "mcir-opt", "mcir-fmt", "mcir-translate", "mcir-diff", "mcir-run")


def _text_case(kind: str) -> Callable[[Random, int, str], Case]:
    """A mutated text for a tool under a sensible command line."""

    def make(random: Random, number: int, tool: str) -> Case:
        tool = tool or (random.choice(TEXT_TOOLS) if random.random() < 0.97 else "mcir-reduce")
        text = seeds.pick_text(random)
        data = text_mutators.encoded(random, text_mutators.mutated(random, kind, text))
        argv = plain(random, tool)
        files = {INPUT: data, "other.mcir": (text if random.random() < 0.7 else seeds.pick_text(random)).encode()}
        return Case(kind, tool, argv, files, data if not argv or "-" in argv or INPUT not in argv else b"")

    return make


def _flags(random: Random, number: int, tool: str) -> Case:
    """A command line of any kind, mostly on a good input."""
    tool = tool or random.choice(
        ("mcir-opt", "mcir-opt", "mcir-fmt", "mcir-translate", "mcir-diff", "mcir-run", "mcir-reduce", LSP)
    )
    text = seeds.pick_text(random)
    if random.random() < 0.1:
        text = text_mutators.mutated(random, "tokens", text)
    argv = drawn(random, tool)
    if tool == "mcir-opt" and random.random() < 0.15:
        text = configuration(random) + text
        argv.append("--run-reproducer")
    data = text.encode("utf-8", "replace")
    files = {INPUT: data, "other.mcir": seeds.pick_text(random).encode(), "in.npz": arrays()}
    return Case("flags", tool, argv, files, data)


def _generated(random: Random, number: int, tool: str) -> Case:
    """A well-formed module, with everything that the language has, through some passes."""
    from mcir.passes import registered_passes

    passes = [f"--{name}" for name in random.choices(sorted(registered_passes()), k=random.randrange(5))]
    data = seeds.generated(number, random).encode("utf-8", "surrogatepass")
    if tool in ("", "mcir-opt"):
        return Case("generated", "mcir-opt", [*passes, "--verify-roundtrip", INPUT], {INPUT: data})
    return Case("generated", tool, plain(random, tool), {INPUT: data, "other.mcir": data}, data)


def _attention(random: Random, number: int, tool: str) -> Case:
    """A graph with an attention: what is made of it must be proved."""
    data = seeds.attention(number, random).encode("utf-8", "surrogatepass")
    argv = [*random.choice(PROFITABLE[:3]), INPUT]
    if random.random() < 0.3:
        argv.insert(2, f"--tile-{random.choice('mnk')}={random.choice((1, 2, 7, 32, 1000))}")
    if random.random() < 0.3:
        argv[:0] = ["--canonicalize", "--common-subexpression-elimination"]
    return Case("attention", "mcir-opt", argv, {INPUT: data})


def _onnx(kind: str) -> Callable[[Random, int, str], Case]:
    def make(random: Random, number: int, tool: str) -> Case:
        from tests.endurance.onnx_mutators import bytes_mutated, message_mutated

        data = bytes_mutated(random) if kind == "onnx bytes" else message_mutated(random)[1]
        argv = ["--import-onnx", "in.onnx"]
        for flag in ("--expand-functions", "--keep-attention", "--weights=w.npz", "--constant-limit=3", "-oout.mcir"):
            if random.random() < 0.15:
                argv.append(flag)
        return Case(kind, "mcir-translate", argv, {"in.onnx": data, "data.bin": bytes(range(64))})

    return make


def _arrays(random: Random, number: int, tool: str) -> Case:
    """Damaged arrays for a good graph."""
    data = bytearray(arrays())
    for _ in range(random.choice((0, 1, 1, 3, 20))):
        at = random.randrange(len(data))
        choice = random.randrange(4)
        if choice == 0:
            data[at] = random.randrange(256)
        elif choice == 1:
            del data[at : at + random.choice((1, 4, 100))]
        elif choice == 2:
            data[at:at] = data[at : at + random.choice((1, 30, 300))]
        else:
            del data[max(1, at) :]
        data = data or bytearray(b"x")
    return Case(
        "arrays",
        "mcir-run",
        ["--inputs=in.npz", "--memory-limit=64", INPUT],
        {INPUT: ARRAY_GRAPH.encode(), "in.npz": bytes(data)},
    )


ARRAY_GRAPH = """\
graph @g(%x: tensor<2x3xfp32>, %y: tensor<(n)x3xfp16>, %k: tensor<3xi64>) {
  %e = add %x, %x : tensor<2x3xfp32>
  %f = neg %y : tensor<(n)x3xfp16>
  return %e, %f
}
"""


@cache
def arrays() -> bytes:
    """Arrays for ARRAY_GRAPH as an .npz."""
    import numpy as np

    from mcir.interpreter.npz import write_npz

    return write_npz({"x": np.ones((2, 3), np.float32), "y": np.ones((4, 3), np.float16), "k": np.arange(3)})


def _lsp(random: Random, number: int, tool: str) -> Case:
    from tests.endurance.lsp_streams import stream

    return Case("language server", LSP, ["--stdio"], messages=stream(random))


# kind -> (how often it comes, how one is made: random numbers, number of the case, tool asked for)
KINDS: dict[str, tuple[int, Callable[[Random, int, str], Case]]] = {
    "characters": (40, _text_case("characters")),
    "tokens": (40, _text_case("tokens")),
    "lines": (20, _text_case("lines")),
    "meaning": (80, _text_case("meaning")),
    "flags": (50, _flags),
    "generated": (20, _generated),
    "attention": (8, _attention),
    "onnx bytes": (10, _onnx("onnx bytes")),
    "onnx messages": (50, _onnx("onnx messages")),
    "arrays": (10, _arrays),
    "language server": (2, _lsp),
}
TOOLS_OF = {
    "onnx bytes": {"mcir-translate"}, "onnx messages": {"mcir-translate"}, "arrays": {"mcir-run"},
    "attention": {"mcir-opt"},
    "language server": {LSP},
}  # fmt: skip


def make_case(seed: int, number: int, tool: str = "", kind: str = "") -> Case:
    """Case `number` of `seed`; for one tool or of one kind only, if they are given."""
    random = Random(f"{seed}/{number}")
    fitting = {
        name: weight for name, (weight, _) in KINDS.items()
        if (not kind or name == kind) and (not tool or tool in TOOLS_OF.get(name,
        {tool} if tool != LSP or name == "flags" else ()))
    }  # fmt: skip
    chosen = random.choices(list(fitting), list(fitting.values()))[0]
    return KINDS[chosen][1](random, number + seed * 1_000_003, tool)
