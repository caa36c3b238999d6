"""`tf.train.experimental.enable_mixed_precision_graph_rewrite`."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.train.loss_scale.loss_scale_optimizer import (
    MixedPrecisionLossScaleOptimizer,
)
from tensorloom.train.optimizers.optimizer import Optimizer

# Whether the rewrite was asked for, and not taken back.
_enabled: list[bool] = [False]


@export("train.experimental.enable_mixed_precision_graph_rewrite")
def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """Wraps an optimizer for training in mixed precision.

    TensorFlow also computes products and convolutions in float16 then, on GPUs that are
    made for it; elsewhere it changes no computation, as here. A model that casts to
    float16 itself trains in it.

    Args:
      opt: a `tf.train.Optimizer`.
      loss_scale: a `LossScale`, a number, or "dynamic".

    Returns:
      The optimizer, in a `MixedPrecisionLossScaleOptimizer`.

    Raises:
      ValueError: it is no optimizer, or it is wrapped already.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(
            '"opt" must not already be an instance of a '
            "MixedPrecisionLossScaleOptimizer. "
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the "
            "optimizer with a MixedPrecisionLossScaleOptimizer."
        )
    if not isinstance(opt, Optimizer):
        raise ValueError(
            '"opt" must be an instance of a tf.train.Optimizer or a '
            f"tf.keras.optimizers.Optimizer, but got: {opt}"
        )
    wrapped = MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    _enabled[0] = True
    return wrapped


@export("train.experimental.disable_mixed_precision_graph_rewrite")
def disable_mixed_precision_graph_rewrite() -> None:
    """Takes the rewrite back; optimizers stay wrapped."""
    if not _enabled[0]:
        program_log.warning(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is "
            "already disabled."
        )
    _enabled[0] = False
