"""`tf.contrib.optimizer_v2.AdamOptimizer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.optimizer_v2.state_optimizer import (
    OptimizerV2,
    OptimizerV2State,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, control_dependencies
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import sqrt
from tensorloom.ops.state.reference_variable import assign, assign_sub
from tensorloom.ops.state.scatter import resource_scatter
from tensorloom.ops.state.scatter import scatter_add as scatter_add_op
from tensorloom.ops.training.training_ops import apply_update


@export("contrib.optimizer_v2.AdamOptimizer")
class AdamOptimizer(OptimizerV2):
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
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta1", beta1)
        self._set_hyper("beta2", beta2)
        self._set_hyper("epsilon", epsilon)

    def _get_beta_accumulators(self, state: Any = None) -> tuple[Any, Any]:
        state = state or self._get_per_graph_state()
        return state.get_non_slot("beta1_power"), state.get_non_slot("beta2_power")

    def _create_vars(self, var_list: list[Any], state: OptimizerV2State) -> None:
        for beta in ("beta1", "beta2"):
            state.create_non_slot(
                lambda beta=beta: state.get_hyper(beta), f"{beta}_power"
            )
        for var in var_list:
            state.zeros_slot(var, "m")
            state.zeros_slot(var, "v")

    def _dense(self, grad: Any, var: Any, state: OptimizerV2State) -> Any:
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = self._get_beta_accumulators(state)
        return apply_update(
            "Adam",
            (var, state.get_slot(var, "m"), state.get_slot(var, "v")),
            beta1_power=cast(beta1_power, dtype),
            beta2_power=cast(beta2_power, dtype),
            lr=state.get_hyper("learning_rate", dtype),
            beta1=state.get_hyper("beta1", dtype),
            beta2=state.get_hyper("beta2", dtype),
            epsilon=state.get_hyper("epsilon", dtype),
            grad=grad,
            use_locking=self._use_locking,
        )

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        return self._dense(grad, var, state)

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerV2State
    ) -> Any:
        return self._dense(grad, handle, state)

    def _rows(
        self,
        grad: Any,
        var: Any,
        indices: Any,
        scatter_add: Callable[..., Any],
        state: OptimizerV2State,
    ) -> Any:
        """The moments decay everywhere; only the rows of the indices get more."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (
            cast(power, dtype) for power in self._get_beta_accumulators(state)
        )
        rate = state.get_hyper("learning_rate", dtype)
        rate = rate * sqrt(1 - beta2_power) / (1 - beta1_power)
        moments = []
        for name, part in (("m", grad), ("v", grad * grad)):
            beta = state.get_hyper("beta1" if name == "m" else "beta2", dtype)
            slot = state.get_slot(var, name)
            scaled = part * (1 - beta)
            decayed = assign(slot, slot * beta, use_locking=self._use_locking)
            with control_dependencies([decayed]):
                moments.append(scatter_add(slot, indices, scaled))
        m, v = moments
        update = assign_sub(
            var,
            rate * m / (sqrt(v) + state.get_hyper("epsilon", dtype)),
            use_locking=self._use_locking,
        )
        return group(update, m, v)

    def _apply_sparse(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        def scatter(slot: Any, indices: Any, values: Any) -> Any:
            return scatter_add_op(slot, indices, values, use_locking=self._use_locking)

        return self._rows(grad.values, var, grad.indices, scatter, state)

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerV2State
    ) -> Any:
        def scatter(slot: Any, rows: Any, values: Any) -> Any:
            with control_dependencies([resource_scatter("Add", slot, rows, values)]):
                return slot.value()

        return self._rows(grad, handle, indices, scatter, state)

    def _finish(self, state: OptimizerV2State) -> Any:  # type: ignore[override]
        updates = []
        for beta, power in zip(
            ("beta1", "beta2"), self._get_beta_accumulators(state), strict=True
        ):
            with colocate_with(power):
                updates.append(
                    power.assign(
                        power * state.get_hyper(beta), use_locking=self._use_locking
                    )
                )
        return group(*updates)
