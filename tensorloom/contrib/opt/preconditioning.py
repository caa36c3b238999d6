"""`ShampooOptimizer`: gradients multiplied by a matrix for each dimension."""

from __future__ import annotations

import functools
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.contrib.opt import matrix_roots
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import zeros, zeros_like
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.indexing.tensor_scatter import scatter_nd
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.linalg.svd import svd
from tensorloom.ops.linalg.tensordot import tensordot
from tensorloom.ops.math.binary import floormod, maximum
from tensorloom.ops.math.binary import pow as pow_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.state.reference_variable import assign, assign_add, assign_sub
from tensorloom.ops.state.scatter import scatter_add
from tensorloom.train.optimizers.optimizer import Optimizer


def _at(value: Any, step: Any) -> Any:
    """A hyperparameter, which may be a function of the step."""
    return value(step) if callable(value) else value


@export("contrib.opt.ShampooOptimizer")
class ShampooOptimizer(Optimizer):
    """Preconditions each dimension of a gradient (Gupta, Koren and Singer, 2018).

    Args:
      global_step: the number of the step.
      max_matrix_size: a dimension that is larger has a diagonal, not a matrix.
      gbar_decay, gbar_weight: of the moving sum of gradients.
      mat_gbar_decay, mat_gbar_weight: of those of the gradients' outer products.
      learning_rate: a number, a tensor, or a function of the step.
      svd_interval: in how many steps the powers are computed once.
      precond_update_interval: in how many steps the products are summed once.
      epsilon: added to the diagonal of a matrix.
      alpha: the sum of the exponents; 0.5 is that of the paper.
      use_iterative_root: compute the powers by iteration, not by SVD.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 0.0001,
        alpha: Any = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._global_step = cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay = gbar_decay
        self._gbar_weight = gbar_weight
        self._mat_gbar_decay = mat_gbar_decay
        self._mat_gbar_weight = mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var):
                self._zeros_slot(var, "gbar", self._name)
                for i, size in enumerate(var.shape.as_list()):
                    if size <= self._max_matrix_size:
                        first = zeros([size, size])
                        if callable(self._svd_interval) or self._svd_interval > 1:
                            self._get_or_make_slot(var, eye(size), f"H_{i}", self._name)
                    else:
                        first = zeros([size])
                    self._get_or_make_slot(var, first, f"Gbar_{i}", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._updated(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._updated(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._rows(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._rows(grad, indices, handle)

    def _rows(self, values: Any, indices: Any, var: Any) -> Any:
        """Rows alone only where their matrix is a diagonal, and nothing decays."""
        is_small = var.shape.as_list()[0] <= self._max_matrix_size
        if is_small or self._gbar_decay != 0.0:
            dense = scatter_nd(
                expand_dims(indices, axis=1),
                values,
                shape(var, out_type=indices.dtype),
            )
            return self._updated(dense, var)
        return self._updated(values, var, indices)

    def _averaged(self, var: Any, weight: Any, weight_t: Any, rest: Any) -> Any:
        """weight_t * var + rest; with fewer operations where the weight is constant."""
        if not callable(weight) and weight == 0.0:
            return rest
        if not callable(weight) and weight == 1.0:
            return assign_add(var, rest)
        return var.assign_add((weight_t - 1) * var + rest)

    def _power(
        self, var: Any, matrix: Any, size: int, exponent: Any, slot: str | None
    ) -> Any:
        with name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_roots.matrix_square_root(matrix, size, 100, self._epsilon)
                power = matrix_roots.matrix_inverse_pth_root(
                    root, size, 2 * exponent, 100, 1e-6, ridge_epsilon=0.0
                )
            elif size == 1:
                power = pow_op(matrix + self._epsilon, exponent)
            else:
                values, u, v = svd(
                    matrix + self._epsilon * eye(size), full_matrices=True
                )
                scaled = v * pow_op(maximum(values, self._epsilon), exponent)
                power = matmul(scaled, transpose(u))
            return power if slot is None else assign(self.get_slot(var, slot), power)

    def _updated(self, grad: Any, var: Any, indices: Any = None) -> Any:
        step = self._global_step + 1
        if indices is not None:
            result = grad
        else:
            result = self._averaged(
                self.get_slot(var, "gbar"),
                self._gbar_decay,
                _at(self._gbar_decay, step),
                _at(self._gbar_weight, step) * grad,
            )
        sizes = var.shape.as_list()
        exponent = -_at(self._alpha, step) / len(sizes)
        for i, size in enumerate(sizes):
            axes = [k for k in range(len(sizes)) if k != i]
            if size <= self._max_matrix_size:
                matrix = self._matrix_power(grad, var, i, axes, exponent, step)
                result = tensordot(result, matrix, axes=([0], [0]), name=f"precond_{i}")
            else:
                diagonal = self._diagonal_power(
                    grad, var, i, axes, exponent, step, indices
                )
                order = [*range(1, len(sizes)), 0]
                result = transpose(result, perm=order) * diagonal
        rate = _at(self._learning_rate, step)
        if indices is not None:
            return scatter_add(var, indices, -rate * result)
        return assign_sub(var, rate * result)

    def _matrix_power(
        self, grad: Any, var: Any, i: int, axes: list[int], exponent: Any, step: Any
    ) -> Any:
        size = var.shape.as_list()[i]
        slot = self.get_slot(var, f"Gbar_{i}")
        interval = _at(self._precond_update_interval, step)

        def summed() -> Any:
            outer = tensordot(grad, grad, axes=(axes, axes), name=f"grad_outer_{i}")
            return self._averaged(
                slot,
                self._mat_gbar_decay,
                _at(self._mat_gbar_decay, step),
                _at(self._mat_gbar_weight, step) * interval * outer,
            )

        matrix = cond(
            floormod(step, interval) < 1, summed, lambda: identity(slot)
        ) / float(size)
        power = functools.partial(self._power, var, matrix, size, exponent)
        if not callable(self._svd_interval) and self._svd_interval == 1:
            return power(None)
        return cond(
            floormod(step, _at(self._svd_interval, step)) < 1,
            lambda: power(f"H_{i}"),
            lambda: identity(self.get_slot(var, f"H_{i}")),
        )

    def _diagonal_power(
        self,
        grad: Any,
        var: Any,
        i: int,
        axes: list[int],
        exponent: Any,
        step: Any,
        indices: Any,
    ) -> Any:
        slot = self.get_slot(var, f"Gbar_{i}")
        weight = _at(self._mat_gbar_weight, step)
        outer = grad * grad
        if axes:
            count = 1.0 if indices is not None else float(var.shape.as_list()[i])
            outer = reduce_sum(outer, axis=axes) / count
        if i == 0 and indices is not None:
            if self._mat_gbar_decay != 1.0:
                raise AssertionError(
                    "sparse gradients of large dimensions need mat_gbar_decay=1.0, "
                    f"got {self._mat_gbar_decay}"
                )
            total = gather(scatter_add(slot, indices, weight * outer), indices)
        else:
            total = self._averaged(
                slot,
                self._mat_gbar_decay,
                _at(self._mat_gbar_decay, step),
                weight * outer,
            )
        return where_v2(greater(total, 0), pow_op(total, exponent), zeros_like(total))
