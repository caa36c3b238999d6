"""A character-level language model: two LSTM layers learn to spell and to talk.

    tensorloom run examples/text/char_lstm.py

The text is cut into rows that are read side by side; the state of the network goes
from one piece of a row to the next (truncated backpropagation through time). Then the
model writes: each character is drawn from what it expects next.

It is judged by the bits that it needs for a character of a text that it has not seen.
The grammar of the text sets the limit, which is printed beside it.

Quality: bits of a character at most 0.60
"""

import little_language
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 800, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

ROWS = 32
LENGTH = 24
UNITS = 64
LAYERS = 2
KEPT = 0.95  # of a layer's outputs, in dropout
LEARNING_RATE = 0.01
REPORT = 100
WRITTEN = 160


class Model(object):
    """The network: logits of the next character, and the state after the last."""

    def __init__(self, characters):
        self.inputs = tf.placeholder(tf.int32, [None, None], name="inputs")
        self.kept = tf.placeholder_with_default(1.0, [], name="kept")
        cells = [
            tf.nn.rnn_cell.DropoutWrapper(
                tf.nn.rnn_cell.BasicLSTMCell(UNITS), output_keep_prob=self.kept
            )
            for _ in range(LAYERS)
        ]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        embedding = tf.get_variable("embedding", [characters, UNITS // 2])
        y = tf.nn.embedding_lookup(embedding, self.inputs)
        self.begin = cell.zero_state(tf.shape(self.inputs)[0], tf.float32)
        # One iteration after the other: dropout then draws the same in each run.
        y, self.end = tf.nn.dynamic_rnn(
            cell, y, initial_state=self.begin, parallel_iterations=1
        )
        self.logits = tf.layers.dense(y, characters, name="logits")
        self.drawn = tf.multinomial(self.logits[:, -1], 1, seed=4)


def rows_of(text, alphabet):
    """The numbers of a text's characters, in rows of equal length."""
    number = {character: index for index, character in enumerate(alphabet)}
    numbers = np.array([number[character] for character in text], np.int32)
    return numbers[: len(numbers) // ROWS * ROWS].reshape([ROWS, -1])


def write(sess, model, alphabet):
    """A text that the model makes up, character by character."""
    written, state = "\n", None
    for _ in range(WRITTEN):
        feed = {model.inputs: [[alphabet.index(written[-1])]]}
        if state is not None:
            feed[model.begin] = state
        drawn, state = sess.run([model.drawn, model.end], feed)
        written += alphabet[drawn[0, 0]]
    return written.strip()


def main(_):
    text = little_language.text(2000, seed=1)
    alphabet = sorted(set(text))
    rows = rows_of(text, alphabet)
    unseen = rows_of(little_language.text(150, seed=2), alphabet)
    print("%d characters, %d different ones" % (rows.size, len(alphabet)))
    tf.set_random_seed(1)

    model = Model(len(alphabet))
    targets = tf.placeholder(tf.int32, [None, None], name="targets")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=targets, logits=model.logits
    )
    loss = tf.reduce_mean(losses)
    bits = loss / np.log(2.0).astype(np.float32)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(LEARNING_RATE, global_step, 200, 0.6)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    train = tf.train.AdamOptimizer(rate).apply_gradients(
        zip(gradients, variables), global_step=global_step
    )

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        state = None
        pieces = (rows.shape[1] - 1) // LENGTH
        for step in range(sess.run(global_step), FLAGS.steps):
            first = step % pieces * LENGTH
            feed = {
                model.inputs: rows[:, first : first + LENGTH],
                targets: rows[:, first + 1 : first + LENGTH + 1],
                model.kept: KEPT,
            }
            if state is not None and first > 0:
                feed[model.begin] = state
            _, value, state = sess.run([train, bits, model.end], feed)
            if (step + 1) % REPORT == 0:
                print("step %5d: %.3f bits a character" % (step + 1, value))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)

        print("what the model writes:\n" + write(sess, model, alphabet))
        feed = {model.inputs: unseen[:, :-1], targets: unseen[:, 1:]}
        found = sess.run(bits, feed)

    limit = little_language.bits_per_character()
    print("bits of a character, if one knows the grammar: %.4f" % limit)
    print("bits of a character: %.4f" % found)


if __name__ == "__main__":
    tf.app.run()
