"""The command line of `mcir-opt`: its flags as a table, the help, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import Field, dataclass, field, replace
from typing import Any

from mcir.diagnostics import did_you_mean
from mcir.dump import DUMP_STYLES
from mcir.files import real_path
from mcir.passes import ModulePass, registered_passes
from mcir.passes.pipeline import build_pass, convert_option, option_fields, parse_options, parse_pipeline
from mcir.tools.arguments import OPTIONAL, SWITCH, VALUE, Flag, UsageError, help_examples, help_table, read_arguments
from mcir.tools.completion import COMPLETION_FLAG, completion_script
from mcir.tools.report import REPORTING

TOOL = "mcir-opt"
_PLUGIN = "--load-pass-plugin"
EVERY = "*"  # stands for all passes where pass names are listed

_PASSES = "passes, run in the order given; options as --PASS=\"x=1 y=2\", or --x=1 --y=2 after the pass"
_IN_OUT = (
    Flag("-o", VALUE, "write to FILE, as a whole or not at all (default: stdout)", "FILE", "input and output"),
    Flag("--split-input-file", SWITCH, "take the pieces between `// -----` lines one by one", group="input and output"),
    Flag("--dump", OPTIONAL, "print the tree (or outline) of the regions", group="input and output",
         choices=DUMP_STYLES),
    Flag("--strip-comments", SWITCH, "print the module without its comments", group="input and output"),
    Flag("--pass-pipeline", VALUE, 'passes as text: "a,b{x=1 y=2}"', "TEXT", _PASSES),
    Flag(_PLUGIN, VALUE, "run FILE, Python, whose passes become flags, too", "FILE", _PASSES),
)  # fmt: skip
_CHECKS = "checks and reports (to stderr)"
_REPORTS = (
    *(replace(flag, group=_CHECKS) for flag in REPORTING),
    Flag("--remarks", OPTIONAL, "say what passes did and declined, and why; json: a line each", group=_CHECKS,
         choices=("text", "json")),
    Flag("--memory-report", OPTIONAL, "say how many bytes each region moves and holds; json: a line", group=_CHECKS,
         choices=("text", "json")),
    Flag("--target", VALUE, "refuse tiles that do not fit on sm_80, sm_90, gfx942, ...", "TARGET", _CHECKS),
    Flag("--dim", VALUE, "sizes of named dimensions for the memory report", "NAME=SIZE,..", _CHECKS),
    Flag("--prove", SWITCH, "run every region beside its graph and refuse a difference", group=_CHECKS),
    Flag("--verify-each", SWITCH, "verify after every pass (default; =false or --no-verify-each)", group=_CHECKS),
    Flag("--no-verify-each", SWITCH, group=_CHECKS, hidden=True),
    Flag("--verify-roundtrip", SWITCH, "check that print and parse give the module back", group=_CHECKS),
    Flag("--verify-diagnostics", SWITCH, "check `// expected-error {{...}}` in the input", group=_CHECKS),
    Flag("--print-ir-before", OPTIONAL, "print the module before these passes (default: all)", "PASS,..", _CHECKS),
    Flag("--print-ir-after", OPTIONAL, "print the module after these passes (default: all)", "PASS,..", _CHECKS),
    Flag("--print-ir-before-all", SWITCH, group=_CHECKS, hidden=True),
    Flag("--print-ir-after-all", SWITCH, group=_CHECKS, hidden=True),
    Flag("--print-ir-after-change", SWITCH, "print it after passes that changed it", group=_CHECKS),
    Flag("--dump-pass-pipeline", SWITCH, "print the passes as --pass-pipeline takes them", group=_CHECKS),
    Flag("--timing", OPTIONAL, "print how long each phase took, as a tree; json: a line", group=_CHECKS,
         choices=("text", "json")),
    Flag("--statistics", OPTIONAL, "print what each pass counted (--list-passes has them); json: a line",
         group=_CHECKS, choices=("text", "json")),
    Flag("--crash-reproducer", VALUE, "if a pass or a check after it fails, write a small module that shows it",
         "FILE", _CHECKS),
    Flag("--run-reproducer", SWITCH, "run INPUT, a file that --crash-reproducer wrote, as its head line says",
         group=_CHECKS),
    Flag("--list-passes", SWITCH, "list the passes, their options and statistics, and stop", group=_CHECKS),
    replace(COMPLETION_FLAG, group=_CHECKS),
    Flag("--version", SWITCH, "print the version, and stop", group=_CHECKS),
    Flag("--help", SWITCH, "print this, and stop", group=_CHECKS),
    Flag("-h", SWITCH, group=_CHECKS, hidden=True),
)  # fmt: skip

_USAGE = """\
usage: mcir-opt [options] [INPUT]

