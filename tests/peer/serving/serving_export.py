"""Exports a model with TensorFlow 1.15, and what its own session computes. Python 3.7.

    python serving_export.py FOLDER

FOLDER/tf1/1 is the model; FOLDER/expected.json has for each signature its inputs and
outputs, as columns of REST calls.
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf

FOLDER = sys.argv[1]


def info(tensor):
    return tf.saved_model.build_tensor_info(tensor)


def main():
    words = os.path.join(FOLDER, "words.txt")
    with open(words, "w") as file:
        file.write("a\nbb\nccc\n")
    signatures, feeds, fetches = {}, {}, {}

    def sign(key, inputs, outputs, values, method="tensorflow/serving/predict"):
        signatures[key] = tf.saved_model.build_signature_def(
            {name: info(tensor) for name, tensor in inputs.items()},
            {name: info(tensor) for name, tensor in outputs.items()},
            method,
        )
        feeds[key] = {name: (inputs[name], value) for name, value in values.items()}
        fetches[key] = outputs

    # Sums of these are exact in any order.
    weights = tf.get_variable(
        "w", initializer=np.float32([[0.5, 0.25], [1.5, -2.0], [0.125, 4.0]])
    )
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = tf.matmul(x, weights)
    sign(
        "serving_default",
        {"x": x},
        {"y": y, "top": tf.argmax(y, 1), "text": tf.as_string(y, precision=2)},
        {"x": np.float32([[1, 2, 3], [4, 5, 6]])},
    )

    # Tables: an asset's file, and its inverse.
    table = tf.contrib.lookup.index_table_from_file(words, num_oov_buckets=2)
    back = tf.contrib.lookup.index_to_string_table_from_file(words)
    text = tf.placeholder(tf.string, [None], "text")
    split = tf.string_split(text)
    ids = tf.SparseTensor(split.indices, table.lookup(split.values), split.dense_shape)
    dense = tf.sparse.to_dense(ids, -1)
    sign(
        "tables",
        {"text": text},
        {"ids": dense, "words": back.lookup(dense)},
        {"text": np.array([b"a ccc", b"", b"bb x a"], object)},
    )

    # Examples with features of fixed and of any length.
    serialized = tf.placeholder(tf.string, [None], "examples")
    parsed = tf.parse_example(
        serialized,
        {
            "x": tf.FixedLenFeature([3], tf.float32),
            "tags": tf.VarLenFeature(tf.string),
            "ids": tf.VarLenFeature(tf.int64),
            "pairs": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
        },
    )
    embedded = tf.nn.embedding_lookup_sparse(
        weights, parsed["ids"], None, combiner="sum"
    )
    first = tf.train.Example()
    first.features.feature["x"].float_list.value.extend([1, 2, 3])
    first.features.feature["ids"].int64_list.value.extend([0, 2])
    first.features.feature["tags"].bytes_list.value.extend([b"a", b"zz"])
    second = tf.train.Example()
    second.features.feature["x"].float_list.value.extend([0, 1, 0])
    second.features.feature["ids"].int64_list.value.extend([1])
    second.features.feature["pairs"].float_list.value.extend([5, 6])
    sign(
        "examples",
        {"examples": serialized},
        {
            "y": tf.matmul(parsed["x"], weights),
            "embedded": embedded,
            "tags": tf.sparse.to_dense(parsed["tags"], ""),
            "pairs": parsed["pairs"],
        },
        {
            "examples": np.array(
                [e.SerializeToString() for e in (first, second)], object
            )
        },
    )

    # A sparse tensor, and a ragged one, in their parts.
    indices = tf.placeholder(tf.int64, [None, 2], "indices")
    values = tf.placeholder(tf.float32, [None], "values")
    shape = tf.placeholder(tf.int64, [2], "shape")
    sparse = tf.SparseTensor(indices, values, shape)
    sign(
        "sparse",
        {"indices": indices, "values": values, "shape": shape},
        {"y": tf.sparse.sparse_dense_matmul(sparse, weights)},
        {
            "indices": np.int64([[0, 1], [1, 0], [1, 2]]),
            "values": np.float32([2, 4, 8]),
            "shape": np.int64([2, 3]),
        },
    )
    flat = tf.placeholder(tf.int32, [None], "flat")
    splits = tf.placeholder(tf.int64, [None], "splits")
    ragged = tf.RaggedTensor.from_row_splits(flat, splits)
    sign(
        "ragged",
        {"flat": flat, "splits": splits},
        {
            "sums": tf.reduce_sum(ragged, 1),
            "doubled": (ragged * 2).to_tensor(),
        },
        {"flat": np.int32([1, 2, 3, 4]), "splits": np.int64([0, 2, 2, 4])},
    )

    # A loop of Switch and Merge, and a condition.
    n = tf.placeholder(tf.int32, [], "n")
    _, total = tf.while_loop(
        lambda i, s: i < n,
        lambda i, s: (i + 1, tf.cond(i % 2 > 0, lambda: s + i, lambda: s)),
        [0, 0],
    )
    sign("loop", {"n": n}, {"total": total}, {"n": np.int32(9)})

    expected = {}
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for key, outputs in fetches.items():
            given = dict(feeds[key].values())
            found = session.run(outputs, given)
            expected[key] = [
                {name: plain(value) for name, (_, value) in feeds[key].items()},
                {name: plain(value) for name, value in found.items()},
            ]
        builder = tf.saved_model.Builder(os.path.join(FOLDER, "tf1", "1"))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            signatures,
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()
    with open(os.path.join(FOLDER, "expected.json"), "w") as file:
        json.dump(expected, file)


def plain(value):
    """As JSON has it: bytes as base64."""
    import base64

    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return [plain(element) for element in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value


main()
