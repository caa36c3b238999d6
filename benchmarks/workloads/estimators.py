"""Estimators: from construction to a trained step, and input functions called again."""

import tempfile
import time

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


def model(tf, features, labels, mode):
    """A linear model with Adam."""
    weights = tf.get_variable("w", [20, 1])
    bias = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(features["x"], weights) + bias
    loss = tf.reduce_mean(tf.square(predictions - labels))
    train = tf.train.AdamOptimizer(0.01).minimize(
        loss, global_step=tf.train.get_or_create_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train)


def batches(tf):
    """An input function of batches without end."""
    random = np.random.RandomState(0)
    x = random.rand(256, 20).astype(np.float32)
    y = random.rand(256, 1).astype(np.float32)

    def input_fn():
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
        return dataset.repeat().batch(32)

    return input_fn


def estimator(tf, folder, **settings):
    """A new Estimator of that model."""
    config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=1, **settings)

    def model_fn(features, labels, mode):
        return model(tf, features, labels, mode)

    return tf.estimator.Estimator(model_fn, config=config)


def seconds_to_first_step(tf, folder):
    """From the construction of an Estimator to the end of its first step."""
    input_fn = batches(tf)
    ends = []

    class Clock(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            ends.append(time.perf_counter())

    start = time.perf_counter()
    estimator(tf, folder).train(input_fn, hooks=[Clock()], steps=1)
    return ends[0] - start


@table.once("Estimator from construction to first step", target=0.5)
def first_step(tf):
    with tempfile.TemporaryDirectory() as folder:
        return seconds_to_first_step(tf, folder)


ROUNDS = 5


@table.once("train_and_evaluate, a round that re-enters input_fn", target=0.5)
def rounds(tf):
    """Each round trains ten steps, saves, evaluates one batch and begins again."""
    input_fn = batches(tf)
    with tempfile.TemporaryDirectory() as folder:
        chosen = estimator(tf, folder, save_checkpoints_steps=10)
        training = tf.estimator.TrainSpec(input_fn, max_steps=10 * ROUNDS)
        evaluation = tf.estimator.EvalSpec(input_fn, steps=1, throttle_secs=0)
        start = time.perf_counter()
        tf.estimator.train_and_evaluate(chosen, training, evaluation)
        return (time.perf_counter() - start) / ROUNDS


TREES = 100
DEPTH = 4
ROWS = 10000


@table.once("boosted trees Estimator, 100 trees on 10,000 rows", target=1.0)
def boosted_trees(tf):
    """All rows in each batch: a layer of a tree is a step."""
    random = np.random.RandomState(0)
    x = random.randn(ROWS, 8).astype(np.float32)
    noise = random.randn(ROWS)
    y = (x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.3 * noise > 0).astype(np.int64)
    names = ["x%d" % i for i in range(x.shape[1])]
    bounds = [list(np.percentile(x[:, i], range(5, 100, 5))) for i in range(len(names))]
    columns = [
        tf.feature_column.bucketized_column(tf.feature_column.numeric_column(name), b)
        for name, b in zip(names, bounds)  # noqa: B905 (Python 3.7 runs it, too)
    ]

    def input_fn():
        features = {name: x[:, i] for i, name in enumerate(names)}
        rows = tf.data.Dataset.from_tensors((features, y))
        return rows.repeat()

    with tempfile.TemporaryDirectory() as folder:
        config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=1)
        model = tf.estimator.BoostedTreesClassifier(
            columns,
            n_batches_per_layer=1,
            n_trees=TREES,
            max_depth=DEPTH,
            config=config,
        )
        start = time.perf_counter()
        model.train(input_fn, max_steps=TREES * DEPTH)
        return time.perf_counter() - start
