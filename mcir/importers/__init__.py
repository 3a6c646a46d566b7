"""Importers of other formats. Their packages (onnx, torch) are imported when a function is called."""

from __future__ import annotations

from mcir.importers.onnx import import_onnx
from mcir.importers.torch_export import from_exported_program

__all__ = ["from_exported_program", "import_onnx"]
