"""Small modules of real attention code, each with inputs: what the torch import is tried on.

Sizes differ wherever they can, so that no axis is taken for another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram


class Eager(nn.Module):
    """Multi-head attention written out, as in BERT."""

    def __init__(self, heads: int = 3, width: int = 12) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.width // self.heads)
        o = F.dropout(scores.softmax(-1), 0.1, self.training) @ v
        return self.out(o.transpose(1, 2).reshape(batch, length, self.width))


class Sdpa(nn.Module):
    """torch's own attention with whatever arguments; `repeat` expands the heads of K and V as Llama's code does."""

    def __init__(self, repeat: int = 1, **options: Any) -> None:
        super().__init__()
        self.repeat, self.options = repeat, options

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        k, v = (repeat_kv(t, self.repeat) for t in (k, v))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)


def repeat_kv(x: Tensor, count: int) -> Tensor:
    batch, heads, length, width = x.shape
    if count == 1:
        return x
    return x[:, :, None].expand(batch, heads, count, length, width).reshape(batch, heads * count, length, width)


class Bias(nn.Module):
    """T5: no scale, a learned bias by the bucket of the distance."""

    def __init__(self, heads: int = 2, buckets: int = 8) -> None:
        super().__init__()
        self.table = nn.Embedding(buckets, heads)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        rows, columns = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
        distance = torch.clamp((columns - rows).abs(), max=7)
        bucket = torch.where(distance < 4, distance, 4 + (distance.float() / 2).to(torch.long).clamp(max=3))
        bias = self.table(bucket).permute(2, 0, 1).unsqueeze(0)
        scores = torch.matmul(q, k.transpose(3, 2)) + bias
        return F.softmax(scores.float(), dim=-1).type_as(scores) @ v


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.float32)
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


class Llama(nn.Module):
    """A block with rotary embedding, grouped heads, a causal mask of finite numbers and a gated MLP."""

    def __init__(self, heads: int = 4, groups: int = 2, head: int = 6, width: int = 10) -> None:
        super().__init__()
        self.heads, self.groups, self.head = heads, groups, head
        self.q, self.k = nn.Linear(width, heads * head, False), nn.Linear(width, groups * head, False)
        self.v, self.o = nn.Linear(width, groups * head, False), nn.Linear(heads * head, width, False)
        self.up, self.gate = nn.Linear(width, 14, False), nn.Linear(width, 14, False)
        self.down = nn.Linear(14, width, False)
        self.before, self.after = RMSNorm(width), RMSNorm(width)
        self.register_buffer("inv_freq", 1.0 / 10000 ** (torch.arange(0, head, 2).float() / head), persistent=False)

    @torch.no_grad()
    def angles(self, x: Tensor) -> tuple[Tensor, Tensor]:
        positions = torch.arange(x.shape[1])[None].float()
        angles = (self.inv_freq[None, :, None] @ positions[:, None, :]).transpose(1, 2)
        both = torch.cat((angles, angles), dim=-1)
        return both.cos().unsqueeze(1), both.sin().unsqueeze(1)

    def split(self, x: Tensor, heads: int) -> Tensor:
        return x.view(*x.shape[:2], heads, self.head).transpose(1, 2)

    def rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        left, right = x[..., : self.head // 2], x[..., self.head // 2 :]
        return x * cos + torch.cat((-right, left), dim=-1) * sin

    def forward(self, x: Tensor) -> Tensor:
        y = self.before(x)
        cos, sin = self.angles(y)
        q = self.rotate(self.split(self.q(y), self.heads), cos, sin)
        k = self.rotate(self.split(self.k(y), self.groups), cos, sin)
        k, v = (repeat_kv(t, self.heads // self.groups) for t in (k, self.split(self.v(y), self.groups)))
        length = x.shape[1]
        mask = torch.full((length, length), torch.finfo(x.dtype).min).triu(1)[None, None]
        scores = q @ k.transpose(2, 3) * self.head**-0.5 + mask
        o = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype) @ v
        x = x + self.o(o.transpose(1, 2).contiguous().reshape(*x.shape[:2], -1))
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Growing(nn.Module):
    """A cache that grows: keys and values of before are joined to the new ones and returned."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor, old_k: Tensor, old_v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        k, v = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
        return F.scaled_dot_product_attention(q, k, v), k, v


