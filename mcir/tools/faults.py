"""Whose fault a crash is, in words: that of MCIR, or of a pass or an op that is not part of it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator

from mcir.ops.definition import OpDef, all_ops
from mcir.passes.base import find_pass, is_foreign

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def fault_text(error: BaseException) -> tuple[str, str]:
    """What is told of a crash, on one line, and the hint below it.

    A pass or an op of a plugin is named with the line of its file that failed: who wrote it can mend it.
    """
    cause = getattr(error, "error", error)  # a PassCrash has the error, and `where` it was raised
    where = getattr(error, "where", "")
    what = f"{type(cause).__name__}: {(str(cause).splitlines() or [''])[0][:200]}"
    foreign = _op_text(cause, what) or (_pass_text(error, cause, what) if where else None)
    if foreign is not None:
        kind, message = foreign
        return f"error: {message}", f"this is a fault of the {kind}, not of the input; MCIR_DEBUG=1 shows the traceback"
    message = f"internal error{' ' * bool(where)}{where}: {what}"
    return message, "this is a bug in MCIR, not in your input; MCIR_DEBUG=1 shows where; please report it"


def _op_text(cause: BaseException, what: str) -> tuple[str, str] | None:
    """An op that is not MCIR's, if one of its functions was running."""
    running = {frame.f_code for frame, _ in traceback.walk_tb(cause.__traceback__)}
    for op in all_ops():
        for function in _functions(op):
            if function.__code__ in running and is_foreign(function):
                path = function.__code__.co_filename
                return "op", f"the op {op.name} of {_shown(path)} failed{_failed_at(cause, path)}: {what}"
    return None


def _functions(op: OpDef) -> Iterator[Any]:
    return (function for function in (op.infer, op.verify, op.evaluate) if hasattr(function, "__code__"))


def _pass_text(crash: Any, cause: BaseException, what: str) -> tuple[str, str] | None:
    """The pass, if it is not MCIR's."""
    cls = find_pass(crash.pass_name)
    if cls is None or not is_foreign(cls):
        return None
    path = getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__
    name = f"the pass {cls.name} of {_shown(path)}"
    if crash.in_pass:
        return "pass", f"{name} failed{_failed_at(cause, path)}: {what}"
    return "pass", f"{name} left a module that the verifier cannot take: {what}"


def _failed_at(cause: BaseException, path: str) -> str:
    """The innermost line of the file `path` that was running; a SyntaxError and the like may have none."""
    lines = [frame.lineno for frame in traceback.extract_tb(cause.__traceback__) if frame.filename == path]
    return f" at {_shown(path)}:{lines[-1]}" if lines else ""


def _shown(path: str) -> str:
    """The path from the working folder, where it is below that."""
    here = os.getcwd() + os.sep
    return path.removeprefix(here)
