"""The mapping rules that take more than a name: what an ONNX node means in MCIR operations.

Each gives the exact equivalent or raises KeepOpaque. The table that uses them is `onnx_table`.
"""

from __future__ import annotations

import math
from typing import Any

from mcir.importers.onnx_view import KeepOpaque, NodeView, Rule, Step, scalar
from mcir.types import DTYPES, Dim, TensorType
from mcir.values import MCValue


def same(op: str, **defaults: Any) -> Rule:
    """The same operands; attributes of the same names, written also where ONNX leaves a default out."""

    def rule(view: NodeView) -> list[Step]:
        attrs = {name: view.attrs.get(name, default) for name, default in defaults.items()}
        return [Step(op, view.present(), attrs)]

    return rule


def chain(op: str) -> Rule:
    """Any number of operands taken together from the left by an operation of two."""

    def rule(view: NodeView) -> list[Step]:
        first, *rest = view.present()
        if not rest:
            return [Step("identity", [first])]
        steps: list[Step] = []
        for index, operand in enumerate(rest, 1):
            previous = steps[-1] if steps else first
            types = None if index == len(rest) else [_joined(view, previous, operand)]
            steps.append(Step(op, [previous, operand], {}, types))
        return steps

    return rule


def _joined(view: NodeView, left: MCValue | Step, right: MCValue | Step) -> TensorType:
    shapes = [item.types[0].shape if isinstance(item, Step) and item.types else item.shape for item in (left, right)]  # type: ignore[union-attr]
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    dims = [b if a == 1 else a if b in (1, a) else _either(a, b) for a, b in zip(*padded, strict=True)]
    return TensorType(tuple(dims), view.result().dtype)


def _either(left: Dim, right: Dim) -> Dim:
    sizes = [dim for dim in (left, right) if isinstance(dim, int)]
    return sizes[0] if sizes else None


# Matrix products


def gemm(view: NodeView) -> list[Step]:
    """alpha * A' B' + beta * C"""
    attrs = _transposed(view.attrs.get("transA", 0), view.attrs.get("transB", 0))
    alpha, beta = view.attrs.get("alpha", 1.0), view.attrs.get("beta", 1.0)
    steps = _scaled(view, [Step("matmul", [view.operand(0), view.operand(1)], attrs)], alpha)
    if view.given(2):
        bias: MCValue | Step = view.operand(2)
        if beta != 1.0:
            factor = _factor(view, beta)
            bias = Step("mul", [bias, factor], {}, [view.operand(2).type])
            steps += [factor, bias]
        product = next(step for step in reversed(steps) if step.types is None)
        product.types = [view.result()]
        steps.append(Step("add", [product, bias]))
    return steps


def fused_matmul(view: NodeView) -> list[Step]:
    """com.microsoft FusedMatMul: alpha * A' B', transposes of the last two axes."""
    if view.attrs.get("transBatchA") or view.attrs.get("transBatchB"):
        raise KeepOpaque("batch axes are transposed too")
    flags = [view.attrs.get(name, 0) for name in ("transA", "transB")]
    # a transpose flag on a vector does nothing
    flags = [flag and len(view.operand(index).shape) > 1 for index, flag in enumerate(flags)]
    product = Step("matmul", [view.operand(0), view.operand(1)], _transposed(*flags))
    return _scaled(view, [product], view.attrs.get("alpha", 1.0))


def _transposed(left: int, right: int) -> dict[str, Any]:
    return {name: True for name, flag in (("transpose_a", left), ("transpose_b", right)) if flag}


def _scaled(view: NodeView, steps: list[Step], factor: float) -> list[Step]:
    if factor == 1.0:
        return steps
    constant = _factor(view, factor)
    steps[-1].types = [view.result()]
    return [*steps, constant, Step("mul", [steps[-1], constant])]


def _factor(view: NodeView, value: float) -> Step:
    dtype = view.result().dtype
    if DTYPES[dtype].kind != "float":
        raise KeepOpaque("a factor on integers")
    return scalar(value, dtype)


# Shapes and axes


def transpose(view: NodeView) -> list[Step]:
    rank = len(view.operand(0).shape)
    return [Step("transpose", [view.operand(0)], {"perm": view.attrs.get("perm", list(range(rank))[::-1])})]


def reshape(view: NodeView) -> list[Step]:
    attrs = {"allow_zero": True} if view.attrs.get("allowzero") else {}
    if "shape" in view.attrs:  # operator sets before 5
        return [Step("reshape", [view.operand(0)], {"shape": view.attrs["shape"], **attrs})]
    return _listed(view, "reshape", "shape", attrs)


