"""`tf.train.FtrlOptimizer`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.slot_creator import slot_shape
from tensorloom.train.optimizers.update_op import updates_by_op


@export("train.FtrlOptimizer")
@updates_by_op
class FtrlOptimizer(Optimizer):
    """Follow the regularized leader, proximal (McMahan et al., 2013).

    Args:
      learning_rate: a number or tensor.
      learning_rate_power: how the rate falls with the accumulator; not positive.
      initial_accumulator_value: not negative.
      l1_regularization_strength, l2_regularization_strength,
        l2_shrinkage_regularization_strength: not negative. Shrinkage penalizes the
        size of the weights online; the others stabilize.
      accum_name, linear_name: suffixes of the slots' names.

    Raises:
      ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        super().__init__(use_locking, name)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or "
                "zero"
            )
        for what, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            (
                "l2_shrinkage_regularization_strength",
                l2_shrinkage_regularization_strength,
            ),
        ):
            if value < 0.0:
                raise ValueError(f"{what} {value:f} needs to be positive or zero")
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength
        self._l2_shrinkage = l2_shrinkage_regularization_strength
        self._accum_name = accum_name
        self._linear_name = linear_name

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            with colocate_with(variable):
                initial = constant_op.constant(
                    self._initial_accumulator_value,
                    dtype=variable.dtype,
                    shape=slot_shape(variable),
                )
                self._get_or_make_slot(
                    variable, initial, "accum", self._accum_name or self._name
                )
                self._zeros_slot(variable, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        self._tensors = {
            "lr": convert_to_tensor(self._learning_rate, name="learning_rate"),
            "l1": convert_to_tensor(self._l1, name="l1_regularization_strength"),
            "l2": convert_to_tensor(self._l2, name="l2_regularization_strength"),
            "l2_shrinkage": convert_to_tensor(
                self._l2_shrinkage, name="l2_shrinkage_regularization_strength"
            ),
            "lr_power": convert_to_tensor(
                self._learning_rate_power, name="learning_rate_power"
            ),
        }

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        shrinks = self._l2_shrinkage > 0.0
        scalars = {
            name: math_ops.cast(tensor, dtype)
            for name, tensor in self._tensors.items()
            if shrinks or name != "l2_shrinkage"
        }
        return apply_update(
            "FtrlV2" if shrinks else "Ftrl",
            (var, self.get_slot(var, "accum"), self.get_slot(var, "linear")),
            grad=grad,
            **indices,
            **scalars,
            use_locking=self._use_locking,
        )
