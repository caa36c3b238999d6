"""`tf.train.AdagradOptimizer`."""

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


@export("train.AdagradOptimizer")
@updates_by_op
class AdagradOptimizer(Optimizer):
    """Divides the learning rate by the root of the sum of squared gradients.

    Args:
      learning_rate: a number, a tensor, or a function that gives one.
      initial_accumulator_value: where the sums begin; positive.

    Raises:
      ValueError: `initial_accumulator_value` is not positive.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                "initial_accumulator_value must be positive: "
                f"{initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            dtype = variable.dtype.base_dtype
            if slot_shape(variable).is_fully_defined():
                initial: Any = init_ops.Constant(
                    self._initial_accumulator_value, dtype=dtype
                )
            else:
                initial = self._filled_like(variable, dtype)
            self._get_or_make_slot_with_initializer(
                variable,
                initial,
                slot_shape(variable),
                dtype,
                "accumulator",
                self._name,
            )

    def _filled_like(self, variable: Any, dtype: Any) -> Any:
        def initial() -> Any:
            filled = array_ops.fill(
                array_ops.shape(variable), self._initial_accumulator_value
            )
            return math_ops.cast(filled, dtype)

        return initial

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(
            self._call_if_callable(self._learning_rate), name="learning_rate"
        )

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        return apply_update(
            "Adagrad",
            (var, self.get_slot(var, "accumulator")),
            lr=math_ops.cast(self._learning_rate_tensor, dtype),
            grad=grad,
            **indices,
            use_locking=self._use_locking,
        )
