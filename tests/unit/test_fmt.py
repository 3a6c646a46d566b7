"""mcir-fmt: canonical form in place, on streams and as a check; bad input without harm."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given

from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.printer import print_module
from mcir.tools.fmt import format_text, main
from tests.support.strategies import modules
from tests.unit.tool_harness import run

UGLY = """// head
graph  @g ( %x : tensor<2xfp32> )  {  // of g
      // about y
  %y   =   neg @y   %x   : tensor<2xfp32>  // beside y
  return  %y
    // last
} // end of g
// -----
graph @g(%x: tensor<2xfp32>) { return %x }
"""
PRETTY = """// head
graph @g(%x: tensor<2xfp32>) { // of g
  // about y
  %y = neg %x : tensor<2xfp32> // beside y
  // last
  return %y
} // end of g

// -----
graph @g(%x: tensor<2xfp32>) {
  return %x
}
"""


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "ugly.mcir"
    path.write_text(UGLY)
    return path


def test_every_comment_is_kept() -> None:
    assert format_text(UGLY) == PRETTY


def test_a_file_is_formatted_in_place_and_keeps_its_mode(ugly: Path) -> None:
    ugly.chmod(0o640)
    ran = run(main, ugly)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert ugly.read_text() == PRETTY
    assert ugly.stat().st_mode & 0o777 == 0o640
    assert os.listdir(ugly.parent) == ["ugly.mcir"]


def test_a_file_in_canonical_form_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "pretty.mcir"
    path.write_text(PRETTY)
    os.utime(path, (1, 1))
    assert run(main, path).code == 0
    assert path.stat().st_mtime == 1


@pytest.mark.parametrize("argv", [[], ["-"]])
def test_standard_input_goes_to_standard_output(argv: list[str]) -> None:
    ran = run(main, *argv, stdin=UGLY)
    assert (ran.code, ran.out, ran.err) == (0, PRETTY, "")


def test_check_names_what_would_change_and_writes_nothing(ugly: Path, tmp_path: Path) -> None:
    pretty = tmp_path / "pretty.mcir"
    pretty.write_text(PRETTY)
    ran = run(main, "--check", ugly, pretty)
    assert (ran.code, ran.out) == (1, f"would change: {ugly}\n")
    assert ugly.read_text() == UGLY
    assert run(main, "--check", pretty).code == 0
    assert run(main, "--check", stdin=UGLY).out == "would change: <stdin>\n"


def test_a_bad_file_is_left_as_it_is_and_does_not_stop_the_others(ugly: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.mcir"
    bad.write_text("graph @g( {\n")
    ran = run(main, bad, tmp_path / "absent.mcir", ugly)
    assert ran.code == 1
    assert f"{bad}:1:11: error:" in ran.err
    assert "error: no such file" in ran.err
    assert bad.read_text() == "graph @g( {\n"
    assert ugly.read_text() == PRETTY


def test_a_module_that_is_invalid_is_formatted_all_the_same() -> None:
    text = "graph @g(%x: tensor<2xfp32>) {\n  %y = softmax %x {axis = 9} : tensor<3xfp32>\n  return %y\n}\n"
    assert run(main, stdin=text.replace("  ", "\t")).out == text


def test_carriage_returns_and_a_byte_order_mark_go(tmp_path: Path) -> None:
    path = tmp_path / "windows.mcir"
    path.write_bytes(b"\xef\xbb\xbf" + PRETTY.replace("\n", "\r\n").encode())
    assert run(main, "--check", path).code == 1
    assert run(main, path).code == 0
    assert path.read_bytes() == PRETTY.encode()


def test_a_read_only_folder_loses_nothing(ugly: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    ran = run(main, ugly)
    assert ran.code == 1
    assert ran.err == f"error: cannot write {ugly}: No space left on device\n"
    assert ugly.read_text() == UGLY


@pytest.mark.parametrize(("argv", "code"), [(["--help"], 0), (["--version"], 0), (["--nope"], 2), (["--chek"], 2)])
def test_usage(argv: list[str], code: int) -> None:
    ran = run(main, *argv)
    assert ran.code == code
    assert bool(ran.out) == (code == 0)


@given(modules())
def test_formatting_is_idempotent_and_keeps_the_module(module: MCModule) -> None:
    text = print_module(module)
    assert format_text(text) == text
    assert parse_module(format_text(text.replace("  ", " \t "))) == module


def test_folders_are_searched_and_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("b/c.mcir", "a.mcir", "b/notes.txt", ".git/d.mcir"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(UGLY)
    ran = run(main, "--check", tmp_path)
    assert (ran.code, ran.out) == (1, f"would change: {tmp_path}/a.mcir\nwould change: {tmp_path}/b/c.mcir\n")
    assert run(main, tmp_path).code == 0
    texts = {name: (tmp_path / name).read_text() for name in ("b/c.mcir", "a.mcir", "b/notes.txt", ".git/d.mcir")}
    assert texts == {"b/c.mcir": PRETTY, "a.mcir": PRETTY, "b/notes.txt": UGLY, ".git/d.mcir": UGLY}


def test_the_difference_is_a_patch(ugly: Path) -> None:
    ran = run(main, "--diff", ugly)
    assert (ran.code, ran.err) == (1, "")
    assert f"--- {ugly}\n+++ {ugly} (formatted)\n@@ -1," in ran.out
    assert "\n-  %y   =   neg @y   %x   : tensor<2xfp32>  // beside y\n" in ran.out
    assert ugly.read_text() == UGLY
    if shutil.which("patch"):
        subprocess.run(["patch", "-s", str(ugly)], input=ran.out, text=True, check=True)
        assert ugly.read_text() == PRETTY
    assert run(main, "--diff", "--check", stdin=UGLY).out.startswith("would change: <stdin>\n--- <stdin>\n")
    pretty = run(main, "--diff", stdin=PRETTY)
    assert (pretty.code, pretty.out) == (0, "")


def test_the_difference_tells_a_missing_line_end_and_bytes_that_no_line_shows(tmp_path: Path) -> None:
    assert "\\ No newline at end of file\n" in run(main, "--diff", stdin=PRETTY.rstrip("\n")).out
    path = tmp_path / "windows.mcir"
    path.write_bytes(PRETTY.replace("\n", "\r\n").encode())
    assert run(main, "--diff", path).out == f"{path}: only line ends or a byte order mark would change\n"


def test_the_hook_for_pre_commit_names_this_tool() -> None:
    hooks = (Path(__file__).parent.parent.parent / ".pre-commit-hooks.yaml").read_text()
    assert "entry: mcir-fmt\n" in hooks and r"files: \.mcir$" in hooks
