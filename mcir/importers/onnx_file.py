"""From a file to a ModelProto of known versions."""

from __future__ import annotations

import os

import onnx
import onnx.defs
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto

from mcir.importers.onnx_errors import refuse
from mcir.tools.io import read_bytes

_IR_VERSION_FIELD = b"\x08"  # how the bytes of practically every ONNX file begin


def load_model(source: str | os.PathLike[str] | ModelProto) -> ModelProto:
    """The model of a file (external tensor data is not read here), or the one given.

    Raises MCIRError for a file that cannot be read, that holds no ONNX model, or a version of ONNX
    that the installed package does not know.
    """
    if isinstance(source, ModelProto):
        name, model = "the model", source
    else:
        name = os.fspath(source)
        model = _parse(read_bytes(name), name)
    if not model.ir_version or not model.HasField("graph"):
        raise refuse(f"{name} is not an ONNX model: it has no graph", rule="onnx-file")
    _check_versions(model, name)
    return model


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
