"""`tf.contrib.resampler.resampler`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor


@export("contrib.resampler.resampler")
def resampler(data: Any, warp: Any, name: str = "resampler") -> Any:
    """Values between pixels, by the four around each; zero outside.

    Args:
      data: [batch, height, width, channels], of floating point.
      warp: where, pairs (x, y): [batch, ..., 2].
      name: of the operations.

    Returns:
      [batch, ..., channels].
    """
    with name_scope(name, "resampler", [data, warp]):
        return apply_op(
            "Resampler",
            data=convert_to_tensor(data, name="data"),
            warp=convert_to_tensor(warp, name="warp"),
        )
