"""Programs that were not written for it are explained, and every node is accounted for.

A few of them; with the slow tests all programs that are compared with TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.inspect.explain.programs import watched_runs
from tests.cluster.clusters import cluster
from tests.fuzz.modes import ONE_DEVICE, TWO_DEVICES, two_tasks
from tests.fuzz.programs import random_program, render
from tests.inspect.explain.accounts import problems, says_all
from tests.peer import runner
from tests.peer.programs import Program, all_programs

CLASSIC = "tf.disable_control_flow_v2()\n"
HEADS = {
    "one device": ONE_DEVICE,
    "two devices": TWO_DEVICES,
    "classic": ONE_DEVICE + CLASSIC,
    "classic, two devices": TWO_DEVICES + CLASSIC,
}


def explain_all(source: str) -> tuple[int, list[str]]:
    """How many steps a program runs, and what is wrong with their explanations."""
    is_v2 = tf.control_flow_v2_enabled()
    try:
        with watched_runs() as steps:
            runner.execute(tf, source, ops=False)
    finally:
        (tf.enable_control_flow_v2 if is_v2 else tf.disable_control_flow_v2)()
    found = []
    for step in steps.steps:
        found += problems(step.explanation)
    for step in steps.steps[:1]:
        says_all(step.explanation)
    return len(steps.steps), found


@pytest.mark.parametrize("head", HEADS.values(), ids=list(HEADS))
@pytest.mark.parametrize("seed", [3_000_001, 3_000_004])
def test_random_programs(seed: int, head: str) -> None:
    count, found = explain_all(head + render(random_program(seed)))
    assert count
    assert found == []


@pytest.fixture(scope="module")
def tasks() -> Iterator[str]:
    with cluster(worker=2) as servers:
        yield two_tasks(servers["worker"][0].target)


@pytest.mark.parametrize("seed", [3_100_000, 3_100_003])
def test_over_two_tasks(seed: int, tasks: str) -> None:
    count, found = explain_all(tasks + render(random_program(seed, length=10)))
    assert count
    assert found == []


def test_what_stands_in_for_updates_without_outputs_and_for_unread_outputs() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    with tf.variable_scope("net", use_resource=True):
        a, b = (tf.get_variable(name, [3, 3]) for name in "ab")
        table = tf.get_variable("table", [8, 3])
    ids = tf.sparse_placeholder(tf.int64, [2, 2], name="ids")
    rows = tf.nn.safe_embedding_lookup_sparse(table, ids)
    loss = tf.reduce_sum(tf.matmul(tf.matmul(x, a), b) + rows)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[a, b])
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    feeds = {x: np.ones([2, 3]), ids: ([[0, 0], [1, 1]], [3, 4], [2, 2])}
    e = sess.explain([train, loss], feeds)
    assert problems(e) == []
    by_stage = {fate.stage: fate.by for fate in e.fates.values() if fate.by}
    for stage in ("fuse_optimizer_updates", "fuse_lookup_ids"):
        assert by_stage[stage]
        assert all(by_stage[stage])


@pytest.mark.slow
@pytest.mark.parametrize("program", all_programs(), ids=lambda p: p.name)
def test_programs_that_are_compared_with_tensorflow(program: Program) -> None:
    _, found = explain_all(program.source)
    assert found == []
