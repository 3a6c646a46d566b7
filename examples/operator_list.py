"""Attention found in a plain list of operator records: how another framework's graph arrives.

The records may stand in any order; shapes and element types stand with the results.
"""

from mcir import detect_attention_pattern

data, scores = ([2, 128, 64], "fp16"), ([2, 128, 128], "fp16")
q, k, v, s, p, o = (
    {"name": name, "shape": shape, "dtype": dtype}
    for name, (shape, dtype) in zip(["q", "k", "v", "s", "p", "o"], [data, data, data, scores, scores, data], strict=True)
)
operators = [
    {"name": "context", "op": "matmul", "inputs": [p, v], "outputs": [o]},
    {"name": "weights", "op": "softmax", "inputs": [s], "outputs": [p], "attrs": {"axis": -1}},
    {"name": "scores", "op": "matmul", "inputs": [q, k], "outputs": [s], "attrs": {"transpose_b": True}},
]

for region in detect_attention_pattern(operators):
    print(region.name, "covers", ", ".join(region.attrs["nodes"]))
    print("  Q, K, V:", region.attrs["q_name"], region.attrs["k_name"], region.attrs["v_name"])
