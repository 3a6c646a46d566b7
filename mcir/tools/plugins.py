"""`--load-pass-plugin=FILE.py`: passes of one's own become flags of `mcir-opt`, as `examples/own_pass.py` shows.

The file is Python and is run. Each of its passes is entered by `@register_pass`, each of its ops by `define`.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import traceback

from mcir.files import real_path
from mcir.ops import all_ops
from mcir.passes import registered_passes
from mcir.tools.arguments import UsageError

_loaded: set[str] = set()  # real paths; a file is run once in the life of a process


def load_pass_plugin(path: str) -> None:
    """Runs the file, which must register a pass or define an op. Raises UsageError that says what is wrong with it."""
    real = real_path(path)
    if real in _loaded:
        return
    before = _entered()
    name = f"mcir_pass_plugin_{len(_loaded)}"
    loader = importlib.machinery.SourceFileLoader(name, real)
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(f"cannot load {path}: {_reason(error, real)}") from None
    if before == _entered():
        raise UsageError(f"{path} has no pass and no op: write @register_pass above the class of a pass")
    _loaded.add(real)


def _entered() -> set[str]:
    return {*registered_passes(), *(f"op {op.name}" for op in all_ops())}


def _reason(error: BaseException, path: str) -> str:
    if isinstance(error, OSError) and error.filename == path:
        return error.strerror or str(error)
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f"line {lines[-1]}: " if lines else ""
    return f"{where}{type(error).__name__}: {error}"
