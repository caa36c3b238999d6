"""Bugs that are put into the code are found by random schedules, and replay exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

import tensorloom as tf
from tensorloom.coordination.records import Held
from tensorloom.simulate.calls import SimCall
from tensorloom.simulate.training import run_seed
from tensorloom.storage.checkpoints import write_tokens
from tensorloom.train.checkpoints import checkpoint_management

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

# After so many schedules a bug counts as not found.
_MOST = 1000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)
    yield
    tf.logging.set_verbosity(before)


def _commits_that_are_lost() -> AbstractContextManager[Any]:
    """Each fourth checkpoint is not named."""
    real, calls = checkpoint_management.write_state, iter(range(1_000_000))

    def write_most(*arguments: Any) -> None:
        if next(calls) % 4 != 3:
            real(*arguments)

    return mock.patch.object(checkpoint_management, "write_state", write_most)


def _steps_that_are_tried_again() -> AbstractContextManager[Any]:
    """The first try may have made its updates before its task was lost."""
    real = tf.Session.run

    def run(session: tf.Session, *arguments: Any, **named: Any) -> Any:
        try:
            return real(session, *arguments, **named)
        except tf.errors.UnavailableError:
            return real(session, *arguments, **named)

    return mock.patch.object(tf.Session, "run", run)


def _locks_without_an_end() -> AbstractContextManager[Any]:
    """A holder goes on when its lease has ended."""
    lasts = property(lambda held: not held.is_lost)
    return mock.patch.object(Held, "lasts", lasts)


def _locks_without_fencing() -> AbstractContextManager[Any]:
    """A writer that slept does not look whether there is a newer one."""
    return mock.patch.object(write_tokens, "check")


def _waits_without_an_end() -> AbstractContextManager[Any]:
    """The caller of a process that dies is not told."""
    return mock.patch.object(SimCall, "reset")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "says"),
    [
        (_commits_that_are_lost, "was lost"),
        (_steps_that_are_tried_again, "in its counter at ps"),
        (_locks_without_an_end, "are chiefs at one time"),
        (_locks_without_fencing, "names a checkpoint with token"),
        (_waits_without_an_end, "a wait does not end"),
    ],
)
def test_a_bug_is_found_by_a_seed_that_replays(bug: Any, says: str) -> None:
    for seed in range(_MOST):
        with bug():
            found = run_seed(seed)
        if found.broken:
            break
    assert any(says in text for text in found.broken), str(found)
    with bug():
        again = run_seed(seed)
    assert (again.broken, again.facts) == (found.broken, found.facts)
    assert again.digest == found.digest
    assert not run_seed(seed).broken
