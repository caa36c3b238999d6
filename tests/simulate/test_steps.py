"""What steps take on simulated clusters."""

from __future__ import annotations

import pytest

from tensorloom.simulate.backup_workers import run_synchronous_steps
from tensorloom.simulate.null_steps import (
    DENSE,
    SCALAR,
    SPARSE,
    Parameters,
    run_null_steps,
)


@pytest.mark.parametrize("parameters", [SCALAR, SPARSE], ids=lambda p: p.name)
def test_small_parameters_take_messages_alone(parameters: Parameters) -> None:
    measured = run_null_steps(parameters, workers=2, servers=3, steps=2, used=2)
    assert measured.steps == 4
    assert 0.0003 < measured.step_s < 0.01
    assert measured == run_null_steps(parameters, 2, 3, steps=2, used=2)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_thousand_workers_and_a_hundred_servers() -> None:
    """Each worker has to do with two of the servers."""
    measured = run_null_steps(SCALAR, workers=1000, servers=100, steps=1, used=2)
    assert measured.steps == 1000
    few = run_null_steps(SCALAR, workers=10, servers=1, steps=1, used=1)
    # A server has twice as many workers as there, and they have two servers each.
    assert few.step_s < measured.step_s < 10 * few.step_s


def test_large_parameters_wait_for_the_servers_links() -> None:
    """100 MB in each direction are 0.08 s of a link at least, 0.16 s for two."""
    one = run_null_steps(DENSE, workers=1, servers=1, steps=1)
    two = run_null_steps(DENSE, workers=2, servers=1, steps=2)
    assert 0.08 < one.step_s < two.step_s
    assert two.step_s > 0.16


def test_a_backup_worker_stands_in_for_the_slowest() -> None:
    without = run_synchronous_steps(4, 0, servers=1, steps=6)
    with_two = run_synchronous_steps(4, 2, servers=1, steps=6)
    assert 1.0 < with_two < without < 5.0
