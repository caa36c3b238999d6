"""`tf.contrib.periodic_resample.periodic_resample`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op


@export("contrib.periodic_resample.periodic_resample")
def periodic_resample(values: Any, shape: Any, name: str | None = None) -> Any:
    """Moves elements from some dimensions into others, as a subpixel convolution does.

    Args:
      values: a tensor.
      shape: of the result, with None for the size that follows from the others.
      name: of the operation.
    """
    return apply_op("PeriodicResample", values=values, shape=shape, name=name)
