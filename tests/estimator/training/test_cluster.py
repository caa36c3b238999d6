"""`train_and_evaluate` by the processes of a cluster: chief, worker, ps, evaluator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import free_ports

_STEPS = 60
_PROGRAM = f"""
import sys

import numpy as np

import tensorloom as tf


def input_fn():
    random = np.random.RandomState(1)
    x = random.rand(64, 3).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0], [3.0]], np.float32) + 0.5
    return tf.data.Dataset.from_tensor_slices(({{"x": x}}, y)).repeat().batch(16)


def model_fn(features, labels, mode):
    predicted = tf.layers.dense(features["x"], 1, name="linear")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{"y": predicted}})
    loss = tf.losses.mean_squared_error(labels, predicted)
    step = tf.train.get_global_step()
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def serving():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    return tf.estimator.export.ServingInputReceiver({{"x": x}}, {{"x": x}})


config = tf.estimator.RunConfig(
    model_dir=sys.argv[1],
    save_checkpoints_steps=20,
    experimental_max_worker_delay_secs=0,
    train_distribute=tf.distribute.experimental.MultiWorkerMirroredStrategy()
    if "in step" in sys.argv
    else None,
)
estimator = tf.estimator.Estimator(model_fn, config=config)
train = tf.estimator.TrainSpec(input_fn, max_steps={_STEPS})
evaluation = tf.estimator.EvalSpec(
    input_fn,
    steps=4,
    start_delay_secs=0,
    throttle_secs=0,
    exporters=[
        tf.estimator.FinalExporter("final", serving),
        tf.estimator.LatestExporter("latest", serving),
    ],
)
tf.estimator.train_and_evaluate(estimator, train, evaluation)
print("the end", config.task_type)
"""


class Task:
    """A process of the cluster, with those that it may start in a group of its own."""

    def __init__(
        self,
        folder: Path,
        job: str,
        cluster: dict[str, Any],
        *more: str,
        index: int = 0,
    ) -> None:
        task = {"cluster": cluster, "task": {"type": job, "index": index}}
        environment = {
            **os.environ,
            "TF_CONFIG": json.dumps(task),
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "OMP_NUM_THREADS": "1",
        }
        self.log = folder / f"{job}_{index}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [
                    *[sys.executable, str(folder / "program.py")],
                    *[str(folder / "model"), *more],
                ],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def finish(self) -> str:
        """Waits for its end; what it printed."""
        status = self.process.wait(timeout=240)
        text = self.log.read_text()
        assert status == 0, text[-3000:]
        return text

    def is_gone(self) -> bool:
        """Whether no process of the group is left."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def kill(self) -> None:
        """Ends all of it by force."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.timeout(300)
def test_each_task_does_its_part_and_ends(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM)
    ports = free_ports(3)
    cluster = {
        job: [f"localhost:{port}"]
        for job, port in zip(("chief", "worker", "ps"), ports, strict=True)
    }
    with ExitStack() as stack:
        tasks = {}
        for job in ("ps", "evaluator", "chief", "worker"):
            tasks[job] = Task(tmp_path, job, cluster)
            stack.callback(tasks[job].kill)
        for job in ("chief", "worker", "evaluator"):
            assert f"the end {job}" in tasks[job].finish()
            assert tasks[job].is_gone()
        # A parameter server serves until it is told to end.
        assert tasks["ps"].process.poll() is None
        tasks["ps"].process.send_signal(signal.SIGTERM)
        assert tasks["ps"].process.wait(timeout=30) in (0, -signal.SIGTERM)
        assert "Traceback" not in tasks["ps"].log.read_text()
        assert tasks["ps"].is_gone()
    _check_model(tmp_path / "model")


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.timeout(300)
@pytest.mark.parametrize("has_chief", [True, False])
def test_workers_in_step(has_chief: bool, tmp_path: Path) -> None:
    """All end at the same step; only the chief's files stay."""
    (tmp_path / "program.py").write_text(_PROGRAM)
    addresses = [f"localhost:{port}" for port in free_ports(3)]
    jobs: dict[str, Any] = {"worker": addresses[:2], "evaluator": addresses[2:]}
    if has_chief:
        jobs = {**jobs, "chief": addresses[:1], "worker": addresses[1:2]}
    with ExitStack() as stack:
        tasks = []
        for job, members in jobs.items():
            for index in range(len(members)):
                task = Task(tmp_path, job, jobs, "in step", index=index)
                tasks.append(task)
                stack.callback(task.kill)
        for task in tasks:
            task.finish()
            assert task.is_gone()
    model = tmp_path / "model"
    _check_model(model)
    newest = tf.train.latest_checkpoint(str(model))
    assert tf.train.load_variable(newest, "global_step") == _STEPS
    assert not list(model.glob("tmp_*"))


def _check_model(model: Path) -> None:
    newest = tf.train.latest_checkpoint(str(model))
    assert newest is not None
    step = tf.train.load_variable(newest, "global_step")
    # Two tasks train side by side: the last steps of both may be done.
    assert _STEPS <= step <= _STEPS + 2
    kernel = tf.train.load_variable(newest, "linear/kernel")
    assert np.all(np.isfinite(kernel))
    events = [p for p in (model / "eval").iterdir() if "tfevents" in p.name]
    assert events
    for name in ("final", "latest"):
        exports = list((model / "export" / name).iterdir())
        assert exports, name
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load(session, ["serve"], str(exports[-1]))
            signature = loaded.signature_def["serving_default"]
            feed = {signature.inputs["x"].name: [[0.0, 0.0, 0.0]]}
            bias = session.run(signature.outputs["y"].name, feed)
        assert np.isfinite(bias).all()
    assert len(list((model / "export" / "final").iterdir())) == 1
