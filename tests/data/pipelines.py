"""Pipelines by name, as expressions over `D` (Dataset) and `X` (data.experimental).

Run under TensorFlow 1.15's Python, it records what they give:

    python tests/data/pipelines.py tests/data/recorded/pipelines_1_15.json
"""

import json
import sys

import numpy as np

# A map with an element that fails, in front of what is tested.
FAILING = (
    "D.range(6).map(lambda x: "
    "tf.check_numerics(1.0 / (tf.cast(x, tf.float32) - 2), 'bad'))"
)
FAILS_IN_FUNCTION = "tf.check_numerics(1.0 / (tf.cast(x, tf.float32) - 2), 'bad')"
UNEVEN = "D.from_tensor_slices(np.array([1, 4, 2, 0, 3], np.int64))"
REPEATED = "lambda x: D.from_tensors(x).repeat(x)"
# A function that says that there is nothing more, in the middle.
ENDS_AT_THREE = "tf.py_func(lambda i: next(iter(())) if i == 3 else i, [x], tf.int64)"

PIPELINES = {
    "shuffle": "D.range(20).shuffle(7, seed=5)",
    "shuffle of map, repeated": (
        "D.range(9).shuffle(4, seed=5).map(lambda x: x).repeat(3)"
    ),
    "shuffle, repeated": "D.range(10).shuffle(4, seed=5).repeat(3).batch(4)",
    "shuffle, fixed": "D.range(9).shuffle(4, 5, False).map(lambda x: x).repeat(3)",
    "shuffle, fixed, repeated": "D.range(10).shuffle(4, 5, False).repeat(3)",
    "shuffle of shuffle": (
        "D.range(9).shuffle(3, 5).shuffle(4, 1).map(lambda x: x).repeat(2)"
    ),
    "shuffle for ever": "D.range(5).shuffle(3, seed=5).repeat()",
    "shuffle and repeat": "D.range(10).apply(X.shuffle_and_repeat(4, 3, seed=5))",
    "random": "X.RandomDataset(seed=4).take(6).map(lambda x: x).repeat(2)",
    "sample": "X.sample_from_datasets([D.range(8), D.range(10, 15)], [.3, .7], 3)",
    "choose": (
        "X.choose_from_datasets([D.range(3), D.range(10, 15)], "
        "D.from_tensor_slices(np.array([0, 1, 1, 0, 0, 0, 0, 1, 1], np.int64)))"
    ),
    "rejection": (
        "D.from_tensor_slices(np.array([0, 1] * 20, np.int32))"
        ".apply(X.rejection_resample(lambda x: x, [.4, .6], [.5, .5], seed=3))"
    ),
    "error": FAILING,
    "error, batch": FAILING + ".batch(2)",
    "error, map and batch": (
        "D.range(7).apply(X.map_and_batch(lambda x: " + FAILS_IN_FUNCTION + ", 2))"
    ),
    "error, parallel": (
        "D.range(7).map(lambda x: " + FAILS_IN_FUNCTION + ", num_parallel_calls=3)"
    ),
    "end, map and batch": (
        f"D.range(9).apply(X.map_and_batch(lambda x: {ENDS_AT_THREE}, 2))"
    ),
    "end, map": f"D.range(9).map(lambda x: {ENDS_AT_THREE})",
    "end, parallel": f"D.range(9).map(lambda x: {ENDS_AT_THREE}, 2)",
    "error, parallel interleave": (
        "D.range(4, 8).map(lambda x: tf.cond(tf.equal(x, 5), lambda: tf.cast("
        "tf.check_numerics(1. / (tf.cast(x, tf.float32) - 5.), 'bad'), tf.int64), "
        "lambda: x)).apply(X.parallel_interleave(" + REPEATED + ", 2))"
    ),
    "error, ignored": FAILING + ".apply(X.ignore_errors())",
    "error, shuffle": FAILING + ".shuffle(3, seed=1)",
    "error, take": FAILING + ".take(4)",
    "error, skip": FAILING + ".skip(1)",
    "error, repeat": FAILING + ".repeat(2)",
    "error, zip": "D.zip((D.range(6), " + FAILING + "))",
    "error, prefetch": FAILING + ".prefetch(2)",
    "error, cache": FAILING + ".cache().repeat(2)",
    "error, flat map": (
        "D.range(4).flat_map(lambda x: D.from_tensors(" + FAILS_IN_FUNCTION + "))"
    ),
    "error, filter": "D.range(4).filter(lambda x: " + FAILS_IN_FUNCTION + " > -0.6)",
    "window, stride": "D.range(10).window(3, 2, 2).flat_map(lambda w: w.batch(9))",
    "window, gaps": "D.range(10).window(3, 4, 1).flat_map(lambda w: w.batch(9))",
    "window, drop": "D.range(10).window(4, 3, 2, True).flat_map(lambda w: w.batch(9))",
    "interleave": UNEVEN + ".interleave(" + REPEATED + ", 2, 2)",
    "interleave, parallel": UNEVEN + ".interleave(" + REPEATED + ", 2, 2, 2)",
    "interleave, cycle": "D.range(7).interleave(" + REPEATED + ", 3)",
    "parallel interleave": UNEVEN
    + ".apply(X.parallel_interleave("
    + REPEATED
    + ", 2, 2))",
    "group by window": (
        "D.range(12).apply(X.group_by_window(lambda x: x % 3, lambda k, w: "
        "w.batch(9), 2))"
    ),
    "group, size by key": (
        "D.range(12).apply(X.group_by_window(lambda x: x % 3, lambda k, w: w.batch(9), "
        "window_size_func=lambda k: k + 1))"
    ),
    "group by reducer": (
        "D.range(12).apply(X.group_by_reducer(lambda x: (x * 7) % 5, X.Reducer("
        "lambda k: (np.int64(0), k), lambda s, x: (s[0] + x, s[1]), "
        "lambda a, b: (a, b))))"
    ),
    "bucket": (
        "D.range(9).map(lambda x: tf.fill([x % 6], x)).apply("
        "X.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2]))"
    ),
    "bucket, to boundary": (
        "D.range(9).map(lambda x: tf.fill([x % 5], x)).apply("
        "X.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], "
        "pad_to_bucket_boundary=True))"
    ),
    "padded": (
        "D.range(7).map(lambda x: (tf.fill([x], x), x))"
        ".padded_batch(3, ([None], []), (np.int64(-1), np.int64(9)))"
    ),
    "padded, too small": (
        "D.range(4).map(lambda x: tf.fill([x], x)).padded_batch(2, [2])"
    ),
    "batch, strings": "D.from_tensor_slices(['a', 'bb', 'ccc']).batch(2, True)",
    "batch, shapes differ": "D.range(4).map(lambda x: tf.fill([x], x)).batch(2)",
    "unbatch": "D.from_tensor_slices(np.arange(12).reshape(3, 4)).apply(X.unbatch())",
    "dense to sparse": (
        "D.range(4).map(lambda x: tf.fill([x], "
        "x)).apply(X.dense_to_sparse_batch(3, [5]))"
    ),
    "sparse slices": (
        "D.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 2], [1, 3]], [1, 2, "
        "3], [3, 4]))"
    ),
    "sparse batch": (
        "D.range(3).map(lambda x: (tf.SparseTensor([[x]], [x * 2], [5]), x)).batch(2)"
    ),
    "sparse rows": (
        "D.from_sparse_tensor_slices("
        "tf.SparseTensor([[0, 0], [1, 2], [1, 3]], [1, 2, 3], [3, 4]))"
    ),
    "generator": (
        "D.from_generator(lambda: ((i, 's%d' % i) for i in range(3)), "
        "(tf.int32, tf.string), ([], [])).repeat(2)"
    ),
    "generator, args": "D.from_generator(lambda n: iter(range(n)), tf.int32, [], (4,))",
    "scan": "D.range(5).apply(X.scan(np.int64(1), lambda s, x: (s * 2, s + x)))",
    "take while": "D.range(9).apply(X.take_while(lambda x: x < 4))",
    "unique": "D.from_tensor_slices([1, 2, 1, 3, 2, 5]).apply(X.unique())",
    "enumerate": "D.from_tensor_slices(['a', 'b']).enumerate(5)",
    "counter": "X.Counter(3, 2).take(4)",
    "concatenate": "D.range(2).concatenate(D.range(10, 12))",
    "shard": "D.range(10).shard(3, 1)",
    "structure": "D.from_tensor_slices({'a': [1, 2], 'b': ([3., 4.], ['x', 'y'])})",
    "batch of zero": "D.range(3).batch(0)",
    "shuffle of zero": "D.range(3).shuffle(0)",
    "prefetch of -2": "D.range(3).prefetch(-2)",
    "step of zero": "D.range(0, 3, 0)",
    "shard out of range": "D.range(3).shard(2, 2)",
    "window of zero": "D.range(3).window(0).flat_map(lambda w: w)",
    "no parallel calls": "D.range(3).map(lambda x: x, num_parallel_calls=0)",
}

