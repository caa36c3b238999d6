"""Random ops whose distributions have parameters by batch, in host memory."""

from __future__ import annotations

import math
import operator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.allocation import shape_from_tensor, shape_text
from tensorloom.kernels.host.counter_random_ops import (
    advance,
    check_algorithm,
    check_scalar_algorithm,
)
from tensorloom.kernels.host.philox import Stream
from tensorloom.kernels.host.random_binomial import (
    Uniforms,
    binomial_sample,
    blocks_per_sample,
)
from tensorloom.kernels.host.random_distributions import permutation
from tensorloom.kernels.host.random_rejection import gamma
from tensorloom.kernels.host.random_state import node_generator
from tensorloom.kernels.host.random_truncated import (
    MAX_ITERATIONS,
    Bounds,
    truncated_samples,
)
from tensorloom.kernels.host.stateless_random_ops import seeded_stream

if TYPE_CHECKING:
    from tensorloom.framework.resource import Variable

_Array = NDArray[Any]
# Batches of one distribution are cut into pieces of this many samples.
_PIECE = 100


def _batches(
    dims: tuple[int, ...], parameters: dict[str, _Array]
) -> tuple[int, int, bool]:
    """(batches, samples of each, whether all batches are alike).

    Raises:
      errors.InvalidArgumentError: a parameter fits neither all nor each of them.
    """
    for name, value in parameters.items():
        if np.ndim(value) > 1:
            raise invalid_argument(
                f"Input {name} should be a scalar or vector, got shape: "
                f"{shape_text(np.shape(value))}"
            )
    count, samples = dims[0], math.prod(dims[1:])
    if all(np.size(value) == 1 for value in parameters.values()):
        return -(-count * samples // _PIECE), _PIECE, True
    for name, value in parameters.items():
        if np.ndim(value) and np.size(value) not in (1, count):
            raise invalid_argument(
                f"Input {name} should have length 1 or shape[0], got shape: "
                f"{shape_text(np.shape(value))}"
            )
    return count, samples, False


@host_kernel("ParameterizedTruncatedNormal", large=True)
def parameterized_truncated_normal(c: OpKernelConstruction) -> Compute:
    """Normal values within bounds; batches go through one stream of words."""
    dtype, device = c["dtype"], c.device
    generator = node_generator(c)

    def compute(shape: _Array, *values: _Array) -> _Array:
        if not np.size(shape):
            raise invalid_argument("Shape tensor must not be empty, got []")
        dims = shape_from_tensor(shape, dtype, device)
        names = ("means", "stddevs", "minvals", "maxvals")
        count, samples, _ = _batches(dims, dict(zip(names, values, strict=True)))
        stream = generator.reserve(2 * MAX_ITERATIONS * count * (samples + 3) // 4)
        flat = [np.reshape(value, -1) for value in values]
        total = math.prod(dims)
        out = np.empty(total, np.dtype(dtype.as_numpy_dtype))
        rows = zip(*(np.broadcast_to(v, count).tolist() for v in flat), strict=True)
        begin = 0
        # Neighbouring batches that are alike are sampled at once.
        for _, batches in groupby(enumerate(rows), operator.itemgetter(1)):
            batch = [number for number, _ in batches][-1]
            bounds = Bounds(*(v[0 if len(v) == 1 else batch] for v in flat))
            end = min((batch + 1) * samples, total)
            out[begin:end], stream = truncated_samples(
                stream, end - begin, bounds, samples
            )
            begin = end
        return out.reshape(dims)

    return compute


@host_kernel("StatelessParameterizedTruncatedNormal", large=True)
def stateless_truncated_normal(c: OpKernelConstruction) -> Compute:
    """Normal values within bounds that broadcast to the end of the shape."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array, seed: _Array, *given: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        flat, samples = _broadcast(dims, given)
        stream = seeded_stream(seed)
        out = np.empty((samples, len(flat[0])), numpy_dtype)
        for batch, numbers in enumerate(zip(*flat, strict=True)):
            values, stream = truncated_samples(stream, samples, Bounds(*numbers))
            out[:, batch] = values
        return out.reshape(dims)

    return compute


def _broadcast(
    dims: tuple[int, ...], values: tuple[_Array, ...]
) -> tuple[list[_Array], int]:
    """The parameters of each batch [batches], and the samples of each batch."""
    try:
        whole = np.broadcast_shapes(*(np.shape(value) for value in values))
    except ValueError:
        shapes = ", ".join(shape_text(np.shape(value)) for value in values)
        raise invalid_argument(
            f"The parameters do not broadcast, got shapes {shapes}"
        ) from None
    if dims[len(dims) - len(whole) :] != whole:
        raise invalid_argument(
            "Shape passed in must end with broadcasted shape of the parameters, got "
            f"{shape_text(dims)} and {shape_text(whole)}"
        )
    flat = [np.broadcast_to(value, whole).reshape(-1) for value in values]
    return flat, math.prod(dims[: len(dims) - len(whole)])


# --- binomial ----------------------------------------------------------------


@host_kernel("StatefulRandomBinomial", large=True)
def stateful_binomial(c: OpKernelConstruction) -> Compute:
    """Successes among trials; the state moves on."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(
        variable: Variable, algorithm: Any, shape: _Array, counts: Any, probs: Any
    ) -> _Array:
        check_scalar_algorithm(algorithm)
        if not np.size(shape):
            raise invalid_argument("Shape tensor must not be empty, got []")
        dims = shape_from_tensor(shape, dtype, device)
        count, samples, _ = _batches(dims, {"counts": counts, "probs": probs})
        _, stream = advance(variable, 2 * 100 * count * (samples + 3) // 4)
        trials, chances = np.reshape(counts, -1), np.reshape(probs, -1)
        total = math.prod(dims)
        out = np.empty(total, np.float64)
        uniforms = Uniforms(stream)
        for at in range(total):
            batch = at // samples
            out[at] = binomial_sample(
                uniforms,
                float(trials[0 if len(trials) == 1 else batch]),
                float(chances[0 if len(chances) == 1 else batch]),
            )
        return out.reshape(dims).astype(numpy_dtype)

    return compute


@host_kernel("StatelessRandomBinomial", large=True)
def stateless_binomial(c: OpKernelConstruction) -> Compute:
    """Successes among trials whose parameters broadcast to the end of the shape."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array, seed: _Array, counts: Any, probs: Any) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        (trials, chances), samples = _broadcast(dims, (counts, probs))
        stream = seeded_stream(seed)
        out = np.empty((samples, len(trials)), np.float64)
        for batch, (n, p) in enumerate(zip(trials, chances, strict=True)):
            for sample in range(samples):
                stride = blocks_per_sample(float(n), float(p))
                at = (batch * samples + sample) * stride
                uniforms = Uniforms(stream.skip(at))
                out[sample, batch] = binomial_sample(uniforms, float(n), float(p))
        return out.reshape(dims).astype(numpy_dtype)

    return compute


# --- gamma and shuffle -------------------------------------------------------


@host_kernel("StatelessRandomGammaV2", large=True)
def stateless_gamma(c: OpKernelConstruction) -> Compute:
    """Gamma(alpha, 1) samples of a seed."""
    return lambda shape, seed, alpha: _gamma(c, shape, seeded_stream(seed), alpha)


@host_kernel("StatelessRandomGammaV3", large=True)
def counted_gamma(c: OpKernelConstruction) -> Compute:
    """Gamma(alpha, 1) samples of a key and a counter."""

    def compute(
        shape: _Array, key: _Array, counter: _Array, alg: Any, alpha: Any
    ) -> Any:
        return _gamma(c, shape, _stream(key, counter, alg), alpha)

    return compute


def _gamma(
    c: OpKernelConstruction, shape: _Array, stream: Stream, alpha: _Array
) -> _Array:
    dims = shape_from_tensor(shape, c["dtype"], c.device)
    dtype = np.dtype(c["dtype"].as_numpy_dtype)
    (alphas,), samples = _broadcast(dims, (alpha,))
    if not math.prod(dims):
        return np.empty(dims, dtype)
    values = gamma(stream, alphas.astype(np.float64), samples)
    return values.reshape(dims).astype(dtype)


@host_kernel("StatelessShuffle", large=True)
def shuffle(c: OpKernelConstruction) -> Compute:
    """The rows in another order."""

    def compute(value: _Array, key: _Array, counter: _Array, alg: Any) -> _Array:
        stream = _stream(key, counter, alg)
        if not np.ndim(value) or len(value) < 2:
            return value.copy()
        return value[permutation(stream, len(value))]

    return compute


def _stream(key: _Array, counter: _Array, alg: Any) -> Stream:
    """The stream of inputs that say key, counter and algorithm.

    Raises:
      errors.InvalidArgumentError: they are of other shapes, or not of Philox.
    """
    check_algorithm(int(alg))
    if np.shape(key) != (1,):
        raise invalid_argument(f"key must have shape [1], not {list(np.shape(key))}")
    if np.ndim(counter) != 1 or len(counter) < 2:
        raise invalid_argument("counter must be a vector of at least 2 elements")
    low, high = (int(word) for word in counter[:2])
    return Stream(int(key[0]), low | high << 64)
