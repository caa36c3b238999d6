"""The stateless random ops, with TensorFlow's numbers."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_from_tensor, shape_text
from tensorloom.kernels.host.random import random_distributions as distributions
from tensorloom.kernels.host.random.philox import Stream
from tensorloom.kernels.host.random.random_ops import Distribution, check_multinomial

_Array = NDArray[Any]
# The key with which TensorFlow scrambles the user's two seeds.
_SCRAMBLE: Final = 0x02461E293EC8F720
_MASK64: Final = 2**64 - 1
_DISTRIBUTIONS: Final[dict[str, Distribution]] = {
    "StatelessRandomUniform": distributions.uniform,
    "StatelessRandomNormal": distributions.standard_normal,
    "StatelessTruncatedNormal": distributions.truncated_normal,
}


def seeded_stream(seed: _Array) -> Stream:
    """The stream of a seed of two integers."""
    given = np.asarray(seed)
    if given.shape != (2,):
        raise errors.InvalidArgumentError(
            None, None, f"seed must have shape [2], not {shape_text(given.shape)}"
        )
    first, second = (int(s) & _MASK64 for s in given.tolist())
    mixed = Stream(_SCRAMBLE, first | second << 64).words(4).tolist()
    return Stream(mixed[0] | mixed[1] << 32, (mixed[2] | mixed[3] << 32) << 64)


@host_kernel(list(_DISTRIBUTIONS), large=True)
def fill_shape(c: OpKernelConstruction) -> Compute:
    """Floats of the op's distribution."""
    dtype, device, fill = c["dtype"], c.device, _DISTRIBUTIONS[c.op]
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array, seed: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        stream = seeded_stream(seed)
        return fill(stream, math.prod(dims), numpy_dtype).reshape(dims)

    return compute


@host_kernel("StatelessRandomUniformInt", large=True)
def uniform_int(c: OpKernelConstruction) -> Compute:
    """Integers in a range."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array, seed: _Array, minval: Any, maxval: Any) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        for name, bound in (("minval", minval), ("maxval", maxval)):
            if np.ndim(bound):
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"{name} must be 0-D, got shape {shape_text(np.shape(bound))}",
                )
        stream = seeded_stream(seed)
        low, high, count = int(minval), int(maxval), math.prod(dims)
        if count == 0:
            return np.empty(dims, numpy_dtype)
        if low >= high:
            raise errors.InvalidArgumentError(
                None, None, f"Need minval < maxval, got {low} >= {high}"
            )
        values = distributions.uniform_int(stream, count, low, high, numpy_dtype)
        return values.reshape(dims)

    return compute


@host_kernel("StatelessMultinomial", large=True)
def multinomial(c: OpKernelConstruction) -> Compute:
    """Class indices."""
    from tensorloom.kernels.loops.random.random_samples import categorical

    numpy_dtype = np.dtype(c["output_dtype"].as_numpy_dtype)

    def compute(logits: _Array, num_samples: Any, seed: _Array) -> _Array:
        samples = check_multinomial(np.shape(logits), num_samples)
        stream = seeded_stream(seed)
        if len(logits) * samples == 0:
            return np.empty((len(logits), samples), numpy_dtype)
        return categorical(stream, logits, samples).astype(numpy_dtype)

    return compute
