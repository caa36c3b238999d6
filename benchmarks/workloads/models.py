"""Training steps and inference of small models."""

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


def dense(tf, x, units, name, activation=None):
    with tf.variable_scope(name):
        initializer = tf.glorot_uniform_initializer(seed=1)
        weights = tf.get_variable(
            "w", [int(x.shape[1]), units], initializer=initializer
        )
        bias = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        y = tf.nn.bias_add(tf.matmul(x, weights), bias)
        return activation(y) if activation else y


def conv(tf, x, channels, name, stride=1, size=3):
    depth = int(x.shape[3])
    with tf.variable_scope(name):
        initializer = tf.truncated_normal_initializer(stddev=0.1, seed=1)
        shape = [size, size, depth, channels]
        filters = tf.get_variable("w", shape, initializer=initializer)
        return tf.nn.conv2d(x, filters, [1, stride, stride, 1], "SAME")


def mean_loss(tf, labels, logits):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(loss)


def examples(batch, shape):
    random = np.random.RandomState(0)
    images = random.rand(batch, *shape).astype(np.float32)
    return images, random.randint(0, 10, batch).astype(np.int64)


def training(tf, x, labels, logits, optimizer, batch, extra_updates=()):
    """Yields a training step over one fed batch; the loss is fetched."""
    loss = mean_loss(tf, labels, logits)
    with tf.control_dependencies(list(extra_updates)):
        train = optimizer.minimize(loss)
    images, classes = examples(batch, x.shape.as_list()[1:])
    feed = {x: images, labels: classes}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([train, loss], feed)


def mlp(tf, batch):
    x = tf.placeholder(tf.float32, [None, 784])
    labels = tf.placeholder(tf.int64, [None])
    hidden = dense(tf, x, 128, "one", tf.nn.relu)
    hidden = dense(tf, hidden, 128, "two", tf.nn.relu)
    logits = dense(tf, hidden, 10, "logits")
    return training(tf, x, labels, logits, tf.train.AdamOptimizer(0.001), batch)


@table.step("MLP 784-128-128-10, Adam step, batch 32", target=0.5)
def mlp_32(tf):
    return mlp(tf, 32)


@table.step("MLP 784-128-128-10, Adam step, batch 512", target=0.9)
def mlp_512(tf):
    return mlp(tf, 512)


@table.step("Regression 8-16-1, unknown batch of 16, Adam step", target=0.75)
def small_regression(tf):
    x = tf.placeholder(tf.float32, [None, 8])
    wanted = tf.placeholder(tf.float32, [None, 1])
    y = dense(tf, dense(tf, x, 16, "one", tf.tanh), 1, "two")
    loss = tf.reduce_mean(tf.square(y - wanted))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    random = np.random.RandomState(0)
    feed = {x: random.rand(16, 8), wanted: random.rand(16, 1)}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([train, loss], feed)


@table.step("scan over 20 steps of 6 x 4, sizes unknown, gradients", target=0.75)
def small_scan(tf):
    x = tf.placeholder(tf.float32, [None, None, 4])
    weights = tf.get_variable("w", [4, 4], initializer=tf.glorot_uniform_initializer(1))
    states = tf.scan(
        lambda state, step: tf.tanh(tf.matmul(state, weights) + step),
        x,
        tf.zeros_like(x[0]),
    )
    loss = tf.reduce_sum(states[-1])
    gradients = tf.gradients(loss, [weights, x])
    feed = {x: np.random.RandomState(0).rand(20, 6, 4)}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([loss, gradients], feed)


def cnn(tf):
    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    y = x
    for index, channels in enumerate((32, 64)):
        bias = tf.get_variable("bias%d" % index, [channels])
        y = tf.nn.relu(tf.nn.bias_add(conv(tf, y, channels, "conv%d" % index), bias))
        y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = dense(tf, tf.reshape(y, [-1, 7 * 7 * 64]), 128, "dense", tf.nn.relu)
    return x, dense(tf, y, 10, "logits")


@table.step("CNN 28x28x1, Adam step, batch 64", target=0.9)
def cnn_training(tf):
    x, logits = cnn(tf)
    labels = tf.placeholder(tf.int64, [None])
    return training(tf, x, labels, logits, tf.train.AdamOptimizer(0.001), 64)


