"""Recurrent networks, loops and decoding: what programs over sequences spend."""

import numpy as np

from benchmarks.workloads.table import Table

table = Table()

STEPS, BATCH, HIDDEN, VOCABULARY = 35, 32, 200, 1000


def lstm_cell(tf, kernel, bias, x, state):
    """One step of an LSTM; `state` is (c, h)."""
    c, h = state
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias)
    i, j, f, o = tf.split(gates, 4, 1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    h = tf.sigmoid(o) * tf.tanh(c)
    return c, h


def unrolled(tf, inputs):
    """The outputs of an LSTM written out; TensorFlow 2.21 has no cells any more."""
    kernel = tf.get_variable("kernel", [2 * HIDDEN, 4 * HIDDEN])
    bias = tf.get_variable("bias", [4 * HIDDEN], initializer=tf.zeros_initializer())
    state = tf.zeros([BATCH, HIDDEN]), tf.zeros([BATCH, HIDDEN])
    outputs = []
    for x in tf.unstack(inputs, STEPS, 1):
        state = lstm_cell(tf, kernel, bias, x, state)
        outputs.append(state[1])
    return tf.stack(outputs, 1)


def dynamic(tf, inputs):
    """The outputs of an LSTM in a while loop."""
    cell = tf.nn.rnn_cell.LSTMCell(HIDDEN)
    return tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)[0]


def language_model(tf, recurrent):
    """Yields a training step: gradient descent with clipped gradients."""
    tf.set_random_seed(1)
    words = tf.placeholder(tf.int32, [BATCH, STEPS])
    targets = tf.placeholder(tf.int32, [BATCH, STEPS])
    embedding = tf.get_variable("embedding", [VOCABULARY, HIDDEN])
    outputs = recurrent(tf, tf.nn.embedding_lookup(embedding, words))
    weights = tf.get_variable("w", [HIDDEN, VOCABULARY])
    bias = tf.get_variable("b", [VOCABULARY], initializer=tf.zeros_initializer())
    logits = tf.matmul(tf.reshape(outputs, [-1, HIDDEN]), weights) + bias
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(targets, [-1]), logits=logits
    )
    loss = tf.reduce_mean(losses)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    # Python 3.7 runs this too, whose zip has no `strict`.
    pairs = zip(gradients, variables)  # noqa: B905
    train = optimizer.apply_gradients(pairs)
    random = np.random.RandomState(0)
    text = random.randint(0, VOCABULARY, [2, BATCH, STEPS])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([loss, train], {words: text[0], targets: text[1]})


@table.step("LSTM, 35 steps unrolled, clipped SGD step", target=0.75)
def lstm_unrolled(tf):
    return language_model(tf, unrolled)


@table.step("LSTM, 35 steps, dynamic_rnn, clipped SGD step", target=0.75)
def lstm_dynamic(tf):
    return language_model(tf, dynamic)


@table.step("bidirectional GRU, sizes unknown, Adam step", target=1.0)
def bidirectional_gru(tf):
    x = tf.placeholder(tf.float32, [None, None, 40])
    lengths, labels = (tf.placeholder(tf.int32, [None]) for _ in range(2))
    cells = [tf.nn.rnn_cell.GRUCell(96) for _ in range(2)]
    both, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    weights = tf.get_variable("w", [192, 7])
    logits = tf.matmul(tf.reduce_mean(tf.concat(both, 2), 1), weights)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    loss = tf.reduce_mean(losses)
    train = tf.train.AdamOptimizer(0.001).minimize(loss)
    random = np.random.RandomState(0)
    feed = {
        x: random.rand(16, 80, 40),
        lengths: random.randint(30, 80, 16),
        labels: random.randint(0, 7, 16),
    }
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([train, loss], feed)


@table.step("CudnnLSTM, 50 steps of 32, against LSTMBlockFusedCell", target=0.9)
def cudnn_lstm(tf):
    random = np.random.RandomState(0)
    x = tf.constant(random.randn(50, 32, 128).astype(np.float32))
    if tf.__name__ == "tensorloom":
        outputs, _ = tf.contrib.cudnn_rnn.CudnnLSTM(1, 128)(x)
    elif hasattr(tf, "contrib"):
        outputs, _ = tf.contrib.rnn.LSTMBlockFusedCell(128)(x, dtype=tf.float32)
    else:
        cell = tf.nn.rnn_cell.LSTMCell(128)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)
    loss = tf.reduce_mean(tf.square(outputs - 0.5))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([train, loss])


