"""Optimizers whose whole step on a variable is one op."""

from __future__ import annotations

from typing import Any

from tensorloom.train.optimizers.optimizer import Optimizer


class UpdateOpOptimizer(Optimizer):
    """Says by `_build` which op updates a variable, for all kinds of variables."""

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        """The update.

        Args:
          var: the variable.
          grad: its gradient, or the values of a sparse one.
          dtype: that of the op's scalars.
          **indices: `indices` of a sparse gradient.
        """
        raise NotImplementedError

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._build(var, grad, var.dtype.base_dtype)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._build(handle, grad, grad.dtype.base_dtype)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        return self._build(var, grad.values, dtype, indices=grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._build(handle, grad, grad.dtype, indices=indices)
