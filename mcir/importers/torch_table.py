"""Which torch operator is which MCIR operation: one row per operator.

An operator is named with its overload ("aten.view.dtype") where only that one is meant, else without
("aten.add": all of them).
"""

from __future__ import annotations

from dataclasses import dataclass

from mcir.importers import torch_access as access
from mcir.importers import torch_create as create
from mcir.importers import torch_layout as layout
from mcir.importers import torch_math as maths
from mcir.importers.call import Rule
from mcir.importers.torch_attention import attention


@dataclass(frozen=True, slots=True)
class Row:
    """An operator that has an exact equivalent.

    results: how many results it may have; a call of which more are read is opaque (0: any number).
    """

    name: str
    rule: Rule
    results: int = 1


# torch operator -> MCIR operation on the operand in the result's element type.
_UNARY = {
    "abs": "abs", "ceil": "ceil", "cos": "cos", "erf": "erf", "exp": "exp", "floor": "floor", "log": "log",
    "neg": "neg", "reciprocal": "reciprocal", "relu": "relu", "round.default": "round", "sigmoid": "sigmoid",
    "sign": "sign", "silu": "silu", "sin": "sin", "sqrt": "sqrt", "tanh": "tanh",
}  # fmt: skip

_BINARY = {
    "max.other": "max", "maximum": "max", "min.other": "min", "minimum": "min", "mul": "mul", "remainder": "mod",
}  # fmt: skip

_COMPARISONS = {
    "eq": "equal", "ge": "greater_equal", "gt": "greater", "le": "less_equal", "lt": "less", "ne": "not_equal",
}  # fmt: skip

_LOGICAL = {"and": "and", "not": "not", "or": "or", "xor": "xor"}

# How operators on bits are called: as functions, and as Python's operators.
_BITWISE = ("bitwise_{}", "__{}__")

# Nothing changes but, perhaps, the element type, the place in memory or who may write.
_SAME = (
    "_to_copy", "alias", "clone", "contiguous", "detach", "lift", "lift_fresh", "lift_fresh_copy", "positive",
    "resolve_conj", "resolve_neg", "to", "type_as",
)  # fmt: skip

# Views whose result says all -> the argument that lists its sizes.
_RESHAPES = {
    "_unsafe_view": "size", "flatten.using_ints": "", "reshape": "shape", "reshape_as": "", "unflatten.int": "",
    "view.default": "size", "view_as": "",
}  # fmt: skip

_REDUCTIONS = {
    "amax": "reduce_max", "amin": "reduce_min", "max.default": "reduce_max", "max.dim": "reduce_max",
    "mean.default": "reduce_mean", "mean.dim": "reduce_mean", "min.default": "reduce_min", "min.dim": "reduce_min",
    "prod.default": "reduce_prod", "prod.dim_int": "reduce_prod", "sum.default": "reduce_sum",
    "sum.dim_IntList": "reduce_sum",
}  # fmt: skip

# Filled tensors -> (the argument that lists the sizes, "" for those of the operand; the number).
_FILLED = {
    "fill.Scalar": ("", create.given("value")), "full": ("size", create.given("fill_value")),
    "full_like": ("", create.given("fill_value")), "new_full": ("size", create.given("fill_value")),
    "new_ones": ("size", lambda call: 1), "new_zeros": ("size", lambda call: 0), "ones": ("size", lambda call: 1),
    "ones_like": ("", lambda call: 1), "zeros": ("size", lambda call: 0), "zeros_like": ("", lambda call: 0),
}  # fmt: skip

# Python's operators on sizes.
_SIZES = {"add": "add", "mod": "mod", "mul": "mul", "sub": "sub"}

