"""MCIR, the Memory-Centric IR: how an attention graph moves through memory, as text.

The names below are the public API; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib

# Public name -> the module that defines it.
_HOMES: dict[str, str] = {
    "MCModule": "mcir.module",
    "MCValue": "mcir.values",
    "MCNode": "mcir.nodes",
    "Region": "mcir.regions",
    "ExecutionRegion": "mcir.regions",
    "StreamingRegion": "mcir.regions",
    "TileRegion": "mcir.regions",
    "SemanticGraph": "mcir.graph",
    "Residency": "mcir.types",
    "MCNodeOp": "mcir.types",
    "TensorType": "mcir.types",
    "Symbol": "mcir.types",
    "MCIRBuilder": "mcir.builder",
    "Rewriter": "mcir.rewriter",
    "MCIRError": "mcir.diagnostics",
    "parse_module": "mcir.parser",
    "print_module": "mcir.printer",
    "dump_module": "mcir.dump",
    "verify_module": "mcir.verifier",
    "detect_attention_pattern": "mcir.passes.attention_pattern",
    "run_attention_pattern_pass": "mcir.passes.attention_pattern",
    "lower_attention_to_streaming": "mcir.passes.streaming_lowering",
    "run_streaming_lowering_pass": "mcir.passes.streaming_lowering",
    "MCIRPassManager": "mcir.passes.manager",
    "build_attention_semantic_graph": "mcir.samples",
    "build_attention_module": "mcir.samples",
}

__all__ = sorted(_HOMES)
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mcir' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]


TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from mcir.builder import MCIRBuilder as MCIRBuilder
    from mcir.diagnostics import MCIRError as MCIRError
    from mcir.dump import dump_module as dump_module
    from mcir.graph import SemanticGraph as SemanticGraph
    from mcir.module import MCModule as MCModule
    from mcir.nodes import MCNode as MCNode
    from mcir.parser import parse_module as parse_module
    from mcir.passes.attention_pattern import detect_attention_pattern as detect_attention_pattern
    from mcir.passes.attention_pattern import run_attention_pattern_pass as run_attention_pattern_pass
    from mcir.passes.manager import MCIRPassManager as MCIRPassManager
    from mcir.passes.streaming_lowering import lower_attention_to_streaming as lower_attention_to_streaming
    from mcir.passes.streaming_lowering import run_streaming_lowering_pass as run_streaming_lowering_pass
    from mcir.printer import print_module as print_module
    from mcir.regions import ExecutionRegion as ExecutionRegion
    from mcir.regions import Region as Region
    from mcir.regions import StreamingRegion as StreamingRegion
    from mcir.regions import TileRegion as TileRegion
    from mcir.rewriter import Rewriter as Rewriter
    from mcir.samples import build_attention_module as build_attention_module
    from mcir.samples import build_attention_semantic_graph as build_attention_semantic_graph
    from mcir.types import MCNodeOp as MCNodeOp
    from mcir.types import Residency as Residency
    from mcir.types import Symbol as Symbol
    from mcir.types import TensorType as TensorType
    from mcir.values import MCValue as MCValue
    from mcir.verifier import verify_module as verify_module
