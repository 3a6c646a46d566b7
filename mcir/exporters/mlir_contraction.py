"""matmul, einsum and softmax in MLIR: sums in f32 (f64 for fp64), rounded once to the declared type."""

from __future__ import annotations

from mcir.exporters.mlir_linalg import Lowering, Typed, index_map, lowering, structured
from mcir.exporters.mlir_scalar import Body, accumulator, element, is_float
from mcir.exporters.mlir_text import integers, tensor_type
from mcir.nodes import MCNode
from mcir.ops.contraction import parse_equation
from mcir.types import TensorType


def contraction(scope: Lowering, node: MCNode, terms: list[list[str]], output: list[str], name: str) -> bool:
    """A sum of products over the labels that `output` lacks; a label "" is a broadcast axis of size one."""
    result, dtype = node.outputs[0], node.outputs[0].dtype
    labels = [*output, *dict.fromkeys(label for term in terms for label in term if label and label not in output)]
    wide = accumulator(dtype)
    total = TensorType(result.shape, _dtype_of(wide, dtype))
    zero = scope.scalar(0, wide)
    filled = (scope.writer.fresh(f"{node.name}_zero"), tensor_type(total))
    _fill(scope, zero, scope.empty(total, node.name), filled)
    maps = [index_map(len(labels), [f"d{labels.index(label)}" if label else "0" for label in term]) for term in terms]
    maps.append(index_map(len(labels), [f"d{at}" for at in range(len(output))]))
    iterators = ["parallel"] * len(output) + ["reduction"] * (len(labels) - len(output))

    def body(inner: Body, arguments: list[Typed]) -> Typed:
        *factors, sum_ = arguments
        times, plus = ("arith.mulf", "arith.addf") if is_float(dtype) else ("arith.muli", "arith.addi")
        product, *others = [inner.widened(factor, wide) for factor in factors]
        for other in others:
            product = inner.op(times, [product, other])
        return inner.op(plus, [sum_, product])

    operands = [scope.operand(value) for value in node.inputs]
    narrow = wide != element(dtype)
    made = scope.writer.fresh(f"{node.name}_wide") if narrow else scope.bind(result)
    attributes = None if narrow else scope.names(node)
    sums = structured(scope, name, operands, filled, made, maps, iterators, body, attributes)
    if narrow:
        _round(scope, node, sums)
    return True


def _dtype_of(wide: str, dtype: str) -> str:
    return {"f32": "fp32", "f64": "fp64"}.get(wide, dtype)


def _fill(scope: Lowering, value: Typed, init: Typed, result: Typed) -> None:
    writer = scope.writer
    arguments = [(writer.fresh("e"), value[1]) for _ in range(2)]
    writer.open("linalg.fill", [value, init], [result], arguments, {"operandSegmentSizes": integers([1, 1], "i32")})
    writer.op("linalg.yield", arguments[:1], [])
    writer.close([value, init], [result])


def _round(scope: Lowering, node: MCNode, wide: Typed) -> None:
    """The result of `node` from its value in the type that it was computed in."""
    result = node.outputs[0]
    rank = len(result.shape)
    straight = index_map(rank, [f"d{at}" for at in range(rank)])
    init = scope.empty(result.type, node.name)
    structured(
        scope, "linalg.generic", [wide], init, scope.bind(result), [straight] * 2, ["parallel"] * rank,
        lambda inner, arguments: inner.rounded(arguments[0], result.dtype), scope.names(node),
    )  # fmt: skip


@lowering("matmul")
def matmul(scope: Lowering, node: MCNode) -> bool:
    """`linalg.matmul` or `linalg.batch_matmul` where it is just that, else `linalg.generic`."""
    if node.outputs[0].dtype.startswith("fp8") or node.outputs[0].dtype == "i1":
        return False
    left, right = (list(value.shape) for value in node.inputs)
    flags = [node.attrs.get(flag, False) for flag in ("transpose_a", "transpose_b")]
    terms = [["m", "k"] if len(left) > 1 else ["k"], ["k", "n"] if len(right) > 1 else ["k"]]
    terms = [term[::-1] if flag else term for term, flag in zip(terms, flags, strict=True)]
    rank = len(node.outputs[0].shape) - (len(left) > 1) - (len(right) > 1)
    batch = [f"b{at}" for at in range(rank)]
    full = node.outputs[0].shape[:rank]
    for at, shape in enumerate((left, right)):
        own = shape[: max(0, len(shape) - 2)]
        axes = list(zip(own, batch[rank - len(own) :], full[rank - len(own) :], strict=True))
        terms[at] = ["" if size == 1 != whole else label for size, label, whole in axes] + terms[at]
    output = [*batch, *(["m"] if len(left) > 1 else []), *(["n"] if len(right) > 1 else [])]
    return contraction(scope, node, terms, output, _contraction_name(terms))


def _contraction_name(terms: list[list[str]]) -> str:
    named = {"mk,kn": "linalg.matmul", "b0mk,b0kn": "linalg.batch_matmul"}
    return named.get(",".join("".join(term) if "" not in term else "?" for term in terms), "linalg.generic")


@lowering("einsum")
def einsum(scope: Lowering, node: MCNode) -> bool:
    """Of two operands: of more, the order of multiplication is not said."""
    equation = node.attrs["equation"]
    if len(node.inputs) != 2 or "." in equation or node.outputs[0].dtype.startswith("fp8"):
        return False
    terms, output = parse_equation(equation, [len(value.shape) for value in node.inputs])
    return node.outputs[0].dtype != "i1" and contraction(scope, node, terms, output, "linalg.generic")


@lowering("softmax")
def softmax(scope: Lowering, node: MCNode) -> bool:
    """`linalg.softmax`, in f32 for narrower floats."""
    x, result = node.inputs[0], node.outputs[0]
    dtype = result.dtype
    if dtype.startswith("fp8") or x.type != result.type or 0 in result.shape:
        return False
    wide = TensorType(result.shape, _dtype_of(accumulator(dtype), dtype))
    operand = scope.operand(x)
    narrow = wide.dtype != dtype
    if narrow:
        operand = _widen(scope, node, operand, wide)
    axis = node.attrs.get("axis", -1) % len(result.shape)
    init = scope.empty(wide, node.name)
    made = (scope.writer.fresh(f"{node.name}_wide") if narrow else scope.bind(result), init[1])
    names = None if narrow else scope.names(node)
    scope.writer.op("linalg.softmax", [operand, init], [made], {"dimension": f"{axis} : i64"}, names)
    if narrow:
        _round(scope, node, made)
    return True


def _widen(scope: Lowering, node: MCNode, value: Typed, wide: TensorType) -> Typed:
    rank = len(wide.shape)
    straight = index_map(rank, [f"d{at}" for at in range(rank)])
    init = scope.empty(wide, node.name)
    return structured(
        scope, "linalg.generic", [value], init, scope.writer.fresh(f"{node.name}_in"), [straight] * 2,
        ["parallel"] * rank, lambda inner, arguments: inner.widened(arguments[0], element(wide.dtype)), None,
    )  # fmt: skip
