"""How the ONNX import refuses, and how its messages name things."""

from __future__ import annotations

import onnx.checker
import onnx.shape_inference
from onnx import NodeProto

from mcir.diagnostics import Diagnostic, MCIRError


def refuse(message: str, hint: str = "", rule: str = "onnx-model") -> MCIRError:
    """The error for a model that cannot be imported; there is no text to point at."""
    return MCIRError(Diagnostic(message, hint=hint, rule=rule))


INFERENCE_FAULTS: tuple[type[Exception], ...] = (
    onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError, TypeError, RuntimeError,
)  # fmt: skip
"""What onnx's shape inference raises for a faulty model."""


def first_line(error: Exception) -> str:
    """What an error of the onnx package says first, without its bracketed class names."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return lines[0].replace("[ShapeInferenceError] ", "").replace("[TypeInferenceError] ", "") if lines else ""


def node_label(node: NodeProto) -> str:
    """How messages call a node: `MatMul 'name'`, or by its first result where it has no name."""
    named = node.name or next((output for output in node.output if output), "")
    return f"{node.op_type or 'a node'} '{named}'"
