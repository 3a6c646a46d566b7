"""What looks on while `mcir-opt` runs passes: the check of the round trip, and the modules around passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.location import Location, Source
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.manager import PassWatcher
from mcir.printer import print_module
from mcir.tools.opt_options import EVERY, Options


def check_roundtrip(module: MCModule, what: str) -> None:
    """Raises MCIRError unless parsing the printed module gives an equal module that prints alike.

    `what` says in messages which module it is: "the input", "the module after streaming-lowering".
    """
    text = print_module(module)
    try:
        again = parse_module(text, "<printed>")
    except MCIRError as error:
        fault = Diagnostic(f"{what} prints to a text that does not parse", rule="roundtrip")
        raise MCIRError([fault, *error.diagnostics]) from None
    second = print_module(again)
    if second != text:
        source = Source("<printed>", text)
        place = Location(source, _first_difference(text, second))
        raise MCIRError(Diagnostic(f"{what} prints differently after parsing its text", place, rule="roundtrip"))
    if again != module:
        raise MCIRError(Diagnostic(f"{what} is not equal to what its text parses to", rule="roundtrip"))


class _RoundTripWatcher(PassWatcher):
    def after(self, name: str, module: MCModule) -> None:
        check_roundtrip(module, f"the module after {name}")


class _PrintWatcher(PassWatcher):
    """Prints the module around passes, under the head lines that MLIR uses."""

    def __init__(self, options: Options, stream: TextIO) -> None:
        self._options = options
        self._stream = stream
        self._before = ""

    def before(self, name: str, module: MCModule) -> None:
        if self._options.print_change:
            self._before = print_module(module)
        if self._options.print_before & {name, EVERY}:
            self._print(f"Before {name}", print_module(module))

    def after(self, name: str, module: MCModule) -> None:
        chosen = bool(self._options.print_after & {name, EVERY})
        text = print_module(module) if chosen or self._options.print_change else ""
        if chosen or (self._options.print_change and text != self._before):
            self._print(f"After {name}", text)

    def _print(self, when: str, text: str) -> None:
        print(f"// -----// IR Dump {when} //----- //\n{text}", file=self._stream)


def watchers_for(options: Options, stderr: TextIO) -> Iterator[PassWatcher]:
    """The watchers that the options ask for."""
    if options.verify_roundtrip:
        yield _RoundTripWatcher()
    if options.print_before or options.print_after or options.print_change:
        yield _PrintWatcher(options, stderr)


def _first_difference(left: str, right: str) -> int:
    at = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return min(at, max(0, len(left) - 1))
