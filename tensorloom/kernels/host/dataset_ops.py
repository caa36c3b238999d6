"""The kernels of datasets: importing their families registers them."""

from __future__ import annotations

from tensorloom.kernels.host.datasets import (
    batching,
    buffering,
    choices,
    csv,
    databases,
    examples,
    filtering,
    mapping,
    nesting,
    optimize,
    readers,
    selection,
    shuffle,
    sources,
    statistics,
    stored,
    windows,
)

_FAMILIES = (
    batching,
    buffering,
    choices,
    csv,
    databases,
    examples,
    filtering,
    mapping,
    nesting,
    optimize,
    readers,
    selection,
    shuffle,
    sources,
    statistics,
    stored,
    windows,
)
