"""Steps that are larger where a gradient agrees with what came before (Bello, 2017)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.math.binary import pow as pow_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import sign
from tensorloom.ops.state.reference_variable import assign
from tensorloom.ops.state.scatter import scatter_sub
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.update_op import updates_by_op


@updates_by_op
class _SignOptimizer(Optimizer):
    """What the two have in common: a slot, and the decay of the signs' part."""

    def __init__(
        self,
        learning_rate: Any,
        beta: Any,
        sign_decay_fn: Callable[[Any], Any] | None,
        use_locking: bool,
        name: str,
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """See `tf.train.Optimizer`; the decay asks for the global step."""
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(
                self._sign_decay_fn(global_step), name="sign_decay"
            )
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = convert_to_tensor(self._beta, name="beta")
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _factor(self, agreement: Any, dtype: Any) -> Any:
        """How many times the gradient is taken, by the product of the signs."""
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        beta_t = cast(self._beta_t, dtype)
        m = self.get_slot(var, "m")
        m_t = assign(
            m, (m * beta_t) + (grad * (1 - beta_t)), use_locking=self._use_locking
        )
        agreement = gather(sign(m_t), grad.indices) * sign(grad.values)
        step = cast(self._lr_t, dtype) * self._factor(agreement, dtype) * grad.values
        update = scatter_sub(var, grad.indices, step, use_locking=self._use_locking)
        return group(update, m_t)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_sparse(IndexedSlices(grad, indices, handle.shape), handle)


@export("contrib.opt.AddSignOptimizer")
class AddSignOptimizer(_SignOptimizer):
    """var -= rate * (alpha + decay * sign(gradient) * sign(m)) * gradient.

    Args:
      learning_rate: a number or a tensor.
      alpha: what is always taken.
      beta: of the moving mean m of gradients.
      sign_decay_fn: from the global step the decay; 1 when None.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: Any = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _prepare(self) -> None:
        super()._prepare()
        self._alpha_t = convert_to_tensor(self._alpha, name="alpha")

    def _factor(self, agreement: Any, dtype: Any) -> Any:
        decay = cast(self._sign_decay_t, dtype)
        return cast(self._alpha_t, dtype) + decay * agreement

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        return apply_update(
            "AddSign",
            (var, self.get_slot(var, "m")),
            lr=cast(self._lr_t, dtype),
            alpha=cast(self._alpha_t, dtype),
            sign_decay=cast(self._sign_decay_t, dtype),
            beta=cast(self._beta_t, dtype),
            grad=grad,
            use_locking=self._use_locking,
        )


@export("contrib.opt.PowerSignOptimizer")
class PowerSignOptimizer(_SignOptimizer):
    """var -= rate * base ** (decay * sign(gradient) * sign(m)) * gradient.

    Args:
      learning_rate: a number or a tensor.
      base: a number.
      beta: of the moving mean m of gradients.
      sign_decay_fn: from the global step the decay; 1 when None.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)

    def _prepare(self) -> None:
        super()._prepare()
        self._logbase_t = convert_to_tensor(self._logbase, name="logbase")

    def _factor(self, agreement: Any, dtype: Any) -> Any:
        decay = cast(self._sign_decay_t, dtype)
        exponent = cast(self._logbase_t, dtype) * decay * agreement
        return pow_op(cast(math.e, dtype), exponent)

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        return apply_update(
            "PowerSign",
            (var, self.get_slot(var, "m")),
            lr=cast(self._lr_t, dtype),
            logbase=cast(self._logbase_t, dtype),
            sign_decay=cast(self._sign_decay_t, dtype),
            beta=cast(self._beta_t, dtype),
            grad=grad,
            use_locking=self._use_locking,
        )