class Static(nn.Module):
    """A cache of fixed size in a buffer, written in place; only what is filled is attended to."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.randn(1, 2, 9, 4))
        self.register_buffer("values", torch.randn(1, 2, 9, 4))

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        self.keys[:, :, 3:5] = k
        self.values[:, :, 3:5] = v
        keep = torch.arange(9)[None, :] < 5
        return F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=keep.expand(2, 9))


class Vit(nn.Module):
    """Patches by a convolution, a class token, positions, one block."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 12, 4, 4)
        self.token, self.place = nn.Parameter(torch.randn(1, 1, 12)), nn.Parameter(torch.randn(1, 7, 12))
        self.norm, self.attention, self.after = nn.LayerNorm(12), Eager(), nn.LayerNorm(12)
        self.up, self.down = nn.Linear(12, 20), nn.Linear(20, 12)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.place
        x = x + self.attention(self.norm(x))
        return x + self.down(F.gelu(self.up(self.after(x))))


class Swin(nn.Module):
    """Attention in shifted windows, with a table of relative positions and a mask between windows."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_qkv = nn.Linear(6, 18)
        self.table = nn.Parameter(torch.randn(9, 2))
        ys, xs = torch.arange(4) // 2, torch.arange(4) % 2
        index = (ys[:, None] - ys[None, :] + 1) * 3 + xs[:, None] - xs[None, :] + 1
        self.register_buffer("index", index)
        self.register_buffer("mask", torch.where(torch.rand(6, 4, 4) < 0.3, -100.0, 0.0))

    def forward(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        x = torch.roll(x, (-1, -1), (1, 2))
        x = x.view(batch, height // 2, 2, width // 2, 2, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, channels)
        q, k, v = self.attention_qkv(x).reshape(-1, 4, 3, 2, 3).permute(2, 0, 3, 1, 4).unbind(0)
        bias = self.table[self.index.view(-1)].view(4, 4, 2).permute(2, 0, 1).unsqueeze(0)
        scores = (q * 3**-0.5) @ k.transpose(-2, -1) + bias
        scores = scores.view(batch, 6, 2, 4, 4) + self.mask[None, :, None]
        o = scores.view(-1, 2, 4, 4).softmax(-1) @ v
        o = o.transpose(1, 2).reshape(batch, height // 2, width // 2, 2, 2, channels)
        return torch.roll(o.permute(0, 1, 3, 2, 4, 5).reshape(batch, height, width, channels), (1, 1), (1, 2))


class Gemma(nn.Module):
    """Scores capped before a boolean mask of a sliding window."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = torch.tanh(torch.einsum("bhqd,bhkd->bhqk", q, k) * 0.25 / 50.0) * 50.0
        rows, columns = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
        keep = (columns <= rows) & (columns > rows - 3)
        return scores.masked_fill(~keep, float("-inf")).softmax(-1) @ v


class Library(nn.Module):
    """nn.MultiheadAttention, with the mask of left-out keys."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)

    def forward(self, x: Tensor, memory: Tensor, left_out: Tensor) -> Tensor:
        out: Tensor = self.attention(x, memory, memory, key_padding_mask=left_out, need_weights=False)[0]
        return out


class Router(nn.Module):
    """No attention: a mixture of experts, whose softmax stands between two products."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 5)
        self.experts = nn.Parameter(torch.randn(5, 6))

    def forward(self, x: Tensor) -> Tensor:
        return self.gate(x).softmax(-1) @ self.experts


