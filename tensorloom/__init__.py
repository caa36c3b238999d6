"""tensorloom: the TensorFlow 1 system in Python.

`import tensorloom as tf` gives the public names of TensorFlow 1.15. Importing loads
neither torch nor a protobuf module; the first step that needs them does.
"""

from __future__ import annotations

import sys
from typing import Any

from tensorloom import client, ops, train
from tensorloom.cluster import local
from tensorloom.framework import export, proto_names
from tensorloom.framework.package_modules import import_all

for _package in (ops, client, train):
    import_all(_package)
local.install()
export.install(sys.modules[__name__])


def __getattr__(name: str) -> Any:
    """Protobuf messages such as `tf.ConfigProto`, loaded when they are first used."""
    return proto_names.find("", name)
