"""Records the public symbols of an installed TensorFlow 1.15 with their signatures.

Run it with the Python of that TensorFlow:

    python3.7 tools/record_api.py > tests/recorded/api_1_15.json
    python3.7 tools/record_api.py contrib > tests/recorded/api_contrib_1_15.json

One JSON object: public name (without `tf.`) -> description. A function is
`{"kind": "function", "signature": [...]}`; a class adds its `members`, a value its
`repr`. A signature is a list of `name`, `name=default`, `*name` and `**name`.
The script runs under Python 3.7, hence its plain style.
"""

import importlib
import inspect
import json
import sys

MODULES = """
. app audio autograph autograph.experimental bitwise compat config config.experimental
config.optimizer config.threading data data.experimental debugging
distribute distribute.cluster_resolver distribute.experimental
distributions dtypes errors estimator estimator.experimental estimator.export
estimator.inputs experimental feature_column gfile graph_util image
initializers io io.gfile layers layers.experimental linalg lite lite.constants
lite.experimental lite.experimental.nn logging lookup
lookup.experimental losses manip math metrics nest nn nn.rnn_cell profiler python_io
quantization queue ragged random random.experimental resource_loader saved_model
saved_model.builder saved_model.constants saved_model.experimental saved_model.loader
saved_model.main_op saved_model.signature_constants saved_model.signature_def_utils
saved_model.tag_constants saved_model.utils sets signal
sparse spectral strings summary sysconfig test tpu tpu.experimental train
train.experimental train.queue_runner user_ops version xla xla.experimental
""".split()

# `tf.contrib`'s packages that are loaded with it, and what programs use below them.
CONTRIB_BELOW = """
bayesflow.monte_carlo distributions.bijectors framework.nest layers.feature_column
layers.summaries learn.datasets learn.head learn.io learn.learn_runner learn.models
learn.monitors learn.ops learn.preprocessing learn.utils losses.metric_learning
slim.evaluation slim.learning slim.nets slim.queues slim.data_decoder slim.dataset
slim.dataset_data_provider slim.tfexample_decoder slim.prefetch_queue
tensor_forest.client tensor_forest.client.random_forest
tensor_forest.client.eval_metrics tensor_forest.tensor_forest
tensorboard.plugins.projector tfprof.model_analyzer tfprof.tfprof_logger
eager.metrics compiler.xla compiler.jit autograph.operators autograph.utils
boosted_trees.estimator_batch.estimator
all_reduce all_reduce.python.all_reduce hooks session_bundle solvers.lanczos
solvers.least_squares
solvers.linear_equations solvers.util text mixed_precision rate
""".split()
# Names that a package of contrib has only since it imports them for itself.
NOT_CONTRIB = ("quantization", "specs", "keras")

# Members that come from these are no part of the API.
PYTHON_MODULES = (
    "builtins",
    "threading",
    "unittest.case",
    "abc",
    "absl.testing.absltest",
)

# Special methods that are part of what a program uses; those of Python 2 are left out.
SPECIAL_METHODS = {
    "__abs__", "__add__", "__and__", "__array__", "__array_priority__", "__bool__",
    "__call__", "__enter__", "__eq__", "__exit__", "__floordiv__",
    "__ge__", "__getitem__", "__gt__", "__hash__", "__init__", "__int__",
    "__invert__", "__iter__", "__le__", "__len__", "__lt__",
    "__matmul__", "__mod__", "__mul__", "__ne__", "__neg__",
    "__or__", "__pow__", "__radd__", "__rand__", "__rfloordiv__",
    "__rmatmul__", "__rmod__", "__rmul__", "__ror__", "__rpow__", "__rsub__",
    "__rtruediv__", "__rxor__", "__sub__", "__truediv__", "__xor__", "__index__",
}  # fmt: skip


def describe_default(value):
    """A default as text that two libraries can share."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return "(%s)" % ", ".join(describe_default(item) for item in value)
    name = getattr(value, "name", None)
    if type(value).__name__ == "DType":
        return "tf.%s" % name
    if inspect.isclass(value) or inspect.isroutine(value):
        return "<%s>" % value.__name__
    return "<%s>" % type(value).__name__


def describe_signature(function):
    """`["x", "name=None"]`, or None where Python cannot tell."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [describe_parameter(item) for item in signature.parameters.values()]