CARDINALITIES = [
    "D.range(10).batch(3)",
    "D.range(10).batch(3, drop_remainder=True)",
    "D.range(4).repeat()",
    "D.range(4).filter(lambda x: x > 1)",
    "D.range(4).map(lambda x: x)",
    "D.range(5).skip(7)",
    "D.range(5).take(-1)",
    "D.zip((D.range(3), D.range(5).repeat()))",
    "D.range(5).shard(3, 1)",
    "D.range(10).concatenate(D.range(3))",
    "D.range(5).shuffle(3).cache().prefetch(2)",
    "D.range(4).window(2)",
    "D.range(0).repeat()",
    "D.from_tensors(1)",
    "D.range(4).apply(X.map_and_batch(lambda x: x, 3))",
    "D.range(3).flat_map(lambda x: D.range(2))",
    "D.range(4).interleave(lambda x: D.range(2), 2)",
]


def build(tf, expression):
    """The dataset of an expression."""
    names = {"tf": tf, "np": np, "D": tf.data.Dataset, "X": tf.data.experimental}
    return eval(expression, names)


def elements(tf, expression, limit=60):
    """What two passes give, as JSON holds it; errors by class and first line."""
    iterator = build(tf, expression).make_initializable_iterator()
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        for _ in range(2):
            found.append("BEGIN")
            try:
                session.run(iterator.initializer)
            except tf.errors.OpError as error:
                found.append(error_text(error))
                continue
            for _ in range(limit):
                try:
                    found.append(plain(session.run(element)))
                except tf.errors.OutOfRangeError:
                    found.append("END")
                    break
                except tf.errors.OpError as error:
                    found.append(error_text(error))
    return found


def error_text(error):
    """`Class: first line`, without the function that TensorFlow names first."""
    line = error.message.split("\n")[0]
    return type(error).__name__ + ": " + line.split("}} ")[-1]


def plain(value):
    """A value as JSON holds it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in sorted(value.items())}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return ["object", plain(value.tolist())]
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.tolist()]
    return value


def cardinalities(tf):
    """The cardinality of each dataset of the list."""
    with tf.Session() as session:
        return [
            int(session.run(tf.data.experimental.cardinality(build(tf, expression))))
            for expression in CARDINALITIES
        ]


def record(path):
    """Writes what TensorFlow gives."""
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity("FATAL")
    found = {}
    for name, expression in PIPELINES.items():
        tf.compat.v1.reset_default_graph()
        found[name] = elements(tf, expression)
    found["cardinalities"] = cardinalities(tf)
    with open(path, "w") as file:
        lines = ["%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in found.items()]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record(sys.argv[1])
