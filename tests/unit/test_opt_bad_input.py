"""mcir-opt on input that nobody should write: one clear error, no traceback, no hang, nothing written."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from mcir.files import decode, read_source
from mcir.tools import console
from mcir.tools.opt import main
from tests.unit.tool_harness import run

GRAPH = "graph @g(%x: tensor<4xfp16>) {\n  %y = neg %x : tensor<4xfp16>\n  return %y\n}\n"
HEAD = "graph @g(%x: tensor<4xfp16>) {\n  "
PLACE = re.compile(r"^<stdin>:\d+:\d+: error: \S")


def regions(depth: int) -> str:
    opened = "".join(f"execution @r{at} {{\n" for at in range(depth))
    return opened + "}\n" * depth


def attribute(value: str) -> str:
    return f'{HEAD}%y = "a.b" %x {{a = {value}}} : tensor<4xfp16>\n  return %y\n}}\n'


# What it is -> (text, a part of the first error).
FAULTS: dict[str, tuple[str, str]] = {
    "a word": ("hello", "expected"),
    "an open graph": (HEAD, "expected"),
    "a closing brace": ("}", "expected"),
    "ten thousand brackets": (attribute("[" * 10_000 + "]" * 10_000), "nests deeper than 64"),
    "ten thousand open brackets": (attribute("[" * 10_000), "expected"),
    "ten thousand dictionaries": (attribute("{a = " * 10_000 + "1" + "}" * 10_000), "nests deeper than 64"),
    "ten thousand regions": (regions(10_000), "stands in a region of kind execution"),
    "ten thousand open regions": (regions(10_000).rstrip("}\n"), "expected"),
    "a NUL": ("graph @g\0() {}", "expected"),
    "a NUL in a name": ('graph @"g\0(', "expected"),
    "an unterminated string": (attribute('"abc'), "expected"),
    "an unterminated long string": (attribute('"' + "a" * 1_000_000), "expected"),
    "an unterminated name": ('graph @"g() {', "expected"),
    "a string that ends in a backslash": (attribute('"abc\\'), "expected"),
    "many backslashes": (attribute('"' + "\\" * 100_001), "expected"),
    "an unknown escape": (attribute('"\\q"'), "unknown escape"),
    "a huge decimal integer": (attribute("9" * 100_000), "more than 4000 digits"),
    "a huge dimension": (GRAPH.replace("<4x", f"<{'9' * 30}x"), "more than 18 digits"),
    "a negative dimension": (GRAPH.replace("<4x", "<-4x"), "expected"),
    "an element type of elsewhere": (GRAPH.replace("fp16", "f16"), "unknown element type 'f16'"),
    "a residency of elsewhere": (GRAPH.replace("fp16", "fp16, local"), "unknown residency 'local'"),
    "an op of elsewhere": (GRAPH.replace("neg", "negate"), "unknown op 'negate'"),
    "a value of nowhere": (GRAPH.replace("neg %x", "neg %z"), "%z"),
    "a value of later": (GRAPH.replace("neg %x", "neg %y"), "%y"),
    "a value twice": (GRAPH.replace("return", "%y = exp %x : tensor<4xfp16>\n  return"), "%y"),
    "an empty name": (GRAPH.replace("@g", '@""'), "name is empty"),
    "two results and one type": (GRAPH.replace("%y =", "%y, %z ="), "2 results but 1 result type"),
    "an attribute twice": (GRAPH.replace("neg %x", "neg %x {a = 1, a = 2}"), "'a' is given twice"),
    "no return": (GRAPH.replace("  return %y\n", ""), "expected"),
    "a region of no kind": (regions(1).replace("execution", "loop"), "expected"),
    "half a comment": ("/ comment", "expected"),
    "curly quotes": (attribute("\N{LEFT DOUBLE QUOTATION MARK}a\N{RIGHT DOUBLE QUOTATION MARK}"), "expected"),
    "a non-breaking space": ("graph\N{NO-BREAK SPACE}@g() {\n  return\n}", "expected"),
    "control characters": ("\x1b[31mgraph", "expected"),
    "Chinese": ("图 @g", "expected"),
    "only opening parens": ("graph @g(" + "(" * 10_000, "expected"),
    "JSON": ('{"graph": 1}', "expected"),
    "MLIR": ("module {\n  func.func @f() { return }\n}", "expected"),
    "a binary header": ("\x7fELF\x02\x01\x01\0\0", "expected"),
    "a lone carriage return": ("graph @g() {\r  retrun\r}", "expected"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_bad_text_gives_a_located_error(name: str) -> None:
    text, message = FAULTS[name]
    begin = time.process_time()
    ran = run(main, stdin=text)
    assert ran.code == 1 and ran.out == ""
    first = ran.err.splitlines()[0]
    assert PLACE.match(first) and message in first
    assert max(map(len, ran.err.splitlines())) < 600, "source lines are cut to a window"
    assert all(char.isprintable() or char == "\t" for line in ran.err.splitlines() for char in line)
    assert time.process_time() - begin < 20


def test_a_line_of_fifty_megabytes() -> None:
    text = GRAPH.replace("neg %x", f'"a.b" %x {{a = "{"x" * 50_000_000}"}}')
    ran = run(main, stdin=text)
    assert ran.code == 0 and ran.out == text
    bad = run(main, stdin=text.replace('"}', '"]'))
    assert bad.code == 1 and len(bad.err) < 1000 and PLACE.match(bad.err)


def test_many_faults_of_the_verifier_are_cut() -> None:
    ran = run(main, stdin=regions(1000))
    assert ran.code == 1 and ran.err.count("error:") == 101
    assert ran.err.endswith("error: 899 further diagnostics are not shown\n")


def test_many_errors_are_cut() -> None:
    lines = "".join(f"  %y{at} = nega %x : tensor<4xfp16>\n" for at in range(1000))
    ran = run(main, stdin=f"{HEAD}{lines}  return %x\n}}\n")
    assert ran.code == 1 and 1 < ran.err.count("error:") <= 101


# -- bytes ------------------------------------------------------------------------------------------


def opt(*argv: str, data: bytes = b"", **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "mcir.tools.opt", *argv]
    return subprocess.run(command, input=data, capture_output=True, timeout=60, **options)  # type: ignore[call-overload,no-any-return]


def test_invalid_utf8_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "x.mcir"
    path.write_bytes("// zwölf\n// é".encode() + b"\xff\n")
    ran = run(main, path)
    assert ran.code == 1
    assert ran.err.startswith(f"{path}:2:5: error: invalid UTF-8: byte 0xff at byte offset 15\n")
    ran2 = opt(data=b"graph \xc3")
    assert ran2.returncode == 1 and b"<stdin>:1:7: error: invalid UTF-8: byte 0xc3 at byte offset 6" in ran2.stderr


def test_utf16_is_recognised() -> None:
    ran = opt(data="graph @g() {}".encode("utf-16"))
    assert ran.returncode == 1 and b"looks like UTF-16" in ran.stderr


def test_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "x.mcir"
    path.write_bytes(b"\xef\xbb\xbf// note\r\n" + GRAPH.replace("\n", "\r\n").encode())
    ran = run(main, path)
    assert (ran.code, ran.out) == (0, f"// note\n{GRAPH}")
    assert read_source(str(path), sys.stdin).text == f"// note\n{GRAPH}"
    assert decode("é".encode(), "x") == "é"


@pytest.mark.parametrize(
    ("path", "message"),
    [("missing.mcir", "no such file"), (".", "is a folder"), ("a\0b", "cannot read"), ("", "no such file"),
     ("x" * 5000, "cannot read"), ("in.mcir/below", "cannot read")],
)  # fmt: skip
def test_inputs_that_cannot_be_read(path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.mcir").write_text(GRAPH)
    ran = run(main, path)
    assert ran.code == 1 and ran.out == "" and message in ran.err and "Traceback" not in ran.err


def test_an_unreadable_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    ran = run(main, "secret.mcir")
    assert ran.code == 1 and ran.err == "error: cannot read secret.mcir: Permission denied\n"


def test_a_name_without_utf8_form_is_escaped() -> None:
    ran = run(main, stdin=GRAPH.replace("@g", '@"\\u{d800}"'))
    assert ran.code == 0 and '@"\\u{d800}"' in ran.out


# -- the process ------------------------------------------------------------------------------------


def test_a_closed_pipe_ends_quietly() -> None:
    body = "".join(f"  %y{at} = neg %x : tensor<4xfp16>\n" for at in range(20_000))
    text = f"{HEAD}{body}  return %x\n}}\n".encode()
    process = subprocess.Popen(
        [sys.executable, "-m", "mcir.tools.opt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.stdin.write(text)
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == console.EXIT_PIPE
    process.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "mcir.tools.opt"], input=GRAPH.encode(), stdout=full, stderr=subprocess.PIPE
        )
    assert ran.returncode == 1
    assert ran.stderr == b"error: cannot write <stdout>: No space left on device\n"
    ran = opt("-o", "/dev/full", data=GRAPH.encode())
    assert ran.returncode == 1 and ran.stderr == b"error: cannot write /dev/full: No space left on device\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_disk_that_gets_full_is_an_error(unbuffered: str, tmp_path: Path) -> None:
    """The system takes a part of the text; Python without buffers would not say so, and containers run it like that."""
    resource = pytest.importorskip("resource")
    graph = f"{HEAD}%y = neg %x : tensor<4xfp16>\n{' ' * 99_999}\n  return %y\n}}\n// {'x' * 100_000}\n"
    with open(tmp_path / "out.mcir", "wb") as out:
        ran = subprocess.run(
            [sys.executable, "-m", "mcir.tools.opt"], input=graph.encode(), stdout=out, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
        )  # fmt: skip
    assert ran.returncode == 1
    assert ran.stderr == b"error: cannot write <stdout>: File too large\n"


def test_out_of_memory_what_was_read_is_let_go_before_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else there may be no memory to tell it with, and a traceback is what is seen."""

    class Module:
        pass

    alive: list[bool] = []

    def read(*_: object) -> int:
        module = Module()
        held.append(weakref.ref(module))
        raise MemoryError

    class Told(io.StringIO):
        def write(self, text: str) -> int:
            alive.append(held[0]() is not None)
            return super().write(text)

    held: list[weakref.ref[Module]] = []
    told = Told()
    monkeypatch.setattr(sys, "stderr", told)
    assert console.run_console("mcir-opt", read) == 1
    assert told.getvalue() == "mcir-opt: error: out of memory: the input is too large for this machine\n"
    assert not any(alive)


