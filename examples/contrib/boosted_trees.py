"""Odd digits and even ones, told apart by gradient boosted trees.

    tensorloom run examples/contrib/boosted_trees.py

`tf.estimator.BoostedTreesClassifier` splits by one pixel at a time, and each tree mends
what the trees before it have left wrong. A step of training grows one level of a tree;
a checkpoint may be in the middle of one.

Quality: test accuracy at least 0.96
"""

import numpy as np
import tensorflow as tf
from sklearn import datasets

flags = tf.app.flags
flags.DEFINE_integer("steps", 160, "steps of training: levels of trees")
flags.DEFINE_string("model_dir", "", "directory of the model; empty: a new one")
FLAGS = flags.FLAGS

DEPTH = 4
LEARNING_RATE = 0.4
REPORT = 40  # steps
SHADES = " .:*#"


def load():
    """Pixels by name and whether the digit is odd: 1437 to train, 360 to test."""
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    pixels = digits.data[order].astype(np.float32)
    odd = (digits.target[order] % 2).astype(np.int32)
    columns = {"pixel%02d" % i: pixels[:, i] for i in range(pixels.shape[1])}

    def part(rows):
        return {name: column[rows] for name, column in columns.items()}, odd[rows]

    return part(slice(360, None)), part(slice(360))


def input_fn(data, epochs=None):
    """All of the data in each batch."""
    rows = len(data[1])
    return tf.data.Dataset.from_tensor_slices(data).batch(rows).repeat(epochs)


def picture(importances):
    """How much each pixel of the eight by eight counts, as characters."""
    grid = np.zeros([8, 8])
    for name, importance in importances.items():
        pixel = int(name[len("pixel") : len("pixel") + 2])
        grid[pixel // 8, pixel % 8] = importance
    grades = np.rint(np.sqrt(grid / grid.max()) * (len(SHADES) - 1)).astype(int)
    return "\n".join("".join(SHADES[grade] for grade in row) for row in grades)


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    training_data, test_data = load()
    columns = [
        tf.feature_column.bucketized_column(
            tf.feature_column.numeric_column(name), [0.5, 2.5, 5.5, 8.5, 11.5, 14.5]
        )
        for name in sorted(training_data[0])
    ]
    model = tf.estimator.BoostedTreesClassifier(
        columns,
        n_batches_per_layer=1,
        model_dir=FLAGS.model_dir or None,
        n_trees=-(-FLAGS.steps // DEPTH),
        max_depth=DEPTH,
        learning_rate=LEARNING_RATE,
        l2_regularization=0.01,
        center_bias=False,
        config=tf.estimator.RunConfig(tf_random_seed=1, log_step_count_steps=None),
    )
    step = 0
    while step < FLAGS.steps:
        step = min(step + REPORT, FLAGS.steps)
        model.train(lambda: input_fn(training_data), max_steps=step)
        found = model.evaluate(lambda: input_fn(test_data, 1))
        print(
            "step %4d: loss %.4f, area under the curve %.4f"
            % (step, found["average_loss"], found["auc"])
        )
    print("what the trees look at:")
    print(picture(dict(model.experimental_feature_importances(normalize=True))))
    print("test accuracy: %.4f" % found["accuracy"])


if __name__ == "__main__":
    tf.app.run()
