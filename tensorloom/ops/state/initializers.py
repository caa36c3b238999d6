"""Initializers: objects that make the initial value of a variable of a given shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.random import random_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

_Self = TypeVar("_Self", bound="Initializer")

# The standard deviation of a standard normal cut off at two: samples are divided by
# it, so that they have the variance that was asked for.
_TRUNCATED_STDDEV = 0.87962566103423978


class Initializer:
    """Base of all initializers; instances are called with a shape."""

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        """The initial value.

        Args:
          shape: fully known shape, or a tensor where the initializer allows it.
          dtype: of the value; by default that of the initializer.
          partition_info: `full_shape` and `var_offset` of a partitioned variable.
        """
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {}

    @classmethod
    def from_config(cls: type[_Self], config: dict[str, Any]) -> _Self:
        """The initializer that `get_config` described."""
        return cls(**config)


@export("initializers.zeros", "zeros_initializer")
class Zeros(Initializer):
    """All zeros."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        return array_ops.zeros(shape, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


@export("initializers.ones", "ones_initializer")
class Ones(Initializer):
    """All ones."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        return array_ops.ones(shape, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


@export("initializers.constant", "constant_initializer")
class Constant(Initializer):
    """A given scalar, list or array, extended to the shape as `tf.constant` does.

    Raises:
      TypeError: the value is neither a scalar nor a list, tuple or array.
    """

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python "
                "scalar, list or tuple of values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: Any = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        return constant_op.constant(
            self.value,
            dtype=self.dtype if dtype is None else dtype,
            shape=shape,
            verify_shape=self._verify_shape if verify_shape is None else verify_shape,
        )

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value, "dtype": self.dtype.name}


@export("initializers.random_uniform", "random_uniform_initializer")
class RandomUniform(Initializer):
    """Uniform values in [minval, maxval)."""

    def __init__(
        self,
        minval: Any = 0,
        maxval: Any = None,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random_ops.random_uniform(
            shape, self.minval, self.maxval, dtype, seed=self.seed
        )

    def get_config(self) -> dict[str, Any]:
        return {
            "minval": self.minval,
            "maxval": self.maxval,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class _Normal(Initializer):
    """What the two normal initializers share."""

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = float_dtype(dtype)

    def get_config(self) -> dict[str, Any]:
        return {
            "mean": self.mean,
            "stddev": self.stddev,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


@export("initializers.random_normal", "random_normal_initializer")
class RandomNormal(_Normal):
    """Normal values."""

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random_ops.random_normal(
            shape, self.mean, self.stddev, dtype, seed=self.seed
        )


@export("initializers.truncated_normal", "truncated_normal_initializer")
class TruncatedNormal(_Normal):
    """Normal values, those beyond two standard deviations drawn again."""

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random_ops.truncated_normal(
            shape, self.mean, self.stddev, dtype, seed=self.seed
        )


@export("initializers.uniform_unit_scaling", "uniform_unit_scaling_initializer")
class UniformUnitScaling(Initializer):
    """Uniform values that keep the scale of the input variance (times `factor`)."""

    def __init__(
        self,
        factor: float = 1.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        self.factor = factor
        self.seed = seed
        self.dtype = float_dtype(dtype)

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        input_size = 1.0
        for size in _full_shape(shape, partition_info)[:-1]:
            input_size *= float(size)
        limit = math.sqrt(3 / max(input_size, 1.0)) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


@export("initializers.variance_scaling", "variance_scaling_initializer")
class VarianceScaling(Initializer):
    """Values whose variance is `scale` over the fan-in, the fan-out or their mean.

    Raises:
      ValueError: scale is not positive, or mode or distribution is unknown.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution not in _DISTRIBUTIONS:
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed
        self.dtype = float_dtype(dtype)

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        scale = self.scale / self._fan(_full_shape(shape, partition_info))
        if self.distribution in ("normal", "truncated_normal"):
            stddev = math.sqrt(scale) / _TRUNCATED_STDDEV
            return random_ops.truncated_normal(
                shape, 0.0, stddev, dtype, seed=self.seed
            )
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(
                shape, 0.0, math.sqrt(scale), dtype, seed=self.seed
            )
        limit = math.sqrt(3.0 * scale)
        return random_ops.random_uniform(shape, -limit, limit, dtype, seed=self.seed)

    def _fan(self, shape: Any) -> float:
        fan_in, fan_out = _compute_fans(shape)
        if self.mode == "fan_in":
            return max(1.0, fan_in)
        if self.mode == "fan_out":
            return max(1.0, fan_out)
        return max(1.0, (fan_in + fan_out) / 2.0)

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")


@export("glorot_uniform_initializer", "initializers.glorot_uniform")
class GlorotUniform(VarianceScaling):
    """Uniform values with variance 2 / (fan-in + fan-out)."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        # As in TensorFlow, the dtype given here is not used: the call's is.
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


@export("glorot_normal_initializer", "initializers.glorot_normal")
class GlorotNormal(VarianceScaling):
    """Truncated normal values with variance 2 / (fan-in + fan-out)."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


@export("initializers.lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal values with variance 1 / fan-in."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@export("initializers.lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform values with variance 1 / fan-in."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@export("initializers.he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal values with variance 2 / fan-in."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@export("initializers.he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform values with variance 2 / fan-in."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def _full_shape(shape: Any, partition_info: Any) -> Any:
    """The shape of the whole variable, of which `shape` may be a partition."""
    return shape if partition_info is None else partition_info.full_shape


def _compute_fans(shape: Sequence[Any] | TensorShape) -> tuple[int, int]:
    """Fan-in and fan-out of a weight; leading dimensions are a receptive field."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return int(shape[0]), int(shape[0])
    receptive_field = 1
    for size in shape[:-2]:
        receptive_field *= int(size)
    return int(shape[-2]) * receptive_field, int(shape[-1]) * receptive_field


def float_dtype(dtype: Any) -> DType:
    """The dtype. Raises ValueError unless it is floating point."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype  # type: ignore[no-any-return]


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
