"""Tensors that stay in the session: when their handles stand for them, and for what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

R = tf.raw_ops


def _read(handle: Any) -> Any:
    return R.GetSessionTensor(handle=handle, dtype=tf.float32)


def _delete(handle: Any) -> Any:
    return R.DeleteSessionTensor(handle=handle)


@pytest.mark.parametrize("use", [_read, _delete])
@pytest.mark.parametrize("also_fetched", [False, True])
def test_a_step_does_not_see_its_own_handles(
    use: Callable[[Any], Any], also_fetched: bool
) -> None:
    handle = R.GetSessionHandle(value=tf.constant([1.0, 2.0]))
    used = use(handle)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="session store"):
            session.run([used, handle] if also_fetched else used)
        kept = session.run(handle)
        holder = tf.placeholder(tf.string, [])
        assert session.run(_read(holder), {holder: kept.handle}).tolist() == [1, 2]


def test_a_handle_of_another_dtype() -> None:
    kept = tf.get_session_handle(tf.constant([1.0, 2.0]))
    integers = tf.placeholder(tf.int32)
    with tf.Session() as session:
        handle = session.run(kept)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expects arg"):
            session.run(integers + 1, {integers: handle})
        holder, tensor = tf.get_session_tensor(handle.handle, tf.int32)
        with pytest.raises(tf.errors.InternalError, match="dtype float32"):
            session.run(tensor, {holder: handle.handle})
        floats = tf.placeholder(tf.float32)
        assert session.run(floats * 2.0, {floats: handle}).tolist() == [2, 4]
