"""`tf.train.RMSPropOptimizer`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import initializers as init_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.slot_creator import slot_shape
from tensorloom.train.optimizers.update_op import updates_by_op


@export("train.RMSPropOptimizer")
@updates_by_op
class RMSPropOptimizer(Optimizer):
    """Divides the gradient by a running average of its magnitude.

    Args:
      learning_rate, decay, momentum, epsilon: numbers, tensors, or functions that
        give one.
      centered: use an estimate of the variance in place of the second moment.
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            dtype = variable.dtype.base_dtype
            if slot_shape(variable).is_fully_defined():
                initial: Any = init_ops.Ones(dtype=dtype)
            else:
                initial = array_ops.ones_like(variable)
            self._get_or_make_slot_with_initializer(
                variable, initial, slot_shape(variable), dtype, "rms", self._name
            )
            if self._centered:
                self._zeros_slot(variable, "mg", self._name)
            self._zeros_slot(variable, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(
            self._call_if_callable(self._learning_rate), name="learning_rate"
        )
        self._decay_tensor = convert_to_tensor(
            self._call_if_callable(self._decay), name="decay"
        )
        self._momentum_tensor = convert_to_tensor(
            self._call_if_callable(self._momentum), name="momentum"
        )
        self._epsilon_tensor = convert_to_tensor(
            self._call_if_callable(self._epsilon), name="epsilon"
        )

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        return apply_update(
            "CenteredRMSProp" if self._centered else "RMSProp",
            (var, *(self.get_slot(var, name) for name in names)),
            lr=math_ops.cast(self._learning_rate_tensor, dtype),
            rho=math_ops.cast(self._decay_tensor, dtype),
            momentum=math_ops.cast(self._momentum_tensor, dtype),
            epsilon=math_ops.cast(self._epsilon_tensor, dtype),
            grad=grad,
            **indices,
            use_locking=self._use_locking,
        )
