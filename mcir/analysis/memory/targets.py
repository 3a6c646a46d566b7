"""What one block of threads may use on a target: one table of data, with its sources.

NVIDIA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (maximum shared memory per thread
block, 32-bit registers per thread block, registers per thread, threads per block). AMD: ROCm "AMD GPU specifications"
(LDS and VGPR file per compute unit) and the CDNA 3 and CDNA 4 instruction set guides (a workgroup's LDS; 256
architectural VGPRs a work-item, of which the table keeps NVIDIA's 255 so that one budget serves all).
"""

from __future__ import annotations

from dataclasses import dataclass

from mcir.diagnostics import Diagnostic, MCIRError, did_you_mean

REGISTER_BYTES = 4


@dataclass(frozen=True, slots=True)
class Target:
    """Limits of one block: bytes of shared memory, registers of 4 bytes per thread and per block, threads."""

    name: str
    title: str
    shared_bytes: int
    registers_per_thread: int = 255
    registers_per_block: int = 65536
    threads_per_block: int = 1024

    @property
    def register_bytes(self) -> int:
        """Bytes of registers that a block of as many threads as allowed can name."""
        return REGISTER_BYTES * min(self.registers_per_block, self.registers_per_thread * self.threads_per_block)

    def threads_for(self, register_bytes: int) -> int:
        """The fewest threads whose registers hold `register_bytes`."""
        return -(-register_bytes // (REGISTER_BYTES * self.registers_per_thread))


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("sm_75", "NVIDIA Turing (T4)", 65536),
        Target("sm_80", "NVIDIA Ampere (A100)", 166912),
        Target("sm_86", "NVIDIA Ampere (RTX 30, A10)", 101376),
        Target("sm_89", "NVIDIA Ada (RTX 40, L4, L40)", 101376),
        Target("sm_90", "NVIDIA Hopper (H100, H200)", 232448),
        Target("sm_100", "NVIDIA Blackwell (B200)", 232448),
        Target("sm_120", "NVIDIA Blackwell (RTX 50)", 101376),
        Target("gfx942", "AMD CDNA 3 (MI300X, MI325X)", 65536, registers_per_block=131072),
        Target("gfx950", "AMD CDNA 4 (MI350X, MI355X)", 163840, registers_per_block=131072),
    )
}


def find_target(name: str) -> Target:
    """The target called `name`. Raises MCIRError that lists the known ones."""
    target = TARGETS.get(name)
    if target is None:
        card = next((known for known in TARGETS.values() if name and name.lower() in known.title.lower()), None)
        hint = f"{card.title} is '{card.name}'" if card else did_you_mean(name, TARGETS)
        hint = hint or f"known: {', '.join(TARGETS)}"
        raise MCIRError(Diagnostic(f"unknown target '{name}'", hint=hint, rule="memory.target"))
    return target
