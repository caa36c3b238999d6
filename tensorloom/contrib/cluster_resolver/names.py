"""The resolvers of `tf.distribute.cluster_resolver` under their names of before."""

from __future__ import annotations

from typing import Final

from tensorloom.cluster import (  # noqa: F401 - they declare the names
    cloud,
    kubernetes,
    resolvers,
    slurm,
)
from tensorloom.framework import export

_NAMES: Final = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionClusterResolver",
]

for _name in _NAMES:
    _value = export.find(resolvers.NAMES + _name)
    export.export_value(_value, f"contrib.cluster_resolver.{_name}")
