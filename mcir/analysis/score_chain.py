"""The steps from scores to softmax as tile nodes, one table row per kind of step.

A step is an entry of a region's `modifiers`. A constant or tensor operand of another element type is brought to the
type of the scores first; a narrowing cast rounds and comes back, since the state takes fp32 or wider.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mcir.analysis.attention_region import Attention, Refusal, layout_of
from mcir.nodes import MCNode
from mcir.ops.definition import OpDef, TypeContext, TypeRuleError, lookup
from mcir.regions import Region
from mcir.rewriter import Rewriter
from mcir.types import DTYPES, TensorType
from mcir.values import MCValue

Step = dict[str, Any]

# Keys of a step that say what its operand is; all other keys are attributes of the op.
_OPERAND_KEYS = frozenset({"op", "value", "operand", "layout", "reversed"})


def foldable_mask(steps: list[Step]) -> tuple[dict[str, Any], list[Step]]:
    """(attributes of compute_score, the steps that stay): a lone causal mask with -inf is the op's own mask."""
    if len(steps) == 1 and steps[0].get("op") == "mask" and steps[0].get("kind") == "causal":
        offset, fill = steps[0].get("offset", 0), steps[0].get("fill", -math.inf)
        if fill == -math.inf and isinstance(offset, int):
            return {"mask": "causal", "offset": offset}, []
    return {}, steps


