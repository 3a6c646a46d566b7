"""streaming-lowering: an attention region becomes a stream over key tiles.

    execution @attention_region(%Q, %K, %V) -> (%O) attributes {...}

becomes, with its attributes and comments as they were,

    execution @attention_region(%Q, %K, %V) -> (%O) attributes {...} {
      streaming @attention_stream attributes {stream_axis = "sequence"} {
        tile @q_tile_loop attributes {tile_m = 128, tile_n = 64, tile_k = 64} {
          load_q, load_k, load_v, score, softmax, accumulate, store_o
        }
      }
    }

A scale, and a causal mask that comes last, are attributes of compute_score. Any other step between scores and softmax
becomes a visible node between score and softmax, in the order of the region's `modifiers`. A region that cannot be
lowered exactly stays as it is, with a remark of status "refused"; one that is lowered already stays as it is, too.
With `target=sm_90` or another known target, tiles that cannot fit into its shared memory are an error that says the
largest ones that would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mcir.analysis.attention_region import PATTERN, Attention, Refusal, Tensor, read_attention
from mcir.analysis.axes import Layout, clip
from mcir.analysis.phases import STREAM_LABELS
from mcir.analysis.score_chain import ScoreChain, foldable_mask
from mcir.diagnostics import Diagnostic, MCIRError, did_you_mean
from mcir.module import MCModule
from mcir.nodes import MCNode
from mcir.passes.base import ModulePass, Remark, option, register_pass
from mcir.passes.statistic import Statistic, StatisticBy
from mcir.regions import Region, StreamingRegion, TileRegion
from mcir.rewriter import Rewriter, fresh_name
from mcir.types import TensorType
from mcir.values import MCValue


@dataclass(frozen=True, slots=True)
class StreamingOptions:
    """Tile sizes in elements, the streamed axis, whether the log-sum-exp is stored too, and a target tiles must fit."""

    tile_m: int = 128
    tile_n: int = 64
    tile_k: int = 64
    stream_axis: str = "sequence"
    lse: bool = False
    target: str = ""


@register_pass
@dataclass
class StreamingLowering(ModulePass):
    """Lowers every attention region; see the head of this file.

    Requires valid regions; ensures that a lowered region computes what its modifiers say, for every tile size.
    """

    name: ClassVar[str] = "streaming-lowering"
    summary: ClassVar[str] = "attention regions become streams over key tiles"

    tile_m: int = option(128, "query rows of a tile")
    tile_n: int = option(64, "keys of a tile")
    tile_k: int = option(64, "elements of the head dim that a score sums at a time")
    stream_axis: str = option("sequence", "the axis that is streamed")
    lse: bool = option(False, "store the log-sum-exp of each row, too")
    target: str = option("", "refuse tiles that do not fit this target")

    lowered = Statistic("regions lowered")
    nodes = Statistic("nodes made in them")
    refused = StatisticBy("rule", "regions that cannot be lowered exactly")

    def run(self, module: MCModule) -> MCModule:
        options = StreamingOptions(self.tile_m, self.tile_n, self.tile_k, self.stream_axis, self.lse, self.target)
        _check_options(options)
        taken = module.names()
        if not module.regions and module.graphs:
            self.remarks.append(_nothing(self.name, module))
        for region in module.regions:
            if region.kind != "execution" or region.attrs.get("pattern") != PATTERN or region.subregions:
                continue
            try:
                _lower(region, options, taken)
            except Refusal as refusal:
                self.refused[refusal.rule] += 1
                self.remarks.append(_remark(self.name, region, "refused", refusal))
            else:
                self.lowered += 1
                self.nodes += len(region.subregions[0].subregions[0].nodes)
                self.remarks.append(_remark(self.name, region, "lowered", None))
        return module


def run_streaming_lowering_pass(module: MCModule) -> MCModule:
    """Lowers every attention region of `module` in place with the default tile sizes (design note, section 14)."""
    return StreamingLowering()(module)


def lower_attention_to_streaming(region: Region, options: StreamingOptions | None = None) -> Region:
    """Lowers one attention region in place and returns it (design note, section 11).

    A region made by hand needs `q_name`, `k_name` and `v_name` only. One that has subregions is returned as it is.
    Raises MCIRError for a region that cannot be lowered exactly.
    """
    options = options or StreamingOptions()
    _check_options(options)
    if not region.subregions:
        try:
            _lower(region, options, {region.name})
        except Refusal as refusal:
            message = f"cannot lower @{region.name}: {refusal.message}"
            raise MCIRError(Diagnostic(message, region.loc, hint=refusal.hint, rule=refusal.rule)) from None
    return region


def _check_options(options: StreamingOptions) -> None:
    for name in ("tile_m", "tile_n", "tile_k"):
        size = getattr(options, name)
        if size < 1:
            raise MCIRError(Diagnostic(f"{name.replace('_', '-')} must be at least 1, got {size}"))
    if options.stream_axis not in STREAM_LABELS:
        hint = did_you_mean(options.stream_axis, STREAM_LABELS) or f"known: {', '.join(STREAM_LABELS)}"
        raise MCIRError(Diagnostic(f"unknown stream axis '{options.stream_axis}'", hint=hint))


def _remark(pass_name: str, region: Region, status: str, refusal: Refusal | None) -> Remark:
    graph = region.attrs.get("graph")
    count = sum(len(inner.nodes) for inner in region.walk())
    message = refusal.message if refusal else f"region @{region.name} has {count} nodes"
    return Remark(
        pass_name, status, message, graph=getattr(graph, "name", ""), region=region.name,
        rule=refusal.rule if refusal else "", hint=refusal.hint if refusal else "", location=region.loc,
    )  # fmt: skip


def _nothing(pass_name: str, module: MCModule) -> Remark:
    graph = module.graphs[0]
    return Remark(
        pass_name, "declined", "the module has no attention region", graph=graph.name, rule="lowering.region",
        hint="put --attention-pattern before it; where that stands, its own remarks say why it formed none",
        location=graph.loc,
    )  # fmt: skip


def _lower(region: Region, options: StreamingOptions, taken: set[str]) -> None:
    """Builds the whole stream first and enters it last: a refusal leaves the region without one."""
    attention = read_attention(region)
    lowering = _Lowering(region, attention, options)
    nodes = lowering.nodes()
    stream = StreamingRegion(fresh_name("attention_stream", taken), options.stream_axis)
    tile = TileRegion(fresh_name("q_tile_loop", taken), lowering.tile_m, lowering.tile_n, lowering.tile_k)
    tile.nodes = nodes
    stream.loc = tile.loc = region.loc  # what comes of the region is shown where that comes from
    for node in nodes:
        node.loc = region.loc
    stream.subregions.append(tile)
    region.outputs += lowering.new_outputs
    region.subregions.append(stream)
    if options.target:
        _require_fit(region, options.target, len(lowering.new_outputs))


def _require_fit(region: Region, target: str, new_outputs: int) -> None:
    """Takes the stream out again and raises MCIRError where a tile of it cannot fit on the target."""
    from mcir.analysis.memory.fit import misfits  # the account is needed for this option only

    faults = misfits(region, target)
    if faults:
        region.subregions.clear()
        del region.outputs[len(region.outputs) - new_outputs :]
        raise MCIRError(faults)


class _Lowering:
    """The nodes of one tile region."""

    def __init__(self, region: Region, attention: Attention, options: StreamingOptions) -> None:
        self.region = region
        self.attention = attention
        self.options = options
        self.new_outputs: list[MCValue] = []
        self.rewriter = Rewriter(region)
        sizes = attention.sizes
        self.tile_m = clip(options.tile_m, sizes.get("q"))
        self.tile_n = clip(options.tile_n, sizes.get("k"))
        self.tile_k = clip(options.tile_k, sizes.get("d"))

    def nodes(self) -> list[MCNode]:
        """load_q, load_k, load_v, score, the steps of the chain, softmax, accumulate, store_o (and store_lse)."""
        at, make = self.attention, self._node
        state = at.state_dtype
        d, e = at.sizes.get("d"), at.sizes.get("e")
        q = self._value("Q_tile", TensorType((self.tile_m, d), at.q.value.dtype, "shared"))
        k = self._value("K_tile", TensorType((self.tile_n, d), at.k.value.dtype, "shared"))
        v = self._value("V_tile", TensorType((self.tile_n, e), at.v.value.dtype, "shared"))
        raw = self._value("score_frag", TensorType((self.tile_m, self.tile_n), state, "register"))
        top, total = (
            self._value(name, TensorType((self.tile_m,), state, "register")) for name in ("softmax_max", "softmax_sum")
        )
        acc = self._value("output_acc", TensorType((self.tile_m, e), state, "register"))
        out = self._value("O_tile", TensorType((self.tile_m, e), at.o.value.dtype))

        mask, steps = foldable_mask(at.modifiers)
        nodes = [make(f"load_{role}", "load_tile", [], [tile], _bound("source", tensor))
                 for role, tile, tensor in (("q", q, at.q), ("k", k, at.k), ("v", v, at.v))]  # fmt: skip
        nodes.append(make("score", "compute_score", [q, k], [raw], {"scale": at.scale, **mask}))
        chain = ScoreChain(self.region, at, self.rewriter, raw)
        nodes += chain.emit(steps)
        nodes.append(make("softmax", "update_softmax", [chain.score], [top, total], {}))
        nodes.append(make("accumulate", "accumulate_output", [chain.score, v], [acc], {}))
        stored = _bound("target", at.o) | ({"dead_rows": at.dead_rows} if at.dead_rows else {})
        nodes.append(make("store_o", "store_tile", [acc], [out], stored))
        if self.options.lse:
            nodes.append(self._store_lse(top, total))
        return nodes

    def _store_lse(self, top: MCValue, total: MCValue) -> MCNode:
        """Stores the log-sum-exp into a new output of the region, one number a row."""
        labels = (*self.attention.batch, "q")
        shape = tuple(self.attention.sizes.get(label) for label in labels)
        dtype = self.attention.state_dtype
        stored = self._value("LSE", TensorType(shape, dtype))
        self.new_outputs.append(stored)
        target = _bound("target", Tensor(stored, Layout(tuple((label,) for label in labels))))
        tile = self._value("LSE_tile", TensorType((self.tile_m,), dtype))
        return self._node("store_lse", "store_lse", [top, total], [tile], target)

    def _value(self, name: str, type_: TensorType) -> MCValue:
        return self.rewriter.fresh_value(name, type_)

    def _node(
        self, name: str, op: str, inputs: list[MCValue], outputs: list[MCValue], attrs: dict[str, object]
    ) -> MCNode:
        return self.rewriter.node(op, inputs, outputs, attrs, name)


def _bound(key: str, tensor: Tensor) -> dict[str, object]:
    return {key: tensor.value.name, "layout": str(tensor.layout)}
