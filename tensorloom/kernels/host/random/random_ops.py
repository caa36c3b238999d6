"""Random ops in host memory: seeded ones give TensorFlow's numbers, others NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_from_tensor, shape_text
from tensorloom.kernels.host.random import random_distributions as distributions
from tensorloom.kernels.host.random.philox import SAMPLES_PER_OUTPUT, Generator, Stream
from tensorloom.kernels.host.random.random_state import node_generator

_Array = NDArray[Any]
Distribution = Callable[[Stream, int, np.dtype[Any]], _Array]
Sampler = Callable[[np.random.Generator, tuple[int, ...], np.dtype[Any]], _Array]

SEEDED: Final[dict[str, Distribution]] = {
    "RandomUniform": distributions.uniform,
    "RandomStandardNormal": distributions.standard_normal,
    "TruncatedNormal": distributions.truncated_normal,
}


def _uniform(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> _Array:
    if dtype.itemsize >= 4:
        return rng.random(shape, dtype)
    # Fewer bits, so that rounding never reaches 1.
    bits = rng.integers(0, 256 if dtype != np.float16 else 2048, shape)
    return (bits / (256 if dtype != np.float16 else 2048)).astype(dtype)


def _normal(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> _Array:
    wide = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
    return np.asarray(rng.standard_normal(shape, wide)).astype(dtype, copy=False)


def _truncated_normal(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> _Array:
    wide = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
    values = np.asarray(rng.standard_normal(shape, wide)).reshape(-1)
    while len(outside := np.nonzero(np.abs(values) >= 2.0)[0]):
        values[outside] = rng.standard_normal(len(outside), wide)
    return values.reshape(shape).astype(dtype, copy=False)


_UNSEEDED: Final[dict[str, Sampler]] = {
    "RandomUniform": _uniform,
    "RandomStandardNormal": _normal,
    "TruncatedNormal": _truncated_normal,
}


@host_kernel(["RandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def fill_shape(c: OpKernelConstruction) -> Compute:
    """A tensor of the given shape from the op's distribution."""
    dtype, device = c["dtype"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    generator = node_generator(c)
    if generator.is_seeded:
        seeded = SEEDED[c.op]

        def compute_seeded(shape: _Array) -> _Array:
            dims = shape_from_tensor(shape, dtype, device)
            return fill_seeded(generator, seeded, dims, numpy_dtype)

        return compute_seeded
    rng, sample = np.random.default_rng(), _UNSEEDED[c.op]

    def compute(shape: _Array) -> _Array:
        return sample(rng, shape_from_tensor(shape, dtype, device), numpy_dtype)

    return compute


def fill_seeded(
    generator: Generator,
    distribution: Distribution,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
) -> _Array:
    """The next values of a seeded op, in the given shape."""
    count = math.prod(shape)
    return distribution(generator.reserve_outputs(count), count, dtype).reshape(shape)


@host_kernel("RandomUniformInt", large=True)
def random_uniform_int(c: OpKernelConstruction) -> Compute:
    """Integers in [minval, maxval)."""
    dtype, device = c["Tout"], c.device
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    generator = node_generator(c)
    rng = None if generator.is_seeded else np.random.default_rng()

    def compute(shape: _Array, minval: Any, maxval: Any) -> _Array:
        dims = shape_from_tensor(shape, dtype, device)
        low, high = _scalar(minval, "minval"), _scalar(maxval, "maxval")
        count = math.prod(dims)
        if count == 0:
            return np.empty(dims, numpy_dtype)
        if low >= high:
            raise invalid_argument(f"Need minval < maxval, got {low} >= {high}")
        if rng is not None:
            return rng.integers(low, high, dims, numpy_dtype)
        stream = generator.reserve_outputs(count)
        return distributions.uniform_int(stream, count, low, high, numpy_dtype).reshape(
            dims
        )

    return compute


def _scalar(value: Any, name: str) -> int:
    array = np.asarray(value)
    if array.ndim:
        raise invalid_argument(
            f"{name} must be 0-D, got shape {shape_text(array.shape)}"
        )
    return int(array)


# The shuffle of so few rows is not worth the import of compiled loops.
_FEW_ROWS: Final = 256


@host_kernel("RandomShuffle", aliases=True)
def random_shuffle(c: OpKernelConstruction) -> Compute:
    """The value with its rows in a random order."""
    generator = node_generator(c)
    rng = None if generator.is_seeded else np.random.default_rng()

    def compute(value: _Array) -> _Array:
        size = shuffled_rows(np.shape(value))
        if size is None:
            return value
        if rng is not None:
            return value[rng.permutation(size)]
        return shuffled(shuffle_stream(generator, size), value)

    return compute


def shuffled_rows(shape: tuple[int, ...]) -> int | None:
    """How many rows there are to shuffle, None when nothing can change."""
    if math.prod(shape) <= 1 or shape[0] <= 1:
        return None
    return shape[0]


def shuffle_stream(generator: Generator, size: int) -> Stream:
    """The words of the next shuffle of so many rows."""
    return generator.reserve((size - 1 + 3) // 4)


def shuffled(stream: Stream, value: _Array) -> _Array:
    """The value [n, ...] with its rows in the order that Fisher and Yates give it.

    Step i exchanges row i with itself or one of those behind it, as a word says.
    """
    size = len(value)
    if size <= _FEW_ROWS:
        order, words = list(range(size)), stream.words(max(size - 1, 0)).tolist()
        for i, word in enumerate(words):
            other = i + word % (size - i)
            order[i], order[other] = order[other], order[i]
        return value[order]
    from tensorloom.kernels.loops.random.random_samples import shuffle

    if value.ndim == 1 and value.dtype.kind in "iuf" and value.itemsize in (4, 8):
        # The elements move themselves, which saves a pass over memory.
        exchanged = value.copy()
        shuffle(stream, exchanged)
        return exchanged
    rows = np.arange(size)
    shuffle(stream, rows)
    return value[rows]


@host_kernel("Multinomial", large=True)
def multinomial(c: OpKernelConstruction) -> Compute:
    """Class indices [batch, num_samples] sampled from rows of logits."""
    from tensorloom.kernels.loops.random.random_samples import categorical

    generator = node_generator(c)
    numpy_dtype = np.dtype(c["output_dtype"].as_numpy_dtype)

    def compute(logits: _Array, num_samples: Any) -> _Array:
        samples = check_multinomial(np.shape(logits), num_samples)
        batch = len(logits)
        if batch * samples == 0:
            return np.empty((batch, samples), numpy_dtype)
        # TensorFlow reserves for doubles, two words each, rounded up to blocks.
        reserved = batch * ((samples + 3) // 4 * 4) * 2 * SAMPLES_PER_OUTPUT
        stream = generator.reserve(reserved)
        return categorical(stream, logits, samples).astype(numpy_dtype)

    return compute


def check_multinomial(shape: tuple[int, ...], num_samples: Any) -> int:
    """How many samples are wanted of logits of a shape.

    Raises:
      InvalidArgumentError: the logits are no matrix with a class, or the number is no
        scalar that counts.
    """
    if len(shape) != 2:
        raise invalid_argument(
            f"logits should be a matrix, got shape {shape_text(shape)}"
        )
    samples = np.asarray(num_samples)
    if samples.ndim:
        raise invalid_argument(
            f"num_samples should be a scalar, got shape {shape_text(samples.shape)}"
        )
    if samples < 0:
        raise invalid_argument(f"num_samples should be nonnegative, got {samples}")
    if shape[1] <= 0:
        raise invalid_argument(f"num_classes should be positive, got {shape[1]}")
    return int(samples)
