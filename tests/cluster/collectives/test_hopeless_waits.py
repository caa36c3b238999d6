"""Collectives whose members wait for each other for ever are ended, and say why."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import cluster_over
from tests.cluster.collectives.test_sessions import in_turn, outcome

pytestmark = pytest.mark.timeout(120)

LIMIT_S = 0.4


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def servers(request: Any) -> Iterator[list[Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORLOOM_TASK_TIMEOUT_S", str(LIMIT_S))
        with cluster_over(request.param, worker=3) as running:
            yield running["worker"]


def reduced(value: Any, key: int, size: int, group: int) -> Any:
    return tf.raw_ops.CollectiveReduce(
        input=value,
        group_size=size,
        group_key=group,
        instance_key=key,
        merge_op="Add",
        final_op="Id",
        subdiv_offsets=[],
    )


@pytest.mark.parametrize(
    ("keys", "group"),
    [([500, 600], 60), ([510, 510, 610], 61), ([520, 620, 720], 62)],
)
def test_members_with_other_keys(
    servers: list[Any], keys: list[int], group: int
) -> None:
    """Each is told who does not come, and where that one waits.

    Of those that share a key, one may hear that the other's step has failed.
    """

    def build(index: int) -> Any:
        return reduced(tf.ones([2]), keys[index], len(keys), group)

    for own, (error,) in zip(keys, in_turn(servers[: len(keys)], build), strict=True):
        if keys.count(own) > 1 and isinstance(error, tf.errors.AbortedError):
            continue
        assert isinstance(error, tf.errors.FailedPreconditionError), error
        found = [
            f"task:{other} will not come to collective instance {own} of group {group}"
            for other, key in enumerate(keys)
            if key != own and f"its group in instance {key}" in error.message
        ]
        assert any(text in error.message for text in found), error.message


@pytest.mark.parametrize("is_before", [True, False])
def test_who_is_busy_in_the_same_step_comes(
    servers: list[Any], is_before: bool
) -> None:
    """Each is late with a value that others wait for longer than the limit."""
    group = 70 + is_before

    def late(value: Any) -> Any:
        time.sleep(4 * LIMIT_S)
        return value

    def build(index: int) -> Any:
        values = [tf.ones([2]), tf.ones([3])]
        if index < 2:  # each is late at another one
            values[index] = tf.py_func(late, [values[index]], tf.float32)
            values[index].set_shape([2 + index])
        keys = [800, 801] if is_before else [803, 802]
        return [
            reduced(value, key, 3, group)
            for value, key in zip(values, keys, strict=True)
        ]

    for (found,) in in_turn(servers, build):
        for value, size in zip(found, (2, 3), strict=True):
            np.testing.assert_array_equal(value, [3.0] * size)


def test_a_wait_that_ends_with_its_limit_says_for_whom(servers: list[Any]) -> None:
    done = threading.Barrier(2)

    def build(index: int) -> Any:
        return reduced(tf.ones([2]), 900, 2, 80), reduced(tf.ones([2]), 901, 2, 80)

    def session(index: int, sess: Any, fetches: Any) -> Any:
        both, alone = fetches
        found = [outcome(sess, both)]
        if index == 0:
            limit = tf.RunOptions(timeout_in_ms=300)
            found.append(outcome(sess, alone, limit=limit))
        done.wait(60)
        return found

    (_, error), _ = in_turn(servers[:2], build, session=session)
    assert isinstance(error, tf.errors.DeadlineExceededError)
    assert "collective instance 901 of group 80, to which " in error.message
    assert "task:1 has not come" in error.message
