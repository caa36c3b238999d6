"""Recurrent networks: classic loops with TensorArrays, and their gradients."""

import numpy as np

X = np.linspace(-1.0, 1.0, 2 * 5 * 3).reshape(2, 5, 3)


def weights(tf, name, shape, low=-0.5, high=0.5, **options):
    """A variable with values that are the same everywhere."""
    values = np.linspace(low, high, int(np.prod(shape))).reshape(shape)
    values = np.sin(values * 37.0) * 0.4
    return tf.get_variable(
        name, initializer=tf.constant(values.astype(np.float32)), **options
    )


def lstm_step(tf, kernel, bias, x, c, h):
    """One step of an LSTM cell."""
    i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), kernel) + bias, 4, 1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


def unrolled_over_time(tf, x, units, scope, lengths=None, resource=False, **options):
    """What `dynamic_rnn` builds: [batch, time, depth] -> outputs and last state."""
    with tf.variable_scope(scope):
        depth = x.shape[2].value if hasattr(x.shape[2], "value") else x.shape[2]
        kernel = weights(
            tf, "kernel", [depth + units, 4 * units], use_resource=resource
        )
        bias = tf.get_variable(
            "bias",
            [4 * units],
            initializer=tf.zeros_initializer(),
            use_resource=resource,
        )
        by_time = tf.transpose(x, [1, 0, 2])
        steps, batch = tf.shape(by_time)[0], tf.shape(by_time)[1]
        inputs = tf.TensorArray(tf.float32, size=steps, name="inputs").unstack(by_time)
        outputs = tf.TensorArray(
            tf.float32, size=steps, name="outputs", element_shape=[None, units]
        )
        zeros = tf.zeros(tf.stack([batch, units]))
        zeros.set_shape([None, units])

        def body(time, c, h, outputs):
            new_c, new_h = lstm_step(tf, kernel, bias, inputs.read(time), c, h)
            out = new_h
            if lengths is not None:
                done = time >= lengths
                new_c = tf.where(done, c, new_c)
                new_h = tf.where(done, h, new_h)
                out = tf.where(done, tf.zeros_like(h), new_h)
            return time + 1, new_c, new_h, outputs.write(time, out)

        _, c, h, outputs = tf.while_loop(
            lambda time, *rest: time < steps,
            body,
            [0, zeros, zeros, outputs],
            **options,
        )
        return tf.transpose(outputs.stack(), [1, 0, 2]), c, h


def lstm_training(tf):
    x = tf.placeholder(tf.float32, [None, None, 3], name="x")
    outputs, c, h = unrolled_over_time(
        tf, x, 4, "rnn", parallel_iterations=32, swap_memory=True
    )
    loss = tf.reduce_mean(tf.square(outputs - 0.3)) + tf.reduce_sum(c * h)
    optimizer = tf.train.AdamOptimizer(0.05)
    pairs = optimizer.compute_gradients(loss)
    clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 0.5)
    train = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]))  # noqa: B905
    with tf.control_dependencies([loss, norm]), tf.control_dependencies([train]):
        kernel = tf.identity(tf.trainable_variables()[0].read_value())
    return [loss, norm, kernel], [{"x:0": X}, {"x:0": X[:1, :2]}, {"x:0": X}]


def lstm_resource_lengths(tf):
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    outputs, c, h = unrolled_over_time(tf, x, 3, "rnn", lengths, resource=True)
    mask = tf.sequence_mask(lengths, tf.shape(x)[1], dtype=tf.float32)
    loss = tf.reduce_sum(outputs * outputs * mask[:, :, tf.newaxis])
    grads = tf.gradients(loss, [*tf.trainable_variables(), x])
    return [outputs, c, h, *grads], [
        {"x:0": X, "lengths:0": [5, 2]},
        {"x:0": X[:, :1], "lengths:0": [0, 1]},
    ]


def bidirectional(tf):
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    forward, _, h1 = unrolled_over_time(tf, x, 2, "fw", lengths)
    turned = tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)
    turned.set_shape([2, None, 3])
    backward, _, h2 = unrolled_over_time(tf, turned, 2, "bw", lengths)
    backward = tf.reverse_sequence(backward, lengths, seq_axis=1, batch_axis=0)
    both = tf.concat([forward, backward], 2)
    state = tf.concat([h1, h2], 1)
    grads = tf.gradients(tf.reduce_sum(both * both) + tf.reduce_sum(state), x)
    return [both, state, *grads], [{"x:0": X, "lengths:0": [3, 5]}]


