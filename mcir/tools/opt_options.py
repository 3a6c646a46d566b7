"""The command line of `mcir-opt`: its flags as a table, the help, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcir.dump import DUMP_STYLES
from mcir.files import real_path
from mcir.record import field, record
from mcir.tools.arguments import COMPLETION_FLAG, OPTIONAL, SWITCH, VALUE, Flag, UsageError, in_group, read_arguments
from mcir.tools.report import REPORTING

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from mcir.passes import ModulePass

TOOL = "mcir-opt"
_PLUGIN = "--load-pass-plugin"
EVERY = "*"  # stands for all passes where pass names are listed

PASSES = "passes, run in the order given; options as --PASS=\"x=1 y=2\", or --x=1 --y=2 after the pass"
IN_OUT = (
    Flag("-o", VALUE, "write to FILE, as a whole or not at all (default: stdout)", "FILE", "input and output"),
    Flag("--split-input-file", SWITCH, "take the pieces between `// -----` lines one by one", group="input and output"),
    Flag("--dump", OPTIONAL, "print the tree (or outline) of the regions", group="input and output",
         choices=DUMP_STYLES),
    Flag("--strip-comments", SWITCH, "print the module without its comments", group="input and output"),
    Flag("--pass-pipeline", VALUE, 'passes as text: "a,b{x=1 y=2}"', "TEXT", PASSES),
    Flag(_PLUGIN, VALUE, "run FILE, Python, whose passes become flags and whose ops are known", "FILE", PASSES),
)  # fmt: skip
_CHECKS = "checks and reports (to stderr)"
REPORTS = (
    *(in_group(flag, _CHECKS) for flag in REPORTING),
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
    in_group(COMPLETION_FLAG, _CHECKS),
    Flag("--version", SWITCH, "print the version, and stop", group=_CHECKS),
    Flag("--help", SWITCH, "print this, and stop", group=_CHECKS),
    Flag("-h", SWITCH, group=_CHECKS, hidden=True),
)  # fmt: skip

@record(slots=True)
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
    found, operands = read_arguments(_flags_for(argv), argv, f"a pass of your own? {_PLUGIN}=FILE loads it")
    if len(operands) > 1:
        raise UsageError(f"one input at a time, got {len(operands)}: {', '.join(operands[:5])}")
    options = Options(plugins=plugins)
    if operands:
        options.input = operands[0]
    for flag, value in found:
        _take(options, flag, value)
    _check(options)
    return options


def _flags_for(argv: Sequence[str]) -> Iterable[Flag]:
    """A table with all flags in `argv`. Where it has one that no table has, all flags are there to compare it with."""
    own = {flag.name for flag in (*IN_OUT, *REPORTS)}
    names = [word.partition("=")[0] for word in argv if word.startswith("-") and word.strip("-")]
    others = [name for name in names if name not in own and name[:2] not in own]
    if not others:
        return (*IN_OUT, *REPORTS)
    from mcir.tools.opt_passes import all_flags, some_flags

    flags = some_flags(others)
    known = {flag.name for flag in flags}
    return (*IN_OUT, *flags, *REPORTS) if known.issuperset(others) else all_flags()


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
    from mcir.passes import registered_passes
    from mcir.tools.plugins import load_pass_plugin

    for path in filter(None, paths):  # that the last one is missing is told of as for any flag
        load_pass_plugin(path)
    flags = {flag.name for flag in (*IN_OUT, *REPORTS)}
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
        from mcir.tools.opt_passes import pass_names

        setattr(options, _PRINTS[name], getattr(options, _PRINTS[name]) | pass_names(flag, value))
    elif name == "pass-pipeline":
        from mcir.passes.pipeline import parse_pipeline

        options.passes += parse_pipeline(value or "")
    else:
        from mcir.tools.opt_passes import take_pass

        take_pass(options.passes, flag, value)


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
