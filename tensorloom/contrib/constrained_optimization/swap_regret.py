"""Optimizers by swap regret: the state is a matrix whose columns are distributions."""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Any, ClassVar

from tensorloom.contrib.constrained_optimization import projections
from tensorloom.contrib.constrained_optimization.regret import RegretOptimizer
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import concat, fill, reshape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.linalg import matmul, tensordot
from tensorloom.ops.math import binary, cast, elementwise
from tensorloom.ops.reductions import reductions

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.train.optimizers.optimizer import Optimizer


class _SwapRegretOptimizer(RegretOptimizer):
    """Weights objective and m constraints by the stationary distribution of a matrix.

    Paper: Definition 2 and Algorithm 2. The matrix is [m + 1, m + 1]; its first row is
    the objective's.
    """

    _state_name: ClassVar[str] = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Tensor:
        """The matrix of a state."""

    def _distribution(self, state: Any) -> Tensor:
        vector = projections.maximal_eigenvector(self._stochastic_matrix(state))
        vector = elementwise.abs(vector)
        return vector / reductions.reduce_sum(vector)

    def _loss_and_gradient(
        self, state: Any, objective: Any, constraints: Any, proxy_constraints: Any
    ) -> tuple[Tensor, Tensor]:
        violations = concat.concat(
            [fill.zeros((1,), dtype=constraints.dtype), constraints], axis=0
        )
        losses = concat.concat(
            [reshape.expand_dims(objective, 0), proxy_constraints], axis=0
        )
        distribution = self._distribution(state)
        loss = tensordot.tensordot(cast.cast(distribution, losses.dtype), losses, 1)
        gradient = matmul.matmul(
            reshape.expand_dims(cast.cast(violations, distribution.dtype), 1),
            reshape.expand_dims(distribution, 0),
        )
        return loss, gradient


@export("contrib.constrained_optimization.AdditiveSwapRegretOptimizer")
class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """Swap regret with a matrix that gradients are added to."""

    def __init__(
        self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None
    ) -> None:
        """Makes the optimizer.

        Args:
          optimizer: of the model, and of the matrix if it has none of its own.
          constraint_optimizer: of the matrix.
        """
        super().__init__(optimizer, constraint_optimizer)

    def _initial_state(self, num_constraints: int) -> Tensor:
        dimension = num_constraints + 1
        ones = fill.ones((1, dimension))
        return concat.concat([ones, fill.zeros((dimension - 1, dimension))], axis=0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return state

    def _projected(self, state: Any) -> Tensor:
        return projections.project_stochastic_matrix(state)


@export("contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer")
class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """Swap regret with a matrix that gradients multiply: its logarithm is the state."""

    def __init__(
        self,
        optimizer: Optimizer,
        constraint_optimizer: Optimizer | None = None,
        minimum_multiplier_radius: float = 1e-3,
        initial_multiplier_radius: float | None = None,
    ) -> None:
        """Makes the optimizer.

        Args:
          optimizer: of the model, and of the matrix if it has none of its own.
          constraint_optimizer: of the matrix.
          minimum_multiplier_radius: elements are at least this over m + 1.
          initial_multiplier_radius: elements of constraints begin as this over m + 1;
            by default the minimum.

        Raises:
          ValueError: a radius is not between 0 and 1, or the first less than the
            minimum.
        """
        super().__init__(optimizer, constraint_optimizer)
        minimum = minimum_multiplier_radius
        if not 0.0 < minimum < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        initial = initial_multiplier_radius
        if initial is not None and (initial < minimum or minimum > 1.0):
            raise ValueError(
                "initial_multiplier_radius must be in the range "
                "[minimum_multiplier_radius,1]"
            )
        self._minimum_multiplier_radius = minimum
        self._initial_multiplier_radius = minimum if initial is None else initial

    def _initial_state(self, num_constraints: int) -> Tensor:
        dimension = num_constraints + 1
        radius = self._initial_multiplier_radius
        objective = math.log(1.0 - radius * (dimension - 1) / dimension)
        constraint = math.log(radius / dimension)
        rows = [
            constant(objective, dtypes.float32, (1, dimension)),
            constant(constraint, dtypes.float32, (dimension - 1, dimension)),
        ]
        return concat.concat(rows, axis=0)

    def _stochastic_matrix(self, state: Any) -> Tensor:
        return elementwise.exp(state)

    def _projected(self, state: Any) -> Tensor:
        dimension = cast.cast(state.get_shape()[0].value, dtypes.float32)
        least = elementwise.log(self._minimum_multiplier_radius / dimension)
        return binary.maximum(projections.project_log_stochastic_matrix(state), least)