def test_standard_output_as_a_path_and_a_fifo(tmp_path: Path) -> None:
    assert opt("-o", "/dev/stdout", data=GRAPH.encode()).stdout == GRAPH.encode()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE)
    assert opt("-o", str(fifo), data=GRAPH.encode()).returncode == 0
    assert reader.communicate(timeout=60)[0] == GRAPH.encode()
    assert fifo.is_fifo()


def test_closed_streams() -> None:
    command = f"{sys.executable} -m mcir.tools.opt"
    closed_out = subprocess.run(f"{command} >&-", shell=True, input=GRAPH.encode(), stderr=subprocess.PIPE)
    assert closed_out.returncode == 1 and closed_out.stderr == b"error: cannot write <stdout>: Bad file descriptor\n"
    closed_in = subprocess.run(f"{command} <&-", shell=True, capture_output=True)
    assert (closed_in.returncode, closed_in.stdout, closed_in.stderr) == (0, b"", b"")
    closed_err = subprocess.run(f"{command} --bad 2>&-", shell=True, capture_output=True)
    assert (closed_err.returncode, closed_err.stdout) == (2, b"")


def test_the_output_is_utf8_in_any_locale() -> None:
    text = GRAPH.replace("@g", '@"größe"').encode()
    ran = opt(data=text, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert (ran.returncode, ran.stdout) == (0, text)


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 1, "mcir-opt: error: out of memory"),
        (BrokenPipeError(), 141, ""),
        (ValueError("oh\nno"), 70, "mcir-opt: internal error: ValueError: oh\n  this is a bug in MCIR"),
        (RecursionError("deep"), 70, "mcir-opt: internal error: RecursionError: deep"),
    ],
)
def test_ends_that_are_not_about_the_input(
    raised: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(argv: object, stdin: object, stdout: object, stderr: object) -> int:
        raise raised

    monkeypatch.setattr(console, "_discard_output", lambda stream: None)
    monkeypatch.delenv("MCIR_DEBUG", raising=False)
    assert console.run_console("mcir-opt", fail) == code
    err = capsys.readouterr().err
    assert err.startswith(said) and "Traceback" not in err and bool(err) == bool(said)


def test_the_traceback_is_there_for_those_who_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(argv: object, stdin: object, stdout: object, stderr: object) -> int:
        raise ValueError("oh")

    monkeypatch.setenv("MCIR_DEBUG", "1")
    assert console.run_console("mcir-opt", fail) == 70
    assert "Traceback" in capsys.readouterr().err


def test_the_core_needs_neither_numpy_nor_onnx() -> None:
    script = (
        "import sys, io; from mcir.tools.opt import main; "
        "main([], io.StringIO(sys.argv[1]), io.StringIO(), sys.stderr); "
        "print([name for name in ('numpy', 'onnx', 'torch', 'lark', 'argparse') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script, GRAPH], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "[]\n" and ran.stderr == ""
