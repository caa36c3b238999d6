"""Tags of a sentence's words: an LSTM in both directions under a `tf.contrib.crf`.

    tensorloom run examples/contrib/crf_tagging.py

The sentences are made up. Most words may be in a name or outside of one, so that only
what stands around a word tells its tag. The random field scores whole sequences of
tags: it learns which tag follows which, and Viterbi's algorithm finds the best one.
Nobody can be right always: how often one is who knows the rules is printed beside.

Quality: accuracy of tags at least 0.91
"""

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 300, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
FIRST = np.array([0.6, 0.25, 0.0, 0.15, 0.0])  # of a sentence
FOLLOWS = np.array(
    [
        [0.60, 0.22, 0.00, 0.18, 0.00],
        [0.15, 0.00, 0.85, 0.00, 0.00],
        [0.70, 0.00, 0.30, 0.00, 0.00],
        [0.40, 0.00, 0.00, 0.00, 0.60],
        [0.50, 0.00, 0.00, 0.00, 0.50],
    ]
)
WORDS = 40
LONGEST = 15
BATCH = 32
UNITS = 16
LEARNING_RATE = 0.02
REPORT = 50


def words_of_tags():
    """How probable each word is under each tag, [tags, words]."""
    return np.random.RandomState(3).dirichlet([0.15] * WORDS, len(TAGS))


def sentences(count, seed):
    """Words and tags, [count, LONGEST], with zeros behind the end; and lengths."""
    random = np.random.RandomState(seed)
    emitted = words_of_tags()
    lengths = random.randint(4, LONGEST + 1, count).astype(np.int32)
    words = np.zeros([count, LONGEST], np.int32)
    tags = np.zeros([count, LONGEST], np.int32)
    for row, length in enumerate(lengths):
        odds = FIRST
        for place in range(length):
            tag = random.choice(len(TAGS), p=odds)
            words[row, place] = random.choice(WORDS, p=emitted[tag])
            tags[row, place] = tag
            odds = FOLLOWS[tag]
    return words, tags, lengths


def known_tags(words):
    """The most probable tags of a sentence, by the rules that it was made with."""
    with np.errstate(divide="ignore"):
        scores = np.log(words_of_tags().T[words])
        scores[0] += np.log(FIRST)
        return tf.contrib.crf.viterbi_decode(scores, np.log(FOLLOWS))[0]


class Tagger(object):
    """The network: a loss to train with, and the best tags."""

    def __init__(self):
        self.words = tf.placeholder(tf.int32, [None, LONGEST], name="words")
        self.tags = tf.placeholder(tf.int32, [None, LONGEST], name="tags")
        self.lengths = tf.placeholder(tf.int32, [None], name="lengths")
        embedding = tf.get_variable("embedding", [WORDS, UNITS])
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(UNITS),
            tf.nn.rnn_cell.LSTMCell(UNITS),
            tf.nn.embedding_lookup(embedding, self.words),
            sequence_length=self.lengths,
            dtype=tf.float32,
        )
        scores = tf.layers.dense(tf.concat(outputs, 2), len(TAGS), name="scores")
        likelihood, self.transitions = tf.contrib.crf.crf_log_likelihood(
            scores, self.tags, self.lengths
        )
        self.loss = tf.reduce_mean(-likelihood)
        self.best, self.best_score = tf.contrib.crf.crf_decode(
            scores, self.transitions, self.lengths
        )
        mask = tf.sequence_mask(self.lengths, LONGEST, tf.float32)
        right = tf.cast(tf.equal(self.best, self.tags), tf.float32)
        self.accuracy = tf.reduce_sum(right * mask) / tf.reduce_sum(mask)

    def feed(self, words, tags, lengths):
        """The arrays for the placeholders."""
        return {self.words: words, self.tags: tags, self.lengths: lengths}


def main(_):
    learned = sentences(2000, seed=1)
    unseen = sentences(500, seed=2)
    tf.set_random_seed(1)
    model = Tagger()
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
    gradients, variables = zip(*optimizer.compute_gradients(model.loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    train = optimizer.apply_gradients(zip(gradients, variables), global_step)

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        batches = len(learned[0]) // BATCH
        for step in range(sess.run(global_step), FLAGS.steps):
            first = step % batches * BATCH
            feed = model.feed(*(part[first : first + BATCH] for part in learned))
            _, value = sess.run([train, model.loss], feed)
            if (step + 1) % REPORT == 0:
                found = sess.run(model.accuracy, model.feed(*unseen))
                print("step %4d: loss %.3f, accuracy %.4f" % (step + 1, value, found))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)

        best, accuracy, transitions = sess.run(
            [model.best, model.accuracy, model.transitions], model.feed(*unseen)
        )

    print("what follows what:")
    for tag, row in zip(TAGS, transitions):
        print("%6s  %s" % (tag, " ".join("%6.2f" % score for score in row)))
    words, tags, lengths = unseen
    for row in range(3):
        end = lengths[row]
        print("tags:  " + " ".join(TAGS[tag] for tag in tags[row, :end]))
        print("found: " + " ".join(TAGS[tag] for tag in best[row, :end]))
    right = sum(
        np.sum(np.equal(known_tags(words[row, :end]), tags[row, :end]))
        for row, end in enumerate(lengths)
    )
    print("accuracy, if one knows the rules: %.4f" % (right / float(np.sum(lengths))))
    print("accuracy of tags: %.4f" % accuracy)


if __name__ == "__main__":
    tf.app.run()
