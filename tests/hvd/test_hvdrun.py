"""`tensorloom hvdrun`: processes that train together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

PROGRAM = """
import os, sys, time
import numpy as np
import tensorflow as tf
import horovod.tensorflow as hvd
hvd.init()
data = np.random.RandomState(0).randn(12, 4).astype(np.float32)
mine = data[hvd.rank()::hvd.size()]
x = tf.placeholder(tf.float32, [None, 4])
w = tf.get_variable("w", initializer=tf.ones([4, 3]) * (1.0 + hvd.rank()))
loss = tf.reduce_mean(tf.square(tf.nn.tanh(tf.matmul(x, w)) - 0.5))
step = tf.train.get_or_create_global_step()
compression = hvd.Compression.none
if "topk" in sys.argv:
    compression = hvd.Compression.topk(0.2)
optimizer = tf.train.AdamOptimizer(0.05)
optimizer = hvd.DistributedOptimizer(optimizer, compression=compression)
train = optimizer.minimize(loss, step)
hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(10)]
with tf.train.SingularMonitoredSession(hooks=hooks) as sess:
    while not sess.should_stop():
        if "kill" in sys.argv and hvd.rank() == 1 and sess.run(step) == 3:
            os.kill(os.getpid(), 9)
        sess.run(train, {x: mine})
        weights = sess.raw_session().run(w)
if hvd.rank() == 0:
    np.save(sys.argv[1], weights)
"""


def _run(tmp_path: Path, processes: int, *arguments: str) -> tuple[int, str]:
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)
    launcher = subprocess.Popen(
        [
            *(sys.executable, "-m", "tensorloom", "hvdrun", "-np", str(processes)),
            *(str(program), str(tmp_path / f"{processes}.npy"), *arguments),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        text, _ = launcher.communicate(timeout=240)
    finally:
        launcher.kill()
        launcher.wait()
    return launcher.returncode, text


def test_two_processes_train_as_one_does_on_all_rows(tmp_path: Path) -> None:
    for processes in (1, 2):
        status, text = _run(tmp_path, processes)
        assert status == 0, text
    one, two = (np.load(tmp_path / f"{n}.npy") for n in (1, 2))
    np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-6)


def test_the_largest_values_alone_travel(tmp_path: Path) -> None:
    status, text = _run(tmp_path, 2, "topk")
    assert status == 0, text
    weights = np.load(tmp_path / "2.npy")
    assert np.abs(weights - 1).max() > 0.3  # it has learnt


def test_all_end_when_one_is_killed(tmp_path: Path) -> None:
    status, text = _run(tmp_path, 2, "kill")
    assert status == 128 + signal.SIGKILL, text
