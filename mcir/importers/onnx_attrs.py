"""Attributes of ONNX nodes as MCIR attributes: nothing is lost, whatever the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx import AttributeProto, TypeProto

from mcir.importers.onnx_data import Tensor, Tensors, tensor_code
from mcir.importers.onnx_errors import refuse
from mcir.importers.onnx_types import element_type, tensor_type
from mcir.types import TensorType


def plain_attribute(attribute: AttributeProto) -> Any:
    """The Python value of an attribute that is a number, a text or a list of them; else the proto itself."""
    read = _PLAIN.get(attribute.type)
    return read(attribute) if read is not None else attribute


def opaque_attribute(attribute: AttributeProto, key: str, tensors: Tensors) -> Any:
    """The MCIR value of any attribute but a graph. A tensor is a dictionary of type and value, or of
    type and the name `key` of the parameter array that holds its data.

    Raises MCIRError for what MCIR has no value for (a list of graphs, an element type it does not have).
    """
    if attribute.type in _PLAIN:
        return plain_attribute(attribute)
    if attribute.type not in _STRUCTURED:
        name = AttributeProto.AttributeType.Name(attribute.type)
        raise refuse(f"attribute '{key}' is of kind {name}, which MCIR does not have", rule="onnx-node")
    return _STRUCTURED[attribute.type](attribute, key, tensors)


def _text(data: bytes) -> str | dict[str, str]:
    """Bytes are text where they are UTF-8; others are kept as hexadecimal digits."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"bytes": data.hex()}


def _tensor(tensor: Tensor, key: str, tensors: Tensors) -> dict[str, Any]:
    type_ = TensorType(tuple(tensor.dims), element_type(key, tensor_code(tensor)))
    value = tensors.constant(key, tensor)
    if value is None:
        tensors.add_parameter(key, tensor)
        return {"type": type_, "parameter": key}
    return {"type": type_, "value": value}


def _type(proto: TypeProto) -> Any:
    if proto.WhichOneof("value") == "tensor_type" and proto.tensor_type.HasField("shape"):
        return tensor_type("", proto)
    return str(proto)


_Kind = AttributeProto.AttributeType

_PLAIN: dict[int, Callable[[AttributeProto], Any]] = {
    _Kind.FLOAT: lambda attribute: float(attribute.f),
    _Kind.INT: lambda attribute: int(attribute.i),
    _Kind.STRING: lambda attribute: _text(attribute.s),
    _Kind.FLOATS: lambda attribute: list(attribute.floats),
    _Kind.INTS: lambda attribute: list(attribute.ints),
    _Kind.STRINGS: lambda attribute: [_text(item) for item in attribute.strings],
}

_STRUCTURED: dict[int, Callable[[AttributeProto, str, Tensors], Any]] = {
    _Kind.TENSOR: lambda attribute, key, tensors: _tensor(attribute.t, key, tensors),
    _Kind.SPARSE_TENSOR: lambda attribute, key, tensors: _tensor(attribute.sparse_tensor, key, tensors),
    _Kind.TENSORS: lambda attribute, key, tensors: [
        _tensor(item, f"{key}.{index}", tensors) for index, item in enumerate(attribute.tensors)
    ],
    _Kind.SPARSE_TENSORS: lambda attribute, key, tensors: [
        _tensor(item, f"{key}.{index}", tensors) for index, item in enumerate(attribute.sparse_tensors)
    ],
    _Kind.TYPE_PROTO: lambda attribute, key, tensors: _type(attribute.tp),
    _Kind.TYPE_PROTOS: lambda attribute, key, tensors: [_type(item) for item in attribute.type_protos],
}
