"""Optimizers that are Adam but for one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    colocate_with,
    control_dependencies,
    get_default_graph,
    init_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.identity import identity
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.binary import pow as pow_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import abs as abs_op
from tensorloom.ops.math.elementwise import sqrt, square
from tensorloom.ops.state.reference_variable import assign
from tensorloom.ops.state.scatter import scatter_sub, scatter_update
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.adam import AdamOptimizer


@export("contrib.opt.AdaMaxOptimizer")
class AdaMaxOptimizer(AdamOptimizer):
    """Adam with the infinity norm (Kingma and Ba, 2014, section 7.1).

    Of a sparse gradient only the rows in it are updated, their moments too.

    Args:
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that give
        one.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        with init_scope():
            graph = get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        return apply_update(
            "AdaMax",
            (var, self.get_slot(var, "m"), self.get_slot(var, "v")),
            beta1_power=cast(self._get_beta_accumulators(), dtype),
            lr=cast(self._lr_t, dtype),
            beta1=cast(self._beta1_t, dtype),
            beta2=cast(self._beta2_t, dtype),
            epsilon=cast(self._epsilon_t, dtype),
            grad=grad,
            use_locking=self._use_locking,
        )

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        dtype = var.dtype.base_dtype
        beta1_t = cast(self._beta1_t, dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = gather(m, indices) * beta1_t + grad * (1 - beta1_t)
        m_t = scatter_update(m, indices, m_rows, use_locking=self._use_locking)
        v_rows = maximum(gather(v, indices) * cast(self._beta2_t, dtype), abs_op(grad))
        v_t = scatter_update(v, indices, v_rows, use_locking=self._use_locking)
        power = cast(self._get_beta_accumulators(), dtype)
        rate = -cast(self._lr_t, dtype) / (1 - power)
        step = rate * (m_rows / (v_rows + cast(self._epsilon_t, dtype)))
        with control_dependencies([step]):
            update = scatter_add(var, indices, step)
        return group(update, m_t, v_t)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            with colocate_with(power):
                update = power.assign(
                    power * self._beta1_t, use_locking=self._use_locking
                )
        return group(*update_ops, update, name=name_scope)


@export("contrib.opt.NadamOptimizer")
class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum (Dozat, 2015).

    Args:
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that give
        one.
    """

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return apply_update(
            "Adam",
            (var, self.get_slot(var, "m"), self.get_slot(var, "v")),
            beta1_power=cast(beta1_power, dtype),
            beta2_power=cast(beta2_power, dtype),
            lr=cast(self._lr_t, dtype),
            beta1=cast(self._beta1_t, dtype),
            beta2=cast(self._beta2_t, dtype),
            epsilon=cast(self._epsilon_t, dtype),
            grad=grad,
            use_locking=self._use_locking,
            use_nesterov=True,
        )

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        dtype = var.dtype.base_dtype
        beta1_t = cast(self._beta1_t, dtype)
        beta2_t = cast(self._beta2_t, dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_part = grad * (1 - beta1_t)
        m_t = assign(m, m * beta1_t, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_part)
            m_bar = m_part + beta1_t * gather(m_t, indices)
        v_t = assign(v, v * beta2_t, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = scatter_add(v, indices, (grad * grad) * (1 - beta2_t))
        root = sqrt(gather(v_t, indices))
        step = -_rate(self, dtype) * m_bar / (root + cast(self._epsilon_t, dtype))
        return group(scatter_add(var, indices, step), m_bar, v_t)


def _rate(optimizer: Any, dtype: Any) -> Any:
    """The learning rate with Adam's correction of what began with zeros."""
    beta1_power, beta2_power = (
        cast(power, dtype) for power in optimizer._get_beta_accumulators()
    )
    rate = cast(optimizer._lr_t, dtype)
    return rate * sqrt(1 - beta2_power) / (1 - beta1_power)


class _LazyRows(AdamOptimizer):
    """Updates the rows of a sparse gradient, and leaves all else as it is."""

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        dtype = var.dtype.base_dtype
        beta1_t = cast(self._beta1_t, dtype)
        beta2_t = cast(self._beta2_t, dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1_t * gather(m, indices) + (1 - beta1_t) * grad
        m_t = scatter_update(m, indices, m_rows, use_locking=self._use_locking)
        v_rows = beta2_t * gather(v, indices) + (1 - beta2_t) * square(grad)
        v_t = scatter_update(v, indices, v_rows, use_locking=self._use_locking)
        step = (
            _rate(self, dtype) * m_rows / (sqrt(v_rows) + cast(self._epsilon_t, dtype))
        )
        update = scatter_sub(var, indices, step, use_locking=self._use_locking)
        return group(update, m_t, v_t)


@export("contrib.opt.LazyAdamOptimizer")
class LazyAdamOptimizer(_LazyRows):
    """Adam that updates only the rows of a sparse gradient, and their moments.

    It is faster for large embeddings. What it learns may differ from Adam's, where all
    moments decay in each step.

    Args:
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that give
        one.
    """


@export("contrib.opt.AdamGSOptimizer")
class AdamGSOptimizer(AdamOptimizer):
    """Adam whose powers of the betas follow from the global step.

    It has no variables for them, which workers that train together would race for.

    Args:
      global_step: the variable with the number of the step.
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that give
        one.
    """

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        step = self._global_step_on_worker
        return pow_op(self._beta1_t, step), pow_op(self._beta2_t, step)

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._global_step_on_worker = cast(
            identity(self._global_step) + 1, dtypes.float32
        )

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return group(*update_ops, name=name_scope)


@export("contrib.opt.LazyAdamGSOptimizer")
class LazyAdamGSOptimizer(AdamGSOptimizer, _LazyRows):
    """`AdamGSOptimizer` that updates only the rows of a sparse gradient.

    Args:
      global_step: the variable with the number of the step.
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that give
        one.
    """
