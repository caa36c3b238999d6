"""A multilayer perceptron on handwritten digits, fed by `tf.data`.

    tensorloom run examples/images/multilayer_perceptron.py

Two hidden layers from variables of one's own, weights kept small by a penalty, a
learning rate that decays. One iterator serves the training set and the test set: it is
initialized anew for each. With --model_dir it writes summaries too.

Quality: test accuracy at least 0.96
"""

import digits
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 2000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 64
HIDDEN = [128, 64]
LEARNING_RATE = 0.1
PENALTY = 1e-4
REPORT = 250


def dense(x, units, name, activation=None):
    """A layer; its weights join the collection of what is to stay small."""
    with tf.variable_scope(name):
        size = x.shape[1].value
        weights = tf.get_variable(
            "weights",
            [size, units],
            initializer=tf.truncated_normal_initializer(stddev=size**-0.5),
            regularizer=tf.keras.regularizers.l2(PENALTY),
        )
        biases = tf.get_variable("biases", [units], initializer=tf.zeros_initializer())
        y = tf.nn.xw_plus_b(x, weights, biases)
        return y if activation is None else activation(y)


def network(images):
    """Logits of the ten classes."""
    y = images
    for number, units in enumerate(HIDDEN, start=1):
        y = dense(y, units, "hidden%d" % number, tf.nn.relu)
    return dense(y, 10, "logits")


def main(_):
    data = digits.load()
    tf.set_random_seed(1)

    train_set = tf.data.Dataset.from_tensor_slices(
        (data.train_images, data.train_labels)
    )
    train_set = train_set.shuffle(len(data.train_labels), seed=1).repeat().batch(BATCH)
    test_set = tf.data.Dataset.from_tensor_slices((data.test_images, data.test_labels))
    test_set = test_set.batch(len(data.test_labels))
    iterator = tf.data.Iterator.from_structure(
        train_set.output_types, train_set.output_shapes
    )
    images, labels = iterator.get_next()
    begin_training = iterator.make_initializer(train_set)
    begin_test = iterator.make_initializer(test_set)

    logits = network(images)
    cross_entropy = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss(name="loss")  # with the penalties
    right = tf.nn.in_top_k(logits, labels, 1)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(LEARNING_RATE, global_step, 500, 0.5)
    optimizer = tf.train.MomentumOptimizer(rate, 0.9)
    train = optimizer.minimize(loss, global_step=global_step)
    tf.summary.scalar("cross_entropy", cross_entropy)
    tf.summary.scalar("learning_rate", rate)
    summaries = tf.summary.merge_all()

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        writer = None
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
            writer = tf.summary.FileWriter(FLAGS.model_dir, sess.graph)
        sess.run(begin_training)
        for step in range(sess.run(global_step), FLAGS.steps):
            _, value, hits, summary = sess.run(
                [train, cross_entropy, accuracy, summaries]
            )
            if writer and step % 20 == 0:
                writer.add_summary(summary, step)
            if (step + 1) % REPORT == 0:
                print(
                    "step %5d: loss %.4f, of the batch %.3f right"
                    % (step + 1, value, hits)
                )
        if writer:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)
            writer.close()

        sess.run(begin_test)
        found, classes, pictures = sess.run([accuracy, tf.argmax(logits, 1), images])
        wrong = (classes != data.test_labels).nonzero()[0][:5]
        if len(wrong):
            print("mistakes; read as %s:" % ", ".join(map(str, classes[wrong])))
            print(digits.as_text(pictures[wrong]))
        print("test accuracy: %.4f" % found)


if __name__ == "__main__":
    tf.app.run()
