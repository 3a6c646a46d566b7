"""Attention found in a plain list of operator records: how another framework's graph arrives.

The records may stand in any order; shapes and element types stand with the results.
"""

from mcir import detect_attention_pattern


def tensor(name: str, columns: int) -> dict[str, object]:
    """A value as such a list may describe it."""
    return {"name": name, "shape": [2, 128, columns], "dtype": "fp16"}


q, k, v, o = (tensor(name, columns=64) for name in "qkvo")
s, p = (tensor(name, columns=128) for name in "sp")
operators = [
    {"name": "context", "op": "matmul", "inputs": [p, v], "outputs": [o]},
    {"name": "weights", "op": "softmax", "inputs": [s], "outputs": [p], "attrs": {"axis": -1}},
    {"name": "scores", "op": "matmul", "inputs": [q, k], "outputs": [s], "attrs": {"transpose_b": True}},
]

for region in detect_attention_pattern(operators):
    print(region.name, "covers", ", ".join(region.attrs["nodes"]))
    print("  Q, K, V:", region.attrs["q_name"], region.attrs["k_name"], region.attrs["v_name"])
