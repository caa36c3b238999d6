"""`tf.train.AdadeltaOptimizer`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math import math_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.update_op import updates_by_op


@export("train.AdadeltaOptimizer")
@updates_by_op
class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler, 2012): steps in the units of the variable.

    Args:
      learning_rate, rho, epsilon: numbers, tensors, or functions that give one.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "accum", self._name)
            self._zeros_slot(variable, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._call_if_callable(self._lr), name="lr")
        self._rho_t = convert_to_tensor(self._call_if_callable(self._rho), name="rho")
        self._epsilon_t = convert_to_tensor(
            self._call_if_callable(self._epsilon), name="epsilon"
        )

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        slots = (self.get_slot(var, "accum"), self.get_slot(var, "accum_update"))
        return apply_update(
            "Adadelta",
            (var, *slots),
            lr=math_ops.cast(self._lr_t, dtype),
            rho=math_ops.cast(self._rho_t, dtype),
            epsilon=math_ops.cast(self._epsilon_t, dtype),
            grad=grad,
            **indices,
            use_locking=self._use_locking,
        )
