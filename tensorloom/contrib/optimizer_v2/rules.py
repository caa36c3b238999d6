"""The optimizers of `tf.contrib.optimizer_v2`, of one update operation each."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.optimizer_v2.state_optimizer import (
    OptimizerV2,
    OptimizerV2State,
)
from tensorloom.framework.export import export
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array.fill import fill, ones_like
from tensorloom.ops.array.shape import shape
from tensorloom.ops.math.cast import cast
from tensorloom.ops.state.initializers import Constant
from tensorloom.ops.state.scatter import resource_scatter
from tensorloom.ops.training.training_ops import apply_update


class _RuleOptimizer(OptimizerV2):
    """Says by `_build` which op updates a variable, for all kinds of variables."""

    def _build(
        self, var: Any, grad: Any, state: OptimizerV2State, **indices: Any
    ) -> Any:
        raise NotImplementedError

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        return self._build(var, grad, state)

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerV2State
    ) -> Any:
        return self._build(handle, grad, state)

    def _apply_sparse(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        return self._build(var, grad.values, state, indices=grad.indices)

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerV2State
    ) -> Any:
        return self._build(handle, grad, state, indices=indices)


@export("contrib.optimizer_v2.AdadeltaOptimizer")
class AdadeltaOptimizer(_RuleOptimizer):
    """Adadelta (Zeiler, 2012).

    Args:
      learning_rate, rho, epsilon: numbers, tensors, or functions that give one.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("rho", rho)
        self._set_hyper("epsilon", epsilon)

    def _create_vars(self, var_list: list[Any], state: OptimizerV2State) -> None:
        for var in var_list:
            state.zeros_slot(var, "accum")
            state.zeros_slot(var, "accum_update")

    def _build(
        self, var: Any, grad: Any, state: OptimizerV2State, **indices: Any
    ) -> Any:
        dtype = var.dtype.base_dtype
        slots = (state.get_slot(var, "accum"), state.get_slot(var, "accum_update"))
        return apply_update(
            "Adadelta",
            (var, *slots),
            lr=state.get_hyper("learning_rate", dtype),
            rho=state.get_hyper("rho", dtype),
            epsilon=state.get_hyper("epsilon", dtype),
            grad=grad,
            **indices,
            use_locking=self._use_locking,
        )


@export("contrib.optimizer_v2.AdagradOptimizer")
class AdagradOptimizer(_RuleOptimizer):
    """accumulator += gradient^2; var -= rate * gradient / sqrt(accumulator).

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
        self._set_hyper("learning_rate", learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_vars(self, var_list: list[Any], state: OptimizerV2State) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            initial: Any = Constant(self._initial_accumulator_value, dtype=dtype)
            if not var.shape.is_fully_defined():
                filled = fill(shape(var), self._initial_accumulator_value)
                initial = cast(filled, dtype)
            state.create_slot_with_initializer(
                var, initial, var.shape, dtype, "accumulator"
            )

    def _build(
        self, var: Any, grad: Any, state: OptimizerV2State, **indices: Any
    ) -> Any:
        return apply_update(
            "Adagrad",
            (var, state.get_slot(var, "accumulator")),
            lr=state.get_hyper("learning_rate", var.dtype.base_dtype),
            grad=grad,
            **indices,
            use_locking=self._use_locking,
        )


@export("contrib.optimizer_v2.GradientDescentOptimizer")
class GradientDescentOptimizer(_RuleOptimizer):
    """var -= rate * gradient.

    Args:
      learning_rate: a number, a tensor, or a function that gives one.
    """

    def __init__(
        self,
        learning_rate: Any,
        use_locking: bool = False,
        name: str = "GradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)

    def _build(
        self, var: Any, grad: Any, state: OptimizerV2State, **indices: Any
    ) -> Any:
        return apply_update(
            "GradientDescent",
            (var,),
            alpha=state.get_hyper("learning_rate", var.dtype.base_dtype),
            delta=grad,
            use_locking=self._use_locking,
        )

    def _apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        rate = state.get_hyper("learning_rate", var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerV2State
    ) -> Any:
        rate = state.get_hyper("learning_rate", grad.dtype.base_dtype)
        return resource_scatter("Add", handle, indices, -grad * rate)


@export("contrib.optimizer_v2.MomentumOptimizer")
class MomentumOptimizer(_RuleOptimizer):
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
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", momentum)
        self._use_nesterov = use_nesterov

    def _create_vars(self, var_list: list[Any], state: OptimizerV2State) -> None:
        for var in var_list:
            state.zeros_slot(var, "momentum")

    def _build(
        self, var: Any, grad: Any, state: OptimizerV2State, **indices: Any
    ) -> Any:
        dtype = var.dtype.base_dtype
        return apply_update(
            "Momentum",
            (var, state.get_slot(var, "momentum")),
            lr=state.get_hyper("learning_rate", dtype),
            grad=grad,
            **indices,
            momentum=state.get_hyper("momentum", dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )


@export("contrib.optimizer_v2.RMSPropOptimizer")
class RMSPropOptimizer(_RuleOptimizer):
    """RMSProp, whose mean of squares begins with epsilon (Tieleman and Hinton, 2012).

    Args:
      learning_rate, decay, momentum, epsilon: numbers, tensors, or functions that give
        one.
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
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", decay)
        self._set_hyper("momentum", momentum)
        self._set_hyper("epsilon", epsilon)
        self._centered = centered

    def _create_vars(self, var_list: list[Any], state: OptimizerV2State) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            first = state.get_hyper("epsilon", dtype) * ones_like(var)
            state.create_slot_with_initializer(var, first, var.shape, dtype, "rms")
            if self._centered:
                state.zeros_slot(var, "mg")
            state.zeros_slot(var, "momentum")

    def _build(
        self, var: Any, grad: Any, state: OptimizerV2State, **indices: Any
    ) -> Any:
        dtype = var.dtype.base_dtype
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        return apply_update(
            "CenteredRMSProp" if self._centered else "RMSProp",
            (var, *(state.get_slot(var, name) for name in names)),
            lr=state.get_hyper("learning_rate", dtype),
            rho=state.get_hyper("decay", dtype),
            momentum=state.get_hyper("momentum", dtype),
            # It is in the first mean already.
            epsilon=0,
            grad=grad,
            **indices,
            use_locking=self._use_locking,
        )
