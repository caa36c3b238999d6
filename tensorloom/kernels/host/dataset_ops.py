"""The kernels of datasets: importing their families registers them."""

from __future__ import annotations

from tensorloom.kernels.host.datasets import (
    batching,
    buffering,
    csv,
    examples,
    mapping,
    nesting,
    optimize,
    readers,
    selection,
    shuffle,
    sources,
    windows,
)

_FAMILIES = (
    batching,
    buffering,
    csv,
    examples,
    mapping,
    nesting,
    optimize,
    readers,
    selection,
    shuffle,
    sources,
    windows,
)
