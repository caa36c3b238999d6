"""Numbers found among keys by tables are those that a dictionary finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.kernels.host.lookup.key_tables import NumberIndex, StringIndex
from tensorloom.kernels.host.strings.spans import spans_of
from tensorloom.kernels.loops.lookup.key_tables import index_integers

_ENDS = [-(2**63), -1, 0, 1, 2**62, 2**63 - 1]
_NUMBERS = st.sampled_from(_ENDS) | st.integers(-50, 50)


@given(st.lists(_NUMBERS, unique=True), st.lists(_NUMBERS))
def test_numbers(keys: list[int], asked: list[int]) -> None:
    index = NumberIndex(np.array(keys, np.int64))
    places = dict(zip(keys, range(len(keys)), strict=True))
    expected = [places.get(number, len(keys)) for number in asked]
    assert index.find(np.array(asked, np.int64)).tolist() == expected


def test_many_numbers() -> None:
    random = np.random.RandomState(0)
    keys = np.unique(random.randint(-(2**40), 2**40, 20_000))
    random.shuffle(keys)
    asked = np.concatenate([keys[::3], random.randint(-(2**40), 2**40, 5_000)])
    places = dict(zip(keys.tolist(), range(len(keys)), strict=True))
    expected = [places.get(number, len(keys)) for number in asked.tolist()]
    assert NumberIndex(keys).find(asked).tolist() == expected


def test_a_table_has_room_for_its_keys() -> None:
    keys, slots = np.arange(300), np.zeros(256, np.int64)
    keys.flags.writeable = False
    assert index_integers(keys, slots) == 256


@pytest.mark.parametrize("dtype", [np.int32, np.int64, object])
@pytest.mark.parametrize("to", [np.int64, np.float32, object])
def test_tables_of_many_keys(dtype: Any, to: Any) -> None:
    def typed(numbers: Any, kind: Any) -> Any:
        if kind is object:
            return np.array([b"%d" % number * 3 for number in numbers], object)
        return np.array(numbers, kind)

    key_type, value_type = (
        tf.string if kind is object else tf.as_dtype(kind) for kind in (dtype, to)
    )

    keys, values = typed(range(500), dtype), typed(range(7, 507), to)
    default = typed([-9], to)[0]
    asked = np.random.RandomState(0).randint(-20, 700, (30, 40))
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.lookup.KeyValueTensorInitializer(
            tf.constant(keys.tolist(), key_type),
            tf.constant(values.tolist(), value_type),
        )
        table = tf.lookup.StaticHashTable(made, default)
        session.run(tf.tables_initializer())
        flat = typed(asked.reshape(-1), dtype).reshape(asked.shape)
        fed = tf.placeholder(key_type)
        found = session.run(table.lookup(fed), {fed: flat})
    known = (asked >= 0) & (asked < 500)
    expected = typed(asked.reshape(-1) + 7, to).reshape(asked.shape)
    expected[~known] = default
    assert found.tolist() == expected.tolist()


PATTERNS = [b"word%d", b"%d", b"key_%08d", b"http://example.com/page/%d/index"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_strings_that_differ_in_few_places_are_indexed(pattern: bytes) -> None:
    words = np.array([pattern % i for i in range(20_000)], object)
    index = StringIndex(words)
    assert index.find(spans_of(words[::-1])).tolist() == list(range(20_000))[::-1]


@pytest.mark.parametrize("factor", [1, 1000, 1 << 20, 1 << 32, 1 << 45, -1])
def test_numbers_that_differ_in_few_bits_are_indexed(factor: int) -> None:
    numbers = np.arange(20_000) * factor
    index = NumberIndex(numbers)
    assert index.find(numbers[::-1]).tolist() == list(range(20_000))[::-1]
