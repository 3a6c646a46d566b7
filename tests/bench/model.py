"""A transformer as exporters write it: about a hundred nodes for one attention.

Two kinds of layers take turns, so that no layer looks like the one before it:

- as in GPT-2 and BERT: a layer norm written out, as many heads for K and V as for Q, shapes that come from `shape` and
  `gather`, a GELU written out;
- as in Llama and Qwen: an RMS norm, grouped heads that are expanded, norms of Q and K by head, rotary positions,
  a SwiGLU.

All layers share one mask (causal, and padding) and one pair of rotary tables. Weights are `parameter` nodes, numbers
`constant` nodes of their own in each layer, as in an ONNX file.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.op import Op, Shape

BATCH, ROWS, HEADS, GROUPS, DIM = 2, 128, 8, 2, 64
WIDTH, INNER = HEADS * DIM, 4 * HEADS * DIM

INPUTS: dict[str, tuple[Shape, str]] = {
    "x": ((BATCH, ROWS, WIDTH), "fp32"),
    "padding": ((BATCH, 1, 1, ROWS), "i1"),
}

_STREAM = (BATCH, ROWS, WIDTH)


def ops(nodes: int) -> Iterator[Op]:
    """At least `nodes` ops: what all layers share, then whole layers; the last result is the graph's."""
    shared = _Writer("")
    mask, cos, sin = _shared(shared)
    yield from shared.ops
    count, x, layer = len(shared.ops), "x", 0
    while count < nodes or layer == 0:
        writer = _Writer(f"l{layer}_")
        x = _rotary_layer(writer, x, mask, cos, sin) if layer % 2 else _plain_layer(writer, x, mask)
        yield from writer.ops
        count += len(writer.ops)
        layer += 1


class _Writer:
    """Writes ops under names of its own; each method gives the name of the result."""

    def __init__(self, prefix: str) -> None:
        self.ops: list[Op] = []
        self._prefix = prefix

    def op(self, op: str, operands: tuple[str, ...], shape: Shape, dtype: str = "fp32", /, **attrs: object) -> str:
        name = f"{self._prefix}{op}{len(self.ops)}"
        self.ops.append(Op(name, op, operands, attrs, shape, dtype))
        return name

    def number(self, value: float) -> str:
        return self.op("constant", (), (), value=value)

    def sizes(self, *values: int) -> str:
        return self.op("constant", (), (len(values),), "i64", value=list(values))

    def weight(self, *shape: int) -> str:
        return self.op("parameter", (), shape)

    def linear(self, x: str, rows: Shape, inner: int, outer: int, bias: bool) -> str:
        product = self.op("matmul", (x, self.weight(inner, outer)), (*rows, outer))
        return self.op("add", (product, self.weight(outer)), (*rows, outer)) if bias else product

    def layer_norm(self, x: str) -> str:
        shape, row = _STREAM, (*_STREAM[:-1], 1)
        centred = self.op("sub", (x, self.op("reduce_mean", (x,), row, axes=[-1], keepdims=True)), shape)
        square = self.op("mul", (centred, centred), shape)
        spread = self.op("reduce_mean", (square,), row, axes=[-1], keepdims=True)
        root = self.op("sqrt", (self.op("add", (spread, self.number(1e-5)), row),), row)
        scaled = self.op("mul", (self.op("div", (centred, root), shape), self.weight(WIDTH)), shape)
        return self.op("add", (scaled, self.weight(WIDTH)), shape)

    def rms_norm(self, x: str, shape: Shape) -> str:
        row = (*shape[:-1], 1)
        square = self.op("pow", (x, self.number(2.0)), shape)
        mean = self.op("reduce_mean", (square,), row, axes=[-1], keepdims=True)
        root = self.op("sqrt", (self.op("add", (mean, self.number(1e-6)), row),), row)
        normal = self.op("mul", (x, self.op("reciprocal", (root,), row)), shape)
        return self.op("mul", (self.weight(shape[-1]), normal), shape)


def _shared(w: _Writer) -> tuple[str, str, str]:
    """(mask, cos, sin): 0 where a key is seen and the lowest number elsewhere; the tables of the rotary positions."""
    square = (ROWS, ROWS)
    rows, columns = (w.op("iota", (), square, "i64", axis=axis) for axis in (0, 1))
    causal = w.op("less_equal", (columns, rows), square, "i1")
    seen = w.op("and", (causal, "padding"), (BATCH, 1, *square), "i1")
    mask = w.op("where", (seen, w.number(0.0), w.number(-3.4028234663852886e38)), (BATCH, 1, *square))
    angles = w.op("parameter", (), (ROWS, DIM))
    cos, sin = (w.op(op, (angles,), (ROWS, DIM)) for op in ("cos", "sin"))
    return mask, cos, sin


