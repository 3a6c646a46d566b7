"""From a file to a ModelProto of known versions."""

from __future__ import annotations

import math
import os
from pathlib import Path

import onnx
import onnx.defs
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import GraphProto, ModelProto, TensorProto
from onnx.external_data_helper import load_external_data_for_tensor

from mcir.files import read_bytes
from mcir.importers.onnx_data import INFERENCE_SIZE, has_file, is_external
from mcir.importers.onnx_errors import first_line, refuse
from mcir.importers.onnx_sizes import with_open_sizes
from mcir.importers.onnx_texts import check_texts

_IR_VERSION_FIELD = b"\x08"  # how the bytes of practically every ONNX file begin


def load_model(source: str | os.PathLike[str] | ModelProto) -> ModelProto:
    """The model of a file, or the one given. Of external data only the small tensors are read: shapes, axes.

    Raises MCIRError for a file that cannot be read, that holds no ONNX model, or a version of ONNX
    that the installed package does not know.
    """
    if isinstance(source, ModelProto):
        name, model = "the model", source
    else:
        name = os.fspath(source)
        model = _parse(read_bytes(name), name)
        _read_small_tensors(model.graph, Path(name).parent)
    if not model.ir_version or not model.HasField("graph"):
        raise refuse(f"{name} is not an ONNX model: it has no graph", rule="onnx-file")
    check_texts(model)
    _check_versions(model, name)
    return with_open_sizes(model)


def model_opsets(model: ModelProto) -> dict[str, int]:
    """Operator set versions by domain; the domain of ONNX itself is "" (also where it is written "ai.onnx")."""
    opsets = {normal_domain(entry.domain): entry.version for entry in model.opset_import}
    return opsets or {"": 1}  # models before IR version 3 do not say


def normal_domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _parse(data: bytes, name: str) -> ModelProto:
    if not data:
        raise refuse(f"{name} is not an ONNX model: the file is empty", rule="onnx-file")
    try:
        model = ModelProto()
        model.ParseFromString(data)
        return model
    except DecodeError:
        hint = "the file is truncated or damaged" if data.startswith(_IR_VERSION_FIELD) else ""
        raise refuse(f"{name} is not an ONNX model: it does not parse as one", hint, "onnx-file") from None


def _read_small_tensors(root: GraphProto, folder: Path) -> None:
    """Takes external tensors that shape inference and attributes need into the model, where their file is there."""
    graphs = [root]
    while graphs:
        graph = graphs.pop()
        graphs += [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
        tensors = [attribute.t for node in graph.node for attribute in node.attribute if attribute.HasField("t")]
        for tensor in (*graph.initializer, *tensors):
            small = is_external(tensor) and math.prod(tensor.dims) <= INFERENCE_SIZE
            if not small or not has_file(tensor, folder):
                continue
            try:
                load_external_data_for_tensor(tensor, str(folder))
            except Exception as error:  # onnx raises its C++ faults under several types
                message = f"the data of '{tensor.name}' cannot be read: {first_line(error)}"
                raise refuse(message, rule="onnx-data") from None
            tensor.data_location = TensorProto.DEFAULT


def _check_versions(model: ModelProto, name: str) -> None:
    if model.ir_version > onnx.IR_VERSION:
        raise refuse(
            f"{name} has IR version {model.ir_version}; onnx {onnx.__version__} knows up to {onnx.IR_VERSION}",
            "a newer onnx package may know it",
            "onnx-version",
        )
    known = onnx.defs.onnx_opset_version()
    version = model_opsets(model).get("", 1)
    if not 1 <= version <= known:
        raise refuse(
            f"{name} uses ONNX operator set {version}; onnx {onnx.__version__} knows 1 to {known}",
            "a newer onnx package may know it" if version > known else "",
            "onnx-version",
        )
