"""Feature columns: from features of examples to a training step."""

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


def _columns(tf):
    """Twenty columns of all kinds, and a batch of features for them."""
    fc = tf.feature_column
    random = np.random.RandomState(0)
    words = np.array(["word%d" % i for i in range(100)])
    rows, features = 512, {}
    for index in range(5):
        features["number%d" % index] = random.rand(rows, 1).astype(np.float32)
    for index in range(4):
        features["text%d" % index] = random.choice(words, [rows, 2])
    for index in range(2):
        features["id%d" % index] = random.randint(0, 1000, [rows, 1])
    numbers = [fc.numeric_column("number%d" % i) for i in range(5)]
    buckets = [fc.bucketized_column(n, list(np.linspace(0, 1, 9))) for n in numbers[:3]]
    hashed = [
        fc.categorical_column_with_hash_bucket("text%d" % i, 1000) for i in range(2)
    ]
    listed = [
        fc.categorical_column_with_vocabulary_list(
            "text%d" % i, list(words), num_oov_buckets=1
        )
        for i in (2, 3)
    ]
    ids = [fc.categorical_column_with_identity("id%d" % i, 1000) for i in range(2)]
    crossed = [
        fc.crossed_column(["text0", "text1"], 5000),
        fc.crossed_column([buckets[0], "text2"], 5000),
    ]
    deep = [
        *numbers,
        *buckets,
        *(fc.indicator_column(c) for c in listed),
        *(fc.embedding_column(c, 8) for c in hashed + ids + crossed),
    ]
    return deep, [*hashed, *ids], features


@table.step("feature columns: 20 columns, 512 rows, Adagrad step", target=0.8)
def feature_columns(tf):
    deep, wide, arrays = _columns(tf)
    features = {
        name: tf.placeholder(
            tf.string if array.dtype.kind == "U" else tf.as_dtype(array.dtype),
            [None, array.shape[1]],
        )
        for name, array in arrays.items()
    }
    labels = np.random.RandomState(1).rand(512, 1)
    y = tf.feature_column.input_layer(features, deep)
    weights = tf.get_variable("w", [int(y.shape[1]), 1])
    y = tf.matmul(y, weights) + tf.feature_column.linear_model(features, wide)
    loss = tf.reduce_mean(tf.square(y - labels))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    feed = {features[name]: array for name, array in arrays.items()}
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        yield lambda: sess.run([train, loss], feed)
