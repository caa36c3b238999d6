"""What optimizers by regret share: two players, each of whom takes a step.

One changes the model so that a weighted sum of objective and constraints falls. The
other changes the weights, the state, so that it rises.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar

from tensorloom.client.variables.variables import Variable
from tensorloom.contrib.constrained_optimization.optimizers import (
    ConstrainedOptimizer,
)
from tensorloom.framework.runtime.scopes import colocate_with, control_dependencies
from tensorloom.ops.array import reshape
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.state import reference_variable
from tensorloom.train.optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from tensorloom.contrib.constrained_optimization.problems import (
        ConstrainedMinimizationProblem,
    )
    from tensorloom.framework.graph.tensor import Tensor


class RegretOptimizer(ConstrainedOptimizer):
    """An optimizer whose state is a variable with the weights of the constraints."""

    _state_name: ClassVar[str]

    def __init__(
        self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None
    ) -> None:
        """Makes the optimizer.

        Args:
          optimizer: of the model, and of the weights if they have none of their own.
          constraint_optimizer: of the weights.
        """
        super().__init__(optimizer=optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Optimizer | None:
        """The optimizer of the weights, None where it is that of the model."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Tensor:
        """The first value of the state."""

    @abc.abstractmethod
    def _loss_and_gradient(
        self, state: Any, objective: Any, constraints: Any, proxy_constraints: Any
    ) -> tuple[Tensor, Tensor]:
        """What the model's player minimizes, and the gradient of the state."""

    @abc.abstractmethod
    def _projected(self, state: Any) -> Tensor:
        """The state nearest to this one that is allowed."""

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        with colocate_with(state):
            return reference_variable.assign(state, self._projected(state), name=name)

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
        """The operation of a step of both players.

        Raises:
          ValueError: the dtypes of objective and constraints differ.
        """
        objective = minimization_problem.objective
        constraints: Any = minimization_problem.constraints
        proxies: Any = minimization_problem.proxy_constraints
        proxies = constraints if proxies is None else proxies
        dtypes = {t.dtype.base_dtype for t in (objective, constraints, proxies)}
        if len(dtypes) > 1:
            raise ValueError(
                "objective, constraints and proxy_constraints must have the same dtype"
            )
        count = minimization_problem.num_constraints
        constraints = reshape.reshape(constraints, shape=(count,))
        proxies = reshape.reshape(proxies, shape=(count,))
        # A function, so that control dependencies around do not hold the initializer.
        state = Variable(
            lambda: self._initial_state(count), trainable=False, name=self._state_name
        )
        loss, gradient = self._loss_and_gradient(state, objective, constraints, proxies)
        grads_and_vars = self.optimizer.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        updates = self._updates(grads_and_vars, (-gradient, state))
        with control_dependencies(updates):
            if global_step is None:
                return self._projection_op(state, name=name)
            projection = self._projection_op(state, name="project")
            with colocate_with(global_step):
                increment = reference_variable.assign_add(
                    global_step, 1, name="global_step_increment"
                )
            return group(projection, increment, name=name)

    def _updates(
        self, grads_and_vars: list[Any], of_state: tuple[Any, Any]
    ) -> list[Any]:
        if self.constraint_optimizer is None:
            both = [*grads_and_vars, of_state]
            return [self.optimizer.apply_gradients(both, name="update")]
        gradients = [gradient for gradient, _ in [*grads_and_vars, of_state]]
        # Neither player sees what the other does in this step.
        with control_dependencies([g for g in gradients if g is not None]):
            return [
                self.optimizer.apply_gradients(grads_and_vars, name="update"),
                self.constraint_optimizer.apply_gradients(
                    [of_state], name="optimizer_state_update"
                ),
            ]