@dataclass
class Sample:
    """A module with the inputs it is exported and run with.

    attentions: how many regions the detector must form. sizes: names of dynamic sizes, by input and axis.
    tolerance: of the comparison with torch.
    """

    make: Callable[[], nn.Module]
    inputs: Callable[[], tuple[Tensor, ...]]
    attentions: int = 1
    sizes: dict[str, dict[int, Any]] = field(default_factory=dict)
    tolerance: float = 1e-5

    def program(self) -> tuple[ExportedProgram, tuple[Tensor, ...], Any]:
        """The exported program, inputs, and what torch gives for them."""
        torch.manual_seed(7)
        module, inputs = self.make().eval(), self.inputs()
        program = torch.export.export(module, inputs, dynamic_shapes=self.sizes or None)
        with torch.no_grad():
            return program, inputs, module(*inputs)


def qkv(*, q: tuple[int, ...] = (2, 3, 5, 4), kv: tuple[int, ...] = (2, 3, 7, 4), dtype: torch.dtype = torch.float32):  # type: ignore[no-untyped-def]
    """Q, K and V of the given shapes; V has two columns more."""
    return tuple(torch.randn(shape).to(dtype) for shape in (q, kv, (*kv[:-1], kv[-1] + 2)))


def with_mask(mask: Callable[[], Tensor]) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: (*qkv(), mask())


def keep_some() -> Tensor:
    """Row 2 keeps nothing."""
    keep = torch.rand(2, 1, 5, 7) < 0.6
    keep[:, :, 2] = False
    return keep


BATCH, LENGTH = Dim("batch", max=64), Dim("length", max=64)

SAMPLES: dict[str, Sample] = {
    "eager": Sample(Eager, lambda: (torch.randn(2, 5, 12),)),
    "eager dynamic": Sample(Eager, lambda: (torch.randn(2, 5, 12),), sizes={"x": {0: BATCH, 1: LENGTH}}),
    "sdpa": Sample(lambda: Sdpa(), qkv),
    "sdpa causal": Sample(lambda: Sdpa(is_causal=True), qkv),
    "sdpa causal, more rows": Sample(lambda: Sdpa(is_causal=True), lambda: qkv(q=(2, 3, 9, 4))),
    "sdpa scale": Sample(lambda: Sdpa(scale=0.3), qkv),
    "sdpa boolean mask": Sample(lambda: Sdpa(), with_mask(keep_some)),
    "sdpa float mask": Sample(lambda: Sdpa(), with_mask(lambda: torch.randn(3, 5, 7))),
    "sdpa groups": Sample(lambda: Sdpa(enable_gqa=True, is_causal=True), lambda: qkv(q=(2, 6, 5, 4))),
    "sdpa repeated": Sample(lambda: Sdpa(2), lambda: qkv(q=(2, 6, 5, 4))),
    "sdpa dynamic": Sample(
        lambda: Sdpa(is_causal=True), lambda: qkv(kv=(2, 3, 5, 4)),
        sizes={name: {0: BATCH, 2: LENGTH} for name in "qkv"},
    ),
    "sdpa fp16": Sample(lambda: Sdpa(is_causal=True), lambda: qkv(dtype=torch.float16), tolerance=2e-3),
    "sdpa bf16": Sample(lambda: Sdpa(), lambda: qkv(dtype=torch.bfloat16), tolerance=1.6e-2),
    "bias": Sample(Bias, lambda: qkv(q=(2, 2, 5, 4), kv=(2, 2, 9, 4))),
    "llama": Sample(Llama, lambda: (torch.randn(2, 5, 10),)),
    "llama dynamic": Sample(Llama, lambda: (torch.randn(2, 5, 10),), sizes={"x": {0: BATCH, 1: LENGTH}}),
    "growing cache": Sample(
        Growing, lambda: tuple(torch.randn(2, 3, n, 4) for n in (1, 1, 1, 6, 6)),
    ),
    "static cache": Sample(Static, lambda: tuple(torch.randn(1, 2, 2, 4) for _ in range(3))),
    "swin": Sample(Swin, lambda: (torch.randn(2, 4, 6, 6),)),
    "gemma": Sample(Gemma, lambda: qkv()),
    "library": Sample(
        Library,
        lambda: (torch.randn(2, 5, 12), torch.randn(2, 7, 12), torch.arange(7)[None] > torch.tensor([[4], [6]])),
    ),
    "router": Sample(Router, lambda: (torch.randn(3, 8),), attentions=0),
}  # fmt: skip
