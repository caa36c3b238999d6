"""The pairs of tables: like a dictionary, after any history."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.lookup.resource import MutableHashTable
from tensorloom.kernels.host.lookup.table_items import RowItems, ScalarItems

_KEYS = st.lists(st.integers(0, 9), max_size=12)


@pytest.mark.parametrize("shape", [(), (2,)])
@given(st.lists(st.tuples(st.booleans(), _KEYS), max_size=8))
def test_any_history(
    shape: tuple[int, ...], steps: list[tuple[bool, list[int]]]
) -> None:
    items: Any = RowItems(np.int64, shape) if shape else ScalarItems(np.int64)
    wanted: dict[int, int] = {}
    for number, (is_added, keys) in enumerate(steps):
        if is_added:
            given_values = [100 * number + i for i in range(len(keys))]
            rows = np.array(given_values, np.int64).reshape(-1, *[1] * len(shape))
            items.update(keys, np.broadcast_to(rows, (len(keys), *shape)))
            wanted |= dict(zip(keys, given_values, strict=True))
        else:
            items.remove(keys)
            for key in keys:
                wanted.pop(key, None)
        asked = list(range(10))
        found = items.find(asked, np.full(shape, -1)).reshape(10, -1)[:, 0]
        assert found.tolist() == [wanted.get(key, -1) for key in asked]
        others = np.broadcast_to(
            np.arange(10).reshape(-1, *[1] * len(shape)), (10, *shape)
        )
        found = items.find(asked, others).reshape(10, -1)[:, 0]
        assert found.tolist() == [wanted.get(key, key) for key in asked]
        assert items.keys() == list(wanted)
        values = items.values().reshape(len(wanted), math.prod(shape))
        assert values[:, :1].ravel().tolist() == list(wanted.values())
        assert len(items) == len(wanted)


def test_rows_of_removed_keys_are_given_back() -> None:
    items = RowItems(np.float32, (4,))
    for start in range(0, 5000, 100):
        keys = list(range(start, start + 100))
        items.update(keys, np.full((100, 4), start, np.float32))
        items.remove(keys[1:])
    assert len(items._rows) < 1000
    assert items.values()[:, 0].tolist() == list(range(0, 5000, 100))


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("kind", ["int64", "string"])
def test_a_table_that_changes_between_many_lookups(
    shape: tuple[int, ...], kind: str
) -> None:
    """Its index is made again, with what has changed."""
    table = MutableHashTable(
        "c", "n", dtypes.as_dtype(kind), dtypes.float32, value_shape=shape
    )

    def key_array(keys: list[int]) -> Any:
        # Short ones and long ones.
        texts = [b"%d" % k if k < 180 else b"%030d" % k for k in keys]
        return np.array(texts, object) if kind == "string" else np.array(keys)

    def check(wanted: dict[int, float]) -> None:
        asked = list(range(400))  # so many that an index is worth it
        default = np.full(shape, -1, np.float32)
        for _ in range(4):
            found = table.find(key_array(asked), default)
            assert found.shape == (400, *shape)
            expected = [wanted.get(key, -1) for key in asked]
            assert found.reshape(400, -1)[:, 0].tolist() == expected
        assert table._index is not None

    def rows(values: list[float]) -> Any:
        wide = np.array(values, np.float32).reshape(-1, *[1] * len(shape))
        return np.broadcast_to(wide, (len(values), *shape))

    wanted = {key: key / 2 for key in range(0, 400, 2)}
    table.insert(key_array(list(wanted)), rows(list(wanted.values())))
    check(wanted)
    wanted[4] = 77.0
    table.insert(key_array([4]), rows([77.0]))
    check(wanted)
    del wanted[6], wanted[190]
    table.remove(key_array([6, 190]))
    check(wanted)
    wanted = {1: 1.0, 2: 2.0}
    table.replace(key_array([1, 2]), rows([1.0, 2.0]))
    check(wanted)


@pytest.mark.parametrize("reserved", [[[5, 6]], [[0, 0], [1, 1]]])
def test_reserved_keys_of_vectors(reserved: list[list[int]]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.int64, -1, [5, 6], [0, 0], initial_num_buckets=8
        )
        session.run(table.insert([[5, 0], [0, 6]], [1, 2]))
        assert session.run(table.lookup([[0, 6], [5, 5]])).tolist() == [2, -1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not allowed"):
            session.run(table.lookup(tf.constant(reserved, tf.int64)))


@pytest.mark.parametrize(
    ("keys", "values", "asked", "wanted"),
    [
        ([1, 2], ["a", "b"], 2, b"b"),
        ([1, 2], ["a", "b"], 3, b"?"),
        (["x", "y"], ["a", "b"], "y", b"b"),
    ],
)
def test_one_key(keys: Any, values: Any, asked: Any, wanted: bytes) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, values), "?"
        )
        session.run(table.initializer)
        assert session.run(table.lookup(tf.constant(asked, table.key_dtype))) == wanted
