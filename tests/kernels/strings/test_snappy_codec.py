"""Snappy by loops, against the reader of tables, which knows Google's blocks."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.runtime.input_service import snappy
from tensorloom.kernels.loops.strings import snappy as loops
from tensorloom.storage.tables import snappy as reader

_numbers = np.random.RandomState(0)
DATA = {
    "nothing": b"",
    "one": b"a",
    "repeated": b"abcd" * 500,
    "zeros": bytes(70_000),
    "numbers": np.arange(20_000).tobytes(),
    "far": _numbers.bytes(3000) + bytes(70_000) + _numbers.bytes(300),
    **{f"random {n}": _numbers.bytes(n) for n in (59, 60, 61, 256, 257, 66_000)},
}


@pytest.mark.parametrize("name", DATA)
def test_blocks(name: str) -> None:
    data = DATA[name]
    block = snappy().compress(data)
    assert snappy().decompress(block) == data
    assert reader.decompress(block) == data
    assert len(block) < len(data) + 32
    if name in ("repeated", "zeros", "numbers"):
        assert len(block) < 0.7 * len(data)


@given(st.lists(st.sampled_from([b"a", b"bcde", bytes(70), b"xyz" * 9])))
def test_python_makes_the_same(parts: list[bytes]) -> None:
    data = b"".join(parts)
    made = []
    for form in (loops.compress.plain, loops.compress.compiled()):  # type: ignore[attr-defined]
        out = np.empty(32 + 2 * len(data), np.uint8)
        places = np.full(1 << 14, -1, np.int64)
        size = form(np.frombuffer(data, np.uint8), out, places)
        made.append(out[:size].tobytes())
    assert made[0] == made[1]
    assert snappy().decompress(snappy().compress(data)) == data


@given(st.binary(max_size=200))
def test_any_block_is_read_or_refused_as_by_the_reader(block: bytes) -> None:
    expected = None
    with contextlib.suppress(IndexError):
        expected = reader.decompress(block)
    try:
        found = snappy().decompress(block)
    except tf.errors.InvalidArgumentError:
        found = None
    assert found == expected
