"""ONNX tensors: which keep their data as constants, which become parameters, and their arrays."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx.checker
from onnx import NodeProto, SparseTensorProto, TensorProto, helper, numpy_helper

from mcir.importers.kept_data import kept_data
from mcir.importers.onnx_errors import first_line, refuse

INFERENCE_SIZE = 1024
"""Elements up to which shape inference sees a tensor's data: shapes, axes, sizes."""

LARGE_FILE_TENSOR = 1 << 26
"""Bytes above which a tensor in an external file is taken for a weight without a look at its data."""

LARGEST_DENSE = 1 << 31
"""Bytes up to which a sparse tensor is written out with its zeros: a few bytes of a file can name any size."""

Tensor = TensorProto | SparseTensorProto


class Tensors:
    """Reads the tensors of one model. `folder` is where external data files are looked for."""

    def __init__(self, folder: Path | None, constant_limit: int) -> None:
        self.folder = folder or Path()
        self.limit = constant_limit
        self._parameters: dict[str, Tensor] = {}

    def constant(self, name: str, tensor: Tensor) -> bool | int | float | list[Any] | None:
        """The `value` of a constant node for the tensor, None if it is a weight: see `kept_data`."""
        if isinstance(tensor, TensorProto) and is_external(tensor) and _bytes(tensor) > LARGE_FILE_TENSOR:
            return None
        array = self.array(name, tensor)
        return None if array is None else kept_data(array, self.limit)

    def array(self, name: str, tensor: Tensor) -> Any | None:
        """The data, or None if its external file is not there. Raises MCIRError for data that does not fit."""
        try:
            if isinstance(tensor, SparseTensorProto):
                return _dense(tensor)
            return None if self._is_missing(tensor) else numpy_helper.to_array(tensor, str(self.folder))
        except onnx.checker.ValidationError as error:
            raise refuse(f"the data of '{name}' cannot be read: {first_line(error)}", rule="onnx-data") from None
        except (ValueError, TypeError, OSError, KeyError, IndexError) as error:
            raise refuse(f"the data of '{name}' does not fit its type: {first_line(error)}", rule="onnx-data") from None

    def add_parameter(self, key: str, tensor: Tensor) -> None:
        """Notes that the parameter `key` has the data of `tensor`."""
        self._parameters[key] = tensor

    @property
    def weights(self) -> Mapping[str, Any]:
        """The arrays of the parameters whose data is there, read when asked for."""
        there = {key: tensor for key, tensor in self._parameters.items() if not self._is_missing(tensor)}
        return _Weights(self, there)

    @property
    def missing(self) -> list[str]:
        """The parameters whose external data file is not there."""
        return [key for key, tensor in self._parameters.items() if self._is_missing(tensor)]

    def _is_missing(self, tensor: Tensor) -> bool:
        return isinstance(tensor, TensorProto) and is_external(tensor) and not has_file(tensor, self.folder)

    @staticmethod
    def without_data(tensor: TensorProto) -> TensorProto:
        """The tensor itself if it is small, else one of its name and type only: inference needs no more."""
        if not is_external(tensor) and math.prod(tensor.dims) <= INFERENCE_SIZE:
            return tensor
        return TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)


class _Weights(Mapping[str, Any]):
    def __init__(self, tensors: Tensors, there: dict[str, Tensor]) -> None:
        self._tensors = tensors
        self._there = there

    def __getitem__(self, key: str) -> Any:
        return self._tensors.array(key, self._there[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._there)

    def __len__(self) -> int:
        return len(self._there)


def constant_tensor(node: NodeProto) -> Tensor | None:
    """What a Constant node holds, or None if it holds text or nothing."""
    if len(node.attribute) != 1:
        return None
    attribute = node.attribute[0]
    make = _CONSTANT_FORMS.get(attribute.name)
    return make(attribute) if make is not None else None


# Attribute of a Constant node -> the tensor it means (ONNX Constant, operator set 12 on).
_CONSTANT_FORMS: dict[str, Any] = {
    "value": lambda attribute: attribute.t,
    "sparse_value": lambda attribute: attribute.sparse_tensor,
    "value_float": lambda attribute: helper.make_tensor("", TensorProto.FLOAT, [], [attribute.f]),
    "value_int": lambda attribute: helper.make_tensor("", TensorProto.INT64, [], [attribute.i]),
    "value_floats": lambda attribute: helper.make_tensor(
        "", TensorProto.FLOAT, [len(attribute.floats)], attribute.floats
    ),
    "value_ints": lambda attribute: helper.make_tensor("", TensorProto.INT64, [len(attribute.ints)], attribute.ints),
}


def tensor_code(tensor: Tensor) -> int:
    """The ONNX element type of the tensor."""
    return tensor.values.data_type if isinstance(tensor, SparseTensorProto) else tensor.data_type


def is_external(tensor: TensorProto) -> bool:
    """True if the tensor's data stands in a file of its own."""
    return tensor.data_location == TensorProto.EXTERNAL


def has_file(tensor: TensorProto, folder: Path) -> bool:
    """Whether there is a file where the data of an external tensor should be; not for a path that no file can have."""
    location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    return isinstance(location, str) and os.path.isfile(folder / location)  # not UTF-8 comes as bytes


def _bytes(tensor: TensorProto) -> int:
    return int(math.prod(tensor.dims)) * 4


def _dense(sparse: SparseTensorProto) -> Any:
    """The tensor with its zeros. Raises ValueError for places outside of it, and for what no machine should hold."""
    values, indices = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    shape = tuple(sparse.dims)
    if math.prod(shape) * values.itemsize > LARGEST_DENSE:
        raise ValueError(f"a sparse tensor of {math.prod(shape)} elements")
    dense = np.zeros(shape, dtype=values.dtype)
    bounds = np.asarray(dense.size if indices.ndim == 1 else shape)
    if np.any(indices < 0) or np.any(indices >= bounds):
        raise ValueError("a sparse element stands outside of its tensor")
    if indices.ndim == 1:
        dense.reshape(-1)[indices] = values
    else:
        dense[tuple(indices.T)] = values
    return dense
