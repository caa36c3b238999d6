"""Device filters that are none."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tests.cluster.clusters import cluster


def test_a_malformed_device_filter() -> None:
    config = tf.ConfigProto(device_filters=["/nothing"])
    with (
        cluster(ps=1, worker=1) as servers,
        tf.Graph().as_default(),
        tf.Session(servers["worker"][0].target, config=config) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="device_filters"),
    ):
        sess.run(tf.constant(1))
