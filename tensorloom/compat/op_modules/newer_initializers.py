"""Initializers as TensorFlow 2 has them: the dtype is the call's, a seed is stateless.

`tf.compat.v2.initializers`, and `init_ops_v2` of TensorFlow's module paths. With a seed
every call gives the same values, whatever the graph's seed is.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

import tensorloom as tf
from tensorloom.framework.types import dtypes
from tensorloom.ops.state.initializers import _compute_fans

# The standard deviation of a normal distribution cut off at two of them.
_CUT_STDDEV: Final = 0.87962566103423978


class Initializer:
    """A function from a shape and a dtype to a tensor."""

    # The constructor's arguments, which are attributes of the same names.
    arguments: tuple[str, ...] = ()

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """The initial value: a tensor of `shape` and `dtype`."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {name: getattr(self, name) for name in self.arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """The initializer that has this configuration."""
        config.pop("dtype", None)
        return cls(**config)


class Zeros(Initializer):
    """Zeros."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        """Zeros of any dtype that has them."""
        return tf.zeros(shape, dtype)


class Ones(Initializer):
    """Ones."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        """Raises ValueError unless the dtype is of numbers or booleans."""
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_numpy_compatible or dtype == dtypes.string:
            raise ValueError(f"Expected numeric or boolean dtype, got {dtype}.")
        return tf.ones(shape, dtype)


class Constant(Initializer):
    """One value everywhere, or the values of a list."""

    arguments = ("value",)

    def __init__(self, value: Any = 0) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python "
                "scalar, list or tuple of values, or numpy.ndarray)."
            )
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """The value in that shape; dtype as `tf.constant` infers it when None."""
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        return tf.constant(self.value, dtype=dtype, shape=shape)


class _Random(Initializer):
    """Draws. A seed of its own makes all draws alike, by the stateless operations."""

    seed: int | None = None

    def _draw(self, kind: str, shape: Any, first: Any, second: Any, dtype: Any) -> Any:
        if self.seed is None:
            return getattr(tf.random, kind)(shape, first, second, dtype)
        function = getattr(tf.random, f"stateless_{kind}")
        return function(shape, [self.seed, 0], first, second, dtype)


class RandomUniform(_Random):
    """Uniform between two numbers, of floating dtypes or integers."""

    arguments = ("minval", "maxval", "seed")

    def __init__(
        self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None
    ) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        """Raises ValueError for another dtype."""
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        return self._draw("uniform", shape, self.minval, self.maxval, dtype)


class RandomNormal(_Random):
    """Normal."""

    arguments = ("mean", "stddev", "seed")
    _kind = "normal"

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None
    ) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        """Raises ValueError unless the dtype is floating."""
        return self._draw(self._kind, shape, self.mean, self.stddev, _floating(dtype))


class TruncatedNormal(RandomNormal):
    """Normal within two standard deviations."""

    _kind = "truncated_normal"


class VarianceScaling(_Random):
    """Draws whose variance depends on how many inputs or outputs a unit has."""

    arguments: tuple[str, ...] = ("scale", "mode", "distribution", "seed")

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in {"uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale, self.mode, self.seed = scale, mode, seed
        self.distribution = distribution

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        """Raises ValueError unless the dtype is floating."""
        dtype = _floating(dtype)
        fan_in, fan_out = _compute_fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out}.get(
            self.mode, (fan_in + fan_out) / 2.0
        )
        scale = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return self._draw("uniform", shape, -limit, limit, dtype)
        stddev = math.sqrt(scale)
        if self.distribution == "truncated_normal":
            return self._draw(
                "truncated_normal", shape, 0.0, stddev / _CUT_STDDEV, dtype
            )
        return self._draw("normal", shape, 0.0, stddev, dtype)


class GlorotUniform(VarianceScaling):
    """Uniform, by inputs and outputs (Glorot and Bengio, 2010)."""

    arguments = ("seed",)

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


class GlorotNormal(VarianceScaling):
    """Normal, by inputs and outputs (Glorot and Bengio, 2010)."""

    arguments = ("seed",)

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


class Orthogonal(_Random):
    """An orthogonal matrix, times `gain`; all dimensions but the last are its rows."""

    arguments = ("gain", "seed")

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        self.gain, self.seed = gain, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        """Raises ValueError unless the dtype is floating, of two dimensions or more."""
        dtype = _floating(dtype)
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional"
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        flat = (max(columns, rows), min(columns, rows))
        q, r = tf.linalg.qr(self._draw("normal", flat, 0.0, 1.0, dtype), False)
        # The signs of r's diagonal make the distribution uniform.
        q *= tf.sign(tf.linalg.tensor_diag_part(r))
        if rows < columns:
            q = tf.linalg.matrix_transpose(q)
        return self.gain * tf.reshape(q, shape)


class Identity(Initializer):
    """The identity matrix, times `gain`."""

    arguments = ("gain",)

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        """Raises ValueError unless the dtype is floating, of two dimensions."""
        dtype = _floating(dtype)
        if len(shape) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices."
            )
        return self.gain * tf.eye(*shape, dtype=dtype)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Normal, by inputs (LeCun, 1998)."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, by inputs (LeCun, 1998)."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Normal, by inputs, for rectifiers (He et al., 2015)."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform, by inputs, for rectifiers (He et al., 2015)."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def _floating(dtype: Any) -> dtypes.DType:
    known: dtypes.DType = dtypes.as_dtype(dtype)
    if not known.is_floating:
        raise ValueError(f"Expected floating point type, got {known}.")
    return known
