"""Distributions over Philox streams, with TensorFlow's grouping and rounding.

Each function fills `count` values from a stream that the op has reserved. Values come
in groups, one group for a block of four words (two doubles or 64-bit integers, four of
everything else), so that any shard of the output can start by itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host import philox
from tensorloom.kernels.host.glibc_math import logf, sincosf

if TYPE_CHECKING:
    from tensorloom.kernels.host.philox import Stream, UInt32Array

_Array = NDArray[Any]
_EPSILON: Final = 1.0e-7
_TRUNCATE_AT: Final = 2.0
# Values made at a time, so that intermediate results stay in the cache.
_CHUNK: Final = 16384


def uniform(stream: Stream, count: int, dtype: np.dtype[Any]) -> _Array:
    """Values in [0, 1): float16, bfloat16, float32 or float64."""
    if dtype == np.float64:
        words = stream.words(2 * count)
        return philox.words_to_double(words[0::2], words[1::2])
    words = stream.words(count)
    if dtype == np.float32:
        return philox.uint32_to_float(words)
    if dtype == np.float16:
        return philox.words_to_half(words)
    return philox.words_to_bfloat16(words)


def uniform_int(
    stream: Stream, count: int, low: int, high: int, dtype: np.dtype[Any]
) -> _Array:
    """Integers in [low, high), int32 or int64, by remainder (with its bias)."""
    span = high - low
    if dtype == np.int32:
        words = stream.words(count) % np.uint32(span)
        return (words + np.uint32(low & 0xFFFFFFFF)).view(np.int32)
    words64 = _words64(stream.words(2 * count)) % np.uint64(span)
    return (words64 + np.uint64(low & 0xFFFFFFFFFFFFFFFF)).view(np.int64)


def uniform_full_int(stream: Stream, count: int, dtype: np.dtype[Any]) -> _Array:
    """Integers over the whole range of a 32-bit or 64-bit dtype."""
    if dtype.itemsize == 4:
        return stream.words(count).view(dtype)
    return _words64(stream.words(2 * count)).view(dtype)


def _words64(words: UInt32Array) -> NDArray[np.uint64]:
    return words[0::2] | (words[1::2].astype(np.uint64) << np.uint64(32))


def standard_normal(stream: Stream, count: int, dtype: np.dtype[Any]) -> _Array:
    """Normal values by the Box-Muller transform of each pair of uniforms."""
    if dtype == np.float64:
        groups = stream.blocks(-(-count // 2))
        return np.stack(box_muller_double(groups), axis=-1).reshape(-1)[:count]
    values = np.empty(-(-count // 4) * 4, dtype)
    for begin in range(0, count, _CHUNK):
        part = values[begin : begin + _CHUNK]
        words = stream.skip(begin // 4).words(len(part))
        part[0::2], part[1::2] = box_muller_float(words[0::2], words[1::2])
    return values[:count]


def box_muller_float(
    first: UInt32Array, second: UInt32Array
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Two arrays of normal floats from two arrays of words."""
    u1 = np.maximum(philox.uint32_to_float(first), np.float32(_EPSILON))
    # TensorFlow multiplies by a double 2 * pi and rounds the product.
    angle = (2.0 * math.pi * philox.uint32_to_float(second).astype(np.float64)).astype(
        np.float32
    )
    radius = np.sqrt(np.float32(-2.0) * logf(u1))
    sine, cosine = sincosf(angle)
    return sine * radius, cosine * radius


