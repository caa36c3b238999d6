"""RandomGamma and RandomPoissonV2 in host memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_from_tensor
from tensorloom.kernels.host.random.random_state import node_generator

_Array = NDArray[Any]
# Beyond the integers of a double, no draw would ever be accepted.
_HIGHEST_RATE = 2.0**62
# One sample of a billion is so far from its rate.
_DEVIATIONS = 6


@host_kernel("RandomGamma", large=True)
def random_gamma(c: OpKernelConstruction) -> Compute:
    """Gamma(alpha, 1) samples of shape `shape + alpha.shape`."""
    dtype, device = c["T"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    generator = node_generator(c)
    rng = None if generator.is_seeded else np.random.default_rng()
    if rng is None:
        from tensorloom.kernels.loops.random.random_samples import gamma

    def compute(shape: _Array, alpha: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        parameters = np.asarray(alpha, np.float64)
        full = (*dims, *parameters.shape)
        if rng is not None:
            positive = np.where(parameters > 0, parameters, np.nan)
            return rng.standard_gamma(positive, full).astype(numpy_dtype)
        count = math.prod(full)
        if count == 0:
            return np.empty(full, numpy_dtype)
        stream = generator.reserve_outputs(count)
        values = gamma(stream, parameters.reshape(-1), math.prod(dims))
        return values.reshape(full).astype(numpy_dtype)

    return compute


@host_kernel(["RandomPoisson", "RandomPoissonV2"], large=True)
def random_poisson(c: OpKernelConstruction) -> Compute:
    """Poisson(rate) samples of shape `shape + rate.shape`."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    generator = node_generator(c)
    rng = None if generator.is_seeded else np.random.default_rng()
    if rng is None:
        from tensorloom.kernels.loops.random.random_samples import poisson

    def compute(shape: _Array, rate: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        parameters = np.asarray(rate, np.float64)
        full = (*dims, *parameters.shape)
        highest = highest_sample(parameters, numpy_dtype)
        if rng is not None:
            return rng.poisson(np.maximum(parameters, 0), full).astype(numpy_dtype)
        count = math.prod(full)
        if count == 0:
            return np.empty(full, numpy_dtype)
        stream = generator.reserve_outputs(count)
        values = poisson(stream, parameters.reshape(-1), math.prod(dims), highest)
        return values.reshape(full).astype(numpy_dtype)

    return compute


def highest_sample(rates: _Array, dtype: np.dtype[Any]) -> float:
    """The largest Poisson sample that a dtype holds.

    Raises:
      InvalidArgumentError: the samples of a rate are all above it.
    """
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    highest = min(float(limits.max), _HIGHEST_RATE)
    finite = rates[np.isfinite(rates)]
    most = float(finite.max(initial=0))
    if most - _DEVIATIONS * math.sqrt(most) > highest:
        raise invalid_argument(f"rate is too large: {most}")
    return highest
