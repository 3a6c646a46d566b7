"""Command lines drawn from the tools' own tables of flags. Paths come from a list: no file elsewhere is written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from random import Random

from mcir.passes import registered_passes
from mcir.passes.pipeline import option_fields
from mcir.tools import opt_passes
from mcir.tools.arguments import OPTIONAL, SWITCH, Flag
from mcir.tools.command import COMMON
from tests.endurance.case import INPUT
from tests.support.shell import TOOLS

WORDS = (
    "",
    "0",
    "1",
    "-1",
    "64",
    "x",
    "true",
    "false",
    "é",
    "a=b",
    "1e9",
    "9" * 30,
    "\udcff",
    "a\0b",
    " ",
    "=",
    ",",
    "-",
    "--",
    "{}",
    "名",
)
OUTPUTS = (
    "out.mcir",
    "out.mcir",
    "out.mcir",
    INPUT,
    ".",
    "missing/out.mcir",
    "/dev/null",
    "/dev/full",
    "",
    "a\0b",
    "o" * 300,
    "🙂" * 62,
    "-",
)
INPUTS = (INPUT, INPUT, INPUT, INPUT, INPUT, "-", "missing.mcir", ".", "", "\udcff", "a\0b", "/dev/null", "other.mcir")
PLUGINS = ("missing.py", INPUT, ".", "", "/dev/null", "a\0b", "\udcff.py")
ARRAYS = ("in.npz", "missing.npz", ".", INPUT)
SCRIPTS = ("true", "false", "grep -q softmax", "./missing", "'open", "", "/", "sh -c 'exit 3'", "\udcff")
SPECS = (
    "attention-pattern", "attention-pattern,streaming-lowering", "streaming-lowering{tile-m=64 tile-n=32}",
    "dead-node-elimination,common-subexpression-elimination,canonicalize",
    "attention-pattern{", "streaming-lowering{tile-m=}", "streaming-lowering{tile-m=1e9}", ",", "a b",
    "canonicalize{}", '"', "canonicalize,,canonicalize",
    'streaming-lowering{tile-m="4"}', "streaming-lowering{tile-m=4 tile-m=5}", "attention-pattern}", "é",
)  # fmt: skip
PROFITABLE = (
    ["--attention-pattern", "--streaming-lowering"],
    ["--attention-pattern", "--streaming-lowering", "--remarks", "--verify-roundtrip"],
    ["--attention-pattern", "--streaming-lowering", "--memory-report", "--target=sm_90"],
    ["--attention-pattern", "--streaming-lowering", "--dump"],
    ["--canonicalize", "--common-subexpression-elimination", "--dead-node-elimination", "--verify-roundtrip"],
    ["--split-input-file", "--attention-pattern", "--remarks=json"],
    ["--verify-diagnostics", "--split-input-file"],
    ["--verify-roundtrip"], ["--strip-comments", "--diagnostics=json"], [],
)  # fmt: skip


SENSIBLE: dict[str, tuple[list[str], ...]] = {
    "mcir-run": (
        ["--check", "--memory-limit=64"], ["--check", "--json", "--memory-limit=64"],
        ["--memory-limit=64", "--size=n=3,seq=5"], ["--lowered", "--memory-limit=64", "--output=out.npz"],
    ),
    "mcir-translate": (
        ["--to-mlir"], ["--to-mlir", "--no-linalg"], ["--dot"], ["--html=out.html"], ["--html=-"],
        ["--memory-report"], ["--memory-report=json"], ["--memory-report", "--compare=tile-m=16,64 tile-n=8"],
    ),
}  # fmt: skip


@cache
def flags_of(tool: str) -> tuple[Flag, ...]:
    """Every flag of a tool, hidden ones too."""
    if tool == "mcir-opt":
        return tuple(opt_passes.all_flags())
    return (*import_module(TOOLS[tool]).COMMAND.flags, *COMMON)


def plain(random: Random, tool: str) -> list[str]:
    """A command line that makes sense, for cases whose input is at fault."""
    if tool == "mcir-opt":
        argv = list(random.choice(PROFITABLE))
        if "--streaming-lowering" in argv and random.random() < 0.5:
            at = argv.index("--streaming-lowering") + 1
            argv[at:at] = [f"--tile-{axis}={random.choice((1, 3, 16, 64, 4096))}" for axis in random.sample("mnk", 2)]
        return [*argv, *random.choice(([INPUT], ["-"], [INPUT, "-o", "out.mcir"]))]
    if tool in SENSIBLE:
        return [*random.choice(SENSIBLE[tool]), INPUT]
    if tool == "mcir-diff":
        return [*random.choice(([], ["--json"], ["--quiet"])), INPUT, "other.mcir"]
    if tool == "mcir-fmt":
        return random.choice(
            ([], ["--check"], [INPUT], ["--check", INPUT], [INPUT, "other.mcir"], [INPUT, "missing.mcir", "other.mcir"])
        )
    return ["--test=grep -q softmax", "--max-tests=4", "--allow-invalid", INPUT]


def drawn(random: Random, tool: str) -> list[str]:
    """Any command line: each flag with values that fit and that do not, operands anywhere."""
    argv: list[str] = []
    for _ in range(random.choice((0, 1, 2, 2, 3, 5))):
        argv += _flag(random, random.choice(flags_of(tool)))
    for _ in range(random.choice((0, 1, 1, 1, 1, 2, 3))):
        argv.insert(random.randrange(len(argv) + 1), random.choice(INPUTS))
    if random.random() < 0.1:
        argv.insert(random.randrange(len(argv) + 1), random.choice(WORDS))
    if tool == "mcir-reduce":
        argv = ["--max-tests=2", *argv, *([f"--test={random.choice(SCRIPTS)}"] if random.random() < 0.7 else [])]
    return argv


def _flag(random: Random, flag: Flag) -> list[str]:
    value = _value(random, flag)
    if flag.metavar.startswith(("FILE", "OUT")) or flag.name == "-o":
        return random.choice(([f"{flag.name}={value}"], [flag.name, value]))
    if flag.name == "--max-tests":
        return ["--max-tests=2"]
    if flag.kind == SWITCH:
        return [flag.name] if random.random() < 0.8 else [f"{flag.name}={value}"]
    if flag.kind == OPTIONAL:
        return [flag.name] if random.random() < 0.4 else [f"{flag.name}={value}"]
    return random.choice(([f"{flag.name}={value}"], [flag.name, value], [flag.name]))


def configuration(random: Random) -> str:
    """The head line of a reproducer, or nearly one."""
    words = [f"--pass-pipeline='{random.choice(SPECS)}'"] if random.random() < 0.8 else []
    for _ in range(random.choice((0, 1, 2))):
        words += _flag(random, random.choice(flags_of("mcir-opt")))
    line = f"// configuration: {' '.join(words)}\n"
    return line.replace("'", random.choice(("'", "'", '"', ""))) * random.choice((1, 1, 1, 2))


def _value(random: Random, flag: Flag) -> str:
    if flag.name == "--load-pass-plugin":
        return random.choice(PLUGINS)
    if flag.metavar.startswith(("FILE", "OUT")) or flag.name == "-o":
        return random.choice(OUTPUTS)
    if flag.metavar.startswith("X.npz"):
        return random.choice(ARRAYS)
    if flag.name == "--test":
        return random.choice(SCRIPTS)
    if flag.name == "--pass-pipeline":
        return random.choice(SPECS)
    if flag.choices and random.random() < 0.7:
        return random.choice(flag.choices)
    return random.choice((*_likely(flag), *WORDS)) if random.random() < 0.5 else random.choice(_likely(flag))


def _likely(flag: Flag) -> Sequence[str]:
    """Values that mean something to a flag, and near misses."""
    if flag.metavar.startswith("NAME="):
        return (
            "n=4",
            "seq=16,batch=2",
            "seq=",
            "=4",
            "seq=-1",
            "seq=x",
            ",",
            "seq=4,seq=5",
            "a=b=4",
            f"seq={'9' * 30}",
            f"seq={10**15}",
        )
    if flag.metavar == "PASS,..":
        return *registered_passes(), "canonicalize,attention-pattern", "attention-patern", ","
    if flag.metavar == "OPTIONS":
        cls = registered_passes()[flag.name.lstrip("-")]
        return "", *(
            f"{key}={value}" for key in option_fields(cls) for value in ("1", "0", "-4", "x", "true", "9" * 20, "")
        )
    if flag.metavar == "TARGET":
        return "sm_90", "sm_80", "gfx942", "sm90", ""
    if flag.metavar == "TILES":
        return "tile-m=64,128 tile-n=32", "tile-m=", "tile-x=4", "tile-m=0", "tile-m=1" + ",1" * 50
    if flag.metavar == "LEVELS":
        return "exact", "exact,typed", "", ",", "exct"
    return "0", "1", "16", "-1", "true", "1.5", "nan", "inf", "1e300", "9" * 40
