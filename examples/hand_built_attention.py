"""Milestone A of the design note: an attention module built by hand, checked and printed.

`mcir/samples.py` shows how the builder puts it together.
"""

from mcir import build_attention_module, dump_module, print_module, verify_module

module = build_attention_module()
assert verify_module(module) == []  # no errors, no warnings
print(print_module(module))
print(dump_module(module), end="")
