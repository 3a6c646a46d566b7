"""NumPy archives in and out. Every fault of a file comes as MCIRError before any work begins."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.interpreter.graph import MEMORY_LIMIT
from mcir.interpreter.numerics import Array, is_float, numpy_dtype
from mcir.types import DTYPES
from mcir.values import MCValue

# What NumPy and zipfile raise for bytes that are no archive of arrays.
_FAULTS = (zipfile.BadZipFile, ValueError, OSError, EOFError, KeyError, NotImplementedError, RuntimeError, SyntaxError)


def read_npz(data: bytes, name: str, memory_limit: int = MEMORY_LIMIT) -> dict[str, Array]:
    """The arrays of an .npz by name. Raises MCIRError for anything else, and for more bytes than the limit."""
    if not data.startswith(b"PK"):
        raise MCIRError(Diagnostic(f"{name} is no .npz archive", hint="write one with numpy.savez"))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > memory_limit:
            raise MCIRError(Diagnostic(f"{name} unpacks to {size >> 20} MiB, the limit is {memory_limit >> 20} MiB"))
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            return {key: _array(loaded[key], key, name) for key in loaded.files}
    except _FAULTS as error:
        raise MCIRError(Diagnostic(f"cannot read {name}: {error}")) from None


def _array(array: Any, key: str, name: str) -> Array:
    if not isinstance(array, np.ndarray):
        raise MCIRError(Diagnostic(f"{name}: '{key}' is no array"))
    return array


def write_npz(arrays: dict[str, Array]) -> bytes:
    """An .npz of the arrays, under any names. Types that NumPy lacks (bf16, fp8) are stored as float32, exactly."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            stored = array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.num >= 256 else array
            # A fixed date: equal results give equal files.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(stored), allow_pickle=False)
    return buffer.getvalue()


def adopt(array: Array, value: MCValue) -> Array:
    """`array` for the value it is meant for: bf16 and fp8 may come as float32, or as raw bytes of their width."""
    dtype = numpy_dtype(value.dtype)
    if array.dtype == dtype or DTYPES[value.dtype].kind != "float":
        return array
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize and array.dtype.names is None:
        return array.view(dtype)
    if is_float(array) and array.dtype == np.float32 and dtype.num >= 256:
        return array.astype(dtype)
    return array