def two_layers_over_embedding(tf):
    words = tf.placeholder(tf.int32, [2, None], name="words")
    table = weights(tf, "table", [7, 3])
    x = tf.nn.embedding_lookup(table, words)
    first, _, _ = unrolled_over_time(tf, x, 4, "l1")
    first.set_shape([2, None, 4])
    second, _, _ = unrolled_over_time(tf, first, 3, "l2")
    logits = tf.tensordot(second, weights(tf, "out", [3, 7]), [[2], [0]])
    loss = tf.reduce_sum(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words, logits=logits)
    )
    variables = tf.trainable_variables()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([loss]), tf.control_dependencies([train]):
        after = [tf.reduce_sum(v.read_value() ** 2) for v in variables]
    return [loss, *after], [
        {"words:0": [[1, 2, 3, 1], [6, 0, 2, 2]]},
        {"words:0": [[4], [5]]},
    ]


def layer_norm_gru(tf):
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    gates, candidate = weights(tf, "g", [5, 4]), weights(tf, "c", [5, 2])
    scale = tf.get_variable("scale", [4], initializer=tf.ones_initializer())

    def normalized(z):
        mean, variance = tf.nn.moments(z, [1], keep_dims=True)
        return (z - mean) * tf.rsqrt(variance + 1e-3)

    def step(h, xt):
        both = normalized(tf.matmul(tf.concat([xt, h], 1), gates)) * scale
        r, u = tf.split(tf.sigmoid(both), 2, 1)
        new = tf.tanh(tf.matmul(tf.concat([xt, r * h], 1), candidate))
        return u * h + (1.0 - u) * new

    states = tf.scan(step, tf.transpose(x, [1, 0, 2]), initializer=tf.zeros([2, 2]))
    grads = tf.gradients(tf.reduce_sum(states**3), [gates, candidate, scale, x])
    return [states, *grads], [{"x:0": X}, {"x:0": X[:, :1]}]


def dropout_in_loop(tf):
    """Random numbers of a seed inside a loop, and their gradient."""
    tf.set_random_seed(11)
    x = tf.placeholder(tf.float32, [3, 4], name="x")
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i, h):
        return i + 1, tf.nn.dropout(h * 1.1, keep_prob=0.7, seed=3) + 0.1

    _, h = tf.while_loop(lambda i, h: i < n, body, [0, x], parallel_iterations=1)
    feeds = {"x:0": np.linspace(0.1, 1.2, 12).reshape(3, 4), "n:0": 3}
    return [h, tf.gradients(h, x)[0]], [feeds, feeds]


def forward_algorithm(tf):
    """The normalizer of a linear-chain CRF, and Viterbi's best path."""
    scores = tf.placeholder(tf.float32, [2, None, 3], name="scores")
    transitions = weights(tf, "transitions", [3, 3])
    first = scores[:, 0]
    rest = tf.transpose(scores[:, 1:], [1, 0, 2])

    def add(alpha, score):
        sums = tf.expand_dims(alpha, 2) + tf.expand_dims(transitions, 0)
        return tf.reduce_logsumexp(sums, 1) + score

    alphas = tf.foldl(add, rest, initializer=first)
    norm = tf.reduce_logsumexp(alphas, 1)

    def best(state, score):
        trellis, _ = state
        sums = tf.expand_dims(trellis, 2) + tf.expand_dims(transitions, 0)
        return tf.reduce_max(sums, 1) + score, tf.argmax(sums, 1, output_type=tf.int32)

    start = (first, tf.zeros([2, 3], tf.int32))
    trellis, pointers = tf.scan(best, rest, initializer=start)
    last = tf.argmax(trellis[-1], 1, output_type=tf.int32)

    def back(tags, pointer):
        places = tf.stack([tf.range(2), tags], 1)
        return tf.gather_nd(pointer, places)

    tags = tf.scan(back, tf.reverse(pointers, [0]), initializer=last)
    return [norm, tags, last, *tf.gradients(norm, [scores, transitions])], [
        {"scores:0": np.sin(np.arange(24)).reshape(2, 4, 3) * 2}
    ]


PROGRAMS = [
    lstm_training,
    lstm_resource_lengths,
    bidirectional,
    two_layers_over_embedding,
    layer_norm_gru,
    dropout_in_loop,
    forward_algorithm,
]