def expand(view: NodeView) -> list[Step]:
    return _listed(view, "expand", "shape", {})


def tile(view: NodeView) -> list[Step]:
    return _listed(view, "tile", "repeats", {})


def _listed(view: NodeView, op: str, name: str, attrs: dict[str, Any]) -> list[Step]:
    """Operand 1 becomes the attribute `name` if it is constant."""
    known = view.known_ints(1)
    if known is None:
        return [Step(op, [view.operand(0), view.operand(1)], attrs)]
    return [Step(op, [view.operand(0)], {name: known, **attrs})]


def squeeze(view: NodeView) -> list[Step]:
    axes = axes_of(view)
    if axes is None:
        shape = view.operand(0).shape
        if not all(isinstance(dim, int) for dim in shape):
            raise KeepOpaque("which axes have size 1 is known at run time only")
        axes = [axis for axis, dim in enumerate(shape) if dim == 1]
    return [Step("squeeze", [view.operand(0)], {"axes": axes})]


def unsqueeze(view: NodeView) -> list[Step]:
    return [Step("unsqueeze", [view.operand(0)], {"axes": _required(axes_of(view))})]


def axes_of(view: NodeView) -> list[int] | None:
    """The axes from the attribute (older operator sets) or operand 1, None if neither is given."""
    return list(view.attrs["axes"]) if "axes" in view.attrs else view.ints(1)


def _required(axes: list[int] | None) -> list[int]:
    if axes is None:
        raise KeepOpaque("the axes are missing")
    return axes


def slice_attributes(view: NodeView) -> list[Step]:
    """Slice of operator sets before 10."""
    names = ("starts", "ends", "axes")
    return [Step("slice", [view.operand(0)], {name: view.attrs[name] for name in names if name in view.attrs})]


def slice_operands(view: NodeView) -> list[Step]:
    """Slice of operator sets from 10 on: attributes if all the bounds are constant, else operands."""
    names = ("starts", "ends", "axes", "steps")
    known = {name: view.known_ints(index) for index, name in enumerate(names, 1) if view.given(index)}
    if all(value is not None for value in known.values()):
        return [Step("slice", [view.operand(0)], known)]
    if not view.given(3) and view.given(4):  # steps without axes: an operand cannot be left out
        length = view.operand(1).shape[0]
        if not isinstance(length, int):
            raise KeepOpaque("how many axes are sliced is known at run time only")
        dtype = view.operand(1).dtype
        axes = Step("constant", [], {"value": list(range(length))}, [TensorType((length,), dtype)])
        operands: list[MCValue | Step] = [view.operand(0), view.operand(1), view.operand(2), axes, view.operand(4)]
        return [axes, Step("slice", operands)]
    return [Step("slice", view.present())]


def pad_attributes(view: NodeView) -> list[Step]:
    """Pad of operator sets before 11."""
    if view.attrs.get("mode", "constant") != "constant":
        raise KeepOpaque("only a constant border is known")
    attrs = {"pads": view.attrs["pads"], "value": float(view.attrs.get("value", 0.0))}
    return [Step("pad", [view.operand(0)], attrs)]


def pad_operands(view: NodeView) -> list[Step]:
    """Pad from operator set 11 on: attributes where pads and value are constant, else operands."""
    if view.attrs.get("mode", "constant") != "constant":
        raise KeepOpaque("only a constant border is known")
    value = view.constant(2) if view.given(2) else None
    before = _pads_of_all_axes(view) if view.given(3) else []
    operands: list[MCValue | Step] = [view.operand(0), before[-1] if before else view.operand(1)]
    if view.given(2) and value is None:
        return [*before, Step("pad", [*operands, view.operand(2)])]
    attrs = {} if value is None else {"value": float(value.reshape(-1).astype(object)[0])}
    if not view.given(3):
        return _listed(view, "pad", "pads", attrs)
    return [*before, Step("pad", operands, attrs)]


def _pads_of_all_axes(view: NodeView) -> list[Step]:
    """Pads of the axes in operand 3 as pads of all axes: gathered from them, with a zero for the others."""
    given, rank = view.operand(1), len(view.operand(0).shape)
    axes = [axis % rank for axis in view.ints(3) or []]
    count = len(axes)
    places = {axis: at for at, axis in enumerate(axes)}
    order = [places.get(axis, 2 * count) for axis in range(rank)]
    order += [count + places[axis] if axis in places else 2 * count for axis in range(rank)]
    zero = Step("constant", [], {"value": 0}, [TensorType((1,), given.dtype)])
    known = Step("concat", [given, zero], {"axis": 0}, [TensorType((2 * count + 1,), given.dtype)])
    index = Step("constant", [], {"value": order}, [TensorType((2 * rank,), "i64")])
    pads = Step("gather", [known, index], {"axis": 0}, [TensorType((2 * rank,), given.dtype)])
    return [zero, known, index, pads]


