"""Seeded random numbers are TensorFlow's, bit for bit.

`recorded/random_numbers.txt` holds lines "op/dtype/count/seed/seed2/step crc32 values":
the first values and a checksum of all bytes that the raw op of TensorFlow 1.15.0 gave
in its first and second step.
"""

from __future__ import annotations

import ctypes
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.kernels.host.math.glibc_math import logf, sincosf
from tensorloom.kernels.host.random import random_distributions as distributions
from tensorloom.kernels.host.random.philox import SAMPLES_PER_OUTPUT, Generator, Stream
from tensorloom.kernels.host.random.random_ops import shuffle_stream, shuffled
from tensorloom.kernels.loops.random.random_samples import categorical

RECORDED = Path(__file__).parents[1] / "recorded" / "random_numbers.txt"
LINES = [line.split() for line in RECORDED.read_text().splitlines()]
FILLS = {
    "RandomUniform": distributions.uniform,
    "RandomStandardNormal": distributions.standard_normal,
    "TruncatedNormal": distributions.truncated_normal,
}


def _logits() -> Any:
    logits = np.random.RandomState(0).randn(5, 7).astype(np.float32) * 2
    logits[2, 3] = -np.inf
    return logits.astype(np.float64)


def _draw(generator: Generator, op: str, dtype: np.dtype[Any], count: int) -> Any:
    if op == "RandomShuffle":
        stream = shuffle_stream(generator, count)
        return shuffled(stream, np.arange(count)).astype(dtype)
    if op == "Multinomial":
        stream = generator.reserve(5 * 8 * 2 * SAMPLES_PER_OUTPUT)
        return categorical(stream, _logits(), count)
    stream = generator.reserve_outputs(count)
    if op == "RandomUniformInt":
        return distributions.uniform_int(stream, count, -5, 1000003, dtype)
    return FILLS[op](stream, count, dtype)


@pytest.mark.parametrize("line", LINES[::2], ids=lambda line: line[0])
def test_values_are_tensorflows(line: list[str]) -> None:
    op, dtype, count, seed, seed2, _ = line[0].split("/")
    generator = Generator(int(seed), int(seed2))
    second = LINES[LINES.index(line) + 1]
    for _, checksum, *first in (line, second):
        values = _draw(generator, op, np.dtype(dtype), int(count))
        assert values.dtype == dtype
        assert [repr(v) for v in values.reshape(-1)[:3].tolist()] == first
        assert f"{zlib.crc32(np.ascontiguousarray(values).tobytes()):08x}" == checksum


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**128 - 1),
    st.integers(1, 40),
    st.integers(0, 2**70),
)
def test_a_stream_can_be_cut_anywhere(
    key: int, start: int, count: int, skipped: int
) -> None:
    whole = Stream(key, start).skip(skipped).blocks(count)
    for index in (0, count // 2, count - 1):
        part = Stream(key, start).skip(skipped + index).blocks(1)
        np.testing.assert_array_equal(part[0], whole[index])


@pytest.mark.parametrize("dtype", ["int64", "float32", "int16", "S4"])
@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 50, 256, 257, 5000])
def test_a_shuffle_is_one_exchange_after_the_other(
    size: int, columns: int | None, dtype: str
) -> None:
    value = np.arange(size * (columns or 1)).astype(dtype)
    if columns:
        value = value.reshape(size, columns)
    expected, stream = value.copy(), Stream(5, 9 << 64)
    for i, word in enumerate(stream.words(max(size - 1, 0)).tolist()):
        other = i + word % (size - i)
        expected[[i, other]] = expected[[other, i]]
    # Every second row of an array is not contiguous.
    for given_value in (value, np.repeat(value, 2, axis=0)[::2]):
        np.testing.assert_array_equal(shuffled(stream, given_value), expected)
    assert value.dtype == np.dtype(dtype)


@pytest.mark.parametrize("start", [0, (7 << 64) - 9, (3 << 64) + 2**32 - 5, 2**128 - 4])
def test_blocks_can_be_taken_anywhere(start: int) -> None:
    stream = Stream(0x123456789ABCDEF, start)
    offsets = np.array([0, 3, 4, 8, 9, 10, 2**33, 17], np.uint64)
    planes = stream.planes_at(offsets)
    for offset, block in zip(offsets.tolist(), planes.T, strict=True):
        np.testing.assert_array_equal(stream.skip(offset).words(4), block)


def test_the_counter_carries_into_its_upper_half() -> None:
    stream = Stream(1, (7 << 64) + 2**64 - 2)
    np.testing.assert_array_equal(stream.blocks(4)[2:], Stream(1, 8 << 64).blocks(2))


def test_unseeded_generators_differ() -> None:
    a, b = Generator(0, 0), Generator(0, 0)
    assert not a.is_seeded
    assert a.reserve(1).words(4).tolist() != b.reserve(1).words(4).tolist()


@pytest.fixture
def libm() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libm.so.6")
    except OSError:
        pytest.skip("no glibc")
    for name in ("logf", "sinf", "cosf"):
        function = getattr(library, name)
        function.restype = ctypes.c_float
        function.argtypes = [ctypes.c_float]
    return library


def test_float_functions_are_the_c_librarys(libm: ctypes.CDLL) -> None:
    uniform = np.random.default_rng(0).random(5000, dtype=np.float32)
    uniform = np.maximum(uniform, np.float32(1e-7))
    expected = [libm.logf(float(x)) for x in uniform]
    np.testing.assert_array_equal(logf(uniform), np.array(expected, np.float32))
    angles = (2 * np.pi * uniform.astype(np.float64)).astype(np.float32)
    sine, cosine = sincosf(angles)
    np.testing.assert_array_equal(
        sine, np.array([libm.sinf(float(x)) for x in angles], np.float32)
    )
    np.testing.assert_array_equal(
        cosine, np.array([libm.cosf(float(x)) for x in angles], np.float32)
    )


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**128 - 1) | st.integers(-5, 5).map(lambda n: 2**64 + n),
    st.integers(1, 10),
)
def test_a_few_blocks_are_the_first_of_many(key: int, start: int, count: int) -> None:
    stream = Stream(key, start)
    many = stream.blocks(40)
    few = stream.blocks(count)
    np.testing.assert_array_equal(few, many[:count])
    assert few.dtype == many.dtype
    planes = stream.planes(count)
    np.testing.assert_array_equal(planes, stream.planes(40)[:, :count])
    assert planes.flags.c_contiguous


@pytest.mark.parametrize("classes", [1, 7, 1999, 2000, 3000])
@pytest.mark.parametrize("special", [False, True])
def test_one_class_of_each_row_is_the_first_of_many(
    classes: int, special: bool
) -> None:
    random = np.random.RandomState(classes)
    rows = random.randn(6, classes) * 3
    if special:
        rows[1, ::2] = -np.inf
        rows[2, ::3] = np.nan
        rows[3] = np.inf
    for row in rows:
        one = categorical(Stream(3, 5), row[None], 1)
        some = categorical(Stream(3, 5), row[None], 4)
        assert one.dtype == some.dtype == np.int64
        assert one.shape == (1, 1)
        assert one[0, 0] == some[0, 0]
