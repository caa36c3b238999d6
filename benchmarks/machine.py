"""The machine of a run: what figures of two runs may differ by."""

from __future__ import annotations

import os

from tensorloom.kernels.torch.linalg import processor

# The sets for arithmetic, as Linux names them, from the narrowest.
_INSTRUCTION_SETS = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx512bw",
    "avx512dq",
    "avx512vl",
    "avx512_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "avx_vnni",
    "amx_tile",
    "amx_int8",
    "amx_bf16",
    "asimd",
    "asimddp",
    "sve",
    "sve2",
)


def description(about: dict[str, str], cores: int, load: float) -> str:
    """One line of the processor's model and instruction sets, cores and load.

    `about`: as of `processor.description`; `load`: processes that run or want to.
    """
    flags = set(about.get("flags", about.get("Features", "")).split())
    sets = [name for name in _INSTRUCTION_SETS if name in flags]
    model = about.get("model name", "unknown processor")
    return (
        f"{model}, {cores} cores, load {load:.1f}; "
        f"{', '.join(sets) or 'instruction sets unknown'}"
    )


def this_machine() -> str:
    """The description of the machine that runs this process."""
    cores = len(os.sched_getaffinity(0))
    return description(processor.description(), cores, os.getloadavg()[0])
