"""Whose fault a crash is, in words: that of MCIR, or of a pass or an op that is not part of it."""

from __future__ import annotations

import os
import sys
import traceback

from mcir.ops.definition import all_ops
from mcir.passes.base import find_pass, is_foreign

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def fault_text(error: BaseException) -> tuple[str, str]:
    """What is told of a crash, on one line, and the hint below it.

    A pass or an op of a plugin is named with the line of its file that failed: who wrote it can mend it. So is the line
    of an op in `mcir/ops`, which may be a new one.
    """
    cause = getattr(error, "error", error)  # a PassCrash has the error, and `where` it was raised
    where = getattr(error, "where", "")
    what = f"{type(cause).__name__}: {(str(cause).splitlines() or [''])[0][:200]}"
    if (own := _op_text(cause, what)) or (where and (own := _pass_text(error, cause, what))):
        kind, message = own
        return f"error: {message}", f"this is a fault of the {kind}, not of the input; MCIR_DEBUG=1 shows the traceback"
    message = f"internal error{' ' * bool(where)}{where}{_op_place(cause)}: {what}"
    return message, "this is a bug in MCIR, not in your input; MCIR_DEBUG=1 shows where; please report it"


def _op_text(cause: BaseException, what: str) -> tuple[str, str] | None:
    """The op that is not MCIR's and was running, or those that share the function."""
    for function, names in _running_ops(cause):
        if is_foreign(function):
            path = function.__code__.co_filename
            return "op", f"the op {' or '.join(names[:3])} of {_shown(path)} failed{_failed_at(cause, path)}: {what}"
    return None


def _op_place(cause: BaseException) -> str:
    """The place in the op of MCIR that was running; a function that several share says of none that it failed."""
    places = [
        f" in the op {names[0]}{_failed_at(cause, function.__code__.co_filename)}"
        for function, names in _running_ops(cause) if len(names) == 1
    ]  # fmt: skip
    return places[0] if len(places) == 1 else ""


def _running_ops(cause: BaseException) -> list[tuple[Any, list[str]]]:
    """The functions of ops that were running, each with the names of its ops."""
    running = {frame.f_code for frame, _ in traceback.walk_tb(cause.__traceback__)}
    found: dict[Any, list[str]] = {}
    for op in all_ops():
        for function in dict.fromkeys((op.infer, op.verify, op.evaluate)):
            if getattr(function, "__code__", None) in running:
                found.setdefault(function, []).append(op.name)
    return list(found.items())


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
