"""Variables take over what is read from a checkpoint; nobody else sees them change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import tensorloom as tf
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.state import restored_memory

SIZE = 1 << 17  # elements, large enough to be taken over
HUGE = (1 << 23) + 5  # float32 elements in a block that is kept afterwards


@pytest.fixture(autouse=True)
def _no_kept_blocks() -> Any:
    restored_memory._kept.clear()
    yield
    restored_memory._kept.clear()
    assert not restored_memory._unclaimed


def _save(path: Path, value: Any) -> str:
    prefix = str(path / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(
            tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=["a"],
                shape_and_slices=[""],
                tensors=[value],
            )
        )
    return prefix


def _restored(prefix: str, dtype: Any = tf.float32) -> tf.Tensor:
    (value,) = tf.raw_ops.RestoreV2(
        prefix=prefix, tensor_names=["a"], shape_and_slices=[""], dtypes=[dtype]
    )
    return value


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what was taken over."""
    sizes: list[int] = []
    claim = restored_memory._claim

    def noted(address: int, size: int) -> Any:
        found = claim(address, size)
        if found is not None:
            sizes.append(size)
        return found

    monkeypatch.setattr(restored_memory, "_claim", noted)
    return sizes


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "dtype", [np.float32, np.int64, np.bool_, np.complex64, ml_dtypes.bfloat16]
)
def test_restore(
    tmp_path: Path, taken: list[int], use_resource: bool, dtype: Any
) -> None:
    value = np.arange(2 * SIZE).reshape(2, SIZE).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.get_variable("a", initializer=value, use_resource=use_resource)
        saver = tf.train.Saver()
        sess.run(variable.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        for _ in range(2):
            sess.run(variable.assign(tf.zeros_like(variable)))
            saver.restore(sess, path)
            np.testing.assert_array_equal(sess.run(variable), value)
    assert taken == [value.nbytes] * 2


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_was_fetched_stays(tmp_path: Path, use_resource: bool) -> None:
    value = np.arange(SIZE, dtype=np.float32)
    prefix = _save(tmp_path, value)
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.get_variable(
            "a", [SIZE], initializer=tf.zeros_initializer(), use_resource=use_resource
        )
        restored = _restored(prefix)
        assign = tf.assign(variable, restored)
        with tf.control_dependencies([assign]):
            later = tf.identity(restored)
        sess.run(variable.initializer)
        before, _, same = sess.run([restored, assign.op, later])
        seen = sess.run(variable)
        sess.run(tf.assign_add(variable, tf.ones([SIZE])).op)
        for found in (before, same, seen):
            np.testing.assert_array_equal(found, value)
        before += 5
        np.testing.assert_array_equal(sess.run(variable), value + 1)


def test_two_variables_of_one_value(tmp_path: Path, taken: list[int]) -> None:
    value = np.arange(SIZE, dtype=np.float32)
    prefix = _save(tmp_path, value)
    with tf.Graph().as_default(), tf.Session() as sess:
        both = [tf.get_variable(name, [SIZE]) for name in "ab"]
        restored = _restored(prefix)
        sess.run([tf.assign(variable, restored).op for variable in both])
        assert taken == [value.nbytes]
        sess.run(tf.assign_add(both[0], tf.ones([SIZE])).op)
        np.testing.assert_array_equal(sess.run(both[0]), value + 1)
        np.testing.assert_array_equal(sess.run(both[1]), value)


def test_fetched_and_fed(tmp_path: Path, taken: list[int]) -> None:
    value = np.arange(SIZE, dtype=np.float32)
    prefix = _save(tmp_path, value)
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.get_variable("a", [SIZE])
        fed = tf.placeholder(tf.float32, [SIZE])
        assign = tf.assign(variable, fed).op
        mine = sess.run(_restored(prefix))
        sess.run(assign, {fed: mine})
        mine[:] = 0
        assert taken == []
        np.testing.assert_array_equal(sess.run(variable), value)


def test_huge_blocks_are_kept_and_used_again() -> None:
    float32 = dtypes.float32
    array = restored_memory.empty((HUGE,), float32)
    assert array.shape == (HUGE,)
    address = array.ctypes.data
    tensor = restored_memory.claim_array(array)
    assert tensor is not None
    assert tensor.dtype is torch.float32
    assert restored_memory.claim_array(array) is None
    array[:] = 3
    del array
    assert restored_memory.empty((HUGE,), float32).ctypes.data != address
    assert bool((tensor == 3).all())
    part = tensor[5:]
    del tensor
    assert len(restored_memory._kept) == 1  # of the array made in between
    del part
    assert len(restored_memory._kept) == 2
    again = restored_memory.empty((HUGE - 1,), float32)
    assert len(restored_memory._kept) == 1
    assert restored_memory.claim_array(again[1:]) is None


def test_no_more_than_half_a_gigabyte_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restored_memory, "_MOST_KEPT", 3 * 4 * HUGE)
    arrays = [restored_memory.empty((HUGE,), dtypes.float32) for _ in range(5)]
    del arrays
    assert len(restored_memory._kept) == 2


def test_kept_blocks_are_given_back() -> None:
    array = restored_memory.empty((1 << 23,), dtypes.float64)
    del array
    assert restored_memory._kept
    restored_memory.give_back()
    assert not restored_memory._kept
