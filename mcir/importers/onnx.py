"""ONNX to MCIR: `import_onnx(path_or_model) -> MCModule`.

Every ONNX node comes in: under the name of an MCIR operation where `onnx_table` has an exact
equivalent, else as an opaque node (`"onnx.Conv"`, `"com.microsoft.MultiHeadAttention"`) with all its
attributes. Fused attention operators are written out where their meaning is defined. Node and value names
are kept to the letter. Model-local functions are inlined, the bodies
of If, Loop and Scan become graphs of their own. Weights become `parameter` nodes without data;
`read_onnx` gives their arrays as well.

Needs the extra `mcir[onnx]`; without it the functions here raise an MCIRError that says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcir.diagnostics import Diagnostic, MCIRError
from mcir.module import MCModule

if TYPE_CHECKING:
    from onnx import ModelProto

DEFAULT_CONSTANT_LIMIT = 32768
"""Elements up to which a tensor that is no weight (see kept_data) keeps its data."""


@dataclass
class OnnxImport:
    """What an ONNX file gives: the module, and the arrays of its parameters.

    `weights` maps a parameter's value name to its array, read when it is asked for; parameters of the
    body of an If, Loop or Scan have the key "graph/value". Names whose data is missing (an external
    data file that is not there) stand in `missing`.
    """

    module: MCModule
    weights: Mapping[str, Any]
    missing: list[str]


def import_onnx(
    source: str | os.PathLike[str] | ModelProto,
    *,
    expand_functions: bool = False,
    keep_attention: bool = False,
    constant_limit: int = DEFAULT_CONSTANT_LIMIT,
) -> MCModule:
    """The module of an ONNX model, given as a path or a ModelProto (which stays as it is).

    expand_functions: operators that ONNX itself defines by a body of simpler operators (`RotaryEmbedding`,
        ...) and that MCIR has no operation for are replaced by that body.
    keep_attention: fused attention stays one opaque node each. Otherwise ONNX's `Attention` becomes the body
        that ONNX defines, ONNX Runtime's operators what `onnx_attention` has for them.
    constant_limit: elements up to which a tensor that is no weight keeps its data.

    Raises MCIRError for anything that is not a valid ONNX model that MCIR can hold.
    """
    return read_onnx(
        source, expand_functions=expand_functions, keep_attention=keep_attention, constant_limit=constant_limit
    ).module


def read_onnx(
    source: str | os.PathLike[str] | ModelProto,
    *,
    expand_functions: bool = False,
    keep_attention: bool = False,
    constant_limit: int = DEFAULT_CONSTANT_LIMIT,
) -> OnnxImport:
    """Like `import_onnx`, with the weights. Raises MCIRError."""
    _require_onnx()
    from mcir.importers.onnx_checks import check_nodes
    from mcir.importers.onnx_data import Tensors
    from mcir.importers.onnx_file import load_model, model_opsets
    from mcir.importers.onnx_functions import expand_functions as expand
    from mcir.importers.onnx_functions import inline_local_functions
    from mcir.importers.onnx_graph import import_graphs
    from mcir.importers.onnx_order import ordered_graph
    from mcir.importers.onnx_types import infer_types

    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    model = inline_local_functions(load_model(source))
    attention = "Attention"
    model = expand(model, lambda op: not keep_attention if op == attention else expand_functions)
    opsets = model_opsets(model)
    root = ordered_graph(model.graph)
    tensors = Tensors(path.parent if path else None, constant_limit)
    check_nodes(root, opsets)
    infer_types(root, model)
    graphs = import_graphs(root, opsets, tensors, path.stem if path else "main", keep_attention)
    return OnnxImport(MCModule(graphs=graphs), tensors.weights, tensors.missing)


def _require_onnx() -> None:
    try:
        import ml_dtypes  # noqa: F401
        import onnx  # noqa: F401
    except ModuleNotFoundError as error:
        hint = "pip install 'mcir[onnx]'"
        raise MCIRError(Diagnostic(f"ONNX import needs the package {error.name}", hint=hint)) from None
