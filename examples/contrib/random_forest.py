"""Digits by a random forest that grows while it sees them.

    tensorloom run examples/contrib/random_forest.py

`tf.contrib.tensor_forest` keeps a few possible splits in each leaf, counts what they
would tell apart, and makes a node of a leaf that has seen enough. A batch is a step:
examples pass through the trees once and are not kept.

Quality: test accuracy at least 0.9
"""

import numpy as np
import tensorflow as tf
from sklearn import datasets
from tensorflow.contrib.tensor_forest.client import random_forest
from tensorflow.contrib.tensor_forest.python import tensor_forest

flags = tf.app.flags
flags.DEFINE_integer("steps", 120, "batches")
flags.DEFINE_integer("trees", 20, "trees")
flags.DEFINE_string("model_dir", "", "directory of the model; empty: a new one")
FLAGS = flags.FLAGS

BATCH = 128
REPORT = 60  # steps
SHADES = " .:*#"


def load():
    """Pixels and digits: 1437 to train, 360 to test."""
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    pixels = digits.data[order].astype(np.float32)
    labels = digits.target[order].astype(np.int32)
    return (pixels[360:], labels[360:]), (pixels[:360], labels[:360])


def input_fn(data, train):
    """Batches as they come in training; for tests all of the data once."""
    pixels, labels = data
    dataset = tf.data.Dataset.from_tensor_slices((pixels, labels))
    if train:
        dataset = dataset.shuffle(len(labels), seed=1).repeat().batch(BATCH)
    else:
        dataset = dataset.batch(len(labels))
    return dataset.make_one_shot_iterator().get_next()


def picture(importances):
    """How much each pixel of the eight by eight counts, as characters."""
    grid = np.reshape(importances, [8, 8])
    grades = np.rint(grid / grid.max() * (len(SHADES) - 1)).astype(int)
    return "\n".join("".join(SHADES[grade] for grade in row) for row in grades)


def pixel_importances(params, model_dir):
    """The share of splits by each pixel, from the last checkpoint."""
    with tf.Graph().as_default(), tf.Session() as session:
        forest = tensor_forest.RandomForestGraphs(params.fill())
        saver = tf.train.Saver()
        saver.restore(session, tf.train.latest_checkpoint(model_dir))
        return session.run([forest.feature_importances(), forest.average_size()])


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    training_data, test_data = load()
    params = tensor_forest.ForestHParams(
        num_classes=10,
        num_features=64,
        num_trees=FLAGS.trees,
        max_nodes=1000,
        split_after_samples=20,
        base_random_seed=7,
    )
    model = random_forest.TensorForestEstimator(
        params,
        model_dir=FLAGS.model_dir or None,
        config=tf.contrib.learn.RunConfig(tf_random_seed=1, log_step_count_steps=None),
    )
    step = 0
    while step < FLAGS.steps:
        step = min(step + REPORT, FLAGS.steps)
        model.fit(input_fn=lambda: input_fn(training_data, True), max_steps=step)
        found = model.evaluate(input_fn=lambda: input_fn(test_data, False), steps=1)
        print(
            "step %4d: loss %.4f, accuracy %.4f"
            % (step, found["loss"], found["accuracy"])
        )
    importances, size = pixel_importances(params, model.model_dir)
    print("nodes of a tree: %.0f; what they look at:" % size)
    print(picture(importances))
    print("test accuracy: %.4f" % found["accuracy"])


if __name__ == "__main__":
    tf.app.run()
