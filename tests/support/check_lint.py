"""Finds test files that check less than they seem to.

PyPI's filecheck and lit pass over a directive they do not know: `CHEK:`, `CHECK foo` or a prefix that
no RUN line names count as plain text, and the test is green. Each rule here is one such trap.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from filecheck.options import Options
from lit import ShUtil
from lit.ShCommands import Command, Pipeline, Seq

SUFFIXES = ("NEXT", "NOT", "SAME", "DAG", "EMPTY", "LABEL")
LIT_KEYWORDS = ("RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "COM", "DEFINE", "REDEFINE", "ALLOW_RETRIES")
OTHER_WORDS = ("NOTE",)
EXPECTED_KINDS = ("error", "warning", "remark", "note")
# Options after which mcir-opt writes something other than module text.
NO_MODULE_TEXT = ("--dump", "--strip-comments", "--list-passes", "--help", "--version", "--verify-diagnostics", "-o")
# Options that filecheck accepts and has no use for, or does not know.
INERT_OPTIONS = ("enable-var-scope",)

COMMENT = re.compile(r"//(.*)")
WORD = re.compile(r"\s*([A-Za-z][\w-]*)(\{LITERAL\})?(\s*)(:?)(.*)")
EXPECTED = re.compile(r"\bexpected-([\w-]+)")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: 1-based line, the id of its rule, and what to do."""

    line: int
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Directive:
    """A line that filecheck obeys: `prefix-kind: text` ("" is the plain kind)."""

    line: int
    prefix: str
    kind: str
    text: str


@dataclass
class TestFile:
    """A test file taken apart: comments, RUN lines, the prefixes they name, the directives."""

    __test__ = False
    text: str

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        found = ((number, COMMENT.search(line)) for number, line in enumerate(self.text.splitlines(), 1))
        return [(number, match.group(1)) for number, match in found if match]

    @cached_property
    def runs(self) -> list[tuple[int, str]]:
        """RUN lines, those that end in a backslash joined with the next."""
        joined: list[tuple[int, str]] = []
        goes_on = False
        for number, comment in self.comments:
            match = re.match(r"\s*RUN:(.*)", comment)
            if not match:
                continue
            part = match.group(1).strip()
            if goes_on:
                joined[-1] = (joined[-1][0], joined[-1][1].rstrip("\\") + part)
            else:
                joined.append((number, part))
            goes_on = part.endswith("\\")
        return joined

    @cached_property
    def pipelines(self) -> list[tuple[int, list[list[str]]]]:
        """(line, the commands of a pipeline as argument lists); what lit cannot parse is left out."""
        found = []
        for number, line in self.runs:
            try:
                parsed = ShUtil.ShParser(line, False, True).parse()
            except ValueError:
                continue
            for pipeline in _pipelines(parsed):
                found.append((number, [_words(command) for command in pipeline.commands]))
        return found

    @cached_property
    def checks(self) -> list[tuple[int, list[str]]]:
        """(line, arguments) of each filecheck call."""
        calls = ((number, _skip_not(words)) for number, pipe in self.pipelines for words in pipe)
        return [(number, words[1:]) for number, words in calls if words and words[0] in ("filecheck", "FileCheck")]

    @cached_property
    def prefixes(self) -> dict[str, int]:
        """Each prefix that a filecheck call reads, with the line that names it first."""
        named: dict[str, int] = {}
        for number, args in self.checks:
            for prefix in filecheck_prefixes(args):
                named.setdefault(prefix, number)
        return named

    @cached_property
    def directives(self) -> list[Directive]:
        """Directives of the named prefixes."""
        known = "|".join(map(re.escape, self.prefixes)) or r"(?!)"
        kinds = "|".join((*SUFFIXES, r"COUNT-\d+"))
        form = re.compile(rf"\s*({known})(?:-({kinds}))?(?:\{{LITERAL\}})?:(.*)")
        found = ((number, form.match(comment)) for number, comment in self.comments)
        return [
            Directive(number, match.group(1), match.group(2) or "", match.group(3).strip())
            for number, match in found
            if match
        ]


Rule = Callable[[TestFile], Iterator[tuple[int, str]]]
RULES: dict[str, Rule] = {}


