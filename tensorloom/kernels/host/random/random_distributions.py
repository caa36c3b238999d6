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

from tensorloom.kernels.host.math.glibc_math import logf, sincosf
from tensorloom.kernels.host.math.libm import logarithms, polar
from tensorloom.kernels.host.random import philox

if TYPE_CHECKING:
    from tensorloom.kernels.host.random.philox import Stream, UInt32Array

_Array = NDArray[Any]
_EPSILON: Final = 1.0e-7
_TRUNCATE_AT: Final = 2.0
# Blocks of words taken at a time, so that intermediate results stay in the cache.
_CHUNK: Final = 8192
# Fewer groups of truncated values draw two blocks each at once.
_MANY: Final = 1024


def uniform(stream: Stream, count: int, dtype: np.dtype[Any]) -> _Array:
    """Values in [0, 1): float16, bfloat16, float32 or float64."""
    if dtype == np.float64:
        words = stream.words(2 * count)
        return philox.words_to_double(words[0::2], words[1::2])
    words = stream.words(count)
    if dtype == np.float32:
        return philox.uint32_to_float(words, out=words)
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
    size = _block_size(dtype)
    groups = np.empty((-(-count // size), size), dtype)
    for begin in range(0, len(groups), _CHUNK):
        part = groups[begin : begin + _CHUNK]
        _fill_normals(stream.skip(begin).planes(len(part)), part)
    return groups.reshape(-1)[:count]


def _block_size(dtype: np.dtype[Any]) -> int:
    """How many normal values a block of four words gives."""
    return 2 if dtype == np.float64 else 4


def _fill_normals(words: UInt32Array, out: _Array) -> None:
    """Fills out [blocks, values of a block] from words [4, blocks]."""
    if out.dtype == np.float64:
        out[:, 0], out[:, 1] = box_muller_double(words.T)
        return
    pairs = out.reshape(-1, 2, 2).transpose(1, 0, 2)
    pairs[..., 0], pairs[..., 1] = box_muller_float(words[0::2], words[1::2])


def box_muller_float(
    first: UInt32Array, second: UInt32Array
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Two arrays of normal floats from two arrays of words."""
    u1 = philox.uint32_to_float(first)
    np.maximum(u1, np.float32(_EPSILON), out=u1)
    radius = logf(u1)
    radius *= np.float32(-2.0)
    np.sqrt(radius, out=radius)
    # TensorFlow multiplies by a double 2 * pi and rounds the product.
    angle = philox.uint32_to_float(second).astype(np.float64)
    angle *= 2.0 * math.pi
    sine, cosine = sincosf(angle.astype(np.float32))
    sine *= radius
    cosine *= radius
    return sine, cosine


def box_muller_double(
    words: UInt32Array,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two arrays of normal doubles from words [n, 4]."""
    return polar(*polar_double(words))


def polar_double(
    words: UInt32Array,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(radius, angle) of pairs of normal doubles from words [n, 4]."""
    u1 = np.maximum(philox.words_to_double(words[:, 0], words[:, 1]), _EPSILON)
    angles = 2.0 * math.pi * philox.words_to_double(words[:, 2], words[:, 3])
    return np.sqrt(-2.0 * logarithms(u1)), angles


def truncated_normal(stream: Stream, count: int, dtype: np.dtype[Any]) -> _Array:
    """Normal values within two standard deviations, drawn again outside them.

    Every group reads from its own run of words, 64 blocks for each value of it, and
    takes the first values that are accepted. Small floats are accepted or not before
    they are rounded.
    """
    size = _block_size(dtype)
    stride = size * philox.SAMPLES_PER_OUTPUT // 4
    groups = np.empty((-(-count // size), size), _wide_type(size))
    if len(groups) < _MANY:
        pending = np.arange(len(groups))
        drawn = _candidates(stream, pending * stride, 2, size)
        _accept(stream, stride, pending, drawn, groups)
    else:
        pending = _fill_firsts(stream, stride, groups)
        for begin in range(0, len(pending), _CHUNK):
            some = pending[begin : begin + _CHUNK]
            seconds = _candidates(stream, some * stride + 1, 1, size)
            drawn = np.concatenate([groups[some], seconds], axis=1)
            _accept(stream, stride, some, drawn, groups)
    return groups.reshape(-1)[:count].astype(dtype, copy=False)


def _wide_type(size: int) -> Any:
    """The dtype that groups of so many values are computed in."""
    return np.float64 if size == 2 else np.float32


def _fill_firsts(stream: Stream, stride: int, out: _Array) -> NDArray[np.int64]:
    """Fills out [groups, size] from first blocks: the groups with values outside."""
    size, pending = out.shape[1], []
    for begin in range(0, len(out), _CHUNK):
        part = out[begin : begin + _CHUNK]
        starts = np.arange(begin, begin + len(part), dtype=np.uint64)
        _fill_normals(stream.planes_at(starts * np.uint64(stride)), part)
        outside = np.abs(part) >= _TRUNCATE_AT
        # The flags of a group read as one number.
        pending.append(np.flatnonzero(outside.view(f"u{size}")) + begin)
    return np.concatenate(pending)


def _accept(
    stream: Stream,
    stride: int,
    pending: NDArray[np.int64],
    drawn: _Array,
    out: _Array,
) -> None:
    """Fills rows of out [groups, size] with the first accepted of what was drawn.

    Groups that ran out of values draw from their start again, with more.
    """
    size, depth = out.shape[1], 2
    while True:
        accepted = np.abs(drawn) < _TRUNCATE_AT
        rank = np.cumsum(accepted, axis=1, dtype=np.int32)
        enough = rank[:, -1] >= size
        accepted &= (rank <= size) & enough[:, None]
        out[pending[enough]] = drawn[accepted].reshape(-1, size)
        pending = pending[~enough]
        if not len(pending):
            return
        depth *= 4
        drawn = _candidates(stream, pending * stride, depth, size)


def _candidates(
    stream: Stream, starts: NDArray[np.int64], depth: int, size: int
) -> _Array:
    """Normal values [starts, depth * size] from the blocks that follow each start."""
    offsets = np.add.outer(starts, np.arange(depth)).reshape(-1)
    values = np.empty((len(offsets), size), _wide_type(size))
    _fill_normals(stream.planes_at(offsets.astype(np.uint64)), values)
    return values.reshape(len(starts), depth * size)
