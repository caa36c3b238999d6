"""`tf.train.AdagradDAOptimizer`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, device
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.slot_creator import slot_shape
from tensorloom.train.optimizers.update_op import updates_by_op


@export("train.AdagradDAOptimizer")
@updates_by_op
class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging (Duchi et al., 2011), for sparse linear models.

    Args:
      learning_rate: a number or tensor.
      global_step: a tensor or variable with the number of the step.
      initial_gradient_squared_accumulator_value: where the sums begin; positive.
      l1_regularization_strength, l2_regularization_strength: not negative.

    Raises:
      ValueError: the initial value is not positive.
    """

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial = initial_gradient_squared_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength
        self._global_step = global_step

    def _create_slots(self, var_list: list[Any]) -> None:
        slots = (
            ("gradient_accumulator", 0.0),
            ("gradient_squared_accumulator", self._initial),
        )
        for variable in var_list:
            with colocate_with(variable):
                initials = [
                    constant_op.constant(
                        value,
                        shape=slot_shape(variable),
                        dtype=variable.dtype.base_dtype,
                    )
                    for _, value in slots
                ]
            for (slot, _), initial in zip(slots, initials, strict=True):
                self._get_or_make_slot(variable, initial, slot, self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(
            self._learning_rate, name="learning_rate"
        )
        with colocate_with(self._learning_rate_tensor):
            self._next_step = array_ops.identity(self._global_step) + 1

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        slots = [
            self.get_slot(var, name)
            for name in ("gradient_accumulator", "gradient_squared_accumulator")
        ]
        with device(var.device):
            global_step = array_ops.identity(self._next_step)
        return apply_update(
            "AdagradDA",
            (var, *slots),
            grad=grad,
            **indices,
            lr=math_ops.cast(self._learning_rate_tensor, dtype),
            l1=math_ops.cast(self._l1, dtype),
            l2=math_ops.cast(self._l2, dtype),
            global_step=global_step,
            use_locking=self._use_locking,
        )
