"""tensorloom: the TensorFlow 1 system in Python.

`import tensorloom as tf` gives the public names of TensorFlow 1.15. Importing loads
neither torch nor a protobuf module; the first step that needs them does.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tensorloom import (
    client,
    data,
    feature_column,
    image,
    keras,
    layers,
    linalg,
    losses,
    metrics,
    nn,
    ops,
    saved_model,
    signal,
    storage,
    summary,
    test,
    train,
)
from tensorloom.cluster import kubernetes, local, remote, slurm
from tensorloom.compat.module_paths import finder
from tensorloom.framework import export
from tensorloom.framework.registry import proto_names
from tensorloom.framework.registry.package_modules import import_all
from tensorloom.framework.registry.raw_ops import RawOps

for _package in (
    ops,
    storage,
    client,
    data,
    linalg,
    nn,
    summary,
    train,
    saved_model,
    image,
    signal,
):
    import_all(_package)
local.install()
remote.install()
_this = sys.modules[__name__]
# These load their modules when they are used.
_ = kubernetes, slurm, test, feature_column, keras, layers, losses, metrics
export.install(_this)
finder.install()

# Programs ask for the TensorFlow version whose behaviour they get.
__version__ = VERSION = "1.15.0"

raw_ops = sys.modules[f"{__name__}.raw_ops"] = RawOps(f"{__name__}.raw_ops")
# `tf.compat.v1` is this very module.
_this.compat.v1 = sys.modules[f"{__name__}.compat.v1"] = _this


def __getattr__(name: str) -> Any:
    """Protobuf messages such as `tf.ConfigProto`, loaded when they are first used.

    So are TensorFlow's own module paths, such as `tf.python.framework.ops`.
    """
    if name in finder.PRIVATE:
        return importlib.import_module(f"{__name__}.{name}")
    return proto_names.find("", name)
