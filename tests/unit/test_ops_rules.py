"""Type rules: what each accepts (and that the NumPy meaning agrees) and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mcir.ops import lookup
from mcir.ops.definition import TypeContext, TypeRuleError
from mcir.ops.rules import broadcast_shapes, compatible, join_dim, shown
from mcir.parser import parse_module
from mcir.verifier import verify_module
from tests.unit.op_harness import inferred, numpy_dtype, run, sample, tensor

# op, operand types, attributes, result types; a list under "c" is the constant value of the operand at that place
ACCEPTED: list[tuple[str, list[str], dict[str, Any], list[str]]] = [
    # pointwise: broadcasting of sizes, names and unknowns
    ("add", ["4x8xfp16", "8xfp16"], {}, ["4x8xfp16"]),
    ("add", ["4x1xfp32", "1x8xfp32"], {}, ["4x8xfp32"]),
    ("add", ["fp32", "0x8xfp32"], {}, ["0x8xfp32"]),
    ("add", ["0x8xfp32", "1x8xfp32"], {}, ["0x8xfp32"]),
    ("add", ["(b)x8xfp16", "1x8xfp16"], {}, ["(b)x8xfp16"]),
    ("add", ["(b)x8xfp16", "(b)x1xfp16"], {}, ["(b)x8xfp16"]),
    ("add", ["(b)x8xfp16", "4x8xfp16"], {}, ["4x8xfp16"]),
    ("add", ["?x8xfp16", "4x8xfp16"], {}, ["4x8xfp16"]),
    ("add", ["(b)x8xfp16", "(c)x8xfp16"], {}, ["?x8xfp16"]),
    ("add", ["(b)x8xfp16", "?x8xfp16"], {}, ["?x8xfp16"]),
    ("neg", ["4xi32"], {}, ["4xi32"]),
    ("isnan", ["2x3xbf16"], {}, ["2x3xi1"]),
    ("equal", ["2x3xi1", "3xi1"], {}, ["2x3xi1"]),
    ("less", ["2x3xi64", "i64"], {}, ["2x3xi1"]),
    ("not", ["2xi1"], {}, ["2xi1"]),
    ("pow", ["2x3xfp16", "i64"], {}, ["2x3xfp16"]),
    ("where", ["4x1xi1", "8xfp16", "fp16"], {}, ["4x8xfp16"]),
    ("clip", ["4x8xfp32", "fp32", "fp32"], {}, ["4x8xfp32"]),
    ("clip", ["4x8xfp32", "fp32"], {"max": 1.0}, ["4x8xfp32"]),
    ("softcap", ["4x8xfp16"], {"cap": 30.0}, ["4x8xfp16"]),
    # matmul as NumPy's
    ("matmul", ["5x4xfp16", "4x7xfp16"], {}, ["5x7xfp16"]),
    ("matmul", ["5x4xfp16", "7x4xfp16"], {"transpose_b": True}, ["5x7xfp16"]),
    ("matmul", ["4x5xfp16", "7x4xfp16"], {"transpose_a": True, "transpose_b": True}, ["5x7xfp16"]),
    ("matmul", ["4xfp32", "4xfp32"], {}, ["fp32"]),
    ("matmul", ["4xfp32", "2x4x7xfp32"], {}, ["2x7xfp32"]),
    ("matmul", ["2x5x4xfp32", "4xfp32"], {}, ["2x5xfp32"]),
    ("matmul", ["2x1x5x4xi32", "3x4x7xi32"], {}, ["2x3x5x7xi32"]),
    ("matmul", ["2x5x0xfp32", "0x7xfp32"], {}, ["2x5x7xfp32"]),
    ("matmul", ["(b)x(q)x4xfp16", "(b)x(d)x(k)xfp16"], {}, ["(b)x(q)x(k)xfp16"]),
    # einsum
    ("einsum", ["2x3x5x4xfp16", "2x3x7x4xfp16"], {"equation": "bhqd,bhkd->bhqk"}, ["2x3x5x7xfp16"]),
    ("einsum", ["2x3x5x4xfp32", "1x7x4xfp32"], {"equation": "...qd, ...kd -> ...qk"}, ["2x3x5x7xfp32"]),
    ("einsum", ["2x3xfp32", "3x4xfp32"], {"equation": "ij,jk"}, ["2x4xfp32"]),
    ("einsum", ["3x2xfp32"], {"equation": "ba"}, ["2x3xfp32"]),
    ("einsum", ["3x3xfp32"], {"equation": "ii"}, ["fp32"]),
    ("einsum", ["3x3xfp32"], {"equation": "ii->i"}, ["3xfp32"]),
    ("einsum", ["5x2x3xfp32"], {"equation": "...ij->...ji"}, ["5x3x2xfp32"]),
    ("einsum", ["2x3xfp32"], {"equation": "ij->"}, ["fp32"]),
    ("einsum", ["(b)x4xfp32", "8x4xfp32"], {"equation": "bi,bi->b"}, ["8xfp32"]),
    # layout
    ("transpose", ["2x3x4xfp16"], {"perm": [2, 0, 1]}, ["4x2x3xfp16"]),
    ("transpose", ["fp16"], {"perm": []}, ["fp16"]),
    ("transpose", ["(b)x3xfp16"], {"perm": [1, 0]}, ["3x(b)xfp16"]),
    ("reshape", ["2x3x8xfp16"], {"shape": [0, -1, 4]}, ["2x6x4xfp16"]),
    ("reshape", ["2x12xfp16"], {"shape": [2, 3, 4]}, ["2x3x4xfp16"]),
    ("reshape", ["0x4xfp16"], {"shape": [0, 2, 2], "allow_zero": True}, ["0x2x2xfp16"]),
    ("reshape", ["1x1xfp16"], {"shape": []}, ["fp16"]),
    ("reshape", ["(b)x(s)x64xfp16"], {"shape": [0, 0, 8, 8]}, ["(b)x(s)x8x8xfp16"]),
    ("reshape", ["(b)x(s)x64xfp16"], {"shape": [0, -1, 8, 8]}, ["(b)x(s)x8x8xfp16"]),
    ("reshape", ["(b)x(s)x64xfp16"], {"shape": [0, 0, -1, 8]}, ["(b)x(s)x8x8xfp16"]),
    ("reshape", ["?x(s)x64xfp16"], {"shape": [0, 0, -1, 8]}, ["?x(s)x8x8xfp16"]),
    ("reshape", ["(b)x(s)x64xfp16"], {"shape": [-1, 64]}, ["?x64xfp16"]),
    ("reshape", ["?x64xfp16"], {"shape": [-1, 8, 8]}, ["?x8x8xfp16"]),
    ("reshape", ["8x?x4xfp16"], {"shape": [-1, 0, 4]}, ["8x?x4xfp16"]),
    ("reshape", ["?x?x4xfp16"], {"shape": [-1, 0, 4]}, ["?x?x4xfp16"]),
    ("reshape", ["(b)x6xfp16"], {"shape": [-1, 4]}, ["?x4xfp16"]),
    ("reshape", ["(b)x(b)x6xfp16"], {"shape": [0, -1, 6]}, ["(b)x(b)x6xfp16"]),
    ("reshape", ["2x3x8xfp16", "3xi64"], {"c": {1: [0, 6, -1]}}, ["2x6x4xfp16"]),
    ("expand", ["3x1xfp16"], {"shape": [2, 1, 4]}, ["2x3x4xfp16"]),
    ("expand", ["3x4xfp16"], {"shape": [1]}, ["3x4xfp16"]),
    ("expand", ["(b)x1xfp16"], {"shape": [1, 4]}, ["(b)x4xfp16"]),
    ("expand", ["3x1xfp16", "2xi64"], {"c": {1: [1, 4]}}, ["3x4xfp16"]),
    ("squeeze", ["2x1x3x1xfp16"], {"axes": [1, -1]}, ["2x3xfp16"]),
    ("squeeze", ["2x?xfp16"], {"axes": [1]}, ["2xfp16"]),
    ("squeeze", ["2x3xfp16"], {"axes": []}, ["2x3xfp16"]),
    ("unsqueeze", ["2x3xfp16"], {"axes": [0, -1]}, ["1x2x3x1xfp16"]),
    ("unsqueeze", ["fp16"], {"axes": [0]}, ["1xfp16"]),
    ("flatten", ["2x3x4xfp16"], {"axis": 2}, ["6x4xfp16"]),
    ("flatten", ["2x3x4xfp16"], {"axis": -1}, ["6x4xfp16"]),
    ("flatten", ["2x3x4xfp16"], {"axis": 0}, ["1x24xfp16"]),
    ("flatten", ["2x3x4xfp16"], {"axis": 3}, ["24x1xfp16"]),
    ("flatten", ["2x0x4xfp16"], {}, ["2x0xfp16"]),
    ("flatten", ["(b)x3x4xfp16"], {}, ["(b)x12xfp16"]),
    ("flatten", ["2x(s)x4xfp16"], {}, ["2x?xfp16"]),
    # pieces
    ("concat", ["2x3xfp16", "2x4xfp16"], {"axis": -1}, ["2x7xfp16"]),
    ("concat", ["2x3xfp16"], {"axis": 0}, ["2x3xfp16"]),
    ("concat", ["(b)x3xfp16", "2x(n)xfp16"], {"axis": 1}, ["2x?xfp16"]),
    ("split", ["2x7xfp16"], {"axis": 1, "sizes": [3, 4]}, ["2x3xfp16", "2x4xfp16"]),
    ("split", ["2x7xfp16"], {"axis": 1, "d": ("2x3xfp16",) * 3}, ["2x3xfp16", "2x3xfp16", "2x1xfp16"]),
    ("split", ["2x7xfp16", "2xi64"], {"axis": -1, "c": {1: [0, 7]}}, ["2x0xfp16", "2x7xfp16"]),
    ("split", ["2x(n)xfp16"], {"axis": 1, "d": ("2x?xfp16",) * 2}, ["2x?xfp16", "2x?xfp16"]),
    ("split", ["2x(n)xfp16", "2xi64"], {"axis": 1}, ["2x?xfp16", "2x?xfp16"]),
    ("slice", ["2x8xfp16"], {"starts": [1], "ends": [7], "axes": [1], "steps": [3]}, ["2x2xfp16"]),
    ("slice", ["5x8xfp16"], {"starts": [1, -3], "ends": [9, -1]}, ["4x2xfp16"]),
    ("slice", ["2x8xfp16"], {"starts": [-1], "ends": [-(2**63)], "axes": [1], "steps": [-1]}, ["2x8xfp16"]),
    ("slice", ["2x8xfp16"], {"starts": [6], "ends": [0], "axes": [-1], "steps": [-2]}, ["2x3xfp16"]),
    ("slice", ["2x8xfp16"], {"starts": [5], "ends": [2], "axes": [1]}, ["2x0xfp16"]),
    ("slice", ["2x(s)xfp16"], {"starts": [0], "ends": [2**63 - 1], "axes": [1]}, ["2x(s)xfp16"]),
    ("slice", ["2x(s)xfp16"], {"starts": [0], "ends": [4], "axes": [1]}, ["2x?xfp16"]),
    ("slice", ["4x8xfp16", "1xi64", "1xi64", "1xi64"], {"c": {1: [2], 2: [6], 3: [1]}}, ["4x4xfp16"]),
    ("slice", ["4x8xfp16", "1xi64", "1xi64", "1xi64"], {"c": {3: [1]}}, ["4x?xfp16"]),
    ("slice", ["4x8xfp16", "1xi64", "1xi64"], {}, ["?x8xfp16"]),
    ("slice", ["4x8xfp16", "1xi64", "1xi64", "1xi64"], {}, ["?x?xfp16"]),
    ("gather", ["4x8xfp16", "2x3xi64"], {"axis": 1}, ["4x2x3xfp16"]),
    ("gather", ["4x8xfp16", "i32"], {}, ["8xfp16"]),
    ("gather_nd", ["2x3x4xfp16", "5x2xi64"], {}, ["5x4xfp16"]),
    ("pad", ["2x3xfp16"], {"pads": [0, 1, 0, -2]}, ["2x2xfp16"]),
    ("pad", ["(n)x3xfp16"], {"pads": [0, 1, 0, 1], "value": 1.5}, ["(n)x5xfp16"]),
    ("pad", ["2x3xfp16", "4xi64"], {}, ["?x?xfp16"]),
    ("gather_nd", ["(n)x3x4xfp16", "(n)x6x1xi64"], {"batch_dims": 1}, ["(n)x6x4xfp16"]),
    ("gather_elements", ["2x3xfp16", "2x7xi64"], {"axis": -1}, ["2x7xfp16"]),
    ("gather", ["4x8xfp16", "(n)xi64"], {"axis": -2}, ["(n)x8xfp16"]),
    ("repeat", ["2x3xfp16"], {"axis": 0, "count": 4}, ["8x3xfp16"]),
    ("repeat", ["2x(n)xfp16"], {"axis": 1, "count": 2}, ["2x?xfp16"]),
    ("repeat", ["2x(n)xfp16"], {"axis": 1, "count": 1}, ["2x(n)xfp16"]),
    ("tile", ["2x3xfp16"], {"repeats": [2, 0]}, ["4x0xfp16"]),
    ("tile", ["2x3xfp16", "2xi64"], {"c": {1: [2, 3]}}, ["4x9xfp16"]),
    ("tile", ["2x3xfp16", "2xi64"], {}, ["?x?xfp16"]),
    # shapes and fills
    ("shape", ["2x(s)x8xfp16"], {}, ["3xi64"]),
    ("shape", ["2x3x8xfp16"], {"start": 1, "end": -1}, ["1xi64"]),
    ("shape", ["2x3x8xfp16"], {"start": 2, "end": 1}, ["0xi64"]),
    ("full", ["2xi64"], {"value": 1.0, "c": {0: [2, 3]}, "d": ("2x3xfp16",)}, ["2x3xfp16"]),
    ("full", ["2xi64"], {"value": True, "d": ("2x3xi1",)}, ["?x?xi1"]),
    ("full", [], {"value": 7, "d": ("2x3xi32",)}, ["2x3xi32"]),
    ("range", ["i64", "i64", "i64"], {"c": {0: 1, 1: 10, 2: 4}}, ["3xi64"]),
    ("range", ["fp32", "fp32", "fp32"], {"c": {0: 1.0, 1: -1.0, 2: -0.5}}, ["4xfp32"]),
    ("range", ["i64", "i64", "i64"], {"c": {0: 5, 1: 5, 2: 1}}, ["0xi64"]),
    ("range", ["i64", "i64", "i64"], {}, ["?xi64"]),
    ("iota", [], {"axis": -1, "d": ("2x3xi64",)}, ["2x3xi64"]),
    ("constant", [], {"value": 1.5, "d": ("2x(s)xfp16",)}, ["2x(s)xfp16"]),
    ("constant", [], {"value": [1, 2, 3], "d": ("3xi8",)}, ["3xi8"]),
    ("constant", [], {"value": [], "d": ("0x3xfp32",)}, ["0x3xfp32"]),
    ("parameter", [], {"d": ("?x3xbf16",)}, ["?x3xbf16"]),
    # reductions
    ("reduce_max", ["2x3x4xfp16"], {"axes": [-1]}, ["2x3x1xfp16"]),
    ("reduce_sum", ["2x3x4xi64"], {"axes": [0, 2], "keepdims": False}, ["3xi64"]),
    ("reduce_mean", ["2x0x4xfp16"], {"axes": [1]}, ["2x1x4xfp16"]),
    ("reduce_prod", ["2x3xfp32"], {"axes": []}, ["2x3xfp32"]),
    ("reduce_min", ["(b)x3xfp16"], {"axes": [1], "keepdims": False}, ["(b)xfp16"]),
    ("cumsum", ["2x3xi32"], {"axis": -2}, ["2x3xi32"]),
    # normalisation and masks
    ("softmax", ["2x3xbf16"], {}, ["2x3xbf16"]),
    ("log_softmax", ["2x3xfp32"], {"axis": 0}, ["2x3xfp32"]),
    ("layer_norm", ["2x3x4xfp16", "3x4xfp16", "4xfp16"], {"axis": 1}, ["2x3x4xfp16"]),
    ("rms_norm", ["2x3x(d)xfp16", "1xfp16"], {}, ["2x3x(d)xfp16"]),
    ("mask", ["2x4x4xfp16"], {"kind": "causal"}, ["2x4x4xfp16"]),
    ("mask", ["2x4x8xfp16"], {"kind": "window", "left": 2, "right": 0, "offset": 4}, ["2x4x8xfp16"]),
    ("mask", ["2x4x8xfp16", "1x8xi1"], {}, ["2x4x8xfp16"]),
    ("mask", ["1x4x8xfp16", "3x1x8xi1"], {}, ["3x4x8xfp16"]),
    ("trilu", ["2x4x8xi1"], {"upper": True, "k": -1}, ["2x4x8xi1"]),
    ("trilu", ["4x8xfp16", "i64"], {}, ["4x8xfp16"]),
]  # fmt: skip

# op, operand types, attributes, a piece of the message
REFUSED: list[tuple[str, list[str], dict[str, Any], str]] = [
    ("add", ["4x8xfp16", "4x7xfp16"], {}, "'lhs' tensor<4x8xfp16> and 'rhs' tensor<4x7xfp16>: 8 against 7"),
    ("add", ["0x8xfp16", "2x8xfp16"], {}, "0 against 2"),
    ("add", ["4xfp16", "4xfp32"], {}, "one element type, got 'lhs' tensor<4xfp16> and 'rhs' tensor<4xfp32>"),
    ("add", ["4xi1", "4xi1"], {}, "takes tensors of numbers"),
    ("neg", ["4xu8"], {}, "signed numbers"),
    ("exp", ["4xi32"], {}, "takes tensors of floats, got 'x' tensor<4xi32>"),
    ("and", ["4xi1", "4xi32"], {}, "booleans"),
    ("not", ["4xi32"], {}, "booleans"),
    ("less", ["4xi1", "4xi1"], {}, "numbers"),
    ("isnan", ["4xi64"], {}, "floats"),
    ("where", ["4xfp16", "4xfp16", "4xfp16"], {}, "booleans (i1), got 'cond'"),
    ("where", ["4xi1", "4xfp16", "4xfp32"], {}, "'x' tensor<4xfp16> and 'y' tensor<4xfp32>"),
    ("where", ["4xi1", "5xfp16", "fp16"], {}, "'cond' tensor<4xi1> and 'x' tensor<5xfp16>: 4 against 5"),
    ("clip", ["4xfp32", "fp32"], {"min": 0.0}, "'min' is given both"),
    ("clip", ["1xfp32", "4xfp32"], {}, "cannot widen 'x' tensor<1xfp32>"),
    ("clip", ["1xfp32", "fp16"], {}, "one element type"),
    ("softcap", ["4xfp16"], {"cap": 0.0}, "above zero, got 0.0"),
    ("softcap", ["4xfp16"], {"cap": float("nan")}, "above zero"),
    ("softcap", ["4xfp16"], {"cap": float("inf")}, "finite"),
    ("cast", ["4xfp16"], {}, "cannot be inferred"),
    ("matmul", ["5x4xfp16", "7x4xfp16"], {}, "contracts 4 with 7: 'lhs' tensor<5x4xfp16> and 'rhs' tensor<7x4xfp16>"),
    ("matmul", ["2x5x4xfp16", "3x4x7xfp16"], {}, "batch axes"),
    ("matmul", ["fp16", "4xfp16"], {}, "an axis to contract in 'lhs' tensor<fp16>"),
    ("matmul", ["4xfp16", "4x2xfp16"], {"transpose_a": True}, "2 axes to transpose in 'lhs' tensor<4xfp16>"),
    ("matmul", ["5x4xi1", "4x7xi1"], {}, "numbers"),
    ("matmul", ["5x4xfp16", "4x7xfp32"], {}, "one element type"),
    ("einsum", ["5x4xfp16", "7x4xfp16"], {"equation": "ij,jk->ik"}, "label 'j' has two sizes (4 is not 7)"),
    ("einsum", ["5x4xfp16"], {"equation": "ij,jk->ik"}, "2 terms for 1 operands"),
    ("einsum", ["5x4xfp16"], {"equation": "ijk->i"}, '"ijk" does not label 2 axes'),
    ("einsum", ["5x4xfp16"], {"equation": "i->i"}, '"i" does not label 2 axes'),
    ("einsum", ["5x4xfp16"], {"equation": "i1->i"}, '"i1" is no list of letters'),
    ("einsum", ["5x4xfp16"], {"equation": "ij->ii"}, "label 'i' of its result is repeated"),
    ("einsum", ["5x4xfp16"], {"equation": "ij->k"}, "label 'k' of its result is in no operand"),
    ("einsum", ["5x4xfp16"], {"equation": "...j->j"}, "drops the '...'"),
    ("einsum", ["2x4xfp16", "3x4xfp16"], {"equation": "...j,...j->..."}, "label '...1' has two sizes (2 against 3)"),
    ("transpose", ["2x3xfp16"], {"perm": [0, 0]}, "perm [0, 0] does not order the axes of 'x' tensor<2x3xfp16>"),
    ("transpose", ["2x3xfp16"], {"perm": [1]}, "does not order"),
    ("reshape", ["2x3xfp16"], {"shape": [4, 2]}, "cannot make 4x2 of 'x' tensor<2x3xfp16>: 8 elements of 6"),
    ("reshape", ["(b)x3x4xfp16"], {"shape": [0, 11]}, "cannot make (b)x11 of"),
    ("reshape", ["2x3xfp16"], {"shape": [4, -1]}, "cannot divide 'x' tensor<2x3xfp16> among 4"),
    ("reshape", ["(b)x6xfp16"], {"shape": [0, 4, -1]}, "cannot divide 'x' tensor<(b)x6xfp16> among (b)x4"),
    ("reshape", ["0x6xfp16"], {"shape": [0, -1]}, "cannot divide"),
    ("reshape", ["2x3xfp16"], {"shape": [-1, -1]}, "negative"),
    ("reshape", ["2x3xfp16"], {"shape": [-2, 3]}, "negative"),
    ("reshape", ["2x3xfp16"], {"shape": [1, 1, 0]}, "size 2 cannot be copied"),
    ("reshape", ["0x3xfp16"], {"shape": [0, -1], "allow_zero": True}, "beside a size of 0"),
    ("reshape", ["2x3xfp16"], {}, "needs 'shape' as operand or as attribute"),
    ("reshape", ["2x3xfp16", "2xi64"], {"shape": [6]}, "'shape' is given both"),
    ("reshape", ["2x3xfp16", "2xfp32"], {}, "integers, got 'shape' tensor<2xfp32>"),
    ("reshape", ["2x3xfp16", "2x1xi64"], {}, "rank 1"),
    ("reshape", ["2x3xfp16", "2xi64"], {"d": ("4x2xfp16",)}, "8 elements of 6"),
    ("reshape", ["2x3xfp16", "99999999999xi64"], {}, "more than 4096 elements"),
    ("expand", ["3x2xfp16"], {"shape": [3, 4]}, "cannot broadcast 'x' tensor<3x2xfp16> with 3x4: 2 against 4"),
    ("expand", ["3x2xfp16"], {"shape": [-1, 2]}, "negative"),
    ("squeeze", ["2x3xfp16"], {"axes": [0]}, "axis 0 of 'x' tensor<2x3xfp16> has size 2, not 1"),
    ("squeeze", ["1x3xfp16"], {"axes": [0, -2]}, "named twice"),
    ("unsqueeze", ["2x3xfp16"], {"axes": [3]}, "axis 3 is out of range for rank 3"),
    ("flatten", ["2x3xfp16"], {"axis": 3}, "out of range"),
    ("concat", ["2x3xfp16", "3x3xfp16"], {"axis": 1}, "'xs[0]' tensor<2x3xfp16> and 'xs[1]' tensor<3x3xfp16>"),
    ("concat", ["2x3xfp16", "3xfp16"], {"axis": 0}, "ranks differ"),
    ("concat", ["2x3xfp16", "2x3xfp32"], {"axis": 0}, "one element type"),
    ("concat", ["fp16"], {"axis": 0}, "out of range for rank 0"),
    ("split", ["2x7xfp16"], {"axis": 1, "sizes": [3, 3]}, "sizes [3, 3] do not add up along axis 1"),
    ("split", ["2x7xfp16"], {"axis": 1, "sizes": [8, -1]}, "do not add up"),
    ("split", ["2x7xfp16", "2xi64"], {"axis": 1, "sizes": [3, 4]}, "'sizes' is given both"),
    ("slice", ["2x8xfp16"], {"starts": [0]}, "'ends' is missing"),
    ("slice", ["2x8xfp16"], {"starts": [0], "ends": [1, 2]}, "different lengths: [1, 2]"),
    ("slice", ["2x8xfp16"], {"starts": [0], "ends": [1], "steps": [0]}, "a step is 0"),
    ("slice", ["2x8xfp16"], {"starts": [0, 0, 0], "ends": [1, 1, 1]}, "axis 2 is out of range for rank 2"),
    ("slice", ["2x8xfp16"], {"starts": [0, 0], "ends": [1, 1], "axes": [1, -1]}, "named twice"),
    ("slice", ["2x8xfp16", "1xi64", "1xi64"], {"axes": [1]}, "attribute 'axes' is one too many"),
    ("slice", ["2x8xfp16", "1xi64"], {}, "'ends' is missing"),
    ("gather", ["4x8xfp16", "2xfp32"], {}, "integers, got 'indices'"),
    ("gather", ["4x8xfp16", "2xi64"], {"axis": 2}, "axis 2 is out of range"),
    ("gather_nd", ["2x3xfp16", "5x3xi64"], {}, "indices of 3 coordinates"),
    ("pad", ["2x3xfp16"], {"pads": [0, 1]}, "2 pads are given"),
    ("pad", ["2x3xfp16"], {"pads": [0, -4, 0, 0]}, "more than there is"),
    ("pad", ["2x3xfp16"], {}, "needs 'pads'"),
    ("gather_nd", ["2x3xfp16", "4x1xi64"], {"batch_dims": 1}, "batch axes"),
    ("gather_nd", ["2x3xfp16", "4x(n)xi64"], {}, "must be known"),
    ("gather_elements", ["2x3xfp16", "2xi64"], {}, "differ in rank"),
    ("repeat", ["4x8xfp16"], {"axis": 0, "count": -1}, "negative"),
    ("tile", ["4x8xfp16"], {"repeats": [2]}, "1 repeats are given for 'x' tensor<4x8xfp16>"),
    ("tile", ["4x8xfp16"], {"repeats": [2, -1]}, "negative"),
    ("full", ["2xi64"], {"value": 1.0, "c": {0: [2, -3]}, "d": ("?x?xfp16",)}, "negative"),
    ("full", [], {"value": 1.0, "d": ("?x2xfp16",)}, "has no size"),
    ("full", [], {"value": 1.5, "d": ("2xi64",)}, "an element of i64 is an integer"),
    ("range", ["i64", "i64", "i32"], {}, "one element type"),
    ("range", ["i64", "1xi64", "i64"], {}, "rank 0"),
    ("range", ["i64", "i64", "i64"], {"c": {2: 0}}, "delta is 0"),
    ("iota", [], {"axis": 2, "d": ("2x3xi64",)}, "axis 2 is out of range for rank 2"),
    ("iota", [], {"axis": 0, "d": ("2xi1",)}, "gives a tensor of numbers"),
    ("iota", [], {"axis": 0, "d": ("?xi64",)}, "has no size"),
    ("constant", [], {"value": [1.0, 2.0], "d": ("3xfp32",)}, "2 elements are given for tensor<3xfp32>"),
    ("constant", [], {"value": [1.0], "d": ("(n)xfp32",)}, "1 elements"),
    ("constant", [], {"value": 1, "d": ("3xi1",)}, "an element of i1 is true or false, not 1"),
    ("constant", [], {"value": True, "d": ("3xfp32",)}, "an element of fp32 is a number, not true"),
    ("constant", [], {"value": 300, "d": ("3xu8",)}, "an integer from 0 to 255, not 300"),
    ("constant", [], {"value": [[1.0]], "d": ("1xfp32",)}, "not [1.0]"),
    ("constant", [], {"value": 10**5000, "d": ("1xfp32",)}, "an element of fp32 is a number, not 0x"),
    ("constant", [], {"value": "x", "d": ("1xfp32",)}, 'not "x"'),
    ("reduce_max", ["2x3xfp16"], {"axes": [2]}, "out of range"),
    ("reduce_sum", ["2x3xfp16"], {"axes": [1, -1]}, "named twice"),
    ("reduce_sum", ["2x3xi1"], {"axes": [1]}, "numbers"),
    ("cumsum", ["2x3xfp16"], {"axis": 2}, "out of range"),
    ("softmax", ["2x3xi32"], {}, "floats"),
    ("softmax", ["fp16"], {}, "axis -1 is out of range for rank 0"),
    ("softmax", ["2xfp16"], {"axis": 10**5000}, "axis 0x"),
    ("layer_norm", ["2x3x4xfp16", "3xfp16"], {}, "4 is normalised, which the operand does not fit"),
    ("layer_norm", ["2x1xfp16", "4xfp16"], {}, "does not fit"),
    ("layer_norm", ["2x4xfp16", "2x4xfp16"], {}, "does not fit"),
    ("rms_norm", ["2x4xfp16", "4xfp32"], {}, "one element type"),
    ("mask", ["2x4x8xfp16"], {}, "kind \"boolean\" needs the operand 'keep'"),
    ("mask", ["2x4x8xfp16", "8xi1"], {"kind": "causal", "offset": 0}, "takes no operand"),
    ("mask", ["2x4x8xfp16", "8xfp16"], {}, "booleans"),
    ("mask", ["8xfp16"], {"kind": "causal"}, "a row and a column axis"),
    ("mask", ["4x8xfp16"], {"kind": "causal"}, "not square, so 'offset' must be written"),
    ("mask", ["4x4xfp16"], {"kind": "window", "left": -2}, "left is -2"),
    ("mask", ["4x4xfp16"], {"kind": "causal", "right": 2}, "has no 'right'"),
    ("mask", ["4x4xfp16", "4xi1"], {"offset": 0}, "has no 'offset'"),
    ("mask", ["4x4xfp16"], {"kind": "causal", "fill": float("nan")}, "NaN"),
    ("trilu", ["4xfp16"], {}, "a row and a column axis"),
    ("trilu", ["4x4xfp16", "fp32"], {}, "integers"),
    ("trilu", ["4x4xfp16", "i64"], {"k": 1}, "'k' is given both"),
]  # fmt: skip


def _call(name: str, operands: list[str], attrs: dict[str, Any]) -> list[str]:
    attrs = dict(attrs)
    return inferred(name, *operands, declared=attrs.pop("d", ()), constants=attrs.pop("c", None), **attrs)


def _row_id(row: tuple[str, list[str], dict[str, Any], Any]) -> str:
    return f"{row[0]}-{','.join(row[1])}-{shown(list(row[2].values()))}"


@pytest.mark.parametrize("row", ACCEPTED, ids=_row_id)
def test_rule_gives_the_type(row: tuple[str, list[str], dict[str, Any], list[str]]) -> None:
    name, operands, attrs, results = row
    assert _call(name, operands, attrs) == results


STATIC = [
    row for row in ACCEPTED
    if row[0] != "parameter" and all(tensor(text).is_static() for text in row[1] + row[3])
]  # fmt: skip


@pytest.mark.parametrize("row", STATIC, ids=_row_id)
def test_meaning_has_the_type_that_the_rule_gives(row: tuple[str, list[str], dict[str, Any], list[str]]) -> None:
    """One table for both: shape and element type of the NumPy result are those of the rule."""
    name, operands, attrs, results = row
    attrs = dict(attrs)
    attrs.pop("d", None)
    constants = attrs.pop("c", {})
    arrays = [sample(tensor(text)) for text in operands]
    for at, value in constants.items():
        arrays[at] = np.asarray(value, dtype=numpy_dtype(tensor(operands[at]).dtype))
    out = run(name, *arrays, result=results, **attrs)
    for array, text in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
        assert isinstance(array, np.ndarray)
        assert array.shape == tensor(text).shape
        assert array.dtype == numpy_dtype(tensor(text).dtype)


@pytest.mark.parametrize("row", REFUSED, ids=_row_id)
def test_rule_refuses(row: tuple[str, list[str], dict[str, Any], str]) -> None:
    name, operands, attrs, message = row
    with pytest.raises(TypeRuleError) as caught:
        _call(name, operands, attrs)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("op", "written", "hint"),
    [
        ("reshape", "3x2xfp16", "write {shape = [3, 2]}"),
        ("expand", "4x2x3xfp16", "write {shape = [4, 2, 3]}"),
        ("reshape", "fp16", "write {shape = []}"),
        ("reshape", "3x(n)xfp16", ""),
        ("reshape", "?x2xfp16", ""),
        ("reshape", "0x2xfp16", ""),
    ],
)
def test_a_missing_shape_is_read_off_the_result_type(op: str, written: str, hint: str) -> None:
    text = f"graph @g(%x: tensor<2x3xfp16>) {{\n  %y = {op} %x : tensor<{written}>\n  return %y\n}}\n"
    (fault,) = verify_module(parse_module(text))
    assert "needs 'shape' as operand or as attribute" in fault.message and fault.hint == hint
    if hint:
        mended = text.replace("%x :", f"%x {hint.removeprefix('write ')} :")
        assert not any("needs 'shape'" in fault.message for fault in verify_module(parse_module(mended)))


def test_wrong_transposition_is_hinted() -> None:
    with pytest.raises(TypeRuleError) as caught:
        inferred("matmul", "5x4xfp16", "7x4xfp16")
    assert caught.value.hint == "transpose_b = true would fit"
    with pytest.raises(TypeRuleError) as caught:
        inferred("matmul", "5x4xfp16", "4x7xfp16", transpose_b=True)
    assert caught.value.hint == "transpose_b = false would fit"


def test_an_invalid_constant_operand_is_taken_as_unknown() -> None:
    assert inferred("reshape", "2x3xfp16", "2xi64", constants={1: ["x", 1.5]}) == ["?x?xfp16"]
    assert inferred("range", "fp32", "fp32", "fp32", constants={0: 0.0, 1: float("inf"), 2: 1.0}) == ["?xfp32"]


def test_sizes_beyond_machine_integers_are_no_trouble() -> None:
    huge = 2 * 10**19
    assert inferred("slice", f"{huge}xfp16", starts=[0], ends=[-1]) == [f"{huge - 1}xfp16"]
    assert inferred("repeat", f"{huge}xfp16", axis=0, count=3) == [f"{3 * huge}xfp16"]


def test_result_keeps_the_residency_of_the_first_operand_that_is_not_global() -> None:
    op = lookup("add")
    assert op is not None
    operands = [tensor("1x8xfp32"), tensor("4x8xfp32@register")]
    (result,) = op.infer(TypeContext(op, operands, op.attributes({}), []))
    assert result == tensor("4x8xfp32@register")


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (3, 3, 3), (3, "n", 3), ("n", 3, 3), (None, 3, 3), ("n", None, "n"), (None, "n", "n"), ("n", "m", "n"),
        (None, None, None),
    ],
)  # fmt: skip
def test_join_dim_takes_the_more_precise(left: Any, right: Any, joined: Any) -> None:
    assert join_dim(left, right) == joined


def test_join_dim_refuses_two_sizes() -> None:
    with pytest.raises(ValueError, match="1 is not 3"):
        join_dim(1, 3)


def test_broadcast_shapes_equals_numpy_on_all_small_static_shapes() -> None:
    shapes = [(), *[(a,) for a in range(4)], *[(a, b) for a in range(4) for b in range(4)]]
    for left in shapes:
        for right in shapes:
            try:
                expected = np.broadcast_shapes(left, right)
            except ValueError:
                with pytest.raises(ValueError, match="against"):
                    broadcast_shapes(left, right)
            else:
                assert broadcast_shapes(left, right) == expected


@pytest.mark.parametrize(
    ("inferred_type", "declared", "answer"),
    [
        ("4x8xfp16", "4x8xfp16", True), ("4x8xfp16", "4x8xfp16@shared", True), ("4x8xfp16", "(b)x?xfp16", True),
        ("?x(n)xfp16", "4x8xfp16", True), ("(a)xfp16", "(b)xfp16", True), ("4x8xfp16", "4x9xfp16", False),
        ("4x8xfp16", "4x8xfp32", False), ("4x8xfp16", "32xfp16", False), ("fp16", "1xfp16", False),
    ],
)  # fmt: skip
def test_compatible(inferred_type: str, declared: str, answer: bool) -> None:
    assert compatible(tensor(inferred_type), tensor(declared)) is answer