Reads MCIR text, verifies it, runs passes over it and prints the result.
INPUT is a file; without one, or for -, standard input is read."""

_STATUS = "exit status: 0 good, 1 bad input, 2 bad usage, 70 a fault of mcir-opt itself"
EXAMPLES = (
    ("mcir-opt examples/attention.mcir", "verify and print"),
    ("mcir-opt examples/attention.mcir --attention-pattern --remarks", "find attention, say why not"),
    ("mcir-opt examples/attention.mcir --attention-pattern --streaming-lowering --tile-m=64 --target=sm_90 --dump",
     "give it a streaming form whose tiles fit, and look at it"),
    ('mcir-opt examples/attention.mcir --pass-pipeline="attention-pattern,streaming-lowering{tile-m=64}" -o s.mcir',
     "the same passes as one text"),
    ("mcir-opt examples/attention.mcir --canonicalize --crash-reproducer=crash.mcir -o tidy.mcir",
     "a pass that fails would leave a file for --run-reproducer"),
)  # fmt: skip


@dataclass(slots=True)
class Options:
    """What a command line asks for. `stop` names the flag that only prints something, if there is one."""

    input: str = "-"
    output: str = "-"
    passes: list[ModulePass] = field(default_factory=list)
    split: bool = False
    dump: str = ""
    strip_comments: bool = False
    diagnostics: str = "text"
    color: str = "auto"
    remarks: str = ""
    memory_report: str = ""
    target: str = ""
    dims: dict[str, int] = field(default_factory=dict)
    prove: bool = False
    verify_each: bool = True
    verify_roundtrip: bool = False
    verify_diagnostics: bool = False
    print_before: frozenset[str] = frozenset()
    print_after: frozenset[str] = frozenset()
    print_change: bool = False
    dump_pipeline: bool = False
    timing: str = ""
    statistics: str = ""
    plugins: list[str] = field(default_factory=list)
    crash_reproducer: str = ""
    run_reproducer: bool = False
    stop: str = ""
    shell: str = ""  # whose completion script is printed, where `stop` is print-completion


def read_options(argv: Sequence[str]) -> Options:
    """The options of a command line. Raises UsageError, or MCIRError that points into a pass's options."""
    plugins = _load_plugins(argv)
    found, operands = read_arguments(_flags(), argv)
    if len(operands) > 1:
        raise UsageError(f"one input at a time, got {len(operands)}: {', '.join(operands[:5])}")
    options = Options(plugins=plugins)
    if operands:
        options.input = operands[0]
    for flag, value in found:
        _take(options, flag, value)
    _check(options)
    return options


def _load_plugins(argv: Sequence[str]) -> list[str]:
    """Runs the plugins that a command line names: their passes are flags of the same line."""
    paths, words = [], iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name == _PLUGIN:
            paths.append(value if equals else next(words, ""))
        elif word == "--":
            break
    if not paths:
        return []
    from mcir.tools.plugins import load_pass_plugin

    for path in filter(None, paths):  # that the last one is missing is told of as for any flag
        load_pass_plugin(path)
    flags = {flag.name for flag in (*_IN_OUT, *_REPORTS)}
    for name in registered_passes():
        if f"--{name}" in flags:
            raise UsageError(f"a pass cannot be called {name}: {TOOL} has an option of that name")
    return paths


def _check(options: Options) -> None:
    """Raises UsageError for options that do not go together."""
    if options.run_reproducer and options.split:
        raise UsageError("--run-reproducer runs one module: it does not go with --split-input-file")
    path = options.crash_reproducer
    if options.stop or not path:
        return
    for other, what in ((options.input, "the input"), (options.output, "the file of -o")):
        if path == "-" or (other != "-" and real_path(path) == real_path(other)):
            raise UsageError(f"--crash-reproducer needs a file of its own, not {path if path == '-' else what}")


def help_text() -> str:
    """The text of `--help`."""
    flags = help_table(_flags())
    return "\n".join([_USAGE, *flags, "", _STATUS, *help_examples(EXAMPLES), ""])


def passes_text() -> str:
    """The text of `--list-passes`: every pass with its summary, its options and their defaults, and what it counts."""
    lines = []
    for name, cls in registered_passes().items():
        lines += [name, f"  {cls.summary}"]
        for key, option in option_fields(cls).items():
            lines.append(f"    {f'{key}={_default_text(option)}':22}{option.metadata.get('help', '')}".rstrip())
        lines += [f"    counts {count.name:15}{count.description}" for count in cls.statistics()]
    return "\n".join(lines) + "\n"


def completion_text(shell: str) -> str:
    """The completion script of `--print-completion`: flags, passes with their options, and what values there are."""
    from mcir.analysis.memory.targets import TARGETS

    options = {f"--{key}" for cls in registered_passes().values() for key in option_fields(cls)}
    flags = [flag for flag in _flags() if not flag.hidden or flag.name in options]
    passes = list(registered_passes())
    listing = ("--print-ir-before", "--print-ir-after", "--pass-pipeline")
    return completion_script(shell, "mcir-opt", flags, {"--target": TARGETS, **dict.fromkeys(listing, passes)})


