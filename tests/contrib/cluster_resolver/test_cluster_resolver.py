"""`tf.contrib.cluster_resolver`: the same resolvers, and those that are refused."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

contrib = tf.contrib.cluster_resolver
_REFUSED = [("TPUClusterResolver", ()), ("GCEClusterResolver", ("p", "z", "g", 1))]


def test_the_resolvers_are_those_of_distribute() -> None:
    for name in ("ClusterResolver", "SimpleClusterResolver", "UnionClusterResolver"):
        assert getattr(contrib, name) is getattr(tf.distribute.cluster_resolver, name)
    spec = tf.train.ClusterSpec({"worker": ["a:1"]})
    resolver = contrib.SimpleClusterResolver(spec, master="grpc://a:1")
    assert tf.contrib.tpu.RunConfig(cluster=resolver).master == "grpc://a:1"


@pytest.mark.parametrize(("name", "arguments"), _REFUSED)
def test_resolvers_of_clouds_are_refused_by_name(name: str, arguments: Any) -> None:
    with pytest.raises(RuntimeError, match=rf"{name}: .*SimpleClusterResolver"):
        getattr(contrib, name)(*arguments)
