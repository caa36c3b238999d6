"""`tf.keras.constraints`: what optimizers do to a weight after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.keras.named_objects import (
    deserialize_keras_object,
    serialize_keras_object,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import clip as clip_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# Added to norms that divide.
_EPSILON = 1e-07


@export("keras.constraints.Constraint")
class Constraint:
    """Base of constraints; instances map a weight to an allowed one."""

    def __call__(self, w: Any) -> Any:
        """The allowed weight."""
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal constraint."""
        return {}


def _root(x: Tensor) -> Tensor:
    """The square root, of zero for what is negative."""
    zero = constant(0.0, dtype=x.dtype.base_dtype)
    infinity = constant(float("inf"), dtype=x.dtype.base_dtype)
    return math_ops.sqrt(clip_ops.clip_by_value(x, zero, infinity))


def _norms(w: Any, axis: Any) -> Tensor:
    return _root(math_ops.reduce_sum(math_ops.square(w), axis=axis, keepdims=True))


def _clip(x: Tensor, low: Any, high: Any) -> Tensor:
    """Clipped to the bounds; the lower one wins where they cross."""
    high = max(low, high) if high is not None else float("inf")
    kind = x.dtype.base_dtype
    return clip_ops.clip_by_value(  # type: ignore[no-any-return]
        x, constant(low, dtype=kind), constant(high, dtype=kind)
    )


@export("keras.constraints.MaxNorm", "keras.constraints.max_norm")
class MaxNorm(Constraint):
    """Norms along `axis` are at most `max_value`."""

    def __init__(self, max_value: Any = 2, axis: Any = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """The allowed weight."""
        norms = _norms(w, self.axis)
        desired = _clip(norms, 0, self.max_value)
        return w * (desired / (_EPSILON + norms))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal constraint."""
        return {"max_value": self.max_value, "axis": self.axis}


@export("keras.constraints.NonNeg", "keras.constraints.non_neg")
class NonNeg(Constraint):
    """Negative values become zero."""

    def __call__(self, w: Any) -> Any:
        """The allowed weight."""
        return w * math_ops.cast(math_ops.greater_equal(w, 0.0), dtypes.float32)


@export("keras.constraints.UnitNorm", "keras.constraints.unit_norm")
class UnitNorm(Constraint):
    """Norms along `axis` are one."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """The allowed weight."""
        return w / (_EPSILON + _norms(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal constraint."""
        return {"axis": self.axis}


@export("keras.constraints.MinMaxNorm", "keras.constraints.min_max_norm")
class MinMaxNorm(Constraint):
    """Norms along `axis` move into [min_value, max_value], by `rate` of the way."""

    def __init__(
        self,
        min_value: Any = 0.0,
        max_value: Any = 1.0,
        rate: Any = 1.0,
        axis: Any = 0,
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """The allowed weight."""
        norms = _norms(w, self.axis)
        inside = _clip(norms, self.min_value, self.max_value)
        desired = self.rate * inside + (1 - self.rate) * norms
        return w * (desired / (_EPSILON + norms))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal constraint."""
        return {
            "min_value": self.min_value,
            "max_value": self.max_value,
            "rate": self.rate,
            "axis": self.axis,
        }


@export("keras.constraints.RadialConstraint", "keras.constraints.radial_constraint")
class RadialConstraint(Constraint):
    """Kernels [height, width, in, out] become radially symmetric."""

    def __call__(self, w: Any) -> Any:
        """The allowed weight.

        Raises:
          ValueError: its rank is not 4.
        """
        if w.shape.rank != 4:
            raise ValueError(
                f"The weight tensor must be of rank 4, but is of shape: {w.shape}"
            )
        height, width, channels, kernels = w.shape.as_list()
        flat = array_ops.reshape(w, (height, width, channels * kernels))
        planes = array_ops.stack(array_ops.unstack(flat, axis=-1), axis=0)
        symmetric = map_fn(_radial, planes)
        flat = array_ops.stack(array_ops.unstack(symmetric, axis=0), axis=-1)
        return array_ops.reshape(flat, (height, width, channels, kernels))


def _radial(kernel: Tensor) -> Tensor:
    """Rings around the middle, each with the value on the diagonal, [size, size]."""
    padding = constant([[1, 1], [1, 1]], dtype=dtypes.int32)
    size = array_ops.shape(kernel)[0]
    start = math_ops.cast(size / 2, dtypes.int32)
    odd = math_ops.cast(math_ops.floormod(size, 2), dtypes.bool)
    middle = cond(
        odd,
        lambda: kernel[start - 1 : start, start - 1 : start],
        lambda: (
            kernel[start - 1 : start, start - 1 : start]
            + array_ops.zeros((2, 2), dtype=kernel.dtype)
        ),
    )
    first = cond(
        odd,
        lambda: constant(0, dtype=dtypes.int32),
        lambda: constant(1, dtype=dtypes.int32),
    )
    _, grown = while_loop(
        lambda i, *_: math_ops.less(i, start),
        lambda i, array: (
            i + 1,
            array_ops.pad(array, padding, constant_values=kernel[start + i, start + i]),
        ),
        [first, middle],
        shape_invariants=[first.get_shape(), TensorShape([None, None])],
    )
    return grown  # type: ignore[no-any-return]


_OBJECTS: dict[str, Any] = {
    "Constraint": Constraint,
    "MaxNorm": MaxNorm,
    "MinMaxNorm": MinMaxNorm,
    "NonNeg": NonNeg,
    "RadialConstraint": RadialConstraint,
    "UnitNorm": UnitNorm,
    "max_norm": MaxNorm,
    "maxnorm": MaxNorm,
    "min_max_norm": MinMaxNorm,
    "non_neg": NonNeg,
    "nonneg": NonNeg,
    "radial_constraint": RadialConstraint,
    "unit_norm": UnitNorm,
    "unitnorm": UnitNorm,
}


@export("keras.constraints.serialize")
def serialize(constraint: Any) -> Any:
    """What `deserialize` makes the constraint of again."""
    return serialize_keras_object(constraint)


@export("keras.constraints.deserialize")
def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The constraint that a name or a configuration tells.

    Raises:
      ValueError: an unknown name.
    """
    return deserialize_keras_object(
        config,
        module_objects=_OBJECTS,
        custom_objects=custom_objects,
        printable_module_name="constraint",
    )


@export("keras.constraints.get")
def get(identifier: Any) -> Any:
    """The constraint that a name or configuration tells; others as they are.

    Raises:
      ValueError: an unknown name, or no constraint.
    """
    if identifier is None:
        return None
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret constraint identifier: {identifier}")