ROWS: tuple[Row, ...] = (
    # pointwise
    *(Row(f"aten.{name}", maths.unary(op)) for name, op in _UNARY.items()),
    *(Row(f"aten.{name}", maths.binary(op)) for name, op in _BINARY.items()),
    *(Row(f"aten.{name}", maths.compare(op)) for name, op in _COMPARISONS.items()),
    *(Row(f"aten.logical_{name}", maths.logical(op)) for name, op in _LOGICAL.items()),
    *(Row(f"aten.{form.format(name)}", maths.bitwise(op)) for name, op in _LOGICAL.items() for form in _BITWISE),
    *(Row(f"aten.{name}", maths.same) for name in _SAME),
    Row("aten.add", maths.scaled_sum("add")),
    Row("aten.clamp", maths.clamp("min", "max")),
    Row("aten.clamp_max", maths.clamp("", "max")),
    Row("aten.clamp_min", maths.clamp("min", "")),
    Row("aten.div", maths.divide),
    Row("aten.dropout", maths.dropout),
    Row("aten.elu", maths.elu),
    Row("aten.floor_divide", maths.floor_divide),
    Row("aten.fmod", maths.binary("mod", fmod=True)),
    Row("aten.gelu", maths.gelu),
    Row("aten.hardtanh", maths.clamp("min_val", "max_val")),
    Row("aten.isinf", maths.question("isinf")),
    Row("aten.isnan", maths.question("isnan")),
    Row("aten.masked_fill", maths.masked_fill),
    Row("aten.native_dropout", maths.dropout),
    Row("aten.pow", maths.power),
    Row("aten.rsqrt", maths.rsqrt),
    Row("aten.rsub", maths.reversed_sub),
    Row("aten.softplus", maths.softplus),
    Row("aten.square", maths.square),
    Row("aten.sub", maths.scaled_sum("sub")),
    Row("aten.where.Scalar", maths.where),
    Row("aten.where.ScalarOther", maths.where),
    Row("aten.where.ScalarSelf", maths.where),
    Row("aten.where.self", maths.where),
    # products
    Row("aten.addmm", maths.added_product("mat1", "mat2")),
    Row("aten.addmv", maths.added_product("mat", "vec")),
    Row("aten.baddbmm", maths.added_product("batch1", "batch2")),
    Row("aten.bmm", maths.matmul("self", "mat2")),
    Row("aten.dot", maths.matmul("self", "tensor")),
    Row("aten.einsum", maths.einsum),
    Row("aten.linear", maths.linear),
    Row("aten.matmul", maths.matmul("self", "other")),
    Row("aten.mm", maths.matmul("self", "mat2")),
    Row("aten.mv", maths.matmul("self", "vec")),
    # reductions, softmax, norms
    *(Row(f"aten.{name}", maths.reduce(op)) for name, op in _REDUCTIONS.items()),
    Row("aten.all", maths.reduce("reduce_min", "i1")),
    Row("aten.any", maths.reduce("reduce_max", "i1")),
    Row("aten.cumsum", maths.cumsum),
    Row("aten.logsumexp", maths.log_sum_exp),
    Row("aten.var", maths.variance),
    Row("aten._log_softmax", maths.softmax("log_softmax")),
    Row("aten._safe_softmax", maths.safe_softmax),
    Row("aten._softmax", maths.softmax("softmax")),
    Row("aten.log_softmax", maths.softmax("log_softmax")),
    Row("aten.softmax", maths.softmax("softmax")),
    Row("aten._fused_rms_norm", maths.rms_norm),
    Row("aten.layer_norm", maths.layer_norm),
    Row("aten.native_layer_norm", maths.layer_norm),
    Row("aten.rms_norm", maths.rms_norm),
    # views
    *(Row(f"aten.{name}", layout.reshape(sizes)) for name, sizes in _RESHAPES.items()),
    Row("aten.expand", layout.expand),
    Row("aten.expand_as", layout.expand_as),
    Row("aten.mT", layout.transposed_matrix),
    Row("aten.movedim", layout.move_axes),
    Row("aten.permute", layout.permute),
    Row("aten.squeeze", layout.squeeze),
    Row("aten.swapaxes", layout.transpose("axis0", "axis1")),
    Row("aten.t", layout.transposed_matrix),
    Row("aten.transpose.int", layout.transpose()),
    Row("aten.unsqueeze", layout.unsqueeze),
    # joins, cuts, repeats
    Row("aten.cat", layout.concat),
    Row("aten.chunk", layout.split, results=0),
    Row("aten.constant_pad_nd", layout.pad),
    Row("aten.copy", access.copy),
    Row("aten.flip", layout.flip),
    Row("aten.narrow", layout.narrow),
    Row("aten.pad", layout.pad),
    Row("aten.repeat", layout.tile("repeats")),
    Row("aten.repeat_interleave.self_int", layout.repeat_each),
    Row("aten.roll", layout.roll),
    Row("aten.select.int", layout.select),
    Row("aten.select_scatter", access.select_scatter),
    Row("aten.slice.Tensor", layout.slice_axis),
    Row("aten.slice_scatter", access.slice_scatter),
    Row("aten.split", layout.split, results=0),
    Row("aten.split_with_sizes", layout.split, results=0),
    Row("aten.stack", layout.stack),
    Row("aten.tile", layout.tile("dims")),
    Row("aten.unbind.int", layout.unbind, results=0),
    # reads at indices
    Row("aten.embedding", access.gather("weight", "indices")),
    Row("aten.gather", access.gather_elements),
    Row("aten.index.Tensor", access.index),
    Row("aten.index_select", access.gather("self", "index", "dim")),
    # tensors out of nothing, and sizes
    *(Row(f"aten.{name}", create.filled(value, sizes)) for name, (sizes, value) in _FILLED.items()),
    Row("aten.arange", create.arange),
    Row("aten.scalar_tensor", create.scalar_tensor),
    Row("aten.tril", create.triangle(upper=False)),
    Row("aten.triu", create.triangle(upper=True)),
    *(Row(f"operator.{name}", create.size_arithmetic(op)) for name, op in _SIZES.items()),
    Row("operator.floordiv", create.size_quotient),
    Row("aten.sym_size.int", create.size_of_axis),
    Row("aten.sym_numel", create.size_of_all),
    Row("torch.sym_max", create.size_arithmetic("max")),
    Row("torch.sym_min", create.size_arithmetic("min")),
    # attention, taken as what it is defined to be
    Row("aten.scaled_dot_product_attention", attention),
    Row("aten._scaled_dot_product_attention_math", attention),
    Row("aten._scaled_dot_product_flash_attention_for_cpu", attention),
)

_BY_NAME = {row.name: row for row in ROWS}


def find_row(operator: str) -> Row | None:
    """The row of an operator with its overload ("aten.add.Tensor"), or None: it is opaque."""
    return _BY_NAME.get(operator) or _BY_NAME.get(operator.rpartition(".")[0])