class ScoreChain:
    """Emits the nodes of the steps; `score` is the value that the last one gave."""

    def __init__(self, region: Region, attention: Attention, rewriter: Rewriter, score: MCValue) -> None:
        self.region = region
        self.attention = attention
        self.rewriter = rewriter
        self.score = score
        self.nodes: list[MCNode] = []
        self._loaded: dict[tuple[str, str], MCValue] = {}

    def emit(self, steps: list[Step]) -> list[MCNode]:
        """The nodes of `steps` in order. Raises Refusal for a step that has no exact tile form."""
        for step in steps:
            op = step.get("op")
            emit = _STEPS.get(op) if isinstance(op, str) else None
            (emit or ScoreChain._pointwise)(self, step)
        return self.nodes

    def _pointwise(self, step: Step) -> None:
        """Any pointwise op of one operand, or of two with a constant or a tensor as the other."""
        op = step.get("op")
        definition = lookup(op) if isinstance(op, str) else None
        if definition is None or "pointwise" not in definition.traits:
            raise Refusal("lowering.step", f"step '{op}' between scores and softmax is no pointwise op")
        operands = [self.score]
        if len(definition.operands) == 2:
            operands.insert(0 if step.get("reversed", False) else 1, self._other(step))
        elif "operand" in step or "value" in step:
            raise Refusal("lowering.step", f"step '{op}' takes no second operand")
        attrs = {key: value for key, value in step.items() if key not in _OPERAND_KEYS}
        self._apply(definition.name, operands, attrs)

    def _other(self, step: Step) -> MCValue:
        if "operand" in step:
            return self._as_score_dtype(self._load(step))
        return self._constant(step.get("value"))

    def _where(self, step: Step) -> None:
        """Scores stay where the boolean equals `keep`; elsewhere they become `fill`."""
        keep = step.get("keep", True)
        condition = self._load(step)
        if condition.dtype != "i1":
            raise Refusal("lowering.step", f"the condition '{step['operand']}' is of {condition.dtype}, not i1")
        fill = self._constant(step.get("fill", -math.inf))
        self._apply("where", [condition, self.score, fill] if keep else [condition, fill, self.score], {})

    def _mask(self, step: Step) -> None:
        """A mask by position."""
        kind = step.get("kind")
        if kind not in ("causal", "window"):
            raise Refusal("lowering.step", f"a mask of kind '{kind}' is not one by position")
        attrs = {"kind": kind, "offset": 0} | {key: value for key, value in step.items() if key != "op"}
        self._apply("mask", [self.score], attrs)

    def _softcap(self, step: Step) -> None:
        self._apply("softcap", [self.score], {"cap": step.get("value")})

    def _cast(self, step: Step) -> None:
        """Rounds the scores to a narrower type, as the graph does. A wider type changes nothing."""
        dtype = DTYPES.get(str(step.get("dtype")))
        if dtype is None or dtype.kind != "float":
            raise Refusal("lowering.step", f"a cast of the scores to '{step.get('dtype')}' is not one between floats")
        wide = self.attention.state_dtype
        if dtype.bits < DTYPES[wide].bits:
            self._apply("cast", [self.score], {}, dtype.name)
            self._apply("cast", [self.score], {}, wide)

    def _apply(self, op: str, operands: list[MCValue], attrs: dict[str, Any], dtype: str = "") -> None:
        """Appends `op` and makes its result the score; its type rule and its own checks must hold."""
        definition = lookup(op)
        result = TensorType(self.score.shape, dtype or self.attention.state_dtype, "register")
        problem = "it has no definition" if definition is None else _misfit(definition, operands, attrs, result)
        if problem:
            raise Refusal("lowering.step", f"step '{op}' does not map scores to scores of their type: {problem}")
        value = self.rewriter.fresh_value(f"score_{op}", result)
        self._append(op, operands, value, attrs)
        self.score = value

    def _load(self, step: Step) -> MCValue:
        """The tile of a step's tensor operand, loaded once for each layout."""
        name, written = step.get("operand"), step.get("layout")
        source = self.attention.operands.get(name) if isinstance(name, str) else None
        if source is None:
            raise Refusal("lowering.operands", f"operand '{name}' of step '{step.get('op')}' is no input of the region")
        layout = layout_of(self.region, source, written=written)
        key = (source.name, str(layout))
        if key not in self._loaded:
            self._check_labels(source, layout.labels)
            kind = "mask" if source.dtype == "i1" else "bias"
            sizes = zip("qk", self.score.shape, strict=True)
            shape = tuple(size if label in layout.labels else 1 for label, size in sizes)
            tile = self.rewriter.fresh_value(f"{kind}_tile", TensorType(shape, source.dtype, "shared"))
            self._append("load_tile", [], tile, {"source": source.name, "layout": str(layout)}, f"load_{kind}")
            self._loaded[key] = tile
        return self._loaded[key]

    def _check_labels(self, source: MCValue, labels: tuple[str, ...]) -> None:
        foreign = [label for label in labels if label not in (*self.attention.batch, "q", "k")]
        if foreign:
            raise Refusal("lowering.layout", f"label {foreign[0]} of '{source.name}' is no label of the scores")

    def _as_score_dtype(self, tile: MCValue) -> MCValue:
        wide = self.attention.state_dtype
        if tile.dtype == wide:
            return tile
        value = self.rewriter.fresh_value(f"{tile.name}_{wide}", TensorType(tile.shape, wide, "register"))
        self._append("cast", [tile], value, {})
        return value

    def _constant(self, number: Any) -> MCValue:
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise Refusal("lowering.step", f"a step's constant must be a number, got {number}")
        value = self.rewriter.fresh_value("score_const", TensorType((), self.attention.state_dtype, "register"))
        self._append("constant", [], value, {"value": float(number)})
        return value

    def _append(self, op: str, operands: list[MCValue], value: MCValue, attrs: dict[str, Any], name: str = "") -> None:
        self.nodes.append(self.rewriter.node(op, operands, [value], attrs, name or None))


def _misfit(definition: OpDef, operands: list[MCValue], attrs: dict[str, Any], result: TensorType) -> str:
    """Why the op with these attributes is ill-formed or gives no `result`; empty where it does."""
    declared = {attr.name: attr for attr in definition.attrs}
    for name, value in attrs.items():
        problem = declared[name].problem(value) if name in declared else f"it has no attribute '{name}'"
        if problem:
            return problem
    types = [value.type for value in operands]
    context = TypeContext(definition, types, definition.attributes(attrs), [result])
    try:
        (inferred,) = definition.infer(context)
        if definition.verify is not None:
            definition.verify(context)
    except TypeRuleError as error:
        return error.message
    same = inferred.dtype == result.dtype and inferred.shape == result.shape
    return "" if same else f"its result is of {inferred.dtype}, the scores of {result.dtype}"


_STEPS: dict[str, Callable[[ScoreChain, Step], None]] = {
    "where": ScoreChain._where,
    "mask": ScoreChain._mask,
    "softcap": ScoreChain._softcap,
    "cast": ScoreChain._cast,
}
