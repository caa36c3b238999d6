"""Tasks of a simulated cluster that reduce values with each other, under faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.simulate.collectives import HOSTS, run_seed
from tensorloom.simulate.faults import Fault
from tensorloom.worker.collective import direct
from tensorloom.worker.collective.task_collectives import TaskCollectives


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)
    yield
    tf.logging.set_verbosity(before)


# In the later ones a member is restarted, or fails, that others have a value of.
@pytest.mark.parametrize("seed", [0, 1, 9, 126, 1014, 1108, 1123, 1196])
def test_faults_break_no_sum(seed: int) -> None:
    outcome = run_seed(seed)
    assert not outcome.broken, str(outcome)
    assert outcome.facts["rounds"] >= 60


@pytest.mark.slow
@pytest.mark.parametrize("first", [1000, 1050])
def test_more_faults_break_no_sum(first: int) -> None:
    outcomes = [run_seed(seed) for seed in range(first, first + 50)]
    assert not [str(outcome) for outcome in outcomes if outcome.broken]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1], ids=["to all", "by a ring"])
@pytest.mark.parametrize("host", HOSTS[:2], ids=["leader", "member"])
def test_a_member_is_killed_during_a_sum(host: str, seed: int) -> None:
    failed = 0
    for after_s in np.arange(5.0, 6.2, 0.02).tolist():
        outcome = run_seed(seed, [Fault(after_s, "kill", (host,), 3.0)])
        assert not outcome.broken, str(outcome)
        failed += outcome.facts["failed_steps"]
    assert failed


def test_a_failure_that_the_leader_does_not_hear_of_is_found() -> None:
    real = TaskCollectives.end_step

    def end_step(self: Any, *args: Any) -> None:
        real(self, *args)
        self._expected.clear()

    with mock.patch.object(TaskCollectives, "end_step", end_step):
        outcome = run_seed(126)
    assert "has not heard that worker1 did not get the first" in str(outcome)


def test_a_value_that_is_added_twice_is_found() -> None:
    real = direct.combine

    def combine(exchange: Any, request: Any) -> Any:
        return real(exchange, request) + np.asarray(request.value)

    with mock.patch.object(direct, "combine", combine):
        found, again = run_seed(0, ()), run_seed(0, ())
    assert "worker0 gave 1 and found 2 of its own" in str(found)
    assert (found.broken, found.digest) == (again.broken, again.digest)
