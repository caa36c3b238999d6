"""A worker that trains an Estimator in step with the others.

Usage: python in_step.py SYSTEM CLUSTER_JSON INDEX MODEL_DIR

Prints a JSON object: what `RunConfig` says before, the losses that a hook sees, and the
variables in the end. Runs on Python 3.7 too.
"""

import json
import os
import sys

import numpy as np
from running import load


def input_fn(tf, input_context):
    """Batches of this worker's part of the rows."""
    random = np.random.RandomState(1)
    x = random.rand(64, 3).astype(np.float32)
    y = x.dot(np.array([[1.0], [-2.0], [3.0]], np.float32)) + 0.5
    rows = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    rows = rows.shard(
        input_context.num_input_pipelines, input_context.input_pipeline_id
    )
    return rows.repeat().batch(4)


def model_fn(tf, features, labels, mode):
    """Two layers."""
    hidden = tf.layers.dense(
        features["x"], 4, tf.nn.tanh, kernel_initializer=tf.ones_initializer()
    )
    predicted = tf.layers.dense(
        hidden, 1, name="linear", kernel_initializer=tf.zeros_initializer()
    )
    loss = tf.losses.mean_squared_error(labels, predicted)
    step = tf.train.get_global_step()
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    """Trains, and tells what it saw."""
    system, cluster, index, model_dir = sys.argv[1:]
    task = {"cluster": json.loads(cluster), "task": {}}
    task["task"] = {"type": "worker", "index": int(index)}
    os.environ["TF_CONFIG"] = json.dumps(task)
    tf = load(system)
    losses = []

    class Seen(tf.train.SessionRunHook):
        """Keeps the losses."""

        def before_run(self, run_context):
            loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
            return tf.train.SessionRunArgs(loss)

        def after_run(self, run_context, run_values):
            losses.append(float(run_values.results))

    config = tf.estimator.RunConfig(
        model_dir=model_dir,
        tf_random_seed=1,
        save_checkpoints_steps=5,
        train_distribute=tf.distribute.experimental.MultiWorkerMirroredStrategy(),
    )
    before = [
        config.task_type,
        config.task_id,
        config.is_chief,
        config.master,
        config.num_worker_replicas,
        config.global_id_in_cluster,
        config.cluster_spec.jobs,
    ]
    estimator = tf.estimator.Estimator(
        lambda features, labels, mode: model_fn(tf, features, labels, mode),
        config=config,
    )
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(
            lambda input_context: input_fn(tf, input_context),
            max_steps=12,
            hooks=[Seen()],
        ),
        tf.estimator.EvalSpec(lambda: None, steps=1),
    )
    found = {"before": before, "losses": losses}
    if index == "0":
        newest = tf.train.latest_checkpoint(model_dir)
        values = {
            name: np.asarray(tf.train.load_variable(newest, name)).tolist()
            for name, _ in tf.train.list_variables(newest)
        }
        found["values"] = values
        found["newest"] = os.path.basename(newest)
    print(json.dumps(found), flush=True)
    os._exit(0)  # TensorFlow's server would go on