def _default_text(option: Field[Any]) -> str:
    return str(option.default).lower() if isinstance(option.default, bool) else str(option.default)


def _flags() -> Iterator[Flag]:
    yield from _IN_OUT
    passes = registered_passes()
    for name, cls in passes.items():
        defaults = " ".join(f"{key}={_default_text(option)}" for key, option in option_fields(cls).items())
        kind, metavar = (OPTIONAL, "OPTIONS") if defaults else (SWITCH, "")
        yield Flag(f"--{name}", kind, cls.summary, metavar, _PASSES, details=defaults)
    seen = {flag.name for flag in (*_IN_OUT, *_REPORTS)}
    for cls in passes.values():
        for key, option in option_fields(cls).items():
            if f"--{key}" not in seen:
                seen.add(f"--{key}")
                yield Flag(f"--{key}", OPTIONAL if isinstance(option.default, bool) else VALUE, hidden=True)
    yield from _REPORTS


def _take(options: Options, flag: Flag, value: str | None) -> None:
    name = flag.name.lstrip("-")
    if name == "print-completion":
        options.stop, options.shell = options.stop or name, value or ""
    elif name in ("help", "h", "version", "list-passes"):
        if value == "true" and not options.stop:
            options.stop = "help" if name == "h" else name
    elif name in _SWITCHES:
        setattr(options, _SWITCHES[name], value == "true")
    elif name == "no-verify-each":
        options.verify_each = value != "true"
    elif name == "o":
        options.output = value or ""
    elif name == "crash-reproducer":
        options.crash_reproducer = value or ""
    elif flag.name == _PLUGIN:
        pass  # loaded before any flag was read
    elif name == "dump":
        options.dump = value or DUMP_STYLES[0]
    elif name in ("diagnostics", "color"):
        setattr(options, name, value or "")
    elif name in _STYLED:
        setattr(options, _STYLED[name], value or "text")
    elif name in ("target", "dim"):
        _take_limits(options, name, value or "")
    elif name in _PRINTS:
        setattr(options, _PRINTS[name], getattr(options, _PRINTS[name]) | _pass_names(flag, value))
    elif name == "pass-pipeline":
        options.passes += parse_pipeline(value or "")
    elif name in registered_passes():
        if flag.kind == OPTIONAL or value == "true":
            options.passes.append(parse_options(name, value or "" if flag.kind == OPTIONAL else ""))
    else:
        _set_pass_option(options.passes, name, value)


def _take_limits(options: Options, name: str, value: str) -> None:
    """A target or sizes; the account is imported only when it is asked for."""
    from mcir.analysis.memory.targets import find_target
    from mcir.tools.memory_report import read_dims

    if name == "target":
        options.target = find_target(value).name
    else:
        options.dims.update(read_dims([value]))


_SWITCHES = {
    "split-input-file": "split", "strip-comments": "strip_comments",
    "verify-each": "verify_each", "verify-roundtrip": "verify_roundtrip",
    "verify-diagnostics": "verify_diagnostics", "print-ir-after-change": "print_change",
    "dump-pass-pipeline": "dump_pipeline", "prove": "prove",
    "run-reproducer": "run_reproducer",
}  # fmt: skip
_STYLED = {
    "remarks": "remarks", "memory-report": "memory_report", "timing": "timing", "statistics": "statistics",
}  # fmt: skip
_PRINTS = {
    "print-ir-before": "print_before", "print-ir-before-all": "print_before",
    "print-ir-after": "print_after", "print-ir-after-all": "print_after",
}  # fmt: skip


def _pass_names(flag: Flag, value: str | None) -> frozenset[str]:
    if flag.kind == SWITCH:
        return frozenset({EVERY} if value == "true" else ())
    if not value:
        return frozenset({EVERY})
    names = [name.strip() for name in value.split(",")]
    known = registered_passes()
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"the passes are: {', '.join(known)}"
            raise UsageError(f"{flag.name}: unknown pass '{name[:60]}': {hint}")
    return frozenset(names)


def _set_pass_option(passes: list[ModulePass], key: str, value: str | None) -> None:
    """Sets an option of the last pass that has it."""
    for at in range(len(passes) - 1, -1, -1):
        cls = type(passes[at])
        fields = option_fields(cls)
        if key in fields:
            given = {other: getattr(passes[at], field.name) for other, field in fields.items()}
            try:
                given[key] = convert_option(cls, key, value)
            except ValueError as error:
                raise UsageError(str(error)) from None
            passes[at] = build_pass(cls, given)
            return
    owners = [f"--{name}" for name, cls in registered_passes().items() if key in option_fields(cls)]
    raise UsageError(f"--{key} is an option of {' or '.join(owners)}, which must stand before it")
