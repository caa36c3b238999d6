"""`tf.ConditionalAccumulator` and its sparse twin: gradients gathered from workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


def _step(value: Any) -> Tensor:
    step: Tensor = math_ops.cast(convert_to_tensor(value), dtypes.int64)
    return step


@export("ConditionalAccumulatorBase")
class ConditionalAccumulatorBase:
    """What dense and sparse accumulators share.

    Args:
      dtype, shape: of the gradients; a shape of None is unknown.
      accumulator_ref: the handle.
    """

    # The ops on resource handles have this before their name.
    _form = ""

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor) -> None:
        self._dtype = dtype
        self._shape = TensorShape.of(None) if shape is None else as_shape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the operation, without scopes."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """A scalar int32: how many gradients have been added since the last take."""
        result: Tensor = apply_op(
            f"{self._form}AccumulatorNumAccumulated",
            handle=self._accumulator_ref,
            name=f"{self._name}_NumAccumulated" if name is None else name,
        )
        return result

    def set_global_step(
        self, new_global_step: Any, name: str | None = None
    ) -> Operation:
        """An operation that sets the step; gradients of older steps are dropped."""
        op: Operation = apply_op(
            f"{self._form}AccumulatorSetGlobalStep",
            handle=self._accumulator_ref,
            new_global_step=_step(new_global_step),
            name=name,
        )
        return op


@export("ConditionalAccumulator")
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums gradients that are not stale; taking the sum waits until enough have come.

    Args:
      dtype: of the gradients.
      shape: of the gradients; None accepts that of the first.
      shared_name: accumulators of this name in one container are one.
      name: of the operation.
      reduction_type: "MEAN" or "SUM".
    """

    _form = "Resource"

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = apply_op(
            "ResourceConditionalAccumulator",
            dtype=dtype,
            shape=shape,
            shared_name=shared_name or "",
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(
        self, grad: Any, local_step: Any = 0, name: str | None = None
    ) -> Operation:
        """An operation that adds a gradient, unless `local_step` is too old.

        Raises:
          ValueError: the gradient's static shape does not fit.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        op: Operation = apply_op(
            "ResourceAccumulatorApplyGradient",
            handle=self._accumulator_ref,
            local_step=_step(local_step),
            gradient=grad,
            name=name,
        )
        return op

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean (or sum) of at least `num_required` gradients.

        Running it waits for them, empties the accumulator and increments its step.
        """
        result: Tensor = apply_op(
            "ResourceAccumulatorTakeGradient",
            handle=self._accumulator_ref,
            num_required=num_required,
            dtype=self._dtype,
            name=name,
        )
        result.set_shape(self._shape)
        return result


@export("sparse.SparseConditionalAccumulator", "SparseConditionalAccumulator")
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of IndexedSlices; each row is averaged over those that had it.

    Args:
      dtype, shape, shared_name, name, reduction_type: see `ConditionalAccumulator`.
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        handle = apply_op(
            "SparseConditionalAccumulator",
            dtype=dtype,
            shape=shape,
            shared_name=shared_name or "",
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Operation:
        """An operation that adds IndexedSlices, unless `local_step` is too old."""
        return self.apply_grad(
            grad_indices=grad.indices,
            grad_values=grad.values,
            grad_shape=grad.dense_shape,
            local_step=local_step,
            name=name,
        )

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Operation:
        """An operation that adds rows of a gradient, unless `local_step` is too old.

        Args:
          grad_indices: a vector; which rows.
          grad_values: the rows.
          grad_shape: the shape of the whole gradient, if known.
        """
        step = _step(local_step)
        indices = math_ops.cast(grad_indices, dtypes.int64)
        shape = math_ops.cast([] if grad_shape is None else grad_shape, dtypes.int64)
        op: Operation = apply_op(
            "SparseAccumulatorApplyGradient",
            handle=self._accumulator_ref,
            local_step=step,
            gradient_indices=indices,
            gradient_values=grad_values,
            gradient_shape=shape,
            has_known_shape=grad_shape is not None,
            name=name,
        )
        return op

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """(indices, values, shape) of the mean (or sum) of enough gradients."""
        return apply_op(
            "SparseAccumulatorTakeGradient",
            handle=self._accumulator_ref,
            num_required=num_required,
            dtype=self._dtype,
            name=name,
        )

    def take_indexed_slices_grad(
        self, num_required: Any, name: str | None = None
    ) -> IndexedSlices:
        """As `take_grad`, as IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(
            indices=taken.indices, values=taken.values, dense_shape=taken.shape
        )
