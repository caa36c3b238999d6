"""`tf.train.experimental.MixedPrecisionLossScaleOptimizer`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.distribution.thread_modes import (
    in_cross_replica_context,
    merge_call,
)
from tensorloom.framework.export import export
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.train.loss_scale import loss_scales
from tensorloom.train.optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation


@export("train.experimental.MixedPrecisionLossScaleOptimizer")
class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Wraps an optimizer: the loss is scaled, its gradients are scaled back.

    With a dynamic scale, gradients that are not finite are not applied, and the global
    step does not count.

    Args:
      opt: computes and applies the gradients.
      loss_scale: a `LossScale`, a number, or "dynamic".

    Raises:
      ValueError: `opt` is no optimizer, or `loss_scale` none of these.
    """

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(
                f'"opt" must be an instance of Optimizer, but got: {type(opt)}'
            )
        self._optimizer = opt
        super().__init__(opt._use_locking, opt.get_name())
        self._loss_scale = loss_scales.get(loss_scale)
        self._track_trackable(self._optimizer, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[Any]:
        """Pairs (gradient or None, variable), computed of the scaled loss.

        Arguments and errors are those of `Optimizer.compute_gradients`.
        """
        scaled: Any
        if callable(loss):
            function, scale = loss, self._loss_scale()
            scaled = lambda: function() * scale
        else:
            scaled = loss * self._loss_scale()
        pairs = self._optimizer.compute_gradients(
            loss=scaled,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        reciprocal = 1 / self._loss_scale()
        return [(_times(gradient, reciprocal), v) for gradient, v in pairs]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[Any],
        global_step: Any = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that updates the variables if the gradients allow it.

        Arguments and errors are those of `Optimizer.apply_gradients`; for all replicas
        of a strategy together it is a ValueError.
        """
        if in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica context.")
        if not isinstance(self._loss_scale, loss_scales.DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        name = self.get_name() if name is None else name
        merged: Operation = merge_call(
            self._apply_if_finite, tuple(grads_and_vars), global_step, name
        )
        return merged

    def _apply_if_finite(
        self, strategy: Any, pairs: Any, global_step: Any, name: str
    ) -> Operation:
        """Updates the variables, of all replicas of a strategy if there is one."""
        update_scale, should_apply = self._loss_scale.update([g for g, _ in pairs])
        arguments = pairs, global_step, f"{name}-wrapped"
        update = self._optimizer.apply_gradients

        def apply() -> Any:
            if strategy is None:
                return update(*arguments)
            updates = strategy.extended.call_for_each_replica(update, args=arguments)
            return strategy.group(updates)

        return group(cond(should_apply, apply, no_op), update_scale, name=name)


def _times(gradient: Any, factor: Any) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(
            gradient.values * factor, gradient.indices, gradient.dense_shape
        )
    return gradient * factor
