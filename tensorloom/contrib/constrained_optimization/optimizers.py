"""`ConstrainedOptimizer`: optimizers of an objective under constraints."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math import cast
from tensorloom.train.optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from tensorloom.contrib.constrained_optimization.problems import (
        ConstrainedMinimizationProblem,
    )


@export("contrib.constrained_optimization.ConstrainedOptimizer")
class ConstrainedOptimizer(abc.ABC):
    """An optimizer of problems, over one of losses.

    Arguments of its methods that are not described are those of
    `tf.train.Optimizer.minimize`.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        """Wraps a `tf.train.Optimizer`."""
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Optimizer:
        """The `tf.train.Optimizer` that is wrapped."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """`minimize_constrained` without the problem's `pre_train_ops`."""

    def minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of a step towards the least objective that is allowed."""
        return _after_pre_train_ops(
            minimization_problem,
            lambda: self._minimize_constrained(
                minimization_problem,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            ),
        )

    def minimize_unconstrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of a step towards the least objective, whatever is allowed."""
        return _after_pre_train_ops(
            minimization_problem,
            lambda: self.optimizer.minimize(
                minimization_problem.objective,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            ),
        )

    def minimize(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        unconstrained_steps: Any = None,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of a training step.

        Args:
          minimization_problem: the problem.
          unconstrained_steps: while the global step is less than this, the constraints
            are not looked at: a start near the least objective may be a good one.

        Raises:
          ValueError: there are `unconstrained_steps`, but no `global_step`.
        """
        options = {
            "global_step": global_step,
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name,
            "grad_loss": grad_loss,
        }
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **options)
        if global_step is None:
            raise ValueError(
                "global_step cannot be None if unconstrained_steps is provided"
            )
        steps = convert_to_tensor(unconstrained_steps)
        return cond(
            cast.cast(global_step, steps.dtype) < steps,
            true_fn=lambda: self.minimize_unconstrained(
                minimization_problem, **options
            ),
            false_fn=lambda: self.minimize_constrained(minimization_problem, **options),
        )


def _after_pre_train_ops(
    problem: ConstrainedMinimizationProblem, make: Callable[[], Any]
) -> Any:
    if not problem.pre_train_ops:
        return make()
    with control_dependencies(problem.pre_train_ops):
        return make()
