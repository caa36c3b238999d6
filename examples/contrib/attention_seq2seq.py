"""Digits read backwards: a sequence to a sequence, with attention and a beam search.

    tensorloom run examples/contrib/attention_seq2seq.py

The encoder reads the digits, the decoder writes them in the opposite order, and looks
back at the encoder's outputs at each step (Bahdanau et al., 2015). In training it is
told the digit before; afterwards `BeamSearchDecoder` writes by itself, and keeps the
best few beginnings at each step. Both decoders share their variables.

Quality: sequences written without a mistake at least 0.95
"""

import numpy as np
import tensorflow as tf

seq2seq = tf.contrib.seq2seq

flags = tf.app.flags
flags.DEFINE_integer("steps", 300, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

START, END = 10, 11  # after the ten digits
SYMBOLS = 12
SHORTEST, LONGEST = 3, 8
BATCH = 64
UNITS = 48
BEAMS = 4
LEARNING_RATE = 0.01
REPORT = 100


def sequences(count, seed):
    """Digits [count, LONGEST], with END behind them, and how many there are."""
    random = np.random.RandomState(seed)
    lengths = random.randint(SHORTEST, LONGEST + 1, count).astype(np.int32)
    digits = random.randint(0, 10, [count, LONGEST]).astype(np.int32)
    digits[np.arange(LONGEST) >= lengths[:, np.newaxis]] = END
    return digits, lengths


class Model(object):
    """An encoder, and a decoder in two ways: to be trained, and to write."""

    def __init__(self):
        self.digits = tf.placeholder(tf.int32, [None, LONGEST], name="digits")
        self.lengths = tf.placeholder(tf.int32, [None], name="lengths")
        self.embedding = tf.get_variable("embedding", [SYMBOLS, UNITS // 2])
        self.batch = tf.shape(self.digits)[0]
        with tf.variable_scope("encoder"):
            self.memory, self.state = tf.nn.dynamic_rnn(
                tf.nn.rnn_cell.GRUCell(UNITS),
                tf.nn.embedding_lookup(self.embedding, self.digits),
                sequence_length=self.lengths,
                dtype=tf.float32,
            )
        self.output_layer = tf.layers.Dense(SYMBOLS, use_bias=False, name="output")
        self.loss = self._loss()
        self.written, self.scores = self._search()

    def _decoder_cell(self, beams):
        """A cell that attends to the memory, and its state before the first step."""
        memory, lengths, state = (
            seq2seq.tile_batch(part, beams) if beams > 1 else part
            for part in (self.memory, self.lengths, self.state)
        )
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(UNITS),
            seq2seq.BahdanauAttention(UNITS, memory, memory_sequence_length=lengths),
            attention_layer_size=UNITS,
        )
        zero = cell.zero_state(self.batch * beams, tf.float32)
        return cell, zero.clone(cell_state=state)

    def _loss(self):
        """How much the decoder is surprised by a digit, on average."""
        ends = tf.fill([self.batch, 1], END)
        targets = tf.concat(
            [tf.reverse_sequence(self.digits, self.lengths, seq_axis=1), ends], 1
        )
        before = tf.concat([tf.fill([self.batch, 1], START), targets[:, :-1]], 1)
        with tf.variable_scope("decoder"):
            cell, state = self._decoder_cell(1)
            helper = seq2seq.TrainingHelper(
                tf.nn.embedding_lookup(self.embedding, before), self.lengths + 1
            )
            outputs, _, _ = seq2seq.dynamic_decode(
                seq2seq.BasicDecoder(cell, helper, state, self.output_layer)
            )
        longest = tf.shape(outputs.rnn_output)[1]
        weights = tf.sequence_mask(self.lengths + 1, longest, tf.float32)
        return seq2seq.sequence_loss(outputs.rnn_output, targets[:, :longest], weights)

    def _search(self):
        """What the decoder writes, [batch, time, beams], best first; and the scores."""
        with tf.variable_scope("decoder", reuse=True):
            cell, state = self._decoder_cell(BEAMS)
            decoder = seq2seq.BeamSearchDecoder(
                cell,
                self.embedding,
                tf.fill([self.batch], START),
                END,
                state,
                BEAMS,
                self.output_layer,
                length_penalty_weight=0.6,
            )
            outputs, _, _ = seq2seq.dynamic_decode(
                decoder, maximum_iterations=LONGEST + 2
            )
        scores = outputs.beam_search_decoder_output.scores
        return outputs.predicted_ids, scores

    def feed(self, digits, lengths):
        """The arrays for the placeholders."""
        return {self.digits: digits, self.lengths: lengths}


def share_without_mistake(written, digits, lengths):
    """How many of the best sequences are the digits backwards, and end there."""
    right = 0
    for found, row, length in zip(written[:, :, 0], digits, lengths):
        expected = [*row[:length][::-1], END]
        right += list(found[: length + 1]) == expected
    return right / float(len(digits))


def main(_):
    digits, lengths = sequences(6400, seed=1)
    unseen = sequences(300, seed=2)
    tf.set_random_seed(1)
    model = Model()
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(LEARNING_RATE, global_step, 200, 0.5)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(model.loss, variables), 5.0)
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
        batches = len(digits) // BATCH
        for step in range(sess.run(global_step), FLAGS.steps):
            first = step % batches * BATCH
            rows = slice(first, first + BATCH)
            feed = model.feed(digits[rows], lengths[rows])
            _, value = sess.run([train, model.loss], feed)
            if (step + 1) % REPORT == 0:
                print("step %4d: loss %.4f" % (step + 1, value))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)
        written, scores = sess.run([model.written, model.scores], model.feed(*unseen))

    for row in range(3):
        print("read:    " + " ".join(str(d) for d in unseen[0][row] if d != END))
        for beam in range(BEAMS):
            found = [str(d) for d in written[row, :, beam] if 0 <= d < START]
            score = scores[row, -1, beam]
            print("written: %-18s score %.3f" % (" ".join(found), score))
    share = share_without_mistake(written, *unseen)
    print("sequences written without a mistake: %.4f" % share)


if __name__ == "__main__":
    tf.app.run()
