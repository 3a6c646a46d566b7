"""A model of one's own for the tutorial: a block of causal attention, exported both ways that MCIR reads.

python own_model.py            writes block.onnx, block.pt2, block_x.npz (an input) and block_y.npz (PyTorch's output)
python own_model.py y.npz      compares arrays that mcir-run wrote with PyTorch's output

Needs torch and onnxscript.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    """Causal attention of 4 heads over 32 tokens of width 64."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(64, 3 * 64)
        self.out = nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (4, 16)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(attended.transpose(1, 2).flatten(2))


def export() -> None:
    torch.manual_seed(0)
    model, x = Block().eval(), torch.randn(2, 32, 64)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporters warn of themselves
        torch.onnx.export(model, (x,), "block.onnx", dynamo=True, external_data=False, verbose=False)
        torch.export.save(torch.export.export(model, (x,)), "block.pt2")
        np.savez("block_x.npz", x=x.numpy())
        np.savez("block_y.npz", y=model(x).numpy())


def compare(path: str) -> None:
    """Holds the one array of the file against PyTorch's, within what fp32 allows."""
    with np.load(path) as ours, np.load("block_y.npz") as theirs:
        (name,) = ours.files
        difference = float(np.abs(ours[name] - theirs["y"]).max())
    verdict = "equal" if difference <= 1e-5 else "different"
    print(f"{verdict} to PyTorch's output within 1e-5")
    sys.exit(verdict != "equal")


if __name__ == "__main__":
    compare(sys.argv[1]) if sys.argv[1:] else export()
