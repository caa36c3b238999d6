"""Checkpoints: 512 MB saved and restored, and one of 2,000 variables looked into."""

import tempfile

import numpy as np

from benchmarks.workloads.table import Table, seconds_of

table = Table()

VARIABLES, ROWS, COLUMNS = 16, 8192, 1024  # of four bytes: 512 MB


def large_model(tf):
    """A session with 512 MB of variables, and their saver."""
    for index in range(VARIABLES):
        tf.get_variable(
            "v%d" % index,
            [ROWS, COLUMNS],
            initializer=tf.random_uniform_initializer(seed=index),
        )
    saver = tf.train.Saver(max_to_keep=1)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess, saver


@table.step("save 512 MB of variables", target=0.6)
def save(tf):
    sess, saver = large_model(tf)
    with sess, tempfile.TemporaryDirectory() as folder:
        yield lambda: saver.save(sess, folder + "/m", write_meta_graph=False)


@table.step("restore 512 MB of variables", target=1.0)
def restore(tf):
    sess, saver = large_model(tf)
    with sess, tempfile.TemporaryDirectory() as folder:
        path = saver.save(sess, folder + "/m", write_meta_graph=False)
        yield lambda: saver.restore(sess, path)


@table.once("open a checkpoint of 2,000 variables and list it", target=0.5)
def list_variables(tf):
    names = ["tower_%d/layer_%d/kernel" % (i % 4, i // 4) for i in range(2000)]
    tensors = [np.ones((i % 7 + 1, 3), np.float32) for i in range(2000)]
    with tf.Session() as sess, tempfile.TemporaryDirectory() as folder:
        path = folder + "/m"
        sess.run(
            tf.raw_ops.SaveV2(
                prefix=path,
                tensor_names=names,
                shape_and_slices=[""] * 2000,
                tensors=tensors,
            )
        )
        tf.train.list_variables(path)  # loads what reading needs
        return min(seconds_of(lambda: tf.train.list_variables(path)) for _ in range(5))
