"""Records the public symbols of an installed TensorFlow 1.15 with their signatures.

Run it with the Python of that TensorFlow:

    python3.7 tools/record_api.py > tests/recorded/api_1_15.json

One JSON object: public name (without `tf.`) -> description. A function is
`{"kind": "function", "signature": [...]}`; a class adds its `members`, a value its
`repr`. A signature is a list of `name`, `name=default`, `*name` and `**name`.
The script runs under Python 3.7, hence its plain style.
"""

import inspect
import json
import sys

MODULES = """
. autograph bitwise compat config config.experimental config.optimizer
config.threading contrib.framework debugging
distributions dtypes errors estimator estimator.experimental estimator.export
estimator.inputs experimental feature_column gfile graph_util image
initializers io io.gfile layers linalg logging lookup
lookup.experimental losses manip math metrics nn nn.rnn_cell python_io quantization
queue ragged random random.experimental resource_loader saved_model sets signal
sparse spectral strings summary sysconfig test train train.experimental
user_ops version
""".split()

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


def record(root):
    """All symbols of `MODULES`, sorted by name."""
    symbols = {}
    for path in MODULES:
        module = find_module(root, path)
        for name in dir(module):
            if name.startswith("_"):
                continue
            found = describe(getattr(module, name))
            if found is not None:
                symbols[name if path == "." else path + "." + name] = found
    return dict(sorted(symbols.items()))


def main():
    """Writes the record of `import tensorflow` to standard output, a line a symbol."""
    import tensorflow

    lines = [
        "%s: %s" % (json.dumps(name), json.dumps(found, separators=(",", ":")))
        for name, found in record(tensorflow).items()
    ]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
