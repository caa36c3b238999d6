"""A convolutional network of `tf.layers` in a `MonitoredTrainingSession`.

    tensorloom run examples/images/convolutional.py

Convolutions with batch normalization, dropout, and digits that move about in `tf.data`.
The session initializes or restores, saves, logs and stops by itself; hooks say when.

Quality: test accuracy at least 0.97
"""

import digits
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 900, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 64
LEARNING_RATE = 0.01
REPORT = 100


def moved(image, label):
    """The digit moved by up to one pixel, so that the network learns shapes."""
    wide = tf.pad(tf.reshape(image, [8, 8, 1]), [[1, 1], [1, 1], [0, 0]])
    return tf.random_crop(wide, [8, 8, 1]), label


def network(images, training):
    """Logits of the ten classes; statistics and dropout depend on `training`."""
    y = images
    for filters in (16, 32):
        y = tf.layers.conv2d(y, filters, 3, padding="same", use_bias=False)
        y = tf.layers.batch_normalization(y, momentum=0.9, training=training)
        y = tf.layers.max_pooling2d(tf.nn.relu(y), pool_size=2, strides=2)
    y = tf.layers.dense(tf.layers.flatten(y), 64, activation=tf.nn.relu)
    y = tf.layers.dropout(y, 0.4, training=training)
    return tf.layers.dense(y, 10)


class Progress(tf.train.SessionRunHook):
    """Prints the loss from time to time, and tests at the end."""

    def __init__(self, step, loss, test):
        self._fetches = [step, loss]
        self._test = test

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context, run_values):
        step, loss = run_values.results
        if step % REPORT == 0:
            print("step %5d: loss %.4f" % (step, loss))

    def end(self, session):
        self._test(session)


def main(_):
    tf.logging.set_verbosity(tf.logging.WARN)
    data = digits.load()
    tf.set_random_seed(2)

    train_set = tf.data.Dataset.from_tensor_slices(
        (data.train_images, data.train_labels)
    )
    train_set = train_set.shuffle(len(data.train_labels), seed=3).repeat().map(moved)
    batches = train_set.batch(BATCH).prefetch(1).make_one_shot_iterator().get_next()
    # Digits to be tested are fed in place of the batches.
    images = tf.placeholder_with_default(batches[0], [None, 8, 8, 1], name="images")
    labels = tf.placeholder_with_default(batches[1], [None], name="labels")
    training = tf.placeholder_with_default(True, [], name="training")

    logits = network(images, training)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    classes = tf.argmax(logits, 1)
    accuracy, count = tf.metrics.accuracy(labels, classes)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.cosine_decay(LEARNING_RATE, global_step, FLAGS.steps)
    # Moving means and variances are updated with each step.
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)
    with tf.control_dependencies([train]):
        step = tf.identity(global_step)  # after it, not at some time beside it

    def test(session):
        """Counts what is right, a few digits at a time."""
        for first in range(0, len(data.test_labels), 60):
            some = slice(first, first + 60)
            feed = {
                images: data.test_images[some].reshape([-1, 8, 8, 1]),
                labels: data.test_labels[some],
                training: False,
            }
            session.run(count, feed)
        print("test accuracy: %.4f" % session.run(accuracy))

    hooks = [
        tf.train.StopAtStepHook(last_step=FLAGS.steps),
        tf.train.NanTensorHook(loss),
        Progress(step, loss, test),
    ]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=FLAGS.model_dir or None,
        hooks=hooks,
        save_checkpoint_steps=300,
        log_step_count_steps=None,
    ) as session:
        while not session.should_stop():
            session.run(train)


if __name__ == "__main__":
    tf.app.run()
