"""word2vec: words that stand in like places get like vectors.

    tensorloom run examples/text/word2vec.py

Skip-grams with noise-contrastive estimation (Mikolov et al., 2013): from the vector of
a word, tell the words around it from words drawn at random. The text knows six kinds of
words; it is counted how many of a word's nearest neighbours are of its kind.

Quality: neighbours of the same kind at least 0.90
"""

import collections

import little_language
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 2500, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 128
SIZE = 16
WINDOW = 2
SAMPLED = 16
LEARNING_RATE = 0.5
NEIGHBOURS = 3
REPORT = 250


def skip_grams(sentences):
    """The vocabulary, the most frequent word first, and pairs of (word, neighbour)."""
    counts = collections.Counter(word for words in sentences for word in words)
    vocabulary = sorted(counts, key=lambda word: (-counts[word], word))
    number = {word: index for index, word in enumerate(vocabulary)}
    pairs = []
    for words in sentences:
        numbers = [number[word] for word in words]
        for place, word in enumerate(numbers):
            around = numbers[max(place - WINDOW, 0) : place + WINDOW + 1]
            around.pop(min(place, WINDOW))
            pairs.extend((word, other) for other in around)
    return vocabulary, np.array(pairs, np.int32)


def batch(pairs, step):
    """The pairs of a step, which depend on nothing but its number."""
    rows = np.random.RandomState(step).randint(0, len(pairs), BATCH)
    return pairs[rows, 0], pairs[rows, 1:]


def nearest(similarity, vocabulary, words):
    """The nearest neighbours of each of the words."""
    rows = [vocabulary.index(word) for word in words]
    order = np.argsort(-similarity[rows], axis=1, kind="stable")
    return [[vocabulary[i] for i in row[1 : NEIGHBOURS + 1]] for row in order]


def main(_):
    vocabulary, pairs = skip_grams(little_language.sentences(3000, seed=1))
    count = len(vocabulary)
    print("%d pairs of %d words" % (len(pairs), count))
    tf.set_random_seed(1)

    words = tf.placeholder(tf.int32, [BATCH], name="words")
    neighbours = tf.placeholder(tf.int32, [BATCH, 1], name="neighbours")
    with tf.device("/cpu:0"):
        embeddings = tf.Variable(
            tf.random_uniform([count, SIZE], -1.0, 1.0), name="embeddings"
        )
        vectors = tf.nn.embedding_lookup(embeddings, words)
        nce_weights = tf.Variable(
            tf.truncated_normal([count, SIZE], stddev=SIZE**-0.5), name="nce_weights"
        )
        nce_biases = tf.Variable(tf.zeros([count]), name="nce_biases")
    loss = tf.reduce_mean(
        tf.nn.nce_loss(nce_weights, nce_biases, neighbours, vectors, SAMPLED, count)
    )
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdagradOptimizer(LEARNING_RATE)
    train = optimizer.minimize(loss, global_step=global_step)
    normalized = tf.nn.l2_normalize(embeddings, axis=1)
    similarity = tf.matmul(normalized, normalized, transpose_b=True)

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        for step in range(sess.run(global_step), FLAGS.steps):
            some, around = batch(pairs, step)
            feed = {words: some, neighbours: around}
            _, value = sess.run([train, loss], feed)
            if (step + 1) % REPORT == 0:
                print("step %5d: loss %.3f" % (step + 1, value))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)
        similarities = sess.run(similarity)

    same = []
    for kind in sorted(little_language.KINDS):
        members = little_language.KINDS[kind]
        found = nearest(similarities, vocabulary, members)
        same.extend(other in members for others in found for other in others)
        print("%s: %s is near %s" % (kind, members[0], ", ".join(found[0])))
    print("neighbours of the same kind: %.4f" % np.mean(same))


if __name__ == "__main__":
    tf.app.run()
