"""`GGTOptimizer`: a preconditioner from a window of past gradients."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.optimizer_v2.state_optimizer import (
    OptimizerV2,
    OptimizerV2State,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.linalg.matrix_diag import matrix_diag
from tensorloom.ops.linalg.svd import svd
from tensorloom.ops.math.binary import add, divide, floormod, minimum
from tensorloom.ops.math.binary import pow as pow_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import sqrt
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.reductions.reductions import reduce_min
from tensorloom.ops.state.reference_variable import assign_add, assign_sub
from tensorloom.ops.state.scatter import scatter_update


@export("contrib.opt.GGTOptimizer")
class GGTOptimizer(OptimizerV2):
    """Full-matrix adaptive regularization of low rank (Agarwal et al., 2018).

    Args:
      learning_rate, beta1: numbers, tensors, or functions that give one.
      window: how many gradients are kept.
      eps: the root of the smallest singular value from which the rest counts.
      svd_eps: added to the diagonal before the decomposition.
      sigma_eps: added to singular values.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 0.0001,
        svd_eps: float = 1e-6,
        sigma_eps: float = 0.01,
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("lr", learning_rate)
        self._set_hyper("beta1", beta1)
        self._set_hyper("window", window)
        self._set_hyper("eps", eps)
        self._set_hyper("svd_eps", svd_eps)
        self._set_hyper("sigma_eps", sigma_eps)
        # By the name of a variable where it is in the vector of all, and its size.
        self.index_dict: dict[str, int] = {}
        self.shape_dict: dict[str, int] = {}

    def _create_vars(self, var_list: list[Any], state: OptimizerV2State) -> None:
        sizes = {var.name: math.prod(var.shape.as_list()) for var in var_list}
        self.shape_dict = dict(sorted(sizes.items()))
        total = 0
        for name, size in self.shape_dict.items():
            self.index_dict[name] = total
            total += size
        dtype = var_list[0].dtype.base_dtype
        state.create_non_slot(cast(0.0, dtype), "global_step")
        window = state.get_hyper("window")
        state.create_non_slot(zeros([window, total], dtype), "grad_buffer")
        state.create_non_slot(zeros((total,), dtype), "moment1")
        state.create_non_slot(zeros((total,), dtype), "flat_grad")

    def _state_or_own(self, state: Any) -> Any:
        return state or self._get_per_graph_state()

    def _get_global_step(self, state: Any = None) -> Any:
        return self._state_or_own(state).get_non_slot("global_step")

    def _get_moment1(self, state: Any = None) -> Any:
        return self._state_or_own(state).get_non_slot("moment1")

    def _get_grad_buffer(self, state: Any = None) -> Any:
        return self._state_or_own(state).get_non_slot("grad_buffer")

    def _get_flat_grad(self, state: Any = None) -> Any:
        return self._state_or_own(state).get_non_slot("flat_grad")

    def _prepare(self, state: OptimizerV2State) -> None:  # type: ignore[override]
        self._variables: list[Any] = []

    def _part(self, var: Any) -> tuple[int, int]:
        start = self.index_dict[var.name]
        return start, start + self.shape_dict[var.name]

    def _kept(self, grad: Any, var: Any, state: OptimizerV2State) -> Any:
        """Puts a gradient where it belongs in the vector of all."""
        self._variables.append(var)
        return scatter_update(
            self._get_flat_grad(state),
            range_op(*self._part(var)),
            reshape(grad, [-1]),
        )

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        return self._kept(grad, var, state)

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerV2State
    ) -> Any:
        return self._kept(grad, handle, state)

    def _apply_sparse(self, grad: Any, var: Any, state: Any = None) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _finish(self, state: OptimizerV2State) -> Any:  # type: ignore[override]
        dtype = self._variables[0].dtype.base_dtype
        step = assign_add(self._get_global_step(state), 1.0)
        beta1 = state.get_hyper("beta1", dtype)
        flat = self._get_flat_grad(state)
        old = self._get_moment1(state)
        moment = old.assign(beta1 * old + (1.0 - beta1) * flat)
        window = state.get_hyper("window")
        row = floormod(cast(step - 1.0, dtypes.int32), window)
        buffer = scatter_update(self._get_grad_buffer(state), row, moment)
        count = minimum(convert_to_tensor(step), cast(window, dtype))
        past = transpose(divide(buffer, sqrt(count)))
        change = self._step(past, expand_dims(moment, -1), state, dtype)
        updates = []
        for var in self._variables:
            start, end = self._part(var)
            part = reshape(change[start:end], var.shape)
            updates.append(assign_sub(var, state.get_hyper("lr", dtype) * part))
        return group(updates)

    def _step(self, past: Any, moment: Any, state: OptimizerV2State, dtype: Any) -> Any:
        """The moment, preconditioned within the span of the past and outside of it."""
        damping = cast(eye(state.get_hyper("window")), dtype)
        damping = damping * state.get_hyper("svd_eps", dtype)
        sigma, u, _ = svd(matmul(past, past, transpose_a=True) + damping)
        root = sqrt(sigma)
        least = reduce_min(root)
        one = cast(1.0, dtype)

        def within(scale: Any) -> Any:
            inner = matmul(u, matmul(past, moment, transpose_a=True), True)
            outer = matmul(u, matmul(matrix_diag(scale), inner))
            return matmul(past, outer)

        shifted = pow_op(root + state.get_hyper("sigma_eps", dtype), 3)
        head = within(divide(one, shifted))
        rest = divide(moment - within(divide(one, sigma)), least)
        return cond(
            least > state.get_hyper("eps", dtype),
            lambda: add(head, rest),
            lambda: identity(head),
        )
