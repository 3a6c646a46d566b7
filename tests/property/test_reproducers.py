"""Reproducers of drawn modules fail as the module did; a head line of any kind is read or refused."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import assume, example, given
from hypothesis import strategies as st

from mcir.diagnostics import MCIRError
from mcir.location import Source
from mcir.module import MCModule
from mcir.passes import base
from mcir.passes.manager import PassCrash
from mcir.printer import print_module
from mcir.tools import plugins
from mcir.tools.configuration import FLAGS, PIPELINE, read_configured, split_configuration
from mcir.tools.opt import main
from tests.support.strategies import graph_modules

FAULTY = Path(__file__).parent.parent / "lit" / "process" / "Inputs" / "faulty_passes.py"
WORDS = ["'", '"', " ", "=", "{", "}", ",", "//", "canonicalize", "true", "tile-m", "x", "1", "\t", PIPELINE, *FLAGS]


def crash(*argv: str, stdin: str = "") -> str:
    """How `mcir-opt` crashes, "" if it does not."""
    try:
        main(argv, io.StringIO(stdin), io.StringIO(), io.StringIO())
    except PassCrash as error:
        return str(error)
    return ""


@given(graph_modules(), st.data())
def test_a_reproducer_crashes_as_the_module_did(module: MCModule, data: st.DataObject) -> None:
    ops = sorted({node.op for graph in module.graphs for node in graph.nodes if node.op.isalpha()})
    assume(ops)
    op = data.draw(st.sampled_from(ops))
    before = data.draw(st.lists(st.sampled_from(["canonicalize", "common-subexpression-elimination"]), max_size=3))
    pipeline = "--pass-pipeline=" + ",".join([*before, f"crash-on{{op={op}}}"])
    registry = mock.patch.object(base, "_PASSES", dict(base._PASSES))
    with registry, mock.patch.object(plugins, "_loaded", set()), tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/r.mcir"
        argv = (f"--load-pass-plugin={FAULTY}", pipeline, f"--crash-reproducer={file}")
        first = crash(*argv, stdin=print_module(module))
        if first:
            assert Path(file).read_text(encoding="utf-8").startswith(f"// configuration: {PIPELINE}='crash-on{{op=")
            assert crash("--run-reproducer", file) == first


@given(st.lists(st.sampled_from(WORDS), max_size=12).map("".join), st.sampled_from(["\n", ""]))
@example("--pass-pipeline='a\"b'\"c'd\"", "\n")
def test_any_head_line_is_read_or_refused_at_its_place(line: str, end: str) -> None:
    text = f"// configuration:{line}{end}"
    assert split_configuration(text) == (f"// configuration:{line}\n", "")
    try:
        options, source = read_configured(Source("r", text), ())
    except MCIRError as error:
        (fault,) = error.diagnostics
        assert fault.location is not None and 17 <= fault.location.offset <= len(text)
    else:
        assert source.text == end and options.output == "-"