def describe_parameter(parameter):
    """One parameter as it is written in a `def`."""
    if parameter.kind is parameter.VAR_POSITIONAL:
        return "*" + parameter.name
    if parameter.kind is parameter.VAR_KEYWORD:
        return "**" + parameter.name
    if parameter.default is parameter.empty:
        return parameter.name
    return "%s=%s" % (parameter.name, describe_default(parameter.default))


def describe_member(owner, name):
    """A class attribute: property, method with its signature, or value."""
    raw = inspect.getattr_static(owner, name)
    if isinstance(raw, property):
        return "property"
    value = getattr(owner, name)
    if inspect.isclass(value):
        return "class"
    if not inspect.isroutine(value) and not isinstance(raw, staticmethod):
        return "value"
    return describe_signature(value)


def is_of_python(owner, name):
    """Whether the member comes from `object`, `tuple`, `Exception` and the like."""
    for base in owner.__mro__:
        if name in base.__dict__:
            return base.__module__ in PYTHON_MODULES
    return True  # of the metaclass


def describe_class(owner):
    """A class: how it is made, and its public members."""
    members = {}
    for name in sorted(dir(owner)):
        is_public = not name.startswith("_") or name in SPECIAL_METHODS
        if is_public and not is_of_python(owner, name):
            members[name] = describe_member(owner, name)
    return {"kind": "class", "members": members}


def describe(value):
    """One public symbol; None for what is no API (a module)."""
    if inspect.ismodule(value):
        return None
    if inspect.isclass(value):
        if hasattr(value, "DESCRIPTOR"):
            return {"kind": "message"}
        return describe_class(value)
    if callable(value):
        return {"kind": "function", "signature": describe_signature(value)}
    return {"kind": "value", "repr": describe_default(value)}


def find_module(root, path):
    """The module at a dotted path under `root`."""
    module = root
    if path != ".":
        for part in path.split("."):
            module = getattr(module, part)
    return module


def record(root, paths):
    """All symbols of the modules at `paths`, sorted by name."""
    symbols = {}
    for path in paths:
        module = find_module(root, path)
        for name in dir(module):
            if name.startswith("_"):
                continue
            found = describe(getattr(module, name))
            if found is not None:
                symbols[name if path == "." else path + "." + name] = found
    return dict(sorted(symbols.items()))


def is_of_tensorflow(value):
    """Whether an object is no helper of Python or NumPy that a module imported."""
    home = getattr(value, "__module__", None) or "tensorflow"
    return home.partition(".")[0] in ("tensorflow", "tensorflow_core")


def contrib_paths(contrib):
    """The modules of `tf.contrib`: its packages, and those named above."""
    packages = [
        name for name in dir(contrib) if inspect.ismodule(getattr(contrib, name))
    ]
    return sorted(
        path
        for path in set(packages + CONTRIB_BELOW)
        if not path.startswith("_") and path.partition(".")[0] not in NOT_CONTRIB
    )


def record_contrib(contrib):
    """All symbols of `tf.contrib`, as `contrib.layers.conv2d`."""
    found = {}
    for path in contrib_paths(contrib):
        try:
            module = find_module(contrib, path)
        except AttributeError:
            module = importlib.import_module("tensorflow.contrib." + path)
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and is_of_tensorflow(value):
                symbol = describe(value)
                if symbol is not None:
                    found["contrib.%s.%s" % (path, name)] = symbol
    return dict(sorted(found.items()))


def main(arguments):
    """Writes the record of `import tensorflow` to standard output, a line a symbol."""
    import tensorflow

    if arguments == ["contrib"]:
        symbols = record_contrib(importlib.import_module("tensorflow.contrib"))
    else:
        symbols = record(tensorflow, MODULES)
    lines = [
        "%s: %s" % (json.dumps(name), json.dumps(found, separators=(",", ":")))
        for name, found in symbols.items()
    ]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