def box_muller_double(
    words: UInt32Array,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two arrays of normal doubles from words [n, 4]."""
    radius, angles = polar_double(words)
    return sines(angles) * radius, cosines(angles) * radius


def polar_double(
    words: UInt32Array,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(radius, angle) of pairs of normal doubles from words [n, 4]."""
    u1 = np.maximum(philox.words_to_double(words[:, 0], words[:, 1]), _EPSILON)
    angles = 2.0 * math.pi * philox.words_to_double(words[:, 2], words[:, 3])
    return np.sqrt(-2.0 * logarithms(u1)), angles


def logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The C library's logarithms, whose last bits NumPy's vector loop does not give."""
    return np.fromiter(map(math.log, values.tolist()), np.float64, len(values))


def sines(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The C library's sines, likewise."""
    return np.fromiter(map(math.sin, values.tolist()), np.float64, len(values))


def cosines(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The C library's cosines, likewise."""
    return np.fromiter(map(math.cos, values.tolist()), np.float64, len(values))


def truncated_normal(stream: Stream, count: int, dtype: np.dtype[Any]) -> _Array:
    """Normal values within two standard deviations, drawn again outside them.

    Every group reads from its own run of words, 64 blocks for each value of it, and
    takes the first values that are accepted.
    """
    size = 2 if dtype == np.float64 else 4
    stride = size * philox.SAMPLES_PER_OUTPUT // 4
    groups = -(-count // size)
    values = np.empty((groups, size), dtype)
    for begin in range(0, groups, _CHUNK // size):
        part = values[begin : begin + _CHUNK // size]
        _fill_truncated(stream.skip(begin * stride), stride, part)
    return values.reshape(-1)[:count]


def _fill_truncated(stream: Stream, stride: int, out: _Array) -> None:
    """Fills out [groups, size]; groups that ran out of words try again with more."""
    size = out.shape[1]
    pending = np.arange(len(out))
    depth = 2 if size == 4 else 3
    while len(pending):
        candidates = _candidates(stream, pending, stride, depth, out.dtype)
        accepted = np.abs(candidates) < _TRUNCATE_AT
        rank = np.cumsum(accepted, axis=1, dtype=np.int32)
        enough = rank[:, -1] >= size
        accepted &= (rank <= size) & enough[:, None]
        out[pending[enough]] = candidates[accepted].reshape(-1, size)
        pending = pending[~enough]
        depth *= 4


def _candidates(
    stream: Stream,
    groups: NDArray[np.int64],
    stride: int,
    depth: int,
    dtype: np.dtype[Any],
) -> _Array:
    """Normal values [groups, values] from the first `depth` blocks of each group."""
    if len(groups) == groups[-1] - groups[0] + 1:
        base = stream.skip(int(groups[0]) * stride)
        words = base.blocks(len(groups), stride=stride, depth=depth)
    else:
        words = np.concatenate(
            [stream.skip(int(g) * stride).blocks(1, depth=depth) for g in groups]
        )
    if dtype == np.float64:
        pair = box_muller_double(words.reshape(-1, 4))
    else:
        pair = box_muller_float(words[:, 0::2], words[:, 1::2])  # type: ignore[assignment]
    return np.stack(pair, axis=-1).reshape(len(groups), -1)


def permutation(stream: Stream, size: int) -> NDArray[np.int64]:
    """A Fisher-Yates shuffle of range(size), one word for each exchange."""
    order = list(range(size))
    if size > 1:
        remaining = np.arange(size, 1, -1, dtype=np.uint32)
        others = np.arange(size - 1) + stream.words(size - 1) % remaining
        for index, other in enumerate(others.tolist()):
            order[index], order[other] = order[other], order[index]
    return np.array(order, np.int64)


def categorical(
    stream: Stream, logits: NDArray[np.float64], samples: int
) -> NDArray[np.int64]:
    """Class indices [batch, samples], sampled by the distribution of each row.

    Not finite logits have probability zero.
    """
    finite = np.isfinite(logits)
    lowest = np.finfo(np.float64).min
    maxima = np.where(finite, logits, lowest).max(axis=1, keepdims=True)
    weights = np.where(finite, np.exp(logits - maxima), 0.0)
    cumulative = np.cumsum(weights, axis=1)
    batch = len(logits)
    words = stream.words(2 * batch * samples)
    points = philox.words_to_double(words[0::2], words[1::2]).reshape(batch, samples)
    points *= cumulative[:, -1:]
    output = np.empty((batch, samples), np.int64)
    for row in range(batch):
        output[row] = np.searchsorted(cumulative[row], points[row], side="right")
    return output
