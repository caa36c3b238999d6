"""Gradients through recorded MetaGraphDefs, compared with what TensorFlow gave.

`tests/peer/imported_recorder.py` writes the records.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

import tensorloom as tf

Record = dict[str, Any]

# Constants in gradients that are made elsewhere than by TensorFlow: no difference in
# what is computed.
OTHER_NODES = ("slices, resource",)


def meta_graph_of(record: Record) -> Any:
    """The MetaGraphDef of a record."""
    meta_graph = tf.MetaGraphDef()
    meta_graph.ParseFromString(base64.b64decode(record["meta_graph"]))
    return meta_graph


def import_record(record: Record, scope: str | None = None) -> tuple[Any, Any]:
    """Imports a record's graph into the default graph; gives its ys and xs."""
    tf.train.import_meta_graph(meta_graph_of(record), import_scope=scope)
    variables = {variable.name: variable for variable in tf.global_variables()}
    tensor = tf.get_default_graph().get_tensor_by_name
    prefix = f"{scope}/" if scope else ""
    xs = [prefix + name for name in record["xs"]]
    return (
        [tensor(prefix + name) for name in record["ys"]],
        [variables[name] if name in variables else tensor(name) for name in xs],
    )


def feeds_of(record: Record, scope: str | None = None) -> dict[str, Any]:
    """What to feed, under the scope."""
    prefix = f"{scope}/" if scope else ""
    return {f"{prefix}{name}:0": value for name, value in record["feeds"].items()}


def check_values(record: Record, scope: str | None = None) -> None:
    """Takes the gradients and compares the values.

    Raises:
      AssertionError: a value differs.
    """
    with tf.Graph().as_default():
        ys, xs = import_record(record, scope)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            feeds = feeds_of(record, scope)
            before = sess.run(ys, feeds)
            gradients = [tf.convert_to_tensor(g) for g in tf.gradients(ys, xs)]
            found = sess.run([*ys, *gradients], feeds)
    for name, value, wanted in zip(
        [*record["ys"], *record["xs"]], found, record["values"], strict=True
    ):
        compare(name, value, wanted)
    for name, value, wanted in zip(
        record["ys"], before, record["values"], strict=False
    ):
        compare(name, value, wanted)


def compare(name: str, value: Any, wanted: dict[str, Any]) -> None:
    """Asserts that a value has the recorded dtype, shape and numbers."""
    array = np.asarray(wanted["value"], wanted["dtype"])
    assert value.dtype == array.dtype, name
    assert value.shape == array.shape, name
    np.testing.assert_allclose(value, array, rtol=1e-5, atol=1e-6, err_msg=name)


def added_nodes(record: Record) -> list[Any]:
    """The nodes that the gradients add, as the recorder describes them."""
    with tf.Graph().as_default() as graph:
        ys, xs = import_record(record)
        count = len(graph.get_operations())
        for gradient in tf.gradients(ys, xs):
            tf.convert_to_tensor(gradient)
        return [
            [
                op.name,
                op.type,
                [t.name for t in op.inputs],
                sorted(control.name for control in op.control_inputs),
            ]
            for op in graph.get_operations()[count:]
        ]
