"""Making a graph of 10,000 operations, its gradient, and its first run."""

from benchmarks.workloads.table import Table, seconds_of

table = Table()


def chain(tf):
    """x, and a value made from it by 10,000 operations."""
    x = tf.placeholder(tf.float32, [])
    y = x
    for _ in range(5000):
        y = tf.sin(y) + x
    return x, y


@table.once("build a graph of 10,000 ops", target=0.3)
def build(tf):
    return seconds_of(lambda: chain(tf))


@table.once("tf.gradients through 10,000 ops", target=0.3)
def gradients(tf):
    x, y = chain(tf)
    return seconds_of(lambda: tf.gradients(y, x))


@table.once("first run of 10,000 ops, forward", target=0.3)
def first_run(tf):
    x, y = chain(tf)
    with tf.Session() as sess:
        return seconds_of(lambda: sess.run(y, {x: 1.0}))


@table.once("first run of 10,000 ops, with gradient", target=0.3)
def first_run_with_gradient(tf):
    x, y = chain(tf)
    fetches = [y, *tf.gradients(y, x)]
    with tf.Session() as sess:
        return seconds_of(lambda: sess.run(fetches, {x: 1.0}))


@table.once("load a frozen graph of 10,000 nodes", target=0.5)
def load_frozen(tf):
    y = tf.placeholder(tf.float32, [None])
    for _ in range(3333):  # three nodes each: a constant, as weights are, and two ops
        y = tf.sin(y) * 0.5
    contents = tf.get_default_graph().as_graph_def().SerializeToString()

    def load():
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(contents)
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def, name="")

    return min(seconds_of(load) for _ in range(3))


@table.once("build a convolutional network of tf.layers", target=0.5)
def build_layers(tf):
    def build():
        with tf.Graph().as_default():
            value = tf.placeholder(tf.float32, [None, 32, 32, 3])
            for i in range(6):
                value = tf.layers.conv2d(value, 8, 3, padding="same")
                value = tf.nn.relu(tf.layers.batch_normalization(value, training=True))
                if i % 2:
                    value = tf.layers.max_pooling2d(value, 2, 2)
            value = tf.layers.dense(tf.layers.flatten(value), 64, tf.nn.relu)
            tf.layers.dense(tf.layers.dropout(value, training=True), 10)

    return min(seconds_of(build) for _ in range(5))
