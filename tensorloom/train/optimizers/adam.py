"""`tf.train.AdamOptimizer`."""

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
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.ops.state import scatter as scatter_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.update_op import updates_by_op


@export("train.AdamOptimizer")
@updates_by_op
class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2014), with the epsilon of the paper's "epsilon hat".

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
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        with init_scope():
            graph = get_default_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph=graph),
            self._get_non_slot_variable("beta2_power", graph=graph),
        )

    def _create_slots(self, var_list: list[Any]) -> None:
        # One place for the powers, whatever the order of the variables.
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(
            self._call_if_callable(self._lr), name="learning_rate"
        )
        self._beta1_t = convert_to_tensor(
            self._call_if_callable(self._beta1), name="beta1"
        )
        self._beta2_t = convert_to_tensor(
            self._call_if_callable(self._beta2), name="beta2"
        )
        self._epsilon_t = convert_to_tensor(
            self._call_if_callable(self._epsilon), name="epsilon"
        )

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return apply_update(
            "Adam",
            (var, self.get_slot(var, "m"), self.get_slot(var, "v")),
            beta1_power=math_ops.cast(beta1_power, dtype),
            beta2_power=math_ops.cast(beta2_power, dtype),
            lr=math_ops.cast(self._lr_t, dtype),
            beta1=math_ops.cast(self._beta1_t, dtype),
            beta2=math_ops.cast(self._beta2_t, dtype),
            epsilon=math_ops.cast(self._epsilon_t, dtype),
            grad=grad,
            **indices,
            use_locking=self._use_locking,
        )

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        """The moments decay everywhere; only the rows of the indices get more."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (
            math_ops.cast(power, dtype) for power in self._get_beta_accumulators()
        )
        lr_t = math_ops.cast(self._lr_t, dtype)
        beta1_t = math_ops.cast(self._beta1_t, dtype)
        beta2_t = math_ops.cast(self._beta2_t, dtype)
        epsilon_t = math_ops.cast(self._epsilon_t, dtype)
        lr = lr_t * math_ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        m = self.get_slot(var, "m")
        m_scaled = grad * (1 - beta1_t)
        m_t = state_ops.assign(m, m * beta1_t, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_scaled)
        v = self.get_slot(var, "v")
        v_scaled = (grad * grad) * (1 - beta2_t)
        v_t = state_ops.assign(v, v * beta2_t, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = scatter_add(v, indices, v_scaled)
        root = math_ops.sqrt(v_t)
        update = state_ops.assign_sub(
            var, lr * m_t / (root + epsilon_t), use_locking=self._use_locking
        )
        return control_flow_ops.group(update, m_t, v_t)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_sparse_shared(
            grad.values,
            var,
            grad.indices,
            lambda x, i, v: scatter_ops.scatter_add(
                x, i, v, use_locking=self._use_locking
            ),
        )

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with control_dependencies([scatter_ops.resource_scatter("Add", x, i, v)]):
            return x.value()

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_sparse_shared(
            grad, handle, indices, self._resource_scatter_add
        )

    def _apply_keyed(self, grad: Any, var: Any) -> Any:
        """As the dense rule, for the rows of the keys alone: others do not decay."""
        return self._build(var, grad.values, grad.dtype, indices=grad.indices)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power):
                update_beta1 = beta1_power.assign(
                    beta1_power * self._beta1_t, use_locking=self._use_locking
                )
                update_beta2 = beta2_power.assign(
                    beta2_power * self._beta2_t, use_locking=self._use_locking
                )
        return control_flow_ops.group(
            *update_ops, update_beta1, update_beta2, name=name_scope
        )
