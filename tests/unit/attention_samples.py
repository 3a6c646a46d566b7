"""Attention graphs with the regions that a detector would form from them, as data: what the proof's tests run on.

The graph is the plain spelling: K (and V) repeated for groups, a matmul, the steps in order, softmax, a matmul. The
region has a detector's attributes. Sizes may be numbers or names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from mcir.module import MCModule
from mcir.parser import parse_module
from mcir.passes.streaming_lowering import StreamingLowering
from mcir.printer import attribute_text
from mcir.types import Dim, Symbol

SCORES = "b (h g) q k"


@dataclass(frozen=True)
class Sample:
    """One attention: sizes by label, the leading scale, the further steps (as in `modifiers`), operand types.

    operands: name -> (layout, dtype). dead_rows: "nan", or a guard that the graph has ("zero", "zero_nan").
    """

    sizes: dict[str, Dim]
    scale: float = 0.5
    steps: tuple[dict[str, Any], ...] = ()
    operands: dict[str, tuple[str, str]] = field(default_factory=dict)
    dtype: str = "fp16"
    dead_rows: str = "nan"

    def with_sizes(self, **sizes: Dim) -> Sample:
        return replace(self, sizes={**self.sizes, **sizes})


SIZES: dict[str, Dim] = {"b": 2, "h": 2, "g": 1, "q": 13, "k": 19, "d": 10, "e": 9}
CAUSAL = {"op": "mask", "kind": "causal", "offset": 6, "fill": float("-inf")}
WINDOW = {"op": "mask", "kind": "window", "offset": 6, "left": 5, "right": 0, "fill": float("-inf")}
BIAS = {"op": "add", "operand": "B", "layout": "(h g) q k"}
SELECT = {"op": "where", "operand": "M", "layout": "b 1 q k", "keep": True, "fill": float("-inf")}
PAD = {"op": "where", "operand": "M", "layout": "b 1 1 k", "keep": False, "fill": float("-inf")}
SOFTCAP = {"op": "softcap", "value": 3.0}
BIAS_TYPE = {"B": ("(h g) q k", "fp32")}

SAMPLES: dict[str, Sample] = {
    "plain": Sample(SIZES),
    "causal": Sample(SIZES, steps=(CAUSAL,)),
    "causal top-left": Sample(SIZES, steps=({**CAUSAL, "offset": 0},)),
    "causal, more queries": Sample({**SIZES, "q": 19, "k": 13}, steps=({**CAUSAL, "offset": -6},)),
    "grouped": Sample({**SIZES, "h": 2, "g": 3}, steps=(WINDOW,)),
    "bias": Sample(SIZES, steps=(BIAS,), operands=BIAS_TYPE),
    "softcap, bias, mask": Sample(
        {**SIZES, "g": 3}, steps=(SOFTCAP, BIAS, SELECT), operands={**BIAS_TYPE, "M": ("b 1 q k", "i1")}
    ),
    "bias, then scale": Sample(SIZES, 1.0, (BIAS, {"op": "mul", "value": 0.25}), BIAS_TYPE),
    "mask, then softcap": Sample(SIZES, steps=(SELECT, SOFTCAP), operands={"M": ("b 1 q k", "i1")}),
    "dropped keys": Sample(SIZES, steps=(PAD,), operands={"M": ("b 1 1 k", "i1")}),
    "dead rows zero": Sample(SIZES, steps=(SELECT,), operands={"M": ("b 1 q k", "i1")}, dead_rows="zero"),
    "dead rows zero_nan": Sample(SIZES, steps=(SELECT,), operands={"M": ("b 1 q k", "i1")}, dead_rows="zero_nan"),
    "named sizes": Sample(
        {"b": "batch", "h": 2, "g": 2, "q": "queries", "k": "keys", "d": 8, "e": "dv"}, steps=(SELECT,),
        operands={"M": ("b 1 q k", "i1")},
    ),
    "self attention": Sample({**SIZES, "b": "batch", "q": "seq", "k": "seq"}, steps=({**CAUSAL, "offset": 0},)),
    "rounded scores": Sample(SIZES, steps=({"op": "cast", "dtype": "fp16"}, BIAS), operands=BIAS_TYPE, dtype="fp32"),
    "double": Sample(SIZES, steps=(CAUSAL,), dtype="fp64"),
    "square": Sample({**SIZES, "q": 16, "k": 16, "d": 16, "e": 16}),
    "bfloat": Sample(SIZES, steps=(CAUSAL,), dtype="bf16"),
}  # fmt: skip


def sample_module(
    sample: Sample, *, lower: bool = True, tiles: tuple[int, int, int] = (4, 6, 4), lse: bool = False
) -> MCModule:
    """The module of a sample: its graph @g and its region, lowered with the given tile sizes."""
    module = parse_module(_text(sample))
    if lower:
        tile_m, tile_n, tile_k = tiles
        lowering = StreamingLowering(tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, lse=lse)
        module = lowering(module)
        assert [remark.status for remark in lowering.remarks] == ["lowered"], lowering.remarks
    return module


def _text(sample: Sample) -> str:
    nodes = _GraphText(sample).lines()
    inputs = _inputs(sample)
    region = f"execution @attention_region({inputs}) -> (%O: {_type(sample, 'b (h g) q e', sample.dtype)})"
    attributes = ", ".join(f"{key} = {attribute_text(value)}" for key, value in _attributes(sample).items())
    body = "\n".join(f"  {line}" for line in nodes)
    return f"graph @g({inputs}) {{\n{body}\n  return %O\n}}\n\n{region}\n  attributes {{{attributes}}} {{\n}}\n"


def _attributes(sample: Sample) -> dict[str, Any]:
    masks = any(step["op"] in ("add", "sub", "where", "mask") for step in sample.steps)
    leading = [{"op": "mul", "value": sample.scale}] if sample.scale != 1.0 else []
    return {
        "pattern": "scaled_dot_product_attention", "has_mask": masks, "graph": Symbol("g"),
        "q_name": "Q", "k_name": "K", "v_name": "V", "o_name": "O",
        "q_layout": "b (h g) q d", "k_layout": "b h k d", "v_layout": "b h k e", "o_layout": "b (h g) q e",
        "extents": dict(sample.sizes), "scale": _whole_scale(sample),
        "modifiers": leading + [dict(step) for step in sample.steps],
        "score_dtype": sample.dtype, "softmax_dtype": _wide(sample), "dead_rows": sample.dead_rows, "nodes": ["O"],
    }  # fmt: skip


def _whole_scale(sample: Sample) -> float:
    """The product of the constant factors before the first step that is not linear."""
    scale = sample.scale
    for step in sample.steps:
        if step["op"] not in ("mul", "add"):
            break
        scale *= step.get("value", 1.0)
    return scale


def _wide(sample: Sample) -> str:
    return "fp64" if sample.dtype == "fp64" else "fp32"


def _type(sample: Sample, layout: str, dtype: str) -> str:
    dims: list[str] = []
    merged = layout.replace("(h g)", "H")
    for label in merged.split():
        known: dict[str, Any] = {"1": 1, **sample.sizes}
        size = known["h"] * known["g"] if label == "H" else known[label]
        dims.append(f"({size})" if isinstance(size, str) else str(size))
    return f"tensor<{'x'.join([*dims, dtype])}>"


def _inputs(sample: Sample) -> str:
    tensors = {"Q": ("b (h g) q d", sample.dtype), "K": ("b h k d", sample.dtype), "V": ("b h k e", sample.dtype)}
    return ", ".join(f"%{name}: {_type(sample, *kind)}" for name, kind in {**tensors, **sample.operands}.items())


class _GraphText:
    """The nodes of the graph, one line each."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.out: list[str] = []
        self.count = 0
        self.scores = _type(sample, SCORES, _wide(sample))

    def lines(self) -> list[str]:
        sample, wide = self.sample, _wide(self.sample)
        k, v = "%K", "%V"
        if sample.sizes["g"] != 1:
            repeat = f"{{axis = 1, count = {sample.sizes['g']}}}"
            k = self.add(f"repeat %K {repeat} : {_type(sample, 'b (h g) k d', sample.dtype)}")
            v = self.add(f"repeat %V {repeat} : {_type(sample, 'b (h g) k e', sample.dtype)}")
        score = self.add(f"matmul %Q, {k} {{transpose_b = true}} : {_type(sample, SCORES, sample.dtype)}")
        if sample.dtype != wide:
            score = self.add(f"cast {score} : {self.scores}")
        if sample.scale != 1.0:
            score = self.add(f"mul {score}, {self.constant(sample.scale)} : {self.scores}")
        for step in sample.steps:
            score = getattr(self, f"step_{step['op']}")(step, score)
        weights = self.add(f"softmax {score} : {self.scores}")
        weights = self.guarded(score, weights)
        if sample.dtype != wide:
            weights = self.add(f"cast {weights} : {_type(sample, SCORES, sample.dtype)}")
        self.out.append(f"%O = matmul {weights}, {v} : {_type(sample, 'b (h g) q e', sample.dtype)}")
        return self.out

    def add(self, text: str) -> str:
        self.count += 1
        self.out.append(f"%t{self.count} = {text}")
        return f"%t{self.count}"

    def constant(self, value: float) -> str:
        return self.add(f"constant {{value = {attribute_text(float(value))}}} : tensor<{_wide(self.sample)}>")

    def step_mul(self, step: dict[str, Any], score: str) -> str:
        return self.add(f"mul {score}, {self.constant(step['value'])} : {self.scores}")

    def step_add(self, step: dict[str, Any], score: str) -> str:
        return self.add(f"add {score}, %{step['operand']} : {self.scores}")

    def step_where(self, step: dict[str, Any], score: str) -> str:
        fill = self.constant(step["fill"])
        kept = f"{score}, {fill}" if step["keep"] else f"{fill}, {score}"
        return self.add(f"where %{step['operand']}, {kept} : {self.scores}")

    def step_mask(self, step: dict[str, Any], score: str) -> str:
        attrs = {key: value for key, value in step.items() if key != "op"}
        return self.add(f"mask {score} {attribute_text(attrs)} : {self.scores}")

    def step_softcap(self, step: dict[str, Any], score: str) -> str:
        return self.add(f"softcap {score} {{cap = {step['value']}}} : {self.scores}")

    def step_sigmoid(self, step: dict[str, Any], score: str) -> str:
        return self.add(f"sigmoid {score} : {self.scores}")

    def step_cast(self, step: dict[str, Any], score: str) -> str:
        narrow = self.add(f"cast {score} : {_type(self.sample, SCORES, step['dtype'])}")
        return self.add(f"cast {narrow} : {self.scores}")

    def guarded(self, score: str, weights: str) -> str:
        """The weights with zero for dead rows, as the sample says."""
        booleans = _type(self.sample, SCORES, "i1")
        if self.sample.dead_rows == "zero":
            below = self.add(f"equal {score}, {self.constant(float('-inf'))} : {booleans}")
            rows = _type(self.sample, "b (h g) q 1", "i1")
            dead = self.add(f"reduce_min {below} {{axes = [-1], keepdims = true}} : {rows}")
        elif self.sample.dead_rows == "zero_nan":
            dead = self.add(f"isnan {weights} : {booleans}")
        else:
            return weights
        return self.add(f"where {dead}, {self.constant(0.0)}, {weights} : {self.scores}")
