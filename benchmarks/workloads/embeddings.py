"""Embedding variables, whose rows come by their keys, beside dense ones."""

import numpy as np

from benchmarks.workloads.table import Table, seconds_of

table = Table()

# TensorFlow has no such variables: ours have limits of their own.
AGAINST_DENSE = 2.0
BY_KEY_SPACE = 1.1
_DIM = 16
_ROW_BYTES = 4 * _DIM
_RUNS = 60


def _ratio(one, other):
    """The least time of a step over that of another one, which run in turns."""
    ones, others = [], []
    for turn in range(_RUNS):
        ones.append(seconds_of(lambda: one(turn)))
        others.append(seconds_of(lambda: other(turn)))
    return min(ones) / min(others)


def _training(tf, rows, ids):
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(rows(ids), 1) - 1.0))
    return tf.train.AdagradOptimizer(0.1).minimize(loss)


@table.once(
    "figure: embedding variable, 10,000 keys looked up and updated / a dense one",
    seconds=AGAINST_DENSE,
    unit="times",
)
def against_dense(tf):
    import tensorloom.dynamic_embedding as de

    keys = np.random.RandomState(0).randint(0, 100000, [_RUNS, 10000])
    ids = tf.placeholder(tf.int64, [None])
    keyed = de.get_variable("keyed", dim=_DIM)
    dense = tf.get_variable("dense", [100000, _DIM], use_resource=True)
    by_key = _training(tf, keyed.lookup, ids)
    by_row = _training(tf, lambda ids: tf.nn.embedding_lookup(dense, ids), ids)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for turn in range(_RUNS):  # the rows are there, as they are in the dense one
            sess.run([by_key, by_row], {ids: keys[turn]})
        return _ratio(
            lambda turn: sess.run(by_key, {ids: keys[turn]}),
            lambda turn: sess.run(by_row, {ids: keys[turn]}),
        )


@table.once(
    "figure: embedding variable, 1,000 keys of 16 GB of rows / of 1 GB",
    seconds=BY_KEY_SPACE,
    unit="times",
)
def by_key_space(tf):
    import tensorloom.dynamic_embedding as de

    ids = tf.placeholder(tf.int64, [None])
    steps = []
    random = np.random.RandomState(0)
    with tf.Session() as sess:
        for gigabytes in (16, 1):
            variable = de.get_variable("of_%d_gb" % gigabytes, dim=_DIM)
            train = _training(tf, variable.lookup, ids)
            keys = random.randint(0, gigabytes * (1 << 30) // _ROW_BYTES, [_RUNS, 1000])
            steps.append((train, keys))
        sess.run(tf.global_variables_initializer())

        def run(number):
            train, keys = steps[number]
            return lambda turn: sess.run(train, {ids: keys[turn]})

        _ratio(run(0), run(1))  # makes the rows
        return _ratio(run(0), run(1))
