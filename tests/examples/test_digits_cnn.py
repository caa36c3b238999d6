"""Training in a bare session, killed half-way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tensorloom as tf

pytest.importorskip("sklearn")
pytest.importorskip("rich")

PROGRAM = Path(__file__).parents[2] / "examples" / "digits_cnn.py"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
EPOCHS = 20
STEPS = EPOCHS * 44


def _start(directory: Path) -> subprocess.Popen[bytes]:
    environment = dict(os.environ, PYTHONPATH=str(PROGRAM.parents[1]))
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), "--epochs", str(EPOCHS)],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _wait_for_checkpoint(directory: Path, program: subprocess.Popen[bytes]) -> int:
    while program.poll() is None:
        found = tf.train.latest_checkpoint(str(directory / "digits"))
        if found is not None:
            return int(found.rpartition("-")[2])
        time.sleep(0.05)
    raise AssertionError(program.communicate()[0].decode())


def _steps(path: Path, tag: str) -> list[int]:
    return [
        event.step
        for event in tf.train.summary_iterator(str(path))
        if any(value.tag == tag for value in event.summary.value)
    ]


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    first = _start(tmp_path)
    saved = _wait_for_checkpoint(tmp_path, first)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert 0 < saved < STEPS

    second = _start(tmp_path)
    output = second.communicate()[0].decode()
    assert second.returncode == 0, output
    run = tmp_path / "digits"
    resumed = int(output.partition("going on from step ")[2].split()[0])
    assert saved <= resumed < STEPS

    # What the first run wrote up to its checkpoint was in the file when it died.
    events = sorted(run.glob("events.*"))
    assert len(events) == 2
    before, after = (_steps(path, "training/loss") for path in events)
    assert set(range(0, saved, 20)) <= set(before)
    assert after == list(range(-(-resumed // 20) * 20, STEPS, 20))

    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], str(run / "saved_model"))
        assert session.run("global_step:0") == STEPS
        found = session.run("predictions:0", {"images:0": [[[[0.0]] * 8] * 8]})
        assert found.shape == (1,)