def rule(check: Rule) -> Rule:
    """Enters a rule under its function's name, spelt with hyphens."""
    RULES[check.__name__.replace("_", "-")] = check
    return check


def lint(text: str) -> list[Problem]:
    """All problems of one test file's text, by line."""
    file = TestFile(text)
    found = [Problem(line, name, message) for name, check in RULES.items() for line, message in check(file)]
    return sorted(found, key=lambda problem: (problem.line, problem.rule))


@rule
def no_run_line(file: TestFile) -> Iterator[tuple[int, str]]:
    if not file.runs:
        yield 1, "no RUN line: lit runs nothing"


@rule
def misspelt(file: TestFile) -> Iterator[tuple[int, str]]:
    """A word near to a directive, in front of a colon or alone, that is none."""
    taken = {directive.line for directive in file.directives}
    for number, comment in file.comments:
        match = WORD.match(comment)
        if number in taken or match is None or _is_lit_line(comment):
            continue
        word, _, gap, colon, rest = match.groups()
        if (better := _meant(word, file.prefixes)) and (colon or not word.islower()):
            if word == better and colon and not gap:
                continue  # a CHECK line without filecheck: the rule below
            if word == better:
                told = "a space before its colon" if colon and gap else "no colon"
                yield number, f"'{word}' has {told}: it is ignored"
            else:
                yield number, f"'{word}{colon}' is no directive: did you mean '{better}:'?"
        elif colon and not gap and word.isupper() and word not in (*LIT_KEYWORDS, *OTHER_WORDS) and rest:
            yield number, f"no RUN line names the prefix '{word}'"


@rule
def prefix_without_lines(file: TestFile) -> Iterator[tuple[int, str]]:
    used = {directive.prefix for directive in file.directives}
    for prefix, number in file.prefixes.items():
        if prefix not in used:
            yield number, f"filecheck reads the prefix '{prefix}', but no line has it"


@rule
def checks_without_filecheck(file: TestFile) -> Iterator[tuple[int, str]]:
    for number, comment in file.comments:
        if not file.checks and re.match(r"\s*CHECK(-[A-Z]+(-\d+)?)?:", comment):
            yield number, "no RUN line calls filecheck, which alone reads this line"


@rule
def only_not(file: TestFile) -> Iterator[tuple[int, str]]:
    for prefix, number in file.prefixes.items():
        kinds = {directive.kind for directive in file.directives if directive.prefix == prefix}
        if kinds == {"NOT"}:
            yield number, f"'{prefix}' has only -NOT lines: any output passes; add a positive line"


@rule
def dangling_position(file: TestFile) -> Iterator[tuple[int, str]]:
    """-NEXT, -SAME and -EMPTY have a meaning only after a match; filecheck lets a first -NEXT pass."""
    for prefix in file.prefixes:
        own = [directive for directive in file.directives if directive.prefix == prefix]
        if own and own[0].kind in ("NEXT", "SAME", "EMPTY"):
            yield own[0].line, f"'{prefix}-{own[0].kind}' is the first line of its prefix: put a '{prefix}:' before it"


@rule
def not_before_next(file: TestFile) -> Iterator[tuple[int, str]]:
    """Between a match and the line right after it there is nothing that a -NOT could see."""
    for prefix in file.prefixes:
        own = [directive for directive in file.directives if directive.prefix == prefix]
        for first, second in itertools.pairwise(own):
            if first.kind == "NOT" and second.kind in ("NEXT", "SAME", "EMPTY"):
                yield first.line, f"'{prefix}-NOT' before '{prefix}-{second.kind}' looks at less than a line"


@rule
def label_with_variable(file: TestFile) -> Iterator[tuple[int, str]]:
    for directive in file.directives:
        if directive.kind == "LABEL" and "[[" in directive.text:
            yield directive.line, "a -LABEL line cannot hold a variable"


@rule
def numeric_expression(file: TestFile) -> Iterator[tuple[int, str]]:
    for directive in file.directives:
        if re.search(r"\[\[#\s*\w+\s*[-+]", directive.text):
            yield directive.line, "filecheck cannot compute numbers: write the number"


