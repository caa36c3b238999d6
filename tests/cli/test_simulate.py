"""`tensorloom simulate`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from unittest import mock

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.train.checkpoints import checkpoint_management

if TYPE_CHECKING:
    import pytest


def test_schedules_that_break_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = tf.logging.get_verbosity()
    assert main(["simulate", "--faults", "2", "--first", "40", "--json"]) == 0
    assert tf.logging.get_verbosity() == before
    output = capsys.readouterr()
    runs = [json.loads(line) for line in output.out.splitlines()]
    assert [run["seed"] for run in runs] == [40, 41]
    assert all(run["steps"] >= 60 and run["broken"] == [] for run in runs)
    assert "0 broke a promise" in output.err


def test_a_broken_promise_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A saver that names nothing fails in every schedule: no fault is needed."""
    with mock.patch.object(checkpoint_management, "write_state"):
        assert main(["simulate", "--faults", "1", "--first", "40"]) == 1
    output = capsys.readouterr()
    assert "seed 40:" in output.out
    assert "was lost" in output.out
    assert "It fails without any fault." in output.out
    assert "simulate --program training --first 40 --faults 1" in output.out
    assert "1 broke a promise" in output.err
