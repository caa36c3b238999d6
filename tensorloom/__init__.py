"""tensorloom: the TensorFlow 1 system in Python.

`import tensorloom as tf` gives the public names of TensorFlow 1.15. Importing loads
neither torch nor a protobuf module; the first step that needs them does. The modules of
the user libraries are loaded when one of their names is first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Final

from tensorloom.compat.module_paths import finder
from tensorloom.framework import export
from tensorloom.framework.registry import late_modules, proto_names, public_index
from tensorloom.framework.registry.raw_ops import RawOps

# Packages that declare no names, ops or gradients, or look after their names
# themselves. The modules of all others are loaded when one of these is first used.
_NOT_INDEXED: Final = frozenset(
    {
        *("capi", "cli", "compat", "coordination", "debug", "deploy", "devices"),
        *("dynamic_embedding", "eager", "elastic", "grappler", "hvd", "inspect"),
        *("kernels", "master", "protos", "serving", "test", "transport", "worker"),
    }
)
# What other look-ups need: values that become tensors, operators on tensors, variables,
# masters, collections in a MetaGraphDef.
late_modules.add_kind(
    "conversion", ["tensorloom.ops.array.constant", "tensorloom.ops.array.stack"]
)
late_modules.add_kind(
    "operator",
    ["tensorloom.ops.math.operators", "tensorloom.ops.indexing.tensor_index"],
)
late_modules.add_kind("ragged operator", ["tensorloom.ops.ragged.getitem"])
late_modules.add_kind(
    "symbolic gradient", ["tensorloom.client.gradients.function_gradient"]
)
late_modules.add({"collection": {"savers": "tensorloom.train.checkpoints.saver"}})
late_modules.add(
    {
        "control flow context": {
            "cond_ctxt": "tensorloom.client.control_flow.cond_context",
            "while_ctxt": "tensorloom.client.control_flow.while_context",
        }
    }
)
late_modules.add_kind("variable", ["tensorloom.client.variables.variable_scope"])
late_modules.add_kind("snappy", ["tensorloom.kernels.host.data.snappy_codec"])
late_modules.add_kind("dataset", ["tensorloom.data.dataset"])
late_modules.add_kind("input service", ["tensorloom.data.service.client"])
late_modules.add_kind(
    "branch output", ["tensorloom.client.control_flow.branch_outputs"]
)
late_modules.add_kind("spec", ["tensorloom.data.composite_specs"])
late_modules.add(
    {
        "linear_operator": {
            "adjoint": "tensorloom.linalg.linear_operator_adjoint",
            "inverse": "tensorloom.linalg.linear_operator_inversion",
            "lower_triangular": "tensorloom.linalg.linear_operator_lower_triangular",
            "product": "tensorloom.linalg.operator_algebra",
        }
    }
)
late_modules.add_kind("kernel", ["tensorloom.cluster.local"])
late_modules.add_kind("explain", ["tensorloom.inspect.explain.explain"])
late_modules.add(
    {
        "debug publisher": {
            "file": "tensorloom.kernels.host.debugging.dump_files",
            "grpc": "tensorloom.transport.grpc.debug_events",
            "memcbk": "tensorloom.kernels.host.debugging.callbacks",
        }
    }
)
late_modules.add_kind(
    "variant",
    [
        "tensorloom.kernels.host.data.iterator_resource",
        "tensorloom.kernels.host.data.optional",
        "tensorloom.kernels.torch.lists.tensor_list_codec",
        "tensorloom.kernels.torch.lists.tensor_map",
    ],
)
late_modules.add(
    {"master": {"": "tensorloom.cluster.local", "grpc": "tensorloom.cluster.remote"}}
)

_this = sys.modules[__name__]
_index = public_index.of_packages(_this, _NOT_INDEXED)
_index.use()
export.install(_this, frozenset(_index.files))
finder.install()

# Programs ask for the TensorFlow version whose behaviour they get.
__version__ = VERSION = "1.15.0"

raw_ops = sys.modules[f"{__name__}.raw_ops"] = RawOps(f"{__name__}.raw_ops")
# `tf.compat.v1` is this very module.
_this.compat.v1 = sys.modules[f"{__name__}.compat.v1"] = _this


def _flags_of_absl(name: str) -> Any:
    return importlib.import_module(
        "tensorloom.client.program.program_flags"
    ).name_of_absl(name)


export.add_fallback("flags", _flags_of_absl)
export.add_fallback("app.flags", _flags_of_absl)


def __getattr__(name: str) -> Any:
    """Protobuf messages such as `tf.ConfigProto`, loaded when they are first used.

    So are TensorFlow's own module paths, such as `tf.python.framework.ops`, and the
    packages without public names in the index.
    """
    if name in ("__git_version__", "__compiler_version__"):
        return getattr(_this.version, name.strip("_").upper())
    if name in finder.PRIVATE or name in ("debug", "test"):
        return importlib.import_module(f"{__name__}.{name}")
    return proto_names.find("", name)
