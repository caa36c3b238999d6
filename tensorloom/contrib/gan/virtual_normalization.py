"""Virtual batch normalization: by one reference batch (Salimans et al., 2016)."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.norm import batch_normalization
from tensorloom.ops.reductions.reductions import reduce_mean
from tensorloom.ops.state.initializers import Ones, Zeros

_ZEROS = Zeros()
_ONES = Ones()


def _statistics(x: Any, axes: list[int]) -> tuple[Any, Any]:
    """Mean and mean square, with all axes; in 32 bits for 16."""
    wide = math_ops.cast(x, dtypes.float32) if x.dtype == dtypes.float16 else x
    mean = reduce_mean(wide, axes, keepdims=True)
    squares = reduce_mean(math_ops.square(wide), axes, keepdims=True)
    return math_ops.cast(mean, x.dtype), math_ops.cast(squares, x.dtype)


def _axis(batch: Any, axis: int) -> int:
    """An axis that is not negative."""
    rank = batch.shape.ndims
    if rank is None:
        raise ValueError("`reference_batch` has unknown dimensions.")
    used = axis + rank if axis < 0 else axis
    if not 0 <= used < rank:
        raise ValueError(
            f"Value of `axis` argument {used} is out of range for input with rank "
            f"{rank}"
        )
    return used


def _without(shape: Any, axis: int) -> list[Any]:
    sizes = shape.as_list()
    return [*sizes[:axis], *sizes[axis + 1 :]]


@export("contrib.gan.features.VBN")
class VBN:
    """Normalizes each example by itself and a reference batch, not by its own batch."""

    def __init__(
        self,
        reference_batch: Any,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = _ZEROS,
        gamma_initializer: Any = _ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        trainable: bool = True,
        name: Any = None,
        batch_axis: int = 0,
    ) -> None:
        """Makes `beta` and `gamma`, which all calls share.

        Args:
          reference_batch: a batch of known rank.
          axis: that of the features.
          epsilon: added to variances.
          center, scale: whether there is a `beta` that is added, a `gamma` to multiply.
          beta_initializer, gamma_initializer, beta_regularizer, gamma_regularizer,
            trainable: of those.
          name: the variable scope.
          batch_axis: that of the examples.

        Raises:
          ValueError: the rank is not known, or an axis is not there or used twice.
        """
        axis = _axis(reference_batch, axis)
        self._batch_axis = _axis(reference_batch, batch_axis)
        if axis == self._batch_axis:
            raise ValueError("`axis` and `batch_axis` cannot be the same.")
        self._epsilon = epsilon
        self._reference_batch = reference_batch
        shape = reference_batch.shape
        others = [i for i in range(shape.ndims) if i != axis]
        self._example_axes = [i for i in others if i != self._batch_axis]
        self._wide = [1] * shape.ndims
        self._wide[axis] = shape.as_list()[axis]
        size = [shape.as_list()[axis]]
        with variable_scope(name, "VBN", values=[reference_batch]) as self._scope:
            self._mean, self._squares = _statistics(reference_batch, others)
            count: Any = array_ops.shape(reference_batch)[self._batch_axis]
            known = constant_value(count)
            count = count if known is None else known
            part = 1.0 / (math_ops.cast(count, dtypes.float32) + 1.0)
            self._example_weight = math_ops.cast(part, reference_batch.dtype)
            self._beta = self._gamma = None
            if center:
                self._beta = get_variable(
                    name="beta",
                    shape=size,
                    initializer=beta_initializer,
                    regularizer=beta_regularizer,
                    trainable=trainable,
                )
            if scale:
                self._gamma = get_variable(
                    name="gamma",
                    shape=size,
                    initializer=gamma_initializer,
                    regularizer=gamma_regularizer,
                    trainable=trainable,
                )

    def _normalized(self, inputs: Any, mean: Any, squares: Any) -> Any:
        beta, gamma = (
            None if v is None else array_ops.reshape(v, self._wide)
            for v in (self._beta, self._gamma)
        )
        variance = squares - math_ops.square(mean)
        return batch_normalization(inputs, mean, variance, beta, gamma, self._epsilon)

    def reference_batch_normalization(self) -> Any:
        """The reference batch, normalized by itself."""
        with name_scope(self._scope.name):
            return self._normalized(self._reference_batch, self._mean, self._squares)

    def __call__(self, inputs: Any) -> Any:
        """The inputs, normalized.

        Raises:
          ValueError: but for their number they have not the reference's shape.
        """
        shapes = [
            _without(batch.shape, self._batch_axis)
            for batch in (inputs, self._reference_batch)
        ]
        if any(a != b for a, b in zip(*shapes, strict=True) if None not in (a, b)):
            raise ValueError(
                f"Shapes {shapes[0]} and {shapes[1]} are incompatible: examples must "
                "have the shape of the reference batch's."
            )
        with name_scope(self._scope.name, values=[inputs, self._reference_batch]):
            mean, squares = _statistics(inputs, self._example_axes)
            part = self._example_weight
            mean = part * mean + (1.0 - part) * self._mean
            squares = part * squares + (1.0 - part) * self._squares
            return self._normalized(inputs, mean, squares)