def _plain_layer(w: _Writer, x: str, mask: str) -> str:
    rows, heads, scores = _STREAM[:-1], (BATCH, HEADS, ROWS, DIM), (BATCH, HEADS, ROWS, ROWS)
    h = w.layer_norm(x)
    sizes = w.op("shape", (h,), (3,), "i64")
    ends = [w.op("gather", (sizes, w.sizes(at)), (1,), "i64", axis=0) for at in (0, 1)]
    split = w.op("concat", (*ends, w.sizes(HEADS), w.sizes(DIM)), (4,), "i64", axis=0)
    merged = w.op("concat", (*ends, w.sizes(WIDTH)), (3,), "i64", axis=0)

    def projected(perm: list[int], shape: Shape) -> str:
        flat = w.linear(h, rows, WIDTH, WIDTH, bias=True)
        return w.op("transpose", (w.op("reshape", (flat, split), (*rows, HEADS, DIM)),), shape, perm=perm)

    q, v = (projected([0, 2, 1, 3], heads) for _ in range(2))
    k = projected([0, 2, 3, 1], (BATCH, HEADS, DIM, ROWS))
    score = w.op("div", (w.op("matmul", (q, k), scores), w.number(8.0)), scores)
    probs = w.op("softmax", (w.op("add", (score, mask), scores),), scores, axis=-1)
    o = w.op("transpose", (w.op("matmul", (probs, v), heads),), (*rows, HEADS, DIM), perm=[0, 2, 1, 3])
    o = w.linear(w.op("reshape", (o, merged), _STREAM), rows, WIDTH, WIDTH, bias=True)
    x = w.op("add", (x, o), _STREAM)
    inner = _gelu(w, w.linear(w.layer_norm(x), rows, WIDTH, INNER, bias=True), (*rows, INNER))
    return w.op("add", (x, w.linear(inner, rows, INNER, WIDTH, bias=True)), _STREAM)


def _gelu(w: _Writer, x: str, shape: Shape) -> str:
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))"""
    cube = w.op("mul", (w.op("pow", (x, w.number(3.0)), shape), w.number(0.044715)), shape)
    angle = w.op("mul", (w.op("add", (x, cube), shape), w.number(0.7978845608028654)), shape)
    gate = w.op("add", (w.op("tanh", (angle,), shape), w.number(1.0)), shape)
    return w.op("mul", (w.op("mul", (x, w.number(0.5)), shape), gate), shape)


def _rotary_layer(w: _Writer, x: str, mask: str, cos: str, sin: str) -> str:
    rows, heads, scores = _STREAM[:-1], (BATCH, HEADS, ROWS, DIM), (BATCH, HEADS, ROWS, ROWS)
    h = w.rms_norm(x, _STREAM)

    def projected(count: int) -> str:
        flat = w.linear(h, rows, WIDTH, count * DIM, bias=False)
        return w.op("reshape", (flat,), (*rows, count, DIM), shape=[BATCH, ROWS, -1, DIM], allow_zero=True)

    def turned(x: str, count: int) -> str:
        return w.op("transpose", (x,), (BATCH, count, ROWS, DIM), perm=[0, 2, 1, 3])

    def normed(count: int) -> str:
        return turned(w.rms_norm(projected(count), (*rows, count, DIM)), count)

    def repeated(x: str) -> str:
        wide = (BATCH, GROUPS, HEADS // GROUPS, ROWS, DIM)
        x = w.op("unsqueeze", (x,), (BATCH, GROUPS, 1, ROWS, DIM), axes=[2])
        x = w.op("expand", (x,), wide, shape=list(wide))
        return w.op("reshape", (x,), heads, shape=list(heads), allow_zero=True)

    q = _rotated(w, normed(HEADS), (BATCH, HEADS, ROWS, DIM), cos, sin)
    k = _rotated(w, normed(GROUPS), (BATCH, GROUPS, ROWS, DIM), cos, sin)
    k, v = repeated(k), repeated(turned(projected(GROUPS), GROUPS))
    kt = w.op("transpose", (k,), (BATCH, HEADS, DIM, ROWS), perm=[0, 1, 3, 2])
    score = w.op("mul", (w.op("matmul", (q, kt), scores), w.number(0.125)), scores)
    probs = w.op("softmax", (w.op("add", (score, mask), scores),), scores, axis=-1)
    o = w.op("transpose", (w.op("matmul", (probs, v), heads),), (*rows, HEADS, DIM), perm=[0, 2, 1, 3])
    o = w.op("reshape", (o,), _STREAM, shape=[BATCH, ROWS, -1], allow_zero=True)
    x = w.op("add", (x, w.linear(o, rows, WIDTH, WIDTH, bias=False)), _STREAM)
    h = w.rms_norm(x, _STREAM)
    gate, up = (w.linear(h, rows, WIDTH, INNER, bias=False) for _ in range(2))
    gate = w.op("mul", (gate, w.op("sigmoid", (gate,), (*rows, INNER))), (*rows, INNER))
    inner = w.op("mul", (gate, up), (*rows, INNER))
    return w.op("add", (x, w.linear(inner, rows, INNER, WIDTH, bias=False)), _STREAM)


def _rotated(w: _Writer, x: str, shape: Shape, cos: str, sin: str) -> str:
    """x cos + [-x2, x1] sin, where x is [x1, x2] along its last axis."""
    half = (*shape[:-1], DIM // 2)
    low, high = (
        w.op("slice", (x,), half, starts=[start], ends=[end], axes=[3], steps=[1])
        for start, end in ((0, DIM // 2), (DIM // 2, 2**63 - 1))
    )
    swapped = w.op("concat", (w.op("neg", (high,), half), low), shape, axis=-1)
    return w.op("add", (w.op("mul", (x, cos), shape), w.op("mul", (swapped, sin), shape)), shape)
