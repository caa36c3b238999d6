"""`tf.train.experimental.enable_mixed_precision_graph_rewrite`."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.settings.mixed_precision import MIXED_PRECISION
from tensorloom.framework.export import export
from tensorloom.train.loss_scale.loss_scale_optimizer import (
    MixedPrecisionLossScaleOptimizer,
)
from tensorloom.train.optimizers.optimizer import Optimizer


@export("train.experimental.enable_mixed_precision_graph_rewrite")
def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """Wraps an optimizer for training in mixed precision, and asks sessions for it.

    Sessions that are made from now on compute products and convolutions in float16, and
    what is safe between them, on GPUs that are made for it (compute capability 7.0 and
    above). Elsewhere no computation changes; the loss is scaled in any case.

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
    if MIXED_PRECISION.other_session_created:
        program_log.warning(
            "You already have existing Sessions that do not use mixed precision. "
            "enable_mixed_precision_graph_rewrite() will not affect these Sessions."
        )
    wrapped = MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    MIXED_PRECISION.is_enabled = True
    return wrapped


@export("train.experimental.disable_mixed_precision_graph_rewrite")
def disable_mixed_precision_graph_rewrite() -> None:
    """Makes new sessions ask for it no longer; optimizers stay wrapped."""
    if not MIXED_PRECISION.is_enabled:
        program_log.warning(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is "
            "already disabled."
        )
    MIXED_PRECISION.is_enabled = False
