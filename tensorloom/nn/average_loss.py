"""Losses averaged over a global batch; there is one replica here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """The sum of the losses, perhaps weighted, over the batch size.

    Args:
      per_example_loss: [batch, ...].
      sample_weight: broadcasts against the losses.
      global_batch_size: an int or int tensor; the number of losses by default.

    Raises:
      ValueError: the losses are a scalar.
    """
    losses = convert_to_tensor(per_example_loss)
    if losses.shape.rank == 0:
        raise ValueError("per_example_loss must have a batch dimension")
    dtype = losses.dtype
    if sample_weight is not None:
        losses = losses * math_ops.cast(convert_to_tensor(sample_weight), dtype)
    if global_batch_size is None:
        global_batch_size = array_ops.shape(losses)[0]
    size = math_ops.cast(global_batch_size, dtype)
    return math_ops.reduce_sum(losses) / size  # type: ignore[no-any-return]


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the losses, for one replica."""
    return math_ops.reduce_sum(regularization_loss)
