"""`tf.train.MomentumOptimizer`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math import math_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.update_op import updates_by_op


@export("train.MomentumOptimizer")
@updates_by_op
class MomentumOptimizer(Optimizer):
    """accumulation = momentum * accumulation + gradient; var -= rate * accumulation.

    Args:
      learning_rate, momentum: numbers, tensors, or functions that give one.
      use_nesterov: Nesterov's variant (Sutskever et al., 2013).
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(
            self._call_if_callable(self._learning_rate), name="learning_rate"
        )
        self._momentum_tensor = convert_to_tensor(
            self._call_if_callable(self._momentum), name="momentum"
        )

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        lr = math_ops.cast(self._learning_rate_tensor, dtype)
        return apply_update(
            "Momentum",
            (var, self.get_slot(var, "momentum")),
            lr=lr,
            grad=grad,
            **indices,
            momentum=math_ops.cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )
