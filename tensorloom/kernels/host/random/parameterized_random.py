"""Random ops whose distributions have parameters by batch, in host memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_from_tensor, shape_text
from tensorloom.kernels.host.random.counter_random import (
    advance,
    check_algorithm,
    check_scalar_algorithm,
)
from tensorloom.kernels.host.random.philox import Stream
from tensorloom.kernels.host.random.random_ops import shuffled
from tensorloom.kernels.host.random.random_state import node_generator
from tensorloom.kernels.host.random.stateless_random import seeded_stream

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable

_Array = NDArray[Any]
# So many proposals are reserved for each sample of a truncated distribution.
_MAX_ITERATIONS = 1000
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
    from tensorloom.kernels.loops.random.random_truncated import (
        Bounds,
        truncated_samples,
    )

    dtype, device = c["dtype"], c.device
    generator = node_generator(c)

    def compute(shape: _Array, *values: _Array) -> _Array:
        if not np.size(shape):
            raise invalid_argument("Shape tensor must not be empty, got []")
        dims = shape_from_tensor(shape, dtype, device)
        names = ("means", "stddevs", "minvals", "maxvals")
        count, samples, alike = _batches(dims, dict(zip(names, values, strict=True)))
        stream = generator.reserve(2 * _MAX_ITERATIONS * count * (samples + 3) // 4)
        flat = (np.reshape(value, -1) for value in values)
        batches = min(count, 1) if alike else count
        bounds = Bounds(*(np.broadcast_to(v, batches) for v in flat))
        total = math.prod(dims)
        return truncated_samples(stream, bounds, samples, total).reshape(dims)

    return compute


@host_kernel("StatelessParameterizedTruncatedNormal", large=True)
def stateless_truncated_normal(c: OpKernelConstruction) -> Compute:
    """Normal values within bounds that broadcast to the end of the shape."""
    from tensorloom.kernels.loops.random.random_truncated import (
        Bounds,
        truncated_samples,
    )

    dtype, device = c["dtype"], c.device

    def compute(shape: _Array, seed: _Array, *given: _Array) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        flat, samples = _broadcast(dims, given)
        stream, bounds = seeded_stream(seed), Bounds(*flat)
        values = truncated_samples(stream, bounds, samples, math.prod(dims))
        return values.reshape(len(flat[0]), samples).T.reshape(dims)

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
    from tensorloom.kernels.loops.random.random_samples import binomial

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
        trials, chances = (
            np.broadcast_to(np.reshape(v, -1), count) for v in (counts, probs)
        )
        values = binomial(stream, trials, chances, samples, one_run=True)
        # The last of batches that are alike may be cut.
        out = values.reshape(-1)[: math.prod(dims)]
        return out.reshape(dims).astype(numpy_dtype)

    return compute


@host_kernel("StatelessRandomBinomial", large=True)
def stateless_binomial(c: OpKernelConstruction) -> Compute:
    """Successes among trials whose parameters broadcast to the end of the shape."""
    from tensorloom.kernels.loops.random.random_samples import binomial

    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)

    def compute(shape: _Array, seed: _Array, counts: Any, probs: Any) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        (trials, chances), samples = _broadcast(dims, (counts, probs))
        stream = seeded_stream(seed)
        values = binomial(stream, trials, chances, samples, one_run=False)
        return values.T.reshape(dims).astype(numpy_dtype)

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
    from tensorloom.kernels.loops.random.random_samples import gamma

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
        return shuffled(stream, value)

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
