"""The demonstration, killed half-way."""

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

PROGRAM = Path(__file__).parents[1] / "examples" / "digits_life.py"
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


def _wait_for_trained(directory: Path, program: subprocess.Popen[bytes]) -> int:
    """The step of the first checkpoint that has trained something."""
    while program.poll() is None:
        found = tf.train.latest_checkpoint(str(directory / "digits"))
        if found is not None and (step := int(found.rpartition("-")[2])) > 0:
            return step
        time.sleep(0.05)
    raise AssertionError(program.communicate()[0].decode())


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    first = _start(tmp_path)
    saved = _wait_for_trained(tmp_path, first)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert 0 < saved < STEPS
    run = tmp_path / "digits"
    assert not list(run.glob("export/*"))

    second = _start(tmp_path)
    output = second.communicate()[0].decode()
    assert second.returncode == 0, output
    resumed = int(output.partition("going on from step ")[2].split()[0])
    assert saved <= resumed < STEPS
    accuracy = float(output.partition("test accuracy ")[2].split("%")[0])
    assert accuracy > 95.0
    assert (tmp_path / "digits.png").stat().st_size > 1000
    assert (
        len(list(tf.python_io.tf_record_iterator(str(run / "train.tfrecord")))) == 1437
    )

    (export,) = run.glob("export/*")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], str(export))
        assert session.run("global_step:0") == STEPS


def test_digits_are_served(tmp_path: Path) -> None:
    program = PROGRAM.with_name("digits_serve.py")
    options = ["--epochs", "1", "--versions", "2", "--clients", "1"]
    done = subprocess.run(
        [sys.executable, str(program), *options],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(PROGRAM.parents[1])),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "version 2 has taken over" in done.stdout
    assert "dropped requests: 0; the server ended with status 0" in done.stdout
