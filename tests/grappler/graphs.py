"""MetaGraphDefs for the tests of Grappler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorloom as tf
from tensorloom.protos.device_properties_pb2 import DeviceProperties, NamedDevice


def metagraph(build: Callable[[], Any]) -> Any:
    """The graph that `build` makes; what it returns is in `train_op`."""
    with tf.Graph().as_default() as graph:
        built = build()
        ops = built if isinstance(built, list) else [built]
        tf.get_collection_ref("train_op").extend(ops)
        return tf.train.export_meta_graph(graph=graph)


def sum_of_draws() -> Any:
    """Fifteen nodes; four of them are left by the passes."""
    return tf.random_uniform(()) + tf.random_uniform(())


def chain() -> Any:
    """a and b are constants; c = a + b; d = b + c."""
    a, b = tf.constant(10, name="a"), tf.constant(20, name="b")
    return tf.add_n([b, tf.add_n([a, b], name="c")], name="d")


def named_device(name: str, device_type: str, **properties: Any) -> Any:
    """A `NamedDevice`."""
    return NamedDevice(
        name=name, properties=DeviceProperties(type=device_type, **properties)
    )
