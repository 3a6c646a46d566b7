"""What must hold after a run: `judge` gives the fault, or an empty string."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mcir.diagnostics import MCIRError
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes import registered_passes
from mcir.printer import print_module
from mcir.verifier import verify_module
from tests.endurance.case import INPUT, Case

LOCATED = re.compile(r"^(?:<stdin>|in\.mcir|other\.mcir):\d+:\d+: (?:error|warning|remark|note): \S")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CUT = re.compile(r"^error: \d+ further diagnostics are not shown")
PROVABLE = 6000  # bytes of a graph that is proved
OWN_BUG = ("internal error", "bug in MCIR", "[roundtrip]", "Traceback (most recent")


@dataclass
class Ran:
    """What a run did: exit code (None: `raised` was raised), both outputs, the files there are now."""

    code: int | None
    out: str
    err: str
    files: dict[str, bytes] = field(default_factory=dict)
    raised: str = ""
    grown: int = 0  # MiB by which the process grew


def judge(case: Case, ran: Ran) -> str:
    """What is wrong with a run; the first line is alike for runs with the same cause."""
    return next(_faults(case, replace(ran, err=_COLOUR.sub("", ran.err))), "")


def _faults(case: Case, ran: Ran) -> Iterator[str]:
    if ran.raised:
        endless = ran.raised.startswith("MemoryError") and any("/dev/" in word for word in case.argv)
        yield "" if endless else ran.raised  # no memory holds an endless file; the console says so
        return
    if ran.code not in (0, 1, 2):
        yield f"exit code {ran.code}"
    for word in OWN_BUG:
        if word in ran.err and not any(word in data.decode("utf-8", "replace") for data in case.files.values()):
            yield f"says '{word}'\n{ran.err[:2000]}"
    yield from _files(case, ran)
    yield from _messages(case, ran)
    if ran.code == 0:
        yield from GOOD.get(case.tool, _nothing)(case, ran)


def _nothing(case: Case, ran: Ran) -> Iterator[str]:
    return iter(())


def _files(case: Case, ran: Ran) -> Iterator[str]:
    """No file is left over; those read are as they were, unless they were to be written."""
    for name in ran.files:
        if name not in case.files and not any(name in word for word in case.argv):
            yield f"a file is left over\n{name}"
    formats = case.tool == "mcir-fmt" and (case.kind == "flags" or "--check" not in case.argv)
    written = formats or any(word.startswith(("-o", "--o", "--html", "--weights")) for word in case.argv)
    if not written:
        for name, data in case.files.items():
            if ran.files.get(name) != data:
                yield f"an input was changed\n{name}"


def _messages(case: Case, ran: Ran) -> Iterator[str]:
    """An exit code that is not 0 has its reason."""
    if ran.code == 2 and case.tool != "mcir-diff":
        if "error: " not in ran.err and '"error"' not in ran.err:
            yield f"exit code 2 without an error\n{ran.err[:500]}"
        if ran.out:
            yield f"bad usage has output\n{ran.out[:500]}"
    if ran.code == 1:
        said = "error: " in ran.err or '"error"' in ran.err  # as text, as JSON or SARIF
        silent = {
            "mcir-diff": True, "mcir-fmt": "would change: " in ran.out or "\n+++ " in ran.out,
            "mcir-run": ": failed: " in ran.out or ": not provable: " in ran.out or '"status": "' in ran.out,
        }  # fmt: skip
        if not said and not silent.get(case.tool, False):
            yield f"exit code 1 without an error\n{ran.out[:500]}\n{ran.err[:500]}"
    text_fault = (
        ran.code == 1
        and case.kind in ("characters", "tokens", "lines", "meaning")
        and case.tool in ("mcir-opt", "mcir-translate", "mcir-run")
    )
    if (
        text_fault
        and not _is_good(case.files.get(INPUT, b""))
        and "--diagnostics=json" not in case.argv
        and "--remarks=json" not in case.argv
    ):
        if "--verify-diagnostics" not in case.argv and not any(map(LOCATED.match, ran.err.splitlines())):
            yield f"no error has a place\n{ran.err[:500]}"
        bare = [line for line in ran.err.splitlines() if line.startswith("error: ") and not CUT.match(line)]
        if bare and "--split-input-file" not in case.argv and "--verify-diagnostics" not in case.argv:
            yield f"an error of the text has no place\n{bare[0][:500]}"
        if ran.out and not {"--split-input-file", "--verify-diagnostics"} & set(case.argv):
            yield f"a faulty text has output\n{ran.out[:300]}"


def _is_good(data: bytes) -> bool:
    try:
        module = parse_module(data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n"))
    except (MCIRError, UnicodeDecodeError):
        return False
    return not any(fault.severity == "error" for fault in verify_module(module))


# -- good runs --------------------------------------------------------------------------------------------


def _output(case: Case, ran: Ran) -> str | None:
    """The text that the run made, wherever it went; None for a place without memory."""
    if "out.mcir" in ran.files:
        return ran.files["out.mcir"].decode("utf-8")
    return None if any("-o" in word or "--html" in word for word in case.argv) else ran.out


def fixed_point(text: str, *, valid: bool = True) -> Iterator[str]:
    """A printed text parses, is valid, and prints to itself."""
    try:
        module = parse_module(text)
    except MCIRError as error:
        yield f"the output does not parse\n{str(error)[:1500]}"
        return
    if print_module(module) != text:
        yield "the output prints differently"
    faults = [fault for fault in verify_module(module) if fault.severity == "error"] if valid else []
    if faults:
        yield f"the output is not valid: {faults[0].rule}\n{faults[0].render()}"


# Flags with which mcir-opt's output is no module, or several; the further ones only where any flag may stand.
NO_MODULE = (
    "--dump", "--split", "--verify-d", "--help", "-h", "--version", "--list-passes", "--print-completion",
    "--no-verify-each", "--verify-each",
)  # fmt: skip


def _opt(case: Case, ran: Ran) -> Iterator[str]:
    other = NO_MODULE if case.kind == "flags" else NO_MODULE[:3]
    if any(word.startswith(other) for word in case.argv):
        return
    text = _output(case, ran)
    if text is None:
        return
    yield from fixed_point(text)
    if INPUT not in case.argv or case.kind == "flags":
        return
    before, after = (
        parse_module(case.files[INPUT].decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")),
        parse_module(text),
    )
    names = [word.lstrip("-").partition("=")[0] for word in case.argv]
    changing = [name for name, cls in registered_passes().items() if cls.changes_graphs]
    kept = not set(names) & {*changing, "strip-comments"}
    if kept and print_module(MCModule(graphs=before.graphs)) != print_module(MCModule(graphs=after.graphs)):
        yield "the graphs changed"
    if not before.regions and after.regions and "streaming-lowering" in names and len(text) < PROVABLE:
        yield from _proofs(after)


def _proofs(module: MCModule) -> Iterator[str]:
    from mcir.interpreter.check import check_module

    for result in check_module(module, ("exact", "algebraic"), memory_limit=64 << 20):
        if result.status == "failed":
            yield f"a region is not what its graph is\n{result}"


def _fmt(case: Case, ran: Ran) -> Iterator[str]:
    if any(word.startswith(("--help", "--version", "--print-completion")) for word in case.argv):
        return
    if any(word.startswith(("--check", "--diff")) for word in case.argv):
        return
    if ran.out:
        yield from fixed_point(ran.out, valid=False)
    for name in case.files:
        if name in case.argv and name.endswith(".mcir"):
            yield from fixed_point(ran.files[name].decode("utf-8"), valid=False)


def _translate(case: Case, ran: Ran) -> Iterator[str]:
    if "--import-onnx" in case.argv and case.kind.startswith("onnx"):
        text = _output(case, ran)
        if text is None:
            return
        yield from fixed_point(text)
        yield from _passes_hold(text)
    if case.kind != "flags" and "--memory-report=json" in case.argv:
        json.loads(ran.out)


def _passes_hold(text: str) -> Iterator[str]:
    """Every imported graph goes through the passes; clean-up leaves a valid module."""
    module = parse_module(text)
    graphs = print_module(MCModule(graphs=module.graphs))
    for name in ("attention-pattern", "streaming-lowering"):
        module = registered_passes()[name]()(module)
    if print_module(MCModule(graphs=module.graphs)) != graphs:
        yield "the graphs changed"
    yield from fixed_point(print_module(module))
    for name in ("canonicalize", "common-subexpression-elimination", "dead-node-elimination"):
        cleaned = registered_passes()[name]()(parse_module(text))
        yield from fixed_point(print_module(cleaned))


def _diff(case: Case, ran: Ran) -> Iterator[str]:
    from mcir.analysis.difference import compare_modules

    if case.kind == "flags":
        return
    sides = [
        parse_module(case.files[name].decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n"))
        for name in (INPUT, "other.mcir")
    ]
    if ran.out or compare_modules(sides[0], sides[0]):
        yield "a module differs from itself"


def _run(case: Case, ran: Ran) -> Iterator[str]:
    if "--json" in case.argv and case.kind != "flags":
        json.loads(ran.out)
    yield from ()


GOOD = {"mcir-opt": _opt, "mcir-fmt": _fmt, "mcir-translate": _translate, "mcir-diff": _diff, "mcir-run": _run}