def split(view: NodeView) -> list[Step]:
    axis = view.attrs.get("axis", 0)
    sizes = view.attrs.get("split") or view.known_ints(1)
    if sizes is not None:
        return [Step("split", [view.operand(0)], {"axis": axis, "sizes": list(sizes)})]
    return [Step("split", view.present(), {"axis": axis})]


def concat(view: NodeView) -> list[Step]:
    return [Step("concat", view.present(), {"axis": view.attrs.get("axis", 1)})]  # optional before operator set 4


def shape(view: NodeView) -> list[Step]:
    window: dict[str, Any] = {name: view.attrs[name] for name in ("start", "end") if name in view.attrs}
    return [Step("shape", [view.operand(0)], window)]


def size(view: NodeView) -> list[Step]:
    """The number of elements: the product of the sizes."""
    x = view.operand(0)
    sizes = Step("shape", [x], {}, [TensorType((len(x.shape),), "i64")])
    return [sizes, Step("reduce_prod", [sizes], {"axes": [0], "keepdims": False})]


# Tensors out of nothing


def constant_of_shape(view: NodeView) -> list[Step]:
    value: Any = 0.0
    if "value" in view.attrs:
        value = _only_element(view.attrs["value"].t)
    known = view.known_ints(0)
    static = known is not None and known == list(view.result().shape)
    return [Step("full", [] if static else [view.operand(0)], {"value": value})]


def _only_element(tensor: Any) -> bool | int | float:
    """What a tensor of one element holds. Raises KeepOpaque if it is another one, or its data is damaged."""
    from onnx import numpy_helper

    try:
        (value,) = numpy_helper.to_array(tensor).reshape(-1).astype(object)
        return value if isinstance(value, (bool, int)) else float(value)
    except Exception:  # of many types; an opaque node reads the tensor again, and says what is wrong with it
        raise KeepOpaque("the value is no tensor of one element") from None


def trilu(view: NodeView) -> list[Step]:
    attrs: dict[str, Any] = {"upper": bool(view.attrs.get("upper", 1))}
    known = view.known_ints(1) if view.given(1) else [0]
    if known is None:
        return [Step("trilu", [view.operand(0), view.operand(1)], attrs)]
    return [Step("trilu", [view.operand(0)], {"k": known[0], **attrs})]


# Reductions and sums


def reduce(op: str) -> Rule:
    def rule(view: NodeView) -> list[Step]:
        axes = axes_of(view)
        if not axes:
            if view.attrs.get("noop_with_empty_axes"):
                return [Step("identity", [view.operand(0)])]
            axes = list(range(len(view.operand(0).shape)))
        return [Step(op, [view.operand(0)], {"axes": axes, "keepdims": bool(view.attrs.get("keepdims", 1))})]

    return rule


def cumsum(view: NodeView) -> list[Step]:
    axis = view.ints(1)
    flags = {name: True for name in ("exclusive", "reverse") if view.attrs.get(name)}
    return [Step("cumsum", [view.operand(0)], {"axis": _required(axis)[0], **flags})]


# Softmax


def softmax_flattened(op: str) -> Rule:
    """Softmax before operator set 13: over all axes from `axis` on together, as one."""

    def rule(view: NodeView) -> list[Step]:
        x = view.operand(0)
        rank = len(x.shape)
        axis = view.attrs.get("axis", 1)
        axis = axis + rank if axis < 0 else axis
        if axis == rank - 1:
            return [Step(op, [x], {"axis": -1})]
        matrix = TensorType((_product(x.shape[:axis]), _product(x.shape[axis:])), x.dtype)
        flat = Step("flatten", [x], {"axis": axis}, [matrix])
        soft = Step(op, [flat], {"axis": 1}, [matrix])
        if all(isinstance(dim, int) for dim in x.shape):
            return [flat, soft, Step("reshape", [soft], {"shape": list(x.shape), "allow_zero": True})]
        sizes = Step("shape", [x], {}, [TensorType((rank,), "i64")])
        return [flat, soft, sizes, Step("reshape", [soft, sizes], {"allow_zero": True})]

    return rule