@table.step("CNN 28x28x1, inference, batch 64", target=0.9)
def cnn_inference(tf):
    x, logits = cnn(tf)
    probabilities = tf.nn.softmax(logits)
    images, _ = examples(64, [28, 28, 1])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(probabilities, {x: images})


def batch_norm(tf, x, name, updates):
    channels = [int(x.shape[3])]
    with tf.variable_scope(name):
        scale = tf.get_variable("scale", channels, initializer=tf.ones_initializer())
        offset = tf.get_variable("offset", channels, initializer=tf.zeros_initializer())
        y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset)
        for statistic, value in (("mean", mean), ("variance", variance)):
            average = tf.get_variable(
                statistic, channels, initializer=tf.zeros_initializer(), trainable=False
            )
            updates.append(tf.assign_sub(average, (average - value) * 0.1))
        return y


def residual_block(tf, x, channels, name, updates):
    stride = 1 if int(x.shape[3]) == channels else 2
    with tf.variable_scope(name):
        y = conv(tf, x, channels, "conv1", stride)
        y = tf.nn.relu(batch_norm(tf, y, "norm1", updates))
        y = batch_norm(tf, conv(tf, y, channels, "conv2"), "norm2", updates)
        if stride != 1:
            x = conv(tf, x, channels, "shortcut", stride)
        return tf.nn.relu(x + y)


@table.step("residual network 32x32x3, Momentum step, batch 32", target=0.9)
def residual_network(tf):
    updates = []
    x = tf.placeholder(tf.float32, [None, 32, 32, 3])
    y = tf.nn.relu(batch_norm(tf, conv(tf, x, 16, "first"), "first_norm", updates))
    for index, channels in enumerate((16, 16, 32, 32, 64, 64)):
        y = residual_block(tf, y, channels, "block%d" % index, updates)
    logits = dense(tf, tf.reduce_mean(y, [1, 2]), 10, "logits")
    labels = tf.placeholder(tf.int64, [None])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    return training(tf, x, labels, logits, optimizer, 32, updates)


def bottleneck(tf, x, channels, name, updates):
    with tf.variable_scope(name):
        y = x
        for index, (width, size) in enumerate(((channels, 1), (channels, 3))):
            y = conv(tf, y, width, "conv%d" % index, size=size)
            y = tf.nn.relu(batch_norm(tf, y, "norm%d" % index, updates))
        y = conv(tf, y, int(x.shape[3]), "last", size=1)
        return tf.nn.relu(x + batch_norm(tf, y, "last_norm", updates))


@table.step("bottleneck blocks 7x7x1024, Momentum step, batch 4", target=0.9)
def bottlenecks(tf):
    """The last layers of a large network: small images with many channels."""
    updates = []
    x = y = tf.placeholder(tf.float32, [None, 7, 7, 1024])
    for index in range(3):
        y = bottleneck(tf, y, 256, "block%d" % index, updates)
    logits = dense(tf, tf.reduce_mean(y, [1, 2]), 10, "logits")
    labels = tf.placeholder(tf.int64, [None])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    return training(tf, x, labels, logits, optimizer, 4, updates)


@table.step(
    "wide and deep, 20 tables of 5,000 rows, Adagrad step, batch 256", target=0.9
)
def wide_and_deep(tf):
    words = [tf.placeholder(tf.int32, [None]) for _ in range(20)]
    numbers = tf.placeholder(tf.float32, [256, 13])
    labels = tf.placeholder(tf.int64, [None])
    deep, wide = [numbers], []
    for index, word in enumerate(words):
        table_of = tf.get_variable("deep%d" % index, [5000, 16])
        deep.append(tf.nn.embedding_lookup(table_of, word))
        weights = tf.get_variable("wide%d" % index, [5000, 10])
        wide.append(tf.nn.embedding_lookup(weights, word))
    y = tf.concat(deep, 1)
    for units in (256, 128, 64):
        y = dense(tf, y, units, "units%d" % units, tf.nn.relu)
    logits = dense(tf, y, 10, "logits") + tf.add_n(wide)
    loss = mean_loss(tf, labels, logits)
    train = tf.train.AdagradOptimizer(0.01).minimize(loss)
    random = np.random.RandomState(0)
    feed = {word: random.randint(0, 5000, 256) for word in words}
    feed[numbers], feed[labels] = random.rand(256, 13), random.randint(0, 10, 256)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run([train, loss], feed)
