"""Records what the Graph Transform Tool of TensorFlow 1.15 makes of `cases.py`.

`PYTHON transform_recorder.py FILE` writes a pickle: by case the graph, what became of
it, and the values. Python 3.7.
"""

import os
import pickle
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import tensorflow as tf
from cases import CASES, ERRORS
from tensorflow.tools.graph_transforms import TransformGraph


def values(graph_def, outputs, feeds, init=None):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        if init:
            sess.run(init)
        return [sess.run(f"{name}:0", feeds) for name in outputs]


def record(build, transforms, options):
    with tf.Graph().as_default() as graph:
        inputs, outputs, feeds = build(tf)
    before = graph.as_graph_def()
    after = TransformGraph(before, inputs, outputs, transforms)
    found = {
        "inputs": inputs,
        "outputs": outputs,
        "feeds": feeds,
        "before": before.SerializeToString(),
        "after": after.SerializeToString(),
    }
    if options.get("values", True):
        found["values"] = values(after, outputs, feeds, options.get("init"))
    return found


def error_of(transform):
    with tf.Graph().as_default() as graph:
        _, outputs, _ = CASES["defaults"][0](tf)
    try:
        TransformGraph(graph.as_graph_def(), ["same"], outputs, [transform])
    except Exception as error:
        return type(error).__name__
    return None


def main(path):
    found = {name: record(*one) for name, one in CASES.items()}
    errors = {name: error_of(transform) for name, transform in ERRORS.items()}
    with open(path, "wb") as file:
        pickle.dump((found, errors), file, protocol=4)


main(sys.argv[1])
