"""`tf.train.ProximalGradientDescentOptimizer` and `ProximalAdagradOptimizer`."""

from __future__ import annotations

from typing import Any, TypeVar

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.slot_creator import slot_shape
from tensorloom.train.optimizers.update_op import add_methods

_Class = TypeVar("_Class", bound=type[Optimizer])


def _proximal(cls: _Class) -> _Class:
    """Makes steps of `cls._build` with the scalars that both classes have.

    They are a learning rate, and the strengths of L1 and L2.
    """
    methods = (_prepare, _apply_dense, _resource_apply_dense, _apply_sparse)
    return add_methods(cls, *methods, _resource_apply_sparse)


def _prepare(self: Any) -> None:
    self._scalars = [
        convert_to_tensor(self._learning_rate, name="learning_rate"),
        convert_to_tensor(self._l1, name="l1_regularization_strength"),
        convert_to_tensor(self._l2, name="l2_regularization_strength"),
    ]


def _apply_dense(self: Any, grad: Any, var: Any) -> Any:
    return self._build(var, self._scalars, grad=grad)


def _resource_apply_dense(self: Any, grad: Any, handle: Any) -> Any:
    return self._build(handle, self._scalars, grad=grad)


def _apply_sparse(self: Any, grad: Any, var: Any) -> Any:
    return self._build(var, self._scalars, grad=grad.values, indices=grad.indices)


def _resource_apply_sparse(self: Any, grad: Any, handle: Any, indices: Any) -> Any:
    scalars = [math_ops.cast(scalar, grad.dtype) for scalar in self._scalars]
    return self._build(handle, scalars, grad=grad, indices=indices)


@export("train.ProximalGradientDescentOptimizer")
@_proximal
class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent with the proximal operator of L1 and L2 (Duchi, Singer 2009).

    Args:
      learning_rate: a number or tensor.
      l1_regularization_strength, l2_regularization_strength: not negative.
    """

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _build(self, var: Any, scalars: list[Any], **gradient: Any) -> Any:
        # The dense form has a name of its own for the gradient.
        if "indices" not in gradient:
            gradient = {"delta": gradient["grad"]}
        alpha, l1, l2 = scalars
        update = apply_update(
            "ProximalGradientDescent",
            (var,),
            alpha=alpha,
            l1=l1,
            l2=l2,
            **gradient,
            use_locking=self._use_locking,
        )
        return update.op if isinstance(update, Tensor) else update


@export("train.ProximalAdagradOptimizer")
@_proximal
class ProximalAdagradOptimizer(Optimizer):
    """Adagrad with the proximal operator of L1 and L2.

    Args:
      learning_rate: a number or tensor.
      initial_accumulator_value: where the sums of squares begin; positive.
      l1_regularization_strength, l2_regularization_strength: not negative.

    Raises:
      ValueError: `initial_accumulator_value` is not positive.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                "initial_accumulator_value must be positive: "
                f"{initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            with colocate_with(variable):
                initial = constant_op.constant(
                    self._initial_accumulator_value,
                    shape=slot_shape(variable),
                    dtype=variable.dtype.base_dtype,
                )
            self._get_or_make_slot(variable, initial, "accumulator", self._name)

    def _build(self, var: Any, scalars: list[Any], **gradient: Any) -> Any:
        lr, l1, l2 = scalars
        return apply_update(
            "ProximalAdagrad",
            (var, self.get_slot(var, "accumulator")),
            lr=lr,
            l1=l1,
            l2=l2,
            **gradient,
            use_locking=self._use_locking,
        )
