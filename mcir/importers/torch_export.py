"""torch.export to MCIR: `from_exported_program(ep) -> MCModule`.

Every call comes in: under the name of an MCIR operation where `torch_table` has an exact equivalent, else
as an opaque node ("aten.convolution") with all its arguments. `scaled_dot_product_attention` is taken as
what it is defined to be. Names are those of the exported graph; element types that torch promotes by
itself become casts, numbers become constants, sizes known at run time keep export's names (`s0`).

Parameters and large buffers become `parameter` nodes, whose arrays `read_exported_program` gives as well;
small and regular buffers and constants keep their data. The graph returns what the program returns, then
the new values of what it changes: attribute `updates` tells of which buffer or input each is the new value.

Needs the extra `mcir[torch]`; without it the functions here raise an MCIRError that says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.importers.onnx import DEFAULT_CONSTANT_LIMIT
from mcir.module import MCModule

if TYPE_CHECKING:
    from torch.export import ExportedProgram


@dataclass
class TorchImport:
    """What an exported program gives: the module, and the arrays of its parameters by value name.

    Parameters that were exported without data stand in `missing`.
    """

    module: MCModule
    weights: Mapping[str, Any]
    missing: list[str]


def from_exported_program(ep: ExportedProgram, *, constant_limit: int = DEFAULT_CONSTANT_LIMIT) -> MCModule:
    """The module of a program that torch.export gave, which stays as it is.

    constant_limit: elements up to which a buffer or constant that is no weight (see kept_data) keeps its data.

    Raises MCIRError for a program that MCIR cannot hold (complex numbers, sparse tensors).
    """
    return read_exported_program(ep, constant_limit=constant_limit).module


def read_exported_program(
    source: str | os.PathLike[str] | ExportedProgram, *, constant_limit: int = DEFAULT_CONSTANT_LIMIT
) -> TorchImport:
    """Like `from_exported_program`, also from a .pt2 file, with the weights. Raises MCIRError."""
    _require_torch()
    from mcir.importers.torch_program import functional_program, import_program, load_program

    program = load_program(source) if isinstance(source, (str, os.PathLike)) else source
    return TorchImport(*import_program(functional_program(program), constant_limit))


def _require_torch() -> None:
    try:
        import ml_dtypes  # noqa: F401
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        hint = "pip install 'mcir[torch]'"
        raise MCIRError(Diagnostic(f"torch.export import needs the package {error.name}", hint=hint)) from None
