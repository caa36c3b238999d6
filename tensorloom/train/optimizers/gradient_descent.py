"""`tf.train.GradientDescentOptimizer`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import scatter as scatter_ops
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.optimizer import Optimizer


@export("train.GradientDescentOptimizer")
class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate * gradient.

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
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(
            self._call_if_callable(self._learning_rate), name="learning_rate"
        )

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return apply_update(
            "GradientDescent",
            (var,),
            alpha=math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype),
            delta=grad,
            use_locking=self._use_locking,
        ).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return apply_update(
            "GradientDescent",
            (handle,),
            alpha=math_ops.cast(self._learning_rate_tensor, grad.dtype.base_dtype),
            delta=grad,
            use_locking=self._use_locking,
        )

    def _apply_keyed(self, grad: Any, var: Any) -> Any:
        return apply_update(
            "GradientDescent",
            (var,),
            alpha=math_ops.cast(self._learning_rate_tensor, grad.dtype),
            delta=grad.values,
            indices=grad.indices,
        )

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        rate = math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any
    ) -> Any:
        return scatter_ops.resource_scatter(
            "Add", handle, indices, -grad * self._learning_rate
        )