@rule
def inert_option(file: TestFile) -> Iterator[tuple[int, str]]:
    known = {name.replace("_", "-") for name in Options.__dataclass_fields__} | {"check-prefix"}
    for number, args in file.checks:
        for arg in args:
            name = arg.lstrip("-").partition("=")[0]
            if arg.startswith("--") and (name not in known or name in INERT_OPTIONS):
                yield number, f"filecheck has no use for '{arg}'"


@rule
def comments_reach_filecheck(file: TestFile) -> Iterator[tuple[int, str]]:
    """Printed modules keep their comments, so CHECK lines would match themselves."""
    for number, pipe in file.pipelines:
        checked = len(pipe) > 1 and _skip_not(pipe[1])[:1] == ["filecheck"]
        # What other tools or earlier lines made is seen when the file runs: filecheck refuses its own lines.
        if checked and pipe[0][0] == "mcir-opt" and "%s" in pipe[0] and not _writes_no_module(pipe[0]):
            yield number, "mcir-opt's text goes into filecheck with its comments: add --strip-comments"


@rule
def expected_diagnostic(file: TestFile) -> Iterator[tuple[int, str]]:
    checked = any("--verify-diagnostics" in words for _, pipe in file.pipelines for words in pipe)
    for number, comment in file.comments:
        for match in EXPECTED.finditer(comment):
            if match.group(1) not in EXPECTED_KINDS:
                wanted = ", ".join(f"expected-{kind}" for kind in EXPECTED_KINDS)
                yield number, f"'{match.group(0)}' is none of {wanted}"
            elif not checked:
                yield number, f"'{match.group(0)}' is read by --verify-diagnostics only, which no RUN line has"


def _meant(word: str, prefixes: dict[str, int]) -> str:
    """The directive or keyword that `word` is, or nearly is; an empty string if it is neither."""
    spelt = word.replace("_", "-").upper()
    stems = [*(prefixes or {"CHECK": 0}), *LIT_KEYWORDS]
    if word in stems:
        return word
    forms = [*stems, *(f"{stem}-{suffix}" for stem in prefixes or {"CHECK": 0} for suffix in SUFFIXES)]
    if spelt in forms and (word.isupper() or spelt not in LIT_KEYWORDS):
        return spelt
    if re.fullmatch(rf"(?:{'|'.join(map(re.escape, prefixes)) or 'CHECK'})-COUNT-?\d*", spelt):
        return f"{spelt.split('-COUNT')[0]}-COUNT-<n>"
    # A one-letter slip in a short word and two in a long one; prose is lower case and has no colon.
    near = difflib.get_close_matches(spelt, forms, n=1, cutoff=0.75)
    return near[0] if near and word.upper() == word else ""


def _is_lit_line(comment: str) -> bool:
    return re.match(rf"\s*(?:{'|'.join(LIT_KEYWORDS)}):", comment) is not None


def filecheck_prefixes(args: list[str]) -> list[str]:
    """What --check-prefix and --check-prefixes name, either way of giving the value."""
    flat = [part for arg in args for part in (arg.split("=", 1) if arg.startswith("-") else [arg])]
    named = [value for flag, value in itertools.pairwise(flat) if flag.lstrip("-").startswith("check-prefix")]
    return [prefix for value in named for prefix in value.split(",")] or ["CHECK"]


def _writes_no_module(words: list[str]) -> bool:
    heads = {word.partition("=")[0] for word in words}
    return not heads.isdisjoint(NO_MODULE_TEXT)


def _skip_not(words: list[str]) -> list[str]:
    while words and words[0] in ("not", "!"):
        words = words[1:]
    return words


def _words(command: Command) -> list[str]:
    """The arguments of a command, and what it reads as standard input."""
    read = [target for operator, target in command.redirects if operator == ("<",)]
    return [str(arg) for arg in (*command.args, *read)]


def _pipelines(parsed: Seq | Pipeline) -> Iterator[Pipeline]:
    if isinstance(parsed, Pipeline):
        yield parsed
    else:
        yield from _pipelines(parsed.lhs)
        yield from _pipelines(parsed.rhs)
