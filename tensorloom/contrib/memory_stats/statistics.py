"""The three statistics; each is of the device that its operation is on."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op


@export("contrib.memory_stats.BytesInUse")
def BytesInUse() -> Any:
    """The bytes in use, a scalar int64."""
    return apply_op("BytesInUse")


@export("contrib.memory_stats.BytesLimit")
def BytesLimit() -> Any:
    """The bytes that there are in all, a scalar int64."""
    return apply_op("BytesLimit")


@export("contrib.memory_stats.MaxBytesInUse")
def MaxBytesInUse() -> Any:
    """The most bytes that were in use so far, a scalar int64."""
    return apply_op("MaxBytesInUse")
