"""The kernels of datasets: importing their families registers them."""

from __future__ import annotations

from tensorloom.kernels.host.datasets import (
    batching,
    buffering,
    csv,
    mapping,
    nesting,
    readers,
    selection,
    shuffle,
    sources,
)

_ = batching, buffering, csv, mapping, nesting, readers, selection, shuffle, sources