def _product(dims: tuple[Dim, ...]) -> Dim:
    return math.prod(dims) if all(isinstance(dim, int) for dim in dims) else None  # type: ignore[arg-type]


# Pointwise with options


def cast(view: NodeView) -> list[Step]:
    to_fp8 = view.result().dtype.startswith("fp8")
    return [Step("cast", [view.operand(0)], {"saturate": True} if to_fp8 and view.attrs.get("saturate", 1) else {})]


def clip_attributes(view: NodeView) -> list[Step]:
    """Clip before operator set 11; the defaults are the limits of fp32, beyond which lie the infinities only."""
    limits = {"min": -3.4028234663852886e38, "max": 3.4028234663852886e38}
    return [Step("clip", [view.operand(0)], {name: view.attrs.get(name, limit) for name, limit in limits.items()})]


def clip_operands(view: NodeView) -> list[Step]:
    """Clip from operator set 11 on: constant bounds of floats become attributes."""
    x = view.operand(0)
    bounds = {"min": 1, "max": 2}
    if DTYPES[x.dtype].kind == "float":
        given = [name for name in bounds if view.given(bounds[name])]
        arrays = {name: view.constant(bounds[name]) for name in given}
        known = {name: float(array.reshape(-1)[0]) for name, array in arrays.items() if array is not None}
        if len(known) == len(given):
            return [Step("clip", [x], known)]
    if view.given(2) and not view.given(1):
        return [Step("min", [x, view.operand(2)])]
    return [Step("clip", view.present())]


def isinf(view: NodeView) -> list[Step]:
    if not view.attrs.get("detect_negative", 1) or not view.attrs.get("detect_positive", 1):
        raise KeepOpaque("one sign only")
    return [Step("isinf", [view.operand(0)])]


def mod(view: NodeView) -> list[Step]:
    return [Step("mod", view.present(), {"fmod": True} if view.attrs.get("fmod") else {})]


def swish(view: NodeView) -> list[Step]:
    """x * sigmoid(alpha * x)"""
    if view.attrs.get("alpha", 1.0) != 1.0:
        raise KeepOpaque("alpha is not 1")
    return [Step("silu", [view.operand(0)])]


def quick_gelu(view: NodeView) -> list[Step]:
    """com.microsoft QuickGelu: x * sigmoid(alpha * x), alpha 1.702 unless given."""
    x = view.operand(0)
    alpha = scalar(view.attrs.get("alpha", 1.7020000219345093), x.dtype)
    scaled = Step("mul", [x, alpha], {}, [x.type])
    gate = Step("sigmoid", [scaled], {}, [x.type])
    return [alpha, scaled, gate, Step("mul", [x, gate])]


def biased_gelu(approximate: str) -> Rule:
    """com.microsoft BiasGelu and FastGelu: the bias is added first."""

    def rule(view: NodeView) -> list[Step]:
        attrs = {"approximate": approximate}
        if not view.given(1):
            return [Step("gelu", [view.operand(0)], attrs)]
        total = Step("add", [view.operand(0), view.operand(1)], {}, [view.result()])
        return [total, Step("gelu", [total], attrs)]

    return rule


# Dropout and norms


def dropout_attributes(view: NodeView) -> list[Step]:
    """Dropout of operator sets 7 to 11: always inference."""
    return [Step("dropout", [view.operand(0)], {"p": view.attrs.get("ratio", 0.5)})]


def dropout_test(view: NodeView) -> list[Step]:
    """Dropout before operator set 7: `is_test` says whether this is inference."""
    if not view.attrs.get("is_test", 0):
        raise KeepOpaque("training")
    return dropout_attributes(view)


def dropout_operands(view: NodeView) -> list[Step]:
    """Dropout from operator set 12 on: training_mode must be absent or constant false."""
    training = view.known_ints(2) if view.given(2) else [0]
    if training != [0]:
        raise KeepOpaque("training")
    ratio = view.constant(1) if view.given(1) else None
    p = 0.5 if ratio is None else float(ratio.reshape(-1)[0])
    return [Step("dropout", [view.operand(0)], {"p": p})]


def norm(op: str) -> Rule:
    """LayerNormalization and RMSNormalization, whose mean and variance are computed in fp32."""

    def rule(view: NodeView) -> list[Step]:
        if view.attrs.get("stash_type", 1) != 1:
            raise KeepOpaque("the mean is not computed in fp32")
        attrs = {"axis": view.attrs.get("axis", -1), "epsilon": view.attrs.get("epsilon", 9.999999747378752e-06)}
        return [Step(op, view.present(), attrs)]

    return rule
