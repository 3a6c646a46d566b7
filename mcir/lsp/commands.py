"""What an editor can be told to show of a module: its lowered form, its memory account, its picture, any passes.

A command takes the uri of an open text and may name a line, of which module in the text is meant:

    mcir.showLowered   [uri, line?]            the module with attention found and lowered
    mcir.showMemory    [uri, line?]            what its regions read, write and hold
    mcir.showPicture   [uri, line?]            the web page of nests and graph
    mcir.runPasses     [uri, pipeline, line?]  the module behind passes: "canonicalize,cse"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcir.diagnostics import MCIRError
from mcir.lsp.document import Document
from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.manager import MCIRPassManager
from mcir.passes.pipeline import parse_pipeline
from mcir.printer import print_module
from mcir.tools.memory_report import memory_report
from mcir.verifier import check_module

LOWERING = "attention-pattern,streaming-lowering"


class CommandFailed(Exception):
    """What was asked for cannot be shown; the text says why, in one line."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A text that is shown beside the one that is edited. `ending`: that of a file with such a text."""

    title: str
    ending: str
    text: str


@dataclass(frozen=True, slots=True)
class Lens:
    """A command that is offered above a graph or region."""

    offset: int
    title: str
    command: str
    line: int


def show(command: str, document: Document, line: int, pipeline: str = "") -> Shown:
    """What `command` shows of the module at `line`. Raises CommandFailed."""
    try:
        module = _module(document, line)
        title, ending, make = _SHOWN[command]
        return Shown(f"{document.stem}.{title}", ending, make(module, pipeline or LOWERING))
    except MCIRError as error:
        first = error.diagnostics[0]
        where = f"line {first.location.line_column()[0]}: " if first.location is not None else ""
        raise CommandFailed(f"{where}{first.message}{f' ({first.hint})' if first.hint else ''}") from None


def lenses(document: Document) -> list[Lens]:
    """The commands that are offered above each graph and execution region."""
    found = []
    for chunk in document.chunks:
        for item in chunk.index.root.children:
            titles = _LENSES.get(item.kind, ())
            offset = chunk.base + item.start
            line = document.positions.position(offset)[0]
            found += [Lens(offset, title, command, line) for title, command in titles]
    return found


def _module(document: Document, line: int) -> MCModule:
    chunk, _ = document.chunk_at(document.positions.offset(line, 0))
    module = parse_module(chunk.source.text, chunk.source.name, chunk.source.first_line)
    check_module(module)
    return module


def _passed(module: MCModule, pipeline: str) -> str:
    return print_module(_run(module, pipeline))


def _run(module: MCModule, pipeline: str) -> MCModule:
    made: MCModule = MCIRPassManager(parse_pipeline(pipeline)).run(module)
    return made


def _lowered(module: MCModule) -> MCModule:
    return module if module.regions else _run(module, LOWERING)


def _memory(module: MCModule, _pipeline: str) -> str:
    lowered = _lowered(module)
    if not lowered.regions:
        raise CommandFailed("the module has no region, and no attention was found in its graphs")
    return memory_report(lowered, "text").text


def _picture(module: MCModule, _pipeline: str) -> str:
    from mcir.exporters.html import export_html

    return export_html(_lowered(module))


# Command -> what the title of its text says, the ending of its file, and how it is made.
_SHOWN: dict[str, tuple[str, str, Callable[[MCModule, str], str]]] = {
    "mcir.showLowered": ("lowered", ".mcir", _passed),
    "mcir.showMemory": ("memory", ".txt", _memory),
    "mcir.showPicture": ("picture", ".html", _picture),
    "mcir.runPasses": ("passed", ".mcir", _passed),
}
COMMANDS = tuple(_SHOWN)
_LENSES = {
    "graph": (("Lowered form", "mcir.showLowered"), ("Memory", "mcir.showMemory"), ("Picture", "mcir.showPicture")),
    "execution": (("Memory", "mcir.showMemory"), ("Picture", "mcir.showPicture")),
}