@table.step("word2vec, NCE step, vocabulary 100,000", target=0.6)
def word2vec(tf):
    vocabulary, depth, batch = 100000, 128, 128
    words = tf.placeholder(tf.int32, [batch])
    contexts = tf.placeholder(tf.int32, [batch, 1])
    uniform = tf.random_uniform_initializer(-1.0, 1.0)
    embedding = tf.get_variable("embedding", [vocabulary, depth], initializer=uniform)
    weights = tf.get_variable("weights", [vocabulary, depth], initializer=uniform)
    biases = tf.get_variable("biases", [vocabulary], initializer=tf.zeros_initializer())
    losses = tf.nn.nce_loss(
        weights=weights,
        biases=biases,
        labels=contexts,
        inputs=tf.nn.embedding_lookup(embedding, words),
        num_sampled=64,
        num_classes=vocabulary,
    )
    loss = tf.reduce_mean(losses)
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    random = np.random.RandomState(0)
    feed = {
        words: random.randint(0, vocabulary, [batch]),
        contexts: random.randint(0, vocabulary, [batch, 1]),
    }
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([loss, train], feed)


def _tanh_loop(tf, x):
    """1,000 iterations as AutoGraph converts them."""
    total = 0.0
    for i in tf.range(1000):
        if i % 2 > 0:
            total += x
        else:
            total = tf.tanh(total)
    return total


@table.step("autograph loop, 1,000 iterations with a condition", target=0.6)
def autograph_loop(tf):
    x = tf.placeholder(tf.float32, [])
    loop = tf.autograph.to_graph(_tanh_loop)(tf, x)
    with tf.Session() as sess:
        yield lambda: sess.run(loop, {x: 1.5})


@table.step("the same with tf.while_loop and tf.cond", target=1.0)
def same_while_loop(tf):
    x = tf.placeholder(tf.float32, [])

    def body(i, total):
        following = tf.cond(i % 2 > 0, lambda: total + x, lambda: tf.tanh(total))
        return i + 1, following

    loop = tf.while_loop(lambda i, _: i < 1000, body, [0, 0.0])[1]
    with tf.Session() as sess:
        yield lambda: sess.run(loop, {x: 1.5})


@table.step("while_loop, 10,000 scalar iterations", target=0.25)
def long_while_loop(tf):
    x = tf.placeholder(tf.float32, [])
    loop = tf.while_loop(
        lambda i, s: i < 10000, lambda i, s: (i + 1, s * 0.5 + x), [0, 0.0]
    )
    with tf.Session() as sess:
        yield lambda: sess.run(loop, {x: 1.5})


@table.step("greedy decoding, 50 steps, TensorArray", target=0.5)
def greedy_decoding(tf):
    batch, depth, vocabulary, longest = 16, 32, 64, 50
    start = tf.placeholder(tf.int32, [batch])
    normal = tf.random_normal_initializer(seed=1)
    embedding = tf.get_variable("embedding", [vocabulary, depth], initializer=normal)
    kernel = tf.get_variable("kernel", [depth, depth], initializer=normal)
    output = tf.get_variable("output", [depth, vocabulary], initializer=normal)

    def unfinished(step, token, state, tokens):
        return step < longest

    def decode(step, token, state, tokens):
        x = tf.gather(embedding, token)
        state = tf.tanh(tf.matmul(state, kernel) + x)
        token = tf.argmax(tf.matmul(state, output), 1, output_type=tf.int32)
        return step + 1, token, state, tokens.write(step, token)

    tokens = tf.TensorArray(tf.int32, size=longest)
    loop = tf.while_loop(
        unfinished, decode, [0, start, tf.zeros([batch, depth]), tokens]
    )
    text = loop[3].stack()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = np.random.RandomState(0).randint(0, vocabulary, [batch])
        yield lambda: sess.run(text, {start: feed})
