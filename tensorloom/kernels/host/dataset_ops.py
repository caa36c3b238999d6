"""The kernels of datasets: importing their families registers them."""

from __future__ import annotations

from tensorloom.kernels.host.datasets import (
    batching,
    buffering,
    csv,
    mapping,
    nesting,
    optimize,
    readers,
    selection,
    shuffle,
    sources,
)

_FAMILIES = (
    batching,
    buffering,
    csv,
    mapping,
    nesting,
    optimize,
    readers,
    selection,
    shuffle,
    sources,
)
