"""Wide and deep: an Estimator on a CSV file of numbers and words.

    tensorloom run examples/tables/wide_and_deep.py

Feature columns say what becomes of each column of the file: numbers are cut into
buckets, words are looked up, crossed and embedded. The wide part remembers exceptions
(a plan in a city), the deep part generalizes (Cheng et al., 2016).

Quality: accuracy at least 0.87
"""

import os
import tempfile

import subscribers
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 1200, "steps of training")
flags.DEFINE_string("model_dir", "", "directory of the model; empty: a new one")
FLAGS = flags.FLAGS

BATCH = 64
TRAIN, TEST = 6000, 2000  # lines
REPORT = 300


def columns():
    """The columns of the wide part and of the deep one."""
    fc = tf.feature_column
    age = fc.numeric_column("age")
    hours = fc.numeric_column("hours", normalizer_fn=lambda x: tf.log1p(x) / 3.0)
    months = fc.numeric_column("months", normalizer_fn=lambda x: x / 60.0)
    ages = fc.bucketized_column(age, [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70])
    plan = fc.categorical_column_with_vocabulary_list("plan", subscribers.PLANS)
    city = fc.categorical_column_with_hash_bucket("city", 64)
    device = fc.categorical_column_with_vocabulary_list("device", subscribers.DEVICES)
    wide = [
        ages,
        plan,
        city,
        fc.crossed_column(["plan", "city"], 512),
        fc.crossed_column([ages, "plan"], 512),
    ]
    deep = [
        hours,
        months,
        fc.indicator_column(ages),
        fc.indicator_column(plan),
        fc.indicator_column(device),
        fc.embedding_column(city, 4),
    ]
    return wide, deep


def input_fn(path, training):
    """Batches of (columns by name, whether they cancelled)."""

    def parse(line):
        fields = tf.decode_csv(line, record_defaults=subscribers.DEFAULTS)
        features = dict(zip(subscribers.COLUMNS, fields))
        return features, features.pop("cancelled")

    lines = tf.data.TextLineDataset(path).skip(1)
    if training:
        lines = lines.shuffle(TRAIN, seed=1).repeat()
    return lines.batch(BATCH).map(parse).prefetch(1)


def main(_):
    tf.logging.set_verbosity(tf.logging.WARN)
    folder = FLAGS.model_dir or tempfile.mkdtemp()
    tf.gfile.MakeDirs(folder)
    train_file = os.path.join(folder, "train.csv")
    test_file = os.path.join(folder, "test.csv")
    subscribers.write(train_file, TRAIN, seed=1)
    subscribers.write(test_file, TEST, seed=2)

    wide, deep = columns()
    config = tf.estimator.RunConfig(
        tf_random_seed=1, save_checkpoints_steps=REPORT, log_step_count_steps=None
    )
    model = tf.estimator.DNNLinearCombinedClassifier(
        model_dir=folder,
        linear_feature_columns=wide,
        linear_optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        dnn_feature_columns=deep,
        dnn_optimizer=tf.train.AdagradOptimizer(0.1),
        dnn_hidden_units=[32, 16],
        config=config,
    )

    step = 0
    while step < FLAGS.steps:
        step = min(step + REPORT, FLAGS.steps)
        model.train(lambda: input_fn(train_file, True), max_steps=step)
        found = model.evaluate(lambda: input_fn(test_file, False))
        print(
            "step %5d: loss %.4f, area under the curve %.4f, accuracy %.4f"
            % (step, found["average_loss"], found["auc"], found["accuracy"])
        )

    people = model.predict(lambda: input_fn(test_file, False))
    for row, person in zip(subscribers.rows(TEST, seed=2)[0][:5], people):
        words = " ".join("%s=%s" % pair for pair in zip(subscribers.COLUMNS, row))
        print("%s: says %.2f" % (words, person["probabilities"][1]))
    best = subscribers.best_accuracy(TEST, seed=2)
    print("accuracy, if one knows the rules: %.4f" % best)
    print("accuracy: %.4f" % found["accuracy"])


if __name__ == "__main__":
    tf.app.run()
