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
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
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


def _run(directory: Path, name: str, *options: str) -> str:
    """What a program prints that ends well."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM.with_name(name)), *options],
        cwd=directory,
        env=dict(os.environ, PYTHONPATH=str(PROGRAM.parents[1])),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_digits_are_served(tmp_path: Path) -> None:
    options = ("--epochs", "1", "--versions", "2", "--clients", "1")
    output = _run(tmp_path, "digits_serve.py", *options)
    assert "version 2 has taken over" in output
    assert "dropped requests: 0; the server ended with status 0" in output


@pytest.mark.multiprocess
def test_digits_of_a_stream(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka")
    options = ("--versions", "3", "--steps", "5", "--clients", "1")
    output = _run(tmp_path, "digits_stream.py", *options)
    assert "training goes on from step 5" in output
    assert "version 15 has taken over" in output
    assert "trained on each message once" in output
    assert "failed requests: 0; the server ended with status 0" in output
