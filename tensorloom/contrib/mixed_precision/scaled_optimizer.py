"""`tf.contrib.mixed_precision.LossScaleOptimizer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import is_finite, reciprocal
from tensorloom.ops.reductions.reductions import reduce_all
from tensorloom.train.optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from tensorloom.contrib.mixed_precision.loss_scale_managers import (
        LossScaleManager,
    )


@export("contrib.mixed_precision.LossScaleOptimizer")
class LossScaleOptimizer(Optimizer):
    """An optimizer of a scaled loss; steps with infinite gradients are left out.

    Args:
      opt: the optimizer.
      loss_scale_manager: says the scale.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        """Pairs (gradient, variable) of the loss itself; see `tf.train.Optimizer`."""
        scale = self._loss_scale_manager.get_loss_scale()
        value = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            value * cast(scale, value.dtype.base_dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        back = reciprocal(scale)
        return [
            (None if g is None else g * cast(back, g.dtype.base_dtype), v)
            for g, v in pairs
        ]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates the variables if all gradients are finite, and then the scale."""
        pairs = list(grads_and_vars)
        finite = reduce_all(
            [reduce_all(is_finite(g)) for g, _ in pairs if g is not None]
        )
        update = cond(
            finite,
            lambda: self._opt.apply_gradients(pairs, global_step, name),
            no_op,
        )
        return group(update, self._loss_scale_manager.update_loss_scale(finite))
