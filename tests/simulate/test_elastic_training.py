"""An elastic training on a simulated cluster, and what its checks find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

import tensorloom as tf
from tensorloom.elastic import copying, leader
from tensorloom.elastic.serving import ElasticServer
from tensorloom.elastic.session import ElasticSession
from tensorloom.simulate.elastic_training import HOSTS, draw_schedule, run_seed
from tensorloom.simulate.faults import Fault
from tensorloom.train.checkpoints import checkpoint_management

# One server joins a training of two, another leaves it, and a worker joins.
CALM = (
    Fault(4.0, "join", ("ps2",), 0.0),
    Fault(8.0, "leave", ("ps0",), 5.0),
    Fault(9.0, "join", ("worker2",), 0.0),
)
# A server dies when there are checkpoints, and comes back with nothing.
DEATH = (Fault(12.0, "kill", ("ps1",), 3.0),)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)
    yield
    tf.logging.set_verbosity(before)


def test_schedules_have_all_changes_and_faults() -> None:
    assert draw_schedule(7) == draw_schedule(7)
    drawn = [fault for seed in range(100) for fault in draw_schedule(seed)]
    kinds = {"join", "leave", "kill", "stop", "cut", "slow"}
    assert {fault.kind for fault in drawn} == kinds
    assert {host for fault in drawn for host in fault.hosts} == set(HOSTS)


@pytest.mark.parametrize(
    ("faults", "some", "none"),
    [(CALM, ["moved"], ["lost_steps", "restored"]), (DEATH, ["restored"], [])],
    ids=["join and leave", "die"],
)
def test_changes_break_no_promise(
    faults: Any, some: list[str], none: list[str]
) -> None:
    outcome = run_seed(0, faults)
    assert not outcome.broken, str(outcome)
    facts = outcome.facts
    assert facts["steps"] >= 60
    assert all(facts[name] > 0 for name in ["saves", *some])
    assert not any(facts[name] for name in none)


def test_a_server_that_is_back_before_its_lease_has_ended_gets_shards() -> None:
    outcome = run_seed(0, [Fault(4.0, "kill", ("ps1",), 0.2)])
    assert not outcome.broken, str(outcome)
    assert outcome.facts["moved"] > 0


@pytest.mark.slow
def test_a_server_dies_and_all_others_want_to_leave() -> None:
    """They have what the workers need, and nobody to give it to."""
    told = [Fault(5.0, "leave", (host,), 1000.0) for host in ("ps0", "ps1")]
    outcome = run_seed(0, [*told, Fault(5.1, "kill", ("ps2",), 1000.0)])
    assert not outcome.broken, str(outcome)
    assert outcome.facts["restored"] > 0
    assert outcome.facts["seconds"] < 500


@pytest.mark.slow
def test_a_worker_that_was_cut_off_comes_back() -> None:
    """Its record is made as its lease has ended for itself, and not for the service."""
    outcome = run_seed(115)
    assert not outcome.broken, str(outcome)


@pytest.mark.slow
def test_more_schedules_break_no_promise() -> None:
    outcomes = [run_seed(seed) for seed in range(30)]
    assert not [str(outcome) for outcome in outcomes if outcome.broken]
    assert all(
        any(outcome.facts[name] for outcome in outcomes)
        for name in ("moved", "restored", "lost_steps", "saves")
    )


@pytest.mark.slow
def test_a_schedule_is_a_run() -> None:
    one, again = run_seed(3, DEATH), run_seed(3, DEATH)
    assert (one.digest, one.facts) == (again.digest, again.facts)


# --- what is broken is found --------------------------------------------------------


def _slots_that_stay() -> Any:
    """Only variables are copied."""
    real = copying.copy_variables

    def copy(target: str, config: Any, copies: Any) -> int:
        own = [one for one in copies if "/" not in one.variable.name]
        return real(target, config, own)

    return mock.patch.object(leader, "copy_variables", copy)


def _steps_that_are_made_again() -> Any:
    real = ElasticSession.run

    def run(
        self: Any, fetches: Any, feed_dict: Any = None, *rest: Any, **named: Any
    ) -> Any:
        found = real(self, fetches, feed_dict, *rest, **named)
        return real(self, fetches, feed_dict, *rest, **named) if feed_dict else found

    return mock.patch.object(ElasticSession, "run", run)


def _shards_that_are_kept() -> Any:
    """A server does not drop what has moved away."""
    return mock.patch.object(ElasticServer, "_drop")


def _servers_that_stay() -> Any:
    """A server that is told to end asks nobody to take its shards."""
    return mock.patch.object(ElasticServer, "leave")


def _checkpoints_without_a_name() -> Any:
    """Each second checkpoint is not named."""
    real, calls = checkpoint_management.write_state, iter(range(1_000_000))

    def write_most(*arguments: Any) -> None:
        if next(calls) % 2 == 0:
            real(*arguments)

    return mock.patch.object(checkpoint_management, "write_state", write_most)


@pytest.mark.parametrize(
    ("bug", "faults", "says"),
    [
        pytest.param(_slots_that_stay, CALM, "has no v_", marks=pytest.mark.slow),
        (_steps_that_are_made_again, (), "updates on shard"),
        pytest.param(
            _shards_that_are_kept, CALM, "does not give it", marks=pytest.mark.slow
        ),
        pytest.param(
            _servers_that_stay,
            CALM,
            "do not end when they are told to",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _checkpoints_without_a_name, DEATH, "was lost", marks=pytest.mark.slow
        ),
    ],
)
def test_a_bug_is_found(bug: Any, faults: Any, says: str) -> None:
    with bug():
        found = run_seed(0, faults)
    assert any(says in text for text in found.broken), str(found)
