"""Input queues: files, readers and batches in threads of their own.

    tensorloom run examples/inputs/queue_runners.py

The way of TensorFlow's first years. A queue of file names, a reader that takes lines
from the files, a queue that mixes them and gives batches: each is filled by a queue
runner, and a coordinator stops them all. The files hold points of two spirals, and a
small network learns which spiral a point is of.

Quality: accuracy at least 0.95
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 2500, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
flags.DEFINE_bool("mix", True, "draw batches at random, not in the files' order")
FLAGS = flags.FLAGS

FILES, LINES = 4, 500
BATCH = 50
HIDDEN = 32
LEARNING_RATE = 0.01
REPORT = 500


def spirals(count, seed):
    """Points (x, y) of two spirals, and of which each is."""
    random = np.random.RandomState(seed)
    label = random.randint(0, 2, count)
    turn = np.sqrt(random.uniform(0.03, 1.0, count))
    angle = 2.0 * np.pi * 1.25 * turn + np.pi * label
    points = turn[:, np.newaxis] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points += 0.02 * random.standard_normal(points.shape)
    return points.astype(np.float32), label.astype(np.int64)


def write_files(folder):
    """CSV files of points; returns their names."""
    tf.gfile.MakeDirs(folder)
    names = []
    for number in range(FILES):
        names.append(os.path.join(folder, "points%d.csv" % number))
        with open(names[-1], "w") as file:
            for (x, y), label in zip(*spirals(LINES, seed=number)):
                file.write("%.5f,%.5f,%d\n" % (x, y, label))
    return names


def input_pipeline(names):
    """Batches of points and labels from the files, over and over."""
    files = tf.train.string_input_producer(names, shuffle=True, seed=1)
    reader = tf.TextLineReader()
    _, line = reader.read(files)
    x, y, label = tf.decode_csv(line, record_defaults=[[0.0], [0.0], [0]])
    example = [tf.stack([x, y]), label]
    if FLAGS.mix:
        return tf.train.shuffle_batch(
            example, BATCH, capacity=1000, min_after_dequeue=400, seed=2
        )
    return tf.train.batch(example, BATCH)


def network(points):
    """Logits of the two spirals."""
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        y = tf.layers.dense(points, HIDDEN, tf.nn.tanh, name="first")
        y = tf.layers.dense(y, HIDDEN, tf.nn.tanh, name="second")
        return tf.layers.dense(y, 2, name="logits")


def as_text(says, width=48, height=24):
    """A map of what the network says of the square from -1 to 1."""
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(1, -1, height))
    found = says(np.stack([x.ravel(), y.ravel()], axis=1))
    rows = np.where(found, "o", ".").reshape([height, width])
    return "\n".join("".join(row) for row in rows)


def main(_):
    tf.set_random_seed(1)
    points, labels = input_pipeline(write_files(FLAGS.model_dir or tempfile.mkdtemp()))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, network(points))
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
    train = optimizer.minimize(loss, global_step=global_step)
    asked = tf.placeholder(tf.float32, [None, 2], name="asked")
    answers = tf.argmax(network(asked), 1)

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(
            tf.group(
                tf.global_variables_initializer(), tf.local_variables_initializer()
            )
        )
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        try:
            for step in range(sess.run(global_step), FLAGS.steps):
                if coordinator.should_stop():
                    break
                _, value = sess.run([train, loss])
                if (step + 1) % REPORT == 0:
                    print("step %5d: loss %.4f" % (step + 1, value))
        except tf.errors.OutOfRangeError:
            print("the files are read")  # with num_epochs for the producer
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)

        print(as_text(lambda points: sess.run(answers, {asked: points})))
        test_points, test_labels = spirals(1000, seed=FILES)
        right = sess.run(answers, {asked: test_points}) == test_labels
        print("accuracy: %.4f" % right.mean())


if __name__ == "__main__":
    tf.app.run()
