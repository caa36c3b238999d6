"""A training on a simulated cluster, under faults, and what its checks find."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import tensorloom as tf
from tensorloom.coordination.records import Held
from tensorloom.framework.runtime.fences import Fences
from tensorloom.simulate.calls import SimCall
from tensorloom.simulate.faults import Fault
from tensorloom.simulate.promises import Promises
from tensorloom.simulate.training import HOSTS, run_seed
from tensorloom.storage.checkpoints import write_tokens
from tensorloom.train.checkpoints import checkpoint_management


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)
    yield
    tf.logging.set_verbosity(before)


@pytest.mark.parametrize("seed", range(3))
def test_faults_break_no_promise(seed: int) -> None:
    outcome = run_seed(seed)
    assert not outcome.broken, str(outcome)
    assert outcome.facts["steps"] >= 60
    assert outcome.facts["saves"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1100, 50))
def test_more_faults_break_no_promise(first: int) -> None:
    outcomes = [run_seed(seed) for seed in range(first, first + 50)]
    assert not [str(outcome) for outcome in outcomes if outcome.broken]


def test_a_seed_is_a_run() -> None:
    one, again, other = run_seed(3), run_seed(3), run_seed(4, ())
    assert (one.digest, one.facts) == (again.digest, again.facts)
    assert one.digest != other.digest
    assert other.facts["faults"] == 0
    with mock.patch.object(os, "getpid", return_value=7):  # fewer digits, in messages
        assert run_seed(3).digest == one.digest


def test_the_page_s_program(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs/simulation.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    exec(compile(program, "simulation.md", "exec"), {})
    assert re.fullmatch(r"2\.0 after 0\.\d+ s\n", capsys.readouterr().out)


# --- what is broken is found --------------------------------------------------------


def _first_broken(schedules: Iterable[Sequence[Fault]]) -> str:
    for faults in schedules:
        outcome = run_seed(0, faults)
        if outcome.broken:
            return outcome.broken[0]
    return "nothing"


@pytest.mark.slow
def test_a_lock_that_is_not_let_go_is_found() -> None:
    """Its holder goes on as the chief when its lease has ended."""
    schedules = [[Fault(3.0, "cut", ("locks0", host), 30.0)] for host in _workers()]
    assert _first_broken(schedules) == "nothing"
    never_ends = property(lambda held: not held.is_lost)
    with mock.patch.object(Held, "lasts", never_ends):
        assert "are chiefs at one time" in _first_broken(schedules)


@pytest.mark.slow
def test_a_writer_that_does_not_look_at_its_token_is_found() -> None:
    """It is stopped while it saves, and names its checkpoint when it wakes."""
    host, when = _second_checkpoint()
    schedules = [
        [Fault(when - 0.001 * before, "stop", (host,), 20.0)]
        for before in range(5, 60, 3)
    ]
    assert _first_broken(schedules[:4]) == "nothing"
    with mock.patch.object(write_tokens, "check"):
        assert "names a checkpoint with token 1" in _first_broken(schedules)


def test_a_saver_that_does_not_name_its_checkpoint_is_found() -> None:
    _, when = _second_checkpoint()
    schedules = [[Fault(when + 1.0, "kill", ("ps0",), 1.0)]]
    assert _first_broken(schedules) == "nothing"
    real, calls = checkpoint_management.write_state, iter(range(1_000_000))

    def write_each_second(*arguments: Any) -> None:
        if next(calls) % 2 == 0:
            real(*arguments)

    with mock.patch.object(checkpoint_management, "write_state", write_each_second):
        assert "was lost" in _first_broken(schedules)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [208, 209, 260])
def test_a_restore_that_a_chief_slept_in_is_refused(seed: int) -> None:
    outcome = run_seed(seed)
    assert not outcome.broken, str(outcome)
    assert outcome.facts["refused_restores"] == (0 if seed == 209 else 1)


@pytest.mark.slow
def test_servers_that_let_it_through_are_found() -> None:
    with mock.patch.object(Fences, "check"):
        outcome = run_seed(208)
    assert any("in its counter at ps" in text for text in outcome.broken)


def test_a_step_that_is_tried_again_is_found() -> None:
    """Its first try may have made one of the two updates, or both."""
    real = tf.Session.run

    def run(session: tf.Session, *arguments: Any, **named: Any) -> Any:
        real(session, *arguments, **named)
        return real(session, *arguments, **named)

    with mock.patch.object(tf.Session, "run", run):
        assert "in its counter at ps0" in _first_broken([()])


@pytest.mark.slow
def test_a_call_that_nobody_ends_is_found() -> None:
    """The caller of a process that dies is not told."""
    schedules = [
        [Fault(begins + 0.001 * later, "kill", ("ps1",), 1.0)]
        for begins in _steps_begin()[20:22]
        for later in range(2, 16, 2)
    ]
    assert _first_broken(schedules[:2]) == "nothing"
    with mock.patch.object(SimCall, "reset"):
        assert "a wait does not end" in _first_broken(schedules)


def _workers() -> list[str]:
    return [host for host in HOSTS if host.startswith("worker")]


def _second_checkpoint() -> tuple[str, float]:
    """Who names the second checkpoint of a run without faults, and when."""
    seen = []
    published = Promises.published

    def note(promises: Promises, path: str) -> None:
        if path.endswith("/checkpoint"):
            scheduler = promises._simulation.scheduler
            seen.append((scheduler.here.process.name, scheduler.now))
        published(promises, path)

    with mock.patch.object(Promises, "published", note):
        run_seed(0, ())
    return seen[1]


def _steps_begin() -> list[float]:
    """When the steps of a run without faults begin."""
    seen = []

    begins = Promises.step_begins

    def note(promises: Promises, worker: int) -> None:
        seen.append(promises._simulation.now)
        begins(promises, worker)

    with mock.patch.object(Promises, "step_begins", note):
        run_seed(0, ())
    return seen
