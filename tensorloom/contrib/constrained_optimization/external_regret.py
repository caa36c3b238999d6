"""`AdditiveExternalRegretOptimizer`: Lagrange multipliers that rise by gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tensorloom.contrib.constrained_optimization.projections import (
    project_multipliers,
)
from tensorloom.contrib.constrained_optimization.regret import RegretOptimizer
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import fill
from tensorloom.ops.linalg import tensordot
from tensorloom.ops.math import binary, cast

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.train.optimizers.optimizer import Optimizer


@export("contrib.constrained_optimization.AdditiveExternalRegretOptimizer")
class AdditiveExternalRegretOptimizer(RegretOptimizer):
    """Minimizes the Lagrangian over the model, and maximizes it over the multipliers.

    Paper: Definition 1 and Algorithm 3, but with proxy constraints in the gradient of
    the model, and any optimizers.
    """

    _state_name: ClassVar[str] = "external_regret_optimizer_state"

    def __init__(
        self,
        optimizer: Optimizer,
        constraint_optimizer: Optimizer | None = None,
        maximum_multiplier_radius: float | None = None,
    ) -> None:
        """Makes the optimizer.

        Args:
          optimizer: of the model.
          constraint_optimizer: of the multipliers; by default the same.
          maximum_multiplier_radius: what the multipliers sum to at most.

        Raises:
          ValueError: that is not above zero.
        """
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Tensor:
        return fill.zeros((num_constraints,), dtype=dtypes.float32)

    def _lagrange_multipliers(self, state: Any) -> Any:
        return state

    def _loss_and_gradient(
        self, state: Any, objective: Any, constraints: Any, proxy_constraints: Any
    ) -> tuple[Tensor, Tensor]:
        multipliers = self._lagrange_multipliers(state)
        weights = cast.cast(multipliers, proxy_constraints.dtype)
        loss = objective + tensordot.tensordot(weights, proxy_constraints, 1)
        return loss, cast.cast(constraints, multipliers.dtype)

    def _projected(self, state: Any) -> Tensor:
        if self._maximum_multiplier_radius:
            return project_multipliers(state, self._maximum_multiplier_radius)
        return binary.maximum(state, 0.0)
